"""`affidavit label`: what it says of itself, and what it refuses before it opens anything."""

import pytest

from affidavit.commands.label import label
from support.command import affidavit
from support.studies import fine


def test_there_are_three_commands():
    assert list(label.commands) == ["draw", "add", "plan"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("draw", "nowhere", "--what", "verdict"), b"nowhere: expected a study directory, found nothing"),
        (("draw", "nowhere"), b"--what: expected what people are asked"),
        (("draw", "nowhere", "--what", "x", "--scale", "1,0"), b"--scale: expected two numbers"),
        (("add", "nowhere", "none.csv"), b"none.csv: expected a file to read"),
        (("plan", "nowhere", "--width", "0"), b"--width"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, arguments, why):
    done = affidavit("label", *arguments, cwd=tmp_path)
    assert fine(done, 2)
    assert why in done.stderr
    assert list(tmp_path.iterdir()) == []
