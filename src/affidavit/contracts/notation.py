"""How numbers are written: separators, sign and unit; and the exact value of a text that is written so.

The regular expressions are given as texts, because two engines run them: Python's on one text, that of Polars on a
column. Whatever is particular to one engine is left out, but for `more`: a plus there makes repetitions
possessive in Python, which Polars neither needs nor knows.

    >>> Notation().value("-1,072.50"), Notation(decimal=",", thousands="").value("0,5")
    ('-1072.5', '0.5')
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from affidavit.contracts.number_deviation import NumberDeviation

MOST_DIGITS = 1000
"""Digits of a number, at most (ruling N4)."""
THOUSANDS = (",", ".", "'", "’", "_", " ", "\u00a0", "\u202f", "")
"""What may part groups of three digits; nothing: they are not parted."""
DECIMALS = (".", ",")
_GAP = "[ \u00a0\u202f]?"
"""What may stand between a number and its unit (ruling N5)."""
_CURRENCY = "[$€£¥₹¢]"
_UNIT_LIKE = "[A-Za-z%‰°$€£¥₹¢µΩ][A-Za-z%‰°$€£¥₹¢µΩ/^²³]{0,19}"
"""What looks like a unit, before a number and behind it (ruling N5): closed sets, the same in both engines."""
_META = frozenset("\\.+*?()|[]{}^$#&-~")


@dataclass(frozen=True)
class Notation:
    """One way to write numbers (rulings N4, N5)."""

    thousands: str = ","
    decimal: str = "."
    sign: bool = True
    unit: str = ""

    def form(self, more: str = "") -> str:
        """A number as it is to be written, with its unit or without."""
        return self._form("[-+]?" if self.sign else "", more)

    def signed_form(self, more: str = "") -> str:
        """The same, a sign being allowed in any case."""
        return self._form("[-+]?", more)

    def other_unit(self, more: str = "") -> str:
        """A number with something at one side that looks like a unit."""
        digits = self._digits(more)
        before = f"(?:[-+]?{_CURRENCY}{_GAP}|{_CURRENCY}{_GAP}[-+]?){digits}"
        return f"(?:[-+]?{digits}{_GAP}{_UNIT_LIKE}|{before})"

    @property
    def number_characters(self) -> str:
        """What numbers are written with, in this way or another, as a character class."""
        return f"[-+0-9.,'’_/eE−{escaped(self.thousands)}]"

    @property
    def piece(self) -> str:
        """What counts as one number where several stand in a text."""
        return f"[0-9]+(?:[.,{escaped(self.thousands)}][0-9]+)*" if self.thousands else "[0-9]+(?:[.,][0-9]+)*"

    @property
    def value_characters(self) -> str:
        """What does not decide the value of a number, its sign aside, as a character class."""
        return f"[^0-9{escaped(self.decimal)}]"

    def is_number(self, text: str) -> bool:
        """Whether a text is a number as it is to be written, of any length."""
        return self._compiled.form.fullmatch(text) is not None

    def value(self, text: str) -> str | None:
        """The exact value of a number, in one form for equal numbers; None for any other text (ruling N7).

        >>> Notation().value("007"), Notation().value("-0.00"), Notation().value("1,07")
        ('7', '0', None)
        """
        if not self.is_number(text):
            return None
        kept = self._compiled.without_value.sub("", text)
        whole, point, fraction = kept.partition(self.decimal)
        if len(kept) - len(point) > MOST_DIGITS:
            return None
        return _canonical(whole, fraction, negative="-" in text)

    def deviation(self, text: str) -> NumberDeviation:
        """What is wrong with a trimmed text that has no value: the first that applies (ruling N6)."""
        forms = self._compiled
        for pattern, deviation in (
            (forms.form, NumberDeviation.TOO_LONG),
            (forms.signed, NumberDeviation.SIGN_NOT_ALLOWED),
            (forms.other_unit, NumberDeviation.UNIT_UNKNOWN),
        ):
            if pattern.fullmatch(text):
                return deviation
        count = len(forms.piece.findall(text))
        if count and forms.written.fullmatch(text):
            return NumberDeviation.MALFORMED_NUMBER
        if not count:
            return NumberDeviation.NOT_A_NUMBER
        return NumberDeviation.SEVERAL_NUMBERS if count > 1 else NumberDeviation.TEXT_IN_ANSWER

    def written(self, value: str) -> str:
        """A value as this notation writes it, without groups and unit.

        >>> Notation(decimal=",", thousands="").written("0.5")
        '0,5'
        """
        return value.replace(".", self.decimal)

    def _form(self, sign: str, more: str) -> str:
        digits = self._digits(more)
        if not self.unit:
            return sign + digits
        unit = escaped(self.unit)
        before = f"(?:{sign}{unit}{_GAP}|{unit}{_GAP}{sign}){digits}"
        return f"(?:{sign}{digits}(?:{_GAP}{unit})?|{before})"

    def _digits(self, more: str) -> str:
        """Digits before and after the decimal separator; a first group of three does not begin with zero."""
        plain = f"[0-9]+{more}"
        groups = f"[1-9][0-9]{{0,2}}(?:{escaped(self.thousands)}[0-9]{{3}})+{more}"
        whole = f"(?:{groups}|{plain})" if self.thousands else plain
        return f"{whole}(?:{escaped(self.decimal)}[0-9]+{more})?"

    @cached_property
    def _compiled(self) -> "_Compiled":
        more = "+"
        return _Compiled(
            form=re.compile(self.form(more)),
            signed=re.compile(self.signed_form(more)),
            other_unit=re.compile(self.other_unit(more)),
            written=re.compile(f"{self.number_characters}*+"),
            piece=re.compile(self.piece),
            without_value=re.compile(self.value_characters),
        )


@dataclass(frozen=True, slots=True)
class _Compiled:
    """The regular expressions of one notation; each is linear on any text (ruling C4)."""

    form: re.Pattern[str]
    signed: re.Pattern[str]
    other_unit: re.Pattern[str]
    written: re.Pattern[str]
    piece: re.Pattern[str]
    without_value: re.Pattern[str]


def escaped(text: str) -> str:
    r"""A text as a regular expression that fits it alone, in either engine.

    >>> escaped("####"), escaped("km/h")
    ('\\#\\#\\#\\#', 'km/h')
    """
    return "".join(f"\\{character}" if character in _META else character for character in text)


def in_any_case(text: str) -> str:
    """The same, ASCII letters in either case; no other letter, such as the long s, passes for one of them.

    >>> in_any_case("No:")
    '[nN][oO]:'
    """
    return "".join(
        f"[{each.lower()}{each.upper()}]" if each.isascii() and each.isalpha() else escaped(each) for each in text
    )


def exact_text(number: object) -> str | None:
    """A number in plain digits with a point; None if it is none, is not finite or has too many digits.

    A float is taken by its `repr`: the decimal that people wrote, not the binary value behind it (ruling N7).

    >>> exact_text(1e-7), exact_text(-3), exact_text(True), exact_text(float("nan"))
    ('0.0000001', '-3', None, None)
    """
    if type(number) is int:
        return str(number) if abs(number) < 10**MOST_DIGITS else None
    value = Decimal(repr(number)) if type(number) is float else number
    if not isinstance(value, Decimal) or not value.is_finite() or abs(value.adjusted()) >= MOST_DIGITS:
        return None
    return f"{value:f}"


def _canonical(whole: str, fraction: str, *, negative: bool) -> str:
    digits, decimals = whole.lstrip("0") or "0", fraction.rstrip("0")
    value = f"{digits}.{decimals}" if decimals else digits
    return f"-{value}" if negative and value != "0" else value
