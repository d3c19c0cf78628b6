"""What a check of a judge's answer can tell: a closed list of codes, each under one flag (ruling J4)."""

import json
import re
from enum import StrEnum
from typing import NamedTuple

from affidavit.json_values import Fields, kept_as_shown


class Flag(StrEnum):
    """The five criteria by which an evaluation is invalid, in the order of the judge protocol."""

    PROTOCOL_VIOLATION = "PROTOCOL_VIOLATION"
    UNPARSABLE_OUTPUT = "UNPARSABLE_OUTPUT"
    INCOMPLETE_COVERAGE = "INCOMPLETE_COVERAGE"
    JUDGE_REFUSAL_OR_EVASION = "JUDGE_REFUSAL_OR_EVASION"
    INTERNAL_INCONSISTENCY = "INTERNAL_INCONSISTENCY"


class Code(StrEnum):
    """One thing that can be wrong, or worth a note, in an evaluation."""

    TEXT_AROUND_JSON = "text_around_json"
    UNKNOWN_FIELD = "unknown_field"
    UNKNOWN_DIMENSION = "unknown_dimension"
    SCORE_OUT_OF_SCALE = "score_out_of_scale"
    BAD_METHOD = "bad_method"
    BAD_VERDICT = "bad_verdict"
    EVIDENCE_MISSING = "evidence_missing"
    EVIDENCE_NOT_LOCATED = "evidence_not_located"
    JSON_SYNTAX = "json_syntax"
    NOT_AN_OBJECT = "not_an_object"
    DUPLICATE_KEY = "duplicate_key"
    NOT_FINITE = "not_finite"
    TOO_DEEP = "too_deep"
    TOO_LARGE = "too_large"
    BAD_TEXT = "bad_text"
    MISSING_FIELD = "missing_field"
    WRONG_TYPE = "wrong_type"
    BAD_DATE = "bad_date"
    MISSING_IDENTIFIER = "missing_identifier"
    IDENTIFIER_MISMATCH = "identifier_mismatch"
    NO_JSON = "no_json"
    SCORES_MISSING = "scores_missing"
    SUM_MISMATCH = "sum_mismatch"
    VERDICT_MISMATCH = "verdict_mismatch"
    METHOD_MISMATCH = "method_mismatch"
    DECLARED_BY_JUDGE = "declared_by_judge"
    QUOTE_NOT_FOUND = "quote_not_found"
    QUOTE_LONG = "quote_long"


CODES_BY_FLAG: dict[Flag, tuple[Code, ...]] = {
    Flag.PROTOCOL_VIOLATION: (
        Code.TEXT_AROUND_JSON,
        Code.UNKNOWN_FIELD,
        Code.UNKNOWN_DIMENSION,
        Code.SCORE_OUT_OF_SCALE,
        Code.BAD_METHOD,
        Code.BAD_VERDICT,
        Code.EVIDENCE_MISSING,
        Code.EVIDENCE_NOT_LOCATED,
    ),
    Flag.UNPARSABLE_OUTPUT: (
        Code.JSON_SYNTAX,
        Code.NOT_AN_OBJECT,
        Code.DUPLICATE_KEY,
        Code.NOT_FINITE,
        Code.TOO_DEEP,
        Code.TOO_LARGE,
        Code.BAD_TEXT,
        Code.MISSING_FIELD,
        Code.WRONG_TYPE,
        Code.BAD_DATE,
    ),
    Flag.INCOMPLETE_COVERAGE: (Code.MISSING_IDENTIFIER, Code.IDENTIFIER_MISMATCH),
    Flag.JUDGE_REFUSAL_OR_EVASION: (Code.NO_JSON, Code.SCORES_MISSING),
    Flag.INTERNAL_INCONSISTENCY: (Code.SUM_MISMATCH, Code.VERDICT_MISMATCH, Code.METHOD_MISMATCH),
}
FLAG_OF: dict[Code, Flag] = {code: flag for flag, codes in CODES_BY_FLAG.items() for code in codes}
ADVISORY = (Code.QUOTE_NOT_FOUND, Code.QUOTE_LONG)
"""Told and counted, but under no flag: they invalidate nothing."""


class Finding(NamedTuple):
    """One finding: what, where in the JSON, what was expected and what was found."""

    code: Code
    path: str
    expected: str
    found: str
    declared: Flag | None = None
    """For `declared_by_judge`: the criterion that the judge named."""

    @property
    def flag(self) -> Flag | None:
        """The criterion it falls under; None if it is advisory."""
        return self.declared or FLAG_OF.get(self.code)

    def fields(self) -> Fields:
        """The finding as a JSON object."""
        return {"code": self.code, "path": self.path, "expected": self.expected, "found": self.found}


_PLAIN_KEY = re.compile("[A-Za-z_][A-Za-z0-9_]*")
LONGEST = 200
"""Characters of a path, or of a value that was expected or found."""


def at_key(path: str, key: str) -> str:
    """The path of a member of the object at `path`.

    >>> at_key("$.meta", "method"), at_key("$", "overall score")
    ('$.meta.method', '$["overall score"]')
    """
    # Beyond its limit a path grows no more: one that repeats long keys would grow with the square of the text.
    if len(path) > LONGEST:
        return path
    key = key[:LONGEST]
    return f"{path}.{key}" if _PLAIN_KEY.fullmatch(key) else f"{path}[{json.dumps(key)}]"


def found_value(value: object) -> str:
    """A JSON value as a finding shows it."""
    return kept_as_shown(value, LONGEST)
