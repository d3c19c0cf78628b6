"""llama.cpp behind a gate, so that a test can catch the embedded model at a certain point however fast it is.

    gate = Gate(folder)                  # closed: no weights are loaded
    gate.load()                          # they may be, and no answer is handed out
    gate.hand_out(1)                     # one answer is; a second one is held as soon as it is there
    with started(environment=gate.environment): ...

A module in front of the real library, on the search path of the model's process, puts a server of ours before that of
llama.cpp. It hands on requests at once and answers as it is told to by the files of the gate's folder.
"""

import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

_PLACE = "AFFIDAVIT_TEST_GATE"
_SHIM = """
import sys
shim = sys.modules.pop(__name__)
sys.path.remove({folder!r})
import xllamacpp as real
sys.modules[__name__] = shim
from support.held_llama import held
CommonParams, Server = real.CommonParams, held(real.Server)
"""


class Gate:
    """What a test says to the model's processes, by files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "library").mkdir(parents=True)
        shim = _SHIM.format(folder=str(folder / "library"))
        (folder / "library/xllamacpp.py").write_text(shim)
        paths = (folder / "library", Path(__file__).parents[1], os.environ.get("PYTHONPATH", ""))
        self.environment = {_PLACE: str(folder), "PYTHONPATH": os.pathsep.join(map(str, paths))}

    def load(self) -> None:
        """Weights may be loaded."""
        (self._folder / "load").touch()

    def hand_out(self, count: float) -> None:
        """So many answers, counted from the first, over all processes."""
        partial = self._folder / "count.partial"
        partial.write_text(str(count))
        partial.replace(self._folder / "count")

    def open(self) -> None:
        """Everything may happen."""
        self.load()
        self.hand_out(float("inf"))

    @property
    def given(self) -> int:
        """Answers that the model has given, handed out or held."""
        given = self._folder / "given"
        return len(given.read_text().splitlines()) if given.exists() else 0


# --- in the model's process ---


def _wait(until: Callable[[], bool]) -> None:
    while not until():
        time.sleep(0.005)


def held(real: type) -> type:
    """The library's server, as the gate's folder says."""
    folder, one_at_a_time = Path(os.environ[_PLACE]), threading.Lock()

    def may_be_handed_out(number: int) -> bool:
        count = folder / "count"
        return count.exists() and number <= float(count.read_text())

    class Server:
        def __init__(self, parameters: object) -> None:
            _wait((folder / "load").exists)
            self._server = real(parameters)
            host, port = self._server.listening_address.removeprefix("http://").split(":")
            self._behind = (host, int(port))
            self._listening = socket.create_server(("127.0.0.1", 0), backlog=100)
            self.listening_address = "http://{}:{}".format(*self._listening.getsockname())
            threading.Thread(target=self._accept, daemon=True).start()

        def _accept(self) -> None:
            while True:
                client = self._listening.accept()[0]
                threading.Thread(target=self._hand_on, args=(client,), daemon=True).start()

        def _hand_on(self, client: socket.socket) -> None:
            """One request and its answer; the connection ends with it."""
            with client, client.makefile("rb") as stream:
                head = [stream.readline()]
                if not head[0]:
                    return
                while (line := stream.readline()).strip():
                    head.append(line)
                sizes = [int(line.split(b":")[1]) for line in head if line.lower().startswith(b"content-length:")]
                content = stream.read(sum(sizes))
                kept = [line for line in head if not line.lower().startswith(b"connection:")]
                with socket.create_connection(self._behind) as server:
                    server.sendall(b"".join(kept) + b"Connection: close\r\n\r\n" + content)
                    answer = b"".join(iter(lambda: server.recv(65_536), b""))
                if b"/chat/completions" in head[0]:
                    number = self._noted()
                    _wait(lambda: may_be_handed_out(number))
                client.sendall(answer)

        def _noted(self) -> int:
            with one_at_a_time, (folder / "given").open("a+") as given:
                given.seek(0)
                number = len(given.readlines()) + 1
                given.write("one\n")
                return number

    return Server
