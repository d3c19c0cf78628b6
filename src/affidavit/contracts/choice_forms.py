"""The forms of an answer over one option set, right and wrong, and what a text without a right one did instead.

>>> forms = ChoiceForms.of("A-D")
>>> forms.block.findall("<answer>A</answer> or <answer>B</answer>")
['A', 'B']
>>> forms.without_block("<answer>E</answer>").value, forms.without_block("B. Paris").value
('option_out_of_set', 'option_text')
"""

import re
from dataclasses import dataclass

from affidavit.contracts.deviation import CLOSING, OPENING, THINK_END, Deviation
from affidavit.errors import UsageError


@dataclass(frozen=True, slots=True)
class ChoiceForms:
    """The regular expressions of one option set; each is linear on any text (ruling C4)."""

    block: re.Pattern[str]
    out_of_set: re.Pattern[str]
    inner_whitespace: re.Pattern[str]
    wrong_case: re.Pattern[str]
    bare_letter: re.Pattern[str]
    option_text: re.Pattern[str]

    @classmethod
    def of(cls, options: str) -> "ChoiceForms":
        """The forms of an option set such as `A-E`; refused if it is none (ruling M3)."""
        last = _last_option(options)
        letter, either, beyond = f"[A-{last}]", f"[A-{last}a-{last.lower()}]", f"[{chr(ord(last) + 1)}-Z]"
        block = f"{OPENING}({letter}){CLOSING}"
        return cls(
            block=re.compile(block),
            out_of_set=re.compile(f"{OPENING}{beyond}{CLOSING}"),
            # Python's \s is str.isspace, the whitespace of ruling M1.
            inner_whitespace=re.compile(rf"{OPENING}(?:\s++{either}\s*+|{either}\s++){CLOSING}"),
            # ASCII: without it, U+017F (long s) would pass for the s of the tag.
            wrong_case=re.compile(block, re.IGNORECASE | re.ASCII),
            bare_letter=re.compile(rf"{letter}[.)]?|\({letter}\)|(\*++){letter}\1|`{letter}`"),
            option_text=re.compile(f"{letter}[.):]"),
        )

    def without_block(self, text: str) -> Deviation:
        """The diagnosis of a text that has no well-formed block and is not blank: entries 6 to 15 of ruling M4."""
        return self._broken_block(text) or _broken_tag(text) or self._untagged(text.strip())

    def _broken_block(self, text: str) -> Deviation | None:
        """The diagnosis of a text with closed blocks, none of them well-formed."""
        if f"{OPENING}X{CLOSING}" in text:
            return Deviation.PLACEHOLDER
        if self.out_of_set.search(text):
            return Deviation.OPTION_OUT_OF_SET
        if self.inner_whitespace.search(text):
            return Deviation.INNER_WHITESPACE
        if self.wrong_case.search(text):
            return Deviation.WRONG_CASE
        # An opening tag with a closing one anywhere after it: then some closing tag ends a block.
        opening = text.find(OPENING)
        if opening >= 0 and text.find(CLOSING, opening) >= 0:
            return Deviation.ANSWER_NOT_A_LETTER
        return None

    def _untagged(self, trimmed: str) -> Deviation:
        if self.bare_letter.fullmatch(trimmed):
            return Deviation.BARE_LETTER
        return Deviation.OPTION_TEXT if self.option_text.match(trimmed) else Deviation.NO_TAG


def _broken_tag(text: str) -> Deviation | None:
    """The diagnosis of a text that has no block but a tag."""
    if OPENING in text:
        return Deviation.UNCLOSED_TAG
    return Deviation.UNOPENED_TAG if CLOSING in text else None


def _last_option(options: str) -> str:
    """The last letter of an option set such as `A-E` (ruling M3)."""
    if re.fullmatch("A-[B-W]", options) is None:
        raise UsageError(
            "options",
            expected="a run of 2 to 23 letters from A, written A-B up to A-W",
            found=repr(options),
            hint="X is the placeholder of the instruction, so W is the last letter that can be an option.",
        )
    return options[-1]


def after_think(raw: str) -> str:
    """The text after the last `</think>`; the whole text if there is none (rulings M4, M5, M8).

    >>> after_think("<think>A?</think>B"), after_think("<think>A?")
    ('B', '<think>A?')
    """
    return raw.rpartition(THINK_END)[2]
