"""Where the number of an output was found, and what a non-compliant output did instead (ruling N6)."""

from enum import StrEnum

BOX = "\\boxed{"
"""How LaTeX begins a box, in which many models put their answers."""


class NumberMethod(StrEnum):
    """Where the answer stands (rulings N2, N3)."""

    ANSWER_BLOCK = "answer_block"
    MARKER_LINE = "marker_line"


class NumberDeviation(StrEnum):
    """What a non-compliant output did instead; the first that applies (ruling N6)."""

    EMPTY = "empty"
    EMPTY_ANSWER = "empty_answer"
    TOO_LONG = "too_long"
    SIGN_NOT_ALLOWED = "sign_not_allowed"
    UNIT_UNKNOWN = "unit_unknown"
    MALFORMED_NUMBER = "malformed_number"
    NOT_A_NUMBER = "not_a_number"
    SEVERAL_NUMBERS = "several_numbers"
    TEXT_IN_ANSWER = "text_in_answer"
    WRONG_CASE = "wrong_case"
    UNCLOSED_TAG = "unclosed_tag"
    UNOPENED_TAG = "unopened_tag"
    BOXED_ANSWER = "boxed_answer"
    BARE_NUMBER = "bare_number"
    NUMBER_IN_TEXT = "number_in_text"
    NO_ANSWER = "no_answer"
