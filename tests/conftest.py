"""What all tests share: the depth of the laws, and the way to the public data."""

import atexit
import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ["AFFIDAVIT_CACHE"] = tempfile.mkdtemp()
"""Nothing that a test makes stays in the cache of whoever runs it."""
atexit.register(shutil.rmtree, os.environ["AFFIDAVIT_CACHE"], ignore_errors=True)

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"

settings.register_profile(
    "usual", max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("quick", settings.get_profile("usual"), max_examples=30)
settings.register_profile("deep", settings.get_profile("usual"), max_examples=20_000, derandomize=False)
settings.load_profile(os.environ.get("AFFIDAVIT_LAWS", "usual"))


@pytest.fixture
def public_data() -> Path:
    """Real outputs of real models, kept beside the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the public data sets are not beside this checkout (../shared/data)")
    return SHARED_DATA


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long tests come first in the part that each worker is given at the start, all others in their order."""
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    long = [item for item in items if item.get_closest_marker("long")]
    others = iter([item for item in items if not item.get_closest_marker("long")])
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        own = long[worker::workers]
        size = (len(items) - len(ordered)) // (workers - worker)  # as pytest-xdist divides what is left
        ordered += [*own, *islice(others, max(0, size - len(own)))]
    items[:] = [*ordered, *others]


def pytest_sessionstart() -> None:
    """Thousands of tests are made and none is thrown away: looking for what is would cost seconds."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """What earlier tests left is not taken away in the middle of a quick one, only behind it.

    Some go as deep as Python does: there, whatever is told of its end would fail, and be taken for a fault of theirs.
    """
    if item.get_closest_marker("slow"):
        return (yield)
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
