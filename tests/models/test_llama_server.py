"""The program that runs llama.cpp starts by its path alone, from anywhere, and ends with whoever started it."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from affidavit.models import llama_server

PROGRAM = Path(llama_server.__file__)


def test_it_needs_nothing_of_the_package():
    nodes = [
        node for node in ast.walk(ast.parse(PROGRAM.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    modules = {
        node.module if isinstance(node, ast.ImportFrom) else alias.name for node in nodes for alias in node.names
    }
    assert modules == {"os", "sys", "threading", "xllamacpp"}


@pytest.mark.slow
def test_its_last_words_say_what_went_wrong(tmp_path):
    """No such file, or no library to load it: either way it says so, and nothing that looks like an address."""
    with subprocess.Popen(
        [sys.executable, PROGRAM, tmp_path / "none.gguf", "1", "64", "1"],
        stdin=subprocess.PIPE,  # open until it has ended: its end would end the program
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, llama_server.KEY: "key"},
    ) as program:
        assert program.stdout.read() == b""
        assert b"Error: " in program.stderr.read()
        assert program.wait() == 1
