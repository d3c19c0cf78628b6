"""Texts of a GBNF grammar, drawn at random: what a constrained model could write, without a model."""

import re
from collections.abc import Callable
from random import Random

TOKEN = re.compile(
    r"""\s*(?:(?P<literal>"(?:[^"\\]|\\.)*")|(?P<chars>\[(?:[^\]\\]|\\.)*\])|(?P<name>[a-z][a-z0-9-]*)
    |(?P<times>[?*]|\{\d+(?:,\d*)?\})|(?P<mark>[()|]))""",
    re.VERBOSE,
)
FREE = ["a", "B", "7", " ", "é", "漢", "😀", "{", "}", "[", "`", "'", "/", "\u2028"]
"""What stands for all characters but a few."""
MORE = 3
"""How often more than the least a thing is repeated, at most."""
Draw = Callable[[Random], str]


def texts_of(grammar: str) -> Draw:
    """Draws a text of the grammar; of repetitions and options mostly the shorter ones."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.splitlines())
    parsed = {name: _Rule(rule, rules).alternatives() for name, rule in rules.items()}

    def write(alternatives: list, chance: Random) -> str:
        return "".join(one(part, chance) for part in chance.choice(alternatives))

    def one(part: tuple, chance: Random) -> str:
        kind, what, least, most = part
        times = least if most == least else chance.randint(least, least + MORE if most is None else most)
        if most is not None and most > least + MORE and chance.random() < 0.9:
            times = chance.randint(least, least + MORE)
        made = {
            "literal": lambda: what,
            "chars": lambda: chance.choice(what),
            "name": lambda: write(parsed[what], chance),
            "group": lambda: write(what, chance),
        }[kind]
        return "".join(made() for _ in range(times))

    return lambda chance: write(parsed["root"], chance)


class _Rule:
    def __init__(self, rule: str, rules: dict[str, str]) -> None:
        self._tokens = [(match.lastgroup, match[match.lastgroup]) for match in TOKEN.finditer(rule)]
        assert "".join(text for _, text in self._tokens) == re.sub(
            r'("(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\])|\s+', lambda match: match[1] or "", rule
        ), rule
        assert {text for kind, text in self._tokens if kind == "name"} <= rules.keys(), rule
        self._at = 0

    def alternatives(self) -> list[list[tuple]]:
        """Lists of parts, each with its kind, content, least and most repetitions."""
        found: list[list[tuple]] = [[]]
        while self._at < len(self._tokens):
            kind, text = self._tokens[self._at]
            self._at += 1
            match kind, text:
                case "mark", ")":
                    break
                case "mark", "|":
                    found.append([])
                case "mark", _:
                    found[-1].append(("group", self.alternatives(), 1, 1))
                case "times", _:
                    found[-1].append((*found[-1].pop()[:2], *_bounds(text)))
                case "literal", _:
                    found[-1].append((kind, _unescaped(text[1:-1]), 1, 1))
                case "chars", _:
                    found[-1].append((kind, _characters(text[1:-1]), 1, 1))
                case _:
                    found[-1].append((kind, text, 1, 1))
        return found


def _bounds(times: str) -> tuple[int, int | None]:
    if times in ("?", "*"):
        return 0, 1 if times == "?" else None
    least, comma, most = times[1:-1].partition(",")
    return int(least), int(most) if most else None if comma else int(least)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _characters(inside: str) -> list[str]:
    if inside.startswith("^"):
        return FREE
    spelt = re.sub(r"(\d)-(\d)", lambda match: "".join(map(str, range(int(match[1]), int(match[2]) + 1))), inside)
    return list(dict.fromkeys(_unescaped(spelt)))
