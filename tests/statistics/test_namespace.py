"""`affidavit.statistics` as a researcher imports it: its names, what they cost to load, and no seed by default."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

from affidavit import statistics

MODULES = [module.name for module in pkgutil.iter_modules(statistics.__path__)]


def test_every_public_name_is_there_and_nothing_else_shows():
    assert dir(statistics) == sorted(statistics.__all__)
    for name in statistics.__all__:
        public = getattr(statistics, name)
        assert public.__module__.startswith("affidavit.statistics.")
        assert public.__name__ == name
        assert public.__doc__
    with pytest.raises(AttributeError, match="no attribute 'wilsen'"):
        statistics.wilsen  # noqa: B018


def test_no_public_function_is_hidden_by_a_module_of_its_name():
    assert set(MODULES).isdisjoint(statistics.__all__)


@pytest.mark.parametrize("module", MODULES)
def test_whoever_draws_at_random_must_be_given_a_seed(module):
    functions = inspect.getmembers(importlib.import_module(f"affidavit.statistics.{module}"), inspect.isfunction)
    for name, function in functions:
        seed = inspect.signature(function).parameters.get("seed")
        assert seed is None or seed.default is inspect.Parameter.empty, name


@pytest.mark.slow
def test_the_heavy_libraries_are_loaded_when_they_are_needed():
    modules = ", ".join(f"affidavit.statistics.{name}" for name in MODULES)
    program = f"import sys, {modules}; affidavit.statistics.wilson; print({{'numpy', 'scipy'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
