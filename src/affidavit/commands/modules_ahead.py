"""Modules that the end of a command needs, loaded while others work: that time costs nobody anything."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Thread

from affidavit.results.page.page_at_the_end import CHEAP
from affidavit.running.asked_now import AskedNow
from affidavit.study.crossing import Cell

TABLES = ("affidavit.results.closing", "affidavit.commands.output")
PAGE = ("affidavit.results.page.study_page", "affidavit.results.page.html", "scipy.special", "scipy.optimize")
"""What brings Polars, Jinja2 with the templates, and the functions that most pages of multiple choice need."""


class ModulesAhead:
    """Loads modules in a thread of its own, once a run has its first answer; most of a run is waiting."""

    def __init__(self, *, page: bool) -> None:
        """`page`: whether one is wanted at the end."""
        self._page = page
        self._loading: Thread | None = None

    def tell(self, now: AskedNow[Cell]) -> None:
        """Begin, if it is time to: before an answer is there, nobody knows whether the run will have an end."""
        if self._loading is None and now.done:
            page = self._page and sum(tally.n for tally in now.tallies.values()) < CHEAP
            self._loading = _begun((*TABLES, *(PAGE if page else ())))

    def wait(self) -> None:
        """Until all are loaded that were begun with: two threads that load one module may see half of it."""
        if self._loading is not None:
            self._loading.join()


@contextmanager
def loaded_meanwhile(names: Iterable[str]) -> Iterator[None]:
    """Load modules while the block does its work; at its end all are loaded."""
    loading = _begun(names)
    try:
        yield
    finally:
        loading.join()


def _begun(names: Iterable[str]) -> Thread:
    loading = Thread(target=_load, args=(names,))
    loading.start()
    return loading


def _load(names: Iterable[str]) -> None:
    with suppress(Exception):  # whoever needs the module says what is wrong with it
        for name in names:
            import_module(name)
