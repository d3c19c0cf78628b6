"""How a run is stopped from outside."""

import asyncio
import threading

from affidavit.running.stopping import StopSwitch, stop_on_signals


class Run:
    """Remembers why it was stopped."""

    def __init__(self) -> None:
        self.reasons: list[str] = []

    def stop(self, why: str) -> None:
        self.reasons.append(why)


def test_a_switch_stops_what_runs_and_what_begins_later():
    switch, first, second = StopSwitch(), Run(), Run()
    switch.connect(first)
    assert first.reasons == []
    switch.stop("enough")
    switch.stop("more than enough")
    switch.connect(second)
    assert (set(first.reasons), second.reasons, switch.why) == ({"enough"}, ["enough"], "enough")


def test_signals_are_left_alone_outside_the_main_thread():
    came: list[int | None] = []

    async def begin() -> None:
        came.append(stop_on_signals(Run())())

    thread = threading.Thread(target=lambda: asyncio.run(begin()))
    thread.start()
    thread.join()
    assert came == [None]
