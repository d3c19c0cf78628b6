"""What all tests share: the depth of the laws, and the way to the public data."""

import atexit
import gc
import os
import shutil
import tempfile
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


def pytest_sessionstart() -> None:
    """Thousands of tests are made and none is thrown away: looking for what is would cost seconds."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
