"""The process that runs llama.cpp: `python llama_server.py FILE SLOTS CONTEXT THREADS`.

It serves one model at a loopback address, which is the only line it writes to standard output, to whoever has the
key that it finds in its environment. It ends when its standard input ends: so it does not outlive whoever started
it, however that one ended. While it loads the weights nothing can interrupt it; then it ends as soon as they are
loaded.

It is run by its path and imports nothing of this package, so that it starts from any directory.
"""

import os
import sys
from threading import Thread

KEY = "AFFIDAVIT_LLAMA_SERVER_KEY"
"""The environment variable with the key, which other users of this machine do not have."""


def main() -> None:
    """Serve until standard input ends."""
    file, slots, context, threads = sys.argv[1:]
    address_output = os.dup(1)
    os.dup2(2, 1)  # whatever the library prints cannot be mistaken for the address
    watch = Thread(target=_end_with_whoever_started_us, daemon=True)
    watch.start()
    try:
        server = _served(file, slots=int(slots), context=int(context), threads=int(threads))
    except Exception as error:  # noqa: BLE001 - whatever it is, these are our last words
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(1)
    os.write(address_output, f"{server.listening_address}\n".encode())  # type: ignore[attr-defined]
    watch.join()


def _end_with_whoever_started_us() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)


def _served(file: str, *, slots: int, context: int, threads: int) -> object:
    import xllamacpp  # noqa: PLC0415 - not every installation has it

    parameters = xllamacpp.CommonParams()
    parameters.model.path = file
    parameters.model_alias = {os.path.basename(file)}  # noqa: PTH119 - where the file is, is nobody's business
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [os.environ.pop(KEY)]
    parameters.endpoint_slots = False  # it would show the prompts
    parameters.n_parallel = slots
    parameters.n_ctx = slots * context  # llama.cpp divides it among the slots
    parameters.kv_unified = False
    parameters.fit_params = False  # the context is what was asked for, whatever memory is free
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.n_threads_http = slots + 2
    parameters.cache_ram_mib = 0  # up to 8 GB of old prompts otherwise
    parameters.cache_idle_slots = False
    parameters.offline = True
    parameters.ui = False
    parameters.verbosity = 1
    return xllamacpp.Server(parameters)


if __name__ == "__main__":
    main()
