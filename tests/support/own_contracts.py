"""Contracts of a user's own, as the text of the file that a study names."""

ECHO = """
from affidavit import AnswerReading


class Echo:
    name, version, params = "echo", 1, {}

    def instruction(self, item=None):
        return "Say anything."

    def read(self, raw, item=None):
        return AnswerReading(raw)

    def validate(self, reading, item):
        return None

    def grammar(self, item=None):
        return None


echo = Echo()
"""
"""Takes every text as its answer, and compares none."""
LETTER = """
from affidavit import Pattern

letter = Pattern("letter", 1, "[A-D]", "Answer with one letter.")
"""
