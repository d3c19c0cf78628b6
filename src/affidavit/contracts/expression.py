"""Arithmetic over whole numbers as the Game of 24 writes it: its grammar (ruling G7) and its exact value.

A text is an expression if its tokens may follow each other and its parentheses close; both are decided by
regular expressions and a running sum, never by recursion, so any text is judged in linear time. Nothing is
ever passed to Python's own evaluator, and values are rationals: 8/(3-8/3) is 24, not nearly 24.
"""

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import accumulate, combinations

DEEPEST = 64
"""Parentheses open at once, at most (ruling G7)."""

# The characters of ruling G5: exactly six blanks count, so a no-break space is a foreign character.
_ALPHABET = re.compile(r"[-+*/()0-9 \t\n\v\f\r]*+")
_BLANKS = r" \t\n\v\f\r"
_OPERAND = rf"[-({_BLANKS}]*+(?:0|[1-9][0-9]*+)[){_BLANKS}]*+"
_SHAPE = re.compile(rf"{_OPERAND}(?:[-+*/]{_OPERAND})*+")
_LITERAL = re.compile("[0-9]+")
_BINARY = re.compile(rf"[0-9)][{_BLANKS}]*+[-+*/]")
_TOKEN = re.compile(r"[0-9]+|[-+*/()]")
_STEPS = bytes.maketrans(b"()", b"\x01\xff")
_NOT_PARENTHESES = bytes(code for code in range(256) if code not in b"()")


class Malformed(StrEnum):
    """Why a text is not an expression; the first that applies."""

    ILLEGAL_CHARACTERS = "illegal_characters"
    FORMAT_ERROR = "format_error"


@dataclass(frozen=True, slots=True)
class Expression:
    """A text that the grammar admits."""

    text: str

    def literals(self) -> Iterator[str]:
        """Its numbers as written, from left to right.

        They have no leading zeros, so two literals are the same number exactly if they are the same text.
        """
        return (match[0] for match in _LITERAL.finditer(self.text))

    def has_binary_operator(self) -> bool:
        """Whether anything is computed: `-7` alone is a number, not a calculation."""
        return _BINARY.search(self.text) is not None

    def value(self) -> Fraction:
        """Its exact value; ZeroDivisionError where it divides by zero."""
        return _evaluate(_TOKEN.findall(self.text))


def parse(text: str) -> Expression | Malformed:
    """The expression that the whole text is, or why it is none.

    >>> parse("(8-5)*(11-2)").value()
    Fraction(27, 1)
    >>> parse("8 x 3"), parse("8 3"), parse("08*3"), parse("+8")
    ... # doctest: +NORMALIZE_WHITESPACE
    (<Malformed.ILLEGAL_CHARACTERS: 'illegal_characters'>, <Malformed.FORMAT_ERROR: 'format_error'>,
     <Malformed.FORMAT_ERROR: 'format_error'>, <Malformed.FORMAT_ERROR: 'format_error'>)
    """
    if _SHAPE.fullmatch(text) is not None and _parentheses_close(text):
        return Expression(text)
    return Malformed.FORMAT_ERROR if _ALPHABET.fullmatch(text) else Malformed.ILLEGAL_CHARACTERS


def _parentheses_close(text: str) -> bool:
    """Whether every parenthesis has its partner and at most `DEEPEST` are open at once."""
    parentheses = text.encode("ascii").translate(_STEPS, _NOT_PARENTHESES)
    if not parentheses:
        return True
    depths = array("b", parentheses)
    if sum(depths) != 0:
        return False
    return min(accumulate(depths)) >= 0 and max(accumulate(depths)) <= DEEPEST


_BINDING = {"+": 1, "-": 1, "*": 2, "/": 2, "negate": 3}


def _evaluate(symbols: Sequence[str]) -> Fraction:
    """The value of the symbols of an expression, by two stacks (operator precedence)."""
    values: list[Fraction] = []
    pending: list[str] = []
    operand_next = True
    for symbol in symbols:
        if symbol == "(":
            pending.append(symbol)
        elif symbol == ")":
            while pending[-1] != "(":
                _apply(pending.pop(), values)
            pending.pop()
        elif symbol.isdigit():
            values.append(Fraction(int(symbol)))
        elif operand_next:
            pending.append("negate")
        else:
            while pending and pending[-1] != "(" and _BINDING[pending[-1]] >= _BINDING[symbol]:
                _apply(pending.pop(), values)
            pending.append(symbol)
        operand_next = symbol in "(+-*/"
    while pending:
        _apply(pending.pop(), values)
    return values[0]


def _apply(operator: str, values: list[Fraction]) -> None:
    right = values.pop()
    if operator == "negate":
        values.append(-right)
        return
    left = values.pop()
    if operator == "+":
        values.append(left + right)
    elif operator == "-":
        values.append(left - right)
    elif operator == "*":
        values.append(left * right)
    else:
        values.append(left / right)


def solve(numbers: Sequence[int], target: int = 24) -> str | None:
    """One expression that uses each number once and has the target as its value; None if there is none.

    Any count of numbers works; the search is exhaustive and doubles in size several times with each.

    >>> solve([3, 3, 8, 8])
    '8/(3-8/3)'
    >>> solve([1, 1, 1, 1]) is None
    True
    """
    terms = [(Fraction(number), str(number), 3) for number in numbers]
    solution = _combine(terms, Fraction(target), set())
    if solution is None and target < 0:
        # A minus in front is worth something only there: inside, subtraction can always be turned round.
        opposite = _combine(terms, Fraction(-target), set())
        return opposite and (f"-{opposite}" if len(numbers) == 1 else f"-({opposite})")
    return solution


_Term = tuple[Fraction, str, int]
"""Value, text, and how tightly its last operator binds (1 sum, 2 product, 3 number)."""


def _combine(terms: list[_Term], target: Fraction, seen: set[tuple[Fraction, ...]]) -> str | None:
    """Replace two terms by one in every way until one is left; `seen` holds what has failed before."""
    if len(terms) == 1:
        return terms[0][1] if terms[0][0] == target else None
    state = tuple(sorted(value for value, _, _ in terms))
    if not terms or state in seen:
        return None
    seen.add(state)
    for first, second in combinations(range(len(terms)), 2):
        rest = [term for place, term in enumerate(terms) if place not in (first, second)]
        for joined in _joined(terms[first], terms[second]):
            solution = _combine([*rest, joined], target, seen)
            if solution is not None:
                return solution
    return None


def _joined(one: _Term, other: _Term) -> Iterator[_Term]:
    """Every value that two terms make, with its text."""
    (a, _, _), (b, _, _) = one, other
    yield a + b, f"{_at(one, 1)}+{_at(other, 1)}", 1
    yield a * b, f"{_at(one, 2)}*{_at(other, 2)}", 2
    yield a - b, f"{_at(one, 1)}-{_at(other, 2)}", 1
    yield b - a, f"{_at(other, 1)}-{_at(one, 2)}", 1
    if b:
        yield a / b, f"{_at(one, 2)}/{_at(other, 3)}", 2
    if a:
        yield b / a, f"{_at(other, 2)}/{_at(one, 3)}", 2


def _at(term: _Term, binding: int) -> str:
    """The term's text, in parentheses where its own operator binds less than its place needs."""
    _, text, own = term
    return text if own >= binding else f"({text})"
