"""Ranges on a cluster: Ray Data reads them, whoever asked commits them.

Ray may run a task again after it was done. That doubles nothing: a part lies under a name of nobody's until it is
committed here, and a second one of the same range has the same bytes. All nodes must see the inputs and the
directory of parts under the same names, as they do on a shared file system.
"""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from affidavit.errors import UsageError
from affidavit.reading.part_files.part_job import PartJob, PartSetup, answered
from affidavit.reading.part_files.part_reading import WrittenPart

ADDRESS = "RAY_ADDRESS"
"""Ray's own name for where its cluster is; without one, it is begun here and ends with the command."""
_RETRIES = 3
"""Deaths of workers that a range survives."""


class RangeTask:
    """A task of Ray: made once in each of its workers, it reads range after range."""

    def __init__(self, setup: bytes) -> None:
        self._job = PartJob(msgspec.msgpack.decode(setup, type=PartSetup))

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """The part of a range, or why there is none, as it is said between processes."""
        return {"answer": msgspec.msgpack.encode(self._job.read(int(row["number"])))}


def on_ray(setup: PartSetup, numbers: Sequence[int], count: int) -> Generator[WrittenPart]:
    """The parts of these ranges, in the order in which they are done."""
    try:
        import ray.data  # noqa: PLC0415 - an extra, for those who have a cluster
    except ImportError as error:
        hint = "pip install 'affidavit[ray]'"
        raise UsageError("--engine", expected="Ray, which is an extra", found="no Ray here", hint=hint) from error
    with _cluster(count):
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.max_errored_blocks = 0
        rows = ray.data.from_items([{"number": number} for number in numbers], override_num_blocks=len(numbers))
        task: Any = RangeTask  # a class of which Ray makes the function: its types do not say so
        done = rows.map(
            task,
            fn_constructor_args=(msgspec.msgpack.encode(setup),),
            concurrency=(1, max(1, min(count, len(numbers)))),
            num_cpus=1,
            max_restarts=_RETRIES,
            max_task_retries=_RETRIES,
        )
        for row in done.iter_rows():
            yield answered(row["answer"])


@contextmanager
def _cluster(count: int) -> Generator[None]:
    """The cluster that the environment names, or one of so many processors that ends with the block."""
    import ray  # noqa: PLC0415

    if ray.is_initialized():
        yield
        return
    address = os.environ.get(ADDRESS)
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    # Polars has its own threads: a worker of Ray is one processor, and takes no more.
    environment = {"env_vars": {"POLARS_MAX_THREADS": "1"}}
    if address:
        ray.init(address=address, runtime_env=environment, **quiet)
    else:
        # Nobody else on the network is to talk to it.
        ray.init(
            num_cpus=count, include_dashboard=False, _node_ip_address="127.0.0.1", runtime_env=environment, **quiet
        )
    try:
        yield
    finally:
        ray.shutdown()
