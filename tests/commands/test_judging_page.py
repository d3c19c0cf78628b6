"""The worked example of docs/judging.md is followed word for word, and what it shows is what is printed."""

import pytest

from support.judging_page import DIGEST, PAGE, followed
from support.pages import steps, transcripts


@pytest.mark.slow
def test_outputs_from_elsewhere_are_judged_as_the_page_shows(tmp_path):
    shown = {command: output for block in transcripts(PAGE) for command, output in steps(block)}
    printed = dict(followed(tmp_path))
    assert printed.keys() == {command for command in shown if not command.startswith("cat ")}
    for command, said in printed.items():
        assert DIGEST.sub("…", said) == DIGEST.sub("…", shown[command]), command
