"""Tokens as servers counted them, in a line for each model that was asked or that judged."""

from collections.abc import Iterable, Mapping

from affidavit.plain_text import counted_noun, plain
from affidavit.reading.tally import Tally

_COUNTS = {"in": "prompt_tokens", "out": "completion_tokens"}


def token_line(who: str, tally: Tally, noun: str) -> str | None:
    """The tokens of one model; None if nothing arrived from it.

    >>> counted = Tally(compliant=2)
    >>> counted.add_tokens({"prompt_tokens": 900, "completion_tokens": 300})
    >>> counted.add_tokens({"prompt_tokens": 800, "completion_tokens": 300})
    >>> token_line("ja", counted, "output")
    'tokens of ja: 1,700 in, 600 out, as counted by the server for 2 outputs'
    >>> token_line("mc", Tally(compliant=2), "output")
    'mc: its server counted no tokens'
    """
    tokens = tally.tokens
    # A count that a server gave as a text is none: it is left out, and not said to be 0.
    counts = ", ".join(f"{tokens[name]:,} {word}" for word, name in _COUNTS.items() if name in tokens)
    if counts:
        many = counted_noun(tokens["outputs"], noun)
        return f"tokens of {plain(who)}: {counts}, as counted by the server for {many}"
    arrived = tally.arrived + tally.unread
    return f"{plain(who)}: its server counted no tokens" if arrived else None


def tallies_by(cells: Iterable[tuple[str, Tally]]) -> dict[str, Tally]:
    """The counts of each name together, in the order in which names come first.

    >>> list(tallies_by([("a", Tally(failed=1)), ("b", Tally()), ("a", Tally(failed=1))]).items())[0][1].failed
    2
    """
    found: dict[str, list[Tally]] = {}
    for name, tally in cells:
        found.setdefault(name, []).append(tally)
    return {name: Tally.total(tallies) for name, tallies in found.items()}


def tokens_json(tallies: Mapping[str, Tally]) -> dict[str, object]:
    """By name, what its server counted under its own names; empty where it counted nothing."""
    return {name: dict(sorted(tally.tokens.items())) for name, tally in tallies.items()}
