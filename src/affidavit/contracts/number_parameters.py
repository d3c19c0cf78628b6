"""The parameters of number/1: what each may be, and the refusal of what it may not.

They come from study files, command lines and directories that somebody sent: any value may be given.
"""

from unicodedata import category

from affidavit.contracts.notation import DECIMALS, MOST_DIGITS, THOUSANDS, Notation, exact_text
from affidavit.errors import ParameterError
from affidavit.json_values import shown

LONGEST_MARKER, LONGEST_UNIT = 50, 20
"""Characters, at most."""
_SIGNS = frozenset("+\u2212\u00b1\u2213\u02d6\u02d7\u2043\u2052\ufb29\ufe62\uff0b\u2795\u2796")
"""Plus and minus in their many forms; hyphens and dashes are a category of their own."""
_RAISED_SIGNS = frozenset("\u207a\u207b\u208a\u208b")
"""Signs of exponents and indices: within a unit they belong there, as in s⁻¹."""


def refuse_separators(thousands: object, decimal: object) -> None:
    """Separators of a closed list that differ (ruling N4)."""
    if decimal not in DECIMALS:
        raise _refusal("decimal", "a point or a comma", decimal)
    if thousands not in THOUSANDS:
        raise _refusal("thousands", "one of , . ' ’ _, a blank or a no-break space, or nothing", thousands)
    if thousands == decimal:
        other = "." if decimal == "," else ","
        raise ParameterError(
            "thousands",
            expected="another character than in decimal",
            found=shown(thousands),
            hint="With {}, say {} or {}, which allows none.",
            say=[("decimal", decimal), ("thousands", other), ("thousands", "")],
        )


def refuse_sign(sign: object) -> None:
    """Yes or no."""
    if type(sign) is not bool:
        raise _refusal("sign", "true or false", sign)


def refuse_marker(marker: object) -> None:
    """A text that begins a line and never runs into the number behind it (ruling N3)."""
    if not isinstance(marker, str) or not _is_line(marker, LONGEST_MARKER) or "<" in marker or _runs_on(marker):
        expected = f"at most {LONGEST_MARKER} printable characters, no outer blanks, no <, no digit or sign last"
        raise _refusal("marker", expected, marker)


def refuse_unit(unit: object, thousands: str, decimal: str) -> None:
    """A text that no part of a number can be taken for (ruling N5)."""
    taken = {*"<>", *DECIMALS, thousands, decimal}
    if not isinstance(unit, str) or not _is_line(unit, LONGEST_UNIT) or taken & set(unit) or _is_numeral(unit):
        expected = f"at most {LONGEST_UNIT} characters, no outer blanks, digits, signs, separators, < or >"
        raise _refusal("unit", expected, unit)


def _runs_on(marker: str) -> bool:
    """Whether the end of a marker could be the beginning of a number."""
    return any(_is_digit_or_sign(last) or last in _RAISED_SIGNS for last in marker[-1:])


def _is_numeral(unit: str) -> bool:
    """Whether a part of a unit could be one of the number: a digit, a sign, an exponent or a fraction."""
    at_the_edge = any(each in _RAISED_SIGNS for each in (unit[:1], unit[-1:]))
    begins_with_number = any(category(first) in ("No", "Nl") for first in unit[:1])
    return at_the_edge or begins_with_number or any(map(_is_digit_or_sign, unit))


def _is_digit_or_sign(character: str) -> bool:
    """Of any script and in any form, as people see a number in all of them.

    >>> [_is_digit_or_sign(each) for each in "7-\u2212\u2013\uff17$"]
    [True, True, True, True, True, False]
    """
    return character in _SIGNS or category(character) in ("Nd", "Pd")


def exact_tolerance(given: object) -> str:
    """The tolerance as exact text in its one form (ruling N7).

    >>> exact_tolerance(0.10), exact_tolerance("1.50")
    ('0.1', '1.5')
    """
    text = given if isinstance(given, str) else exact_text(given)
    value = None if text is None else Notation(thousands="", sign=False).value(text)
    if value is None:
        expected = f"a number from 0 of at most {MOST_DIGITS} digits, a text with a decimal point"
        raise _refusal("tolerance", expected, given)
    return value


def shown_number(value: object) -> str:
    """A value for a message; Python refuses to write out integers of more than 4,300 digits."""
    return "an integer of too many digits" if type(value) is int and exact_text(value) is None else shown(value)


def _refusal(name: str, expected: str, found: object) -> ParameterError:
    return ParameterError(name, expected=expected, found=shown_number(found))


def _is_line(text: str, longest: int) -> bool:
    return len(text) <= longest and text.isprintable() and text == text.strip()
