"""The tags of an answer, and what a non-compliant output of multiple choice did instead (rulings M4, M10)."""

from enum import StrEnum

OPENING, CLOSING, THINK_END = "<answer>", "</answer>", "</think>"


class Deviation(StrEnum):
    """What a non-compliant output did instead; the first that applies (ruling M4)."""

    EMPTY = "empty"
    REASONING_THEN_ANSWER = "reasoning_then_answer"
    TEXT_AROUND = "text_around"
    CONFLICTING_ANSWERS = "conflicting_answers"
    REPEATED_ANSWER = "repeated_answer"
    PLACEHOLDER = "placeholder"
    OPTION_OUT_OF_SET = "option_out_of_set"
    INNER_WHITESPACE = "inner_whitespace"
    WRONG_CASE = "wrong_case"
    ANSWER_NOT_A_LETTER = "answer_not_a_letter"
    UNCLOSED_TAG = "unclosed_tag"
    UNOPENED_TAG = "unopened_tag"
    BARE_LETTER = "bare_letter"
    OPTION_TEXT = "option_text"
    NO_TAG = "no_tag"


class ReasonedDeviation(StrEnum):
    """The same where reasoning is allowed (ruling M10); the later ones are those of the other list."""

    EMPTY = "empty"
    CONFLICTING_ANSWERS = "conflicting_answers"
    TEXT_AFTER = "text_after"
    ANSWER_IN_REASONING = "answer_in_reasoning"
    NOTHING_AFTER_REASONING = "nothing_after_reasoning"
    PLACEHOLDER = "placeholder"
    OPTION_OUT_OF_SET = "option_out_of_set"
    INNER_WHITESPACE = "inner_whitespace"
    WRONG_CASE = "wrong_case"
    ANSWER_NOT_A_LETTER = "answer_not_a_letter"
    UNCLOSED_TAG = "unclosed_tag"
    UNOPENED_TAG = "unopened_tag"
    BARE_LETTER = "bare_letter"
    OPTION_TEXT = "option_text"
    NO_TAG = "no_tag"
