"""A rubric as a TOML file: read whole, or refused with its file and what is wrong in it."""

import re

import pytest

from affidavit.contracts.rubric import DEFAULT, MappingRule
from affidavit.contracts.rubric_file import parse_rubric
from affidavit.errors import InputError

FILE = """
name = "essay"

[[dimensions]]
id = "CLARITY"
title = "Clarity"
words = "Can every sentence be understood?"
maps_to = "FORMAT_COMPLIANCE"

[[dimensions]]
id = "DEPTH"
title = "Depth"
words = "Is more said than the obvious?"

[[scale]]
score = 0
title = "no"
words = "Not at all."

[[scale]]
score = 3
title = "yes"
words = "Wholly."

[thresholds]
pass_from = 6
fail_to = 2
pass_needs_nonzero = ["CLARITY"]
"""


def test_what_the_file_says_is_the_rubric():
    rubric = parse_rubric(FILE, where="essay.toml")
    assert (rubric.name, rubric.ids, rubric.scores) == ("essay", ("CLARITY", "DEPTH"), (0, 3))
    assert rubric.maps_to == {"CLARITY": "FORMAT_COMPLIANCE"}
    assert rubric.maps_by is MappingRule.MIN
    assert [rubric.verdict({"CLARITY": a, "DEPTH": b}) for a, b in ((3, 3), (0, 3), (0, 0))] == [
        "PASS",
        "PARTIAL",
        "FAIL",
    ]
    assert rubric.sha256() != DEFAULT.sha256()
    assert parse_rubric(FILE + "\n# a comment\n", where="elsewhere").sha256() == rubric.sha256()


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("[thresholds]", "[thresholds", "TOML, found Expected ']' at the end of a table declaration"),
        ("score = 3", "score = " + "[" * 9000, "TOML, found values that are nested too deeply"),
        ("score = 3", "score = " + "9" * 5000, "TOML, found Exceeds the limit (4300 digits)"),
        ('name = "essay"\n', "", "a rubric, found Object missing required field `name`"),
        ('title = "Depth"', 'titel = "Depth"', "a rubric, found Object contains unknown field `titel`"),
        ("score = 3", 'score = "3"', "a rubric, found Expected `int`, got `str` - at `$.scale[1].score`"),
        ("score = 3", "score = 0", "a scale of at least two rising scores, found [0, 0]"),
        ('id = "DEPTH"', 'id = "CLARITY"', "dimensions of different names, found ('CLARITY', 'CLARITY')"),
        ('["CLARITY"]', '["WIT"]', "thresholds on its own dimensions, found Thresholds("),
        ("fail_to = 2", "fail_to = 6", "fail_to below pass_from, found Thresholds(pass_from=6, fail_to=6"),
    ],
)
def test_what_is_wrong_is_told_with_the_file(old, new, why):
    assert old in FILE
    with pytest.raises(InputError, match=re.escape(f"essay.toml: expected {why}")):
        parse_rubric(FILE.replace(old, new, 1), where="essay.toml")
