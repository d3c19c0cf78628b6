"""The tutorial is followed word for word, and what it shows is what is printed."""

import pytest

from support.pages import ROOT, steps, transcripts
from support.tutorial import SEAL, followed


@pytest.mark.slow
def test_the_tutorial_can_be_followed(tmp_path):
    page = ROOT / "docs" / "tutorial.md"
    shown = {command: output for block in transcripts(page) for command, output in steps(block)}
    for command, printed in followed(page, tmp_path):
        assert SEAL.sub("…", printed) == SEAL.sub("…", shown[command]), command
