"""What was asked of whom, when and with which settings: the first thing on the page, in a few lines each.

Only what is known stands there. A study that was interrupted has several runs; outputs from elsewhere have files
instead, and nothing of requests.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from affidavit.archive.run_events import RunTimes
from affidavit.plain_text import counted_noun
from affidavit.results.page.costs import TokenSums
from affidavit.results.page.text import brief

MOST_NAMED, LONGEST, _IN_LINES = 8, 120, 3
"""Names that a fact lists, and characters of each: the setup has all of them in full; names that have lines of
their own, where nothing else is said of them."""


class Fact(NamedTuple):
    """One fact of a study, in lines."""

    name: str
    lines: Sequence[str]


@dataclass(frozen=True)
class Asked:
    """What a study is, as far as it is known, before it is put into words."""

    models: Sequence[tuple[str, Mapping[str, Any]]]
    """By name, as they were frozen."""
    tasks: Sequence[tuple[str, str, int]]
    """Name, contract in words, items; of outputs from elsewhere, rows."""
    conditions: Sequence[str]
    controls: frozenset[str] = frozenset()
    variants: bool = False
    """Whether all conditions are variants of prompts."""
    samples: int = 1
    decoding: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    counts: str = ""
    """Of questions, in words."""
    times: RunTimes = field(default_factory=RunTimes)
    tokens: TokenSums = field(default_factory=TokenSums)
    judge_tokens: TokenSums = field(default_factory=TokenSums)
    cost: str = ""
    """By the prices that runs knew of, in words."""
    judges: Sequence[str] = ()
    judged: str = ""
    """What they judged, in words."""
    files: Sequence[str] | None = None
    """Of outputs from elsewhere, the files that these were read from; None: nothing came from elsewhere."""


def overview(asked: Asked) -> list[Fact]:
    """The facts in the order in which they are asked for; one that is not known is left out."""
    return [Fact(name, lines) for name, lines in _facts(asked) if lines]


def _facts(asked: Asked) -> Iterator[tuple[str, list[str]]]:
    models = [_model(name, fields, asked.times) for name, fields in asked.models]
    plain_names = len(models) > _IN_LINES and models == [name for name, _ in asked.models]
    yield "models", _in_a_line(models) if plain_names else listed(models)
    noun = "item" if asked.files is None else "row"
    tasks = (f"{name}: {contract}, {counted_noun(size, noun)}" for name, contract, size in asked.tasks)
    yield "tasks", listed(tasks)
    controls = asked.controls
    if len(asked.conditions) > 1:
        named = [f"{name} (control)" if name in controls else name for name in asked.conditions]
        yield "prompt variants" if asked.variants else "conditions", _in_a_line(named)
    if asked.files is None:
        yield "settings", [", ".join(_settings(asked))]
    elif asked.files:
        yield "files", listed(asked.files)
    yield "outputs", [asked.counts]
    if asked.judges:
        yield "judges", [*listed(asked.judges), asked.judged]
    yield "run", list(_when(asked.times))
    if asked.tokens.counted:
        yield "tokens", [str(asked.tokens)]
    if asked.judge_tokens.counted:
        yield "tokens of judges", [str(asked.judge_tokens)]
    if asked.cost:
        yield "cost", [asked.cost]


def listed(lines: Iterable[str]) -> list[str]:
    """Each in a line of its own, and how many more there are."""
    every = list(lines)
    more = [f"and {len(every) - MOST_NAMED:,} more"] if len(every) > MOST_NAMED else []
    return [*(brief(line, LONGEST) for line in every[:MOST_NAMED]), *more]


def _in_a_line(names: Sequence[str]) -> list[str]:
    return [", ".join(listed(names))]


def _model(name: str, fields: Mapping[str, Any], times: RunTimes) -> str:
    """A model by its name in the study, by that at its server, or by the file of its weights.

    >>> known = RunTimes(models={"m": {"file": "m-q4.gguf", "quantisation": "Q4_1"}})
    >>> _model("m", {"model": "m"}, known), _model("m", {"model": "org/m-7b", "flavour": "vllm"}, RunTimes())
    ('m (m-q4.gguf, Q4_1)', 'm (org/m-7b)')
    """
    weights = times.models.get(name, {})
    if file := weights.get("file"):
        quantised = weights.get("quantisation")
        return f"{name} ({file}{f', {quantised}' if quantised and str(quantised) != 'None' else ''})"
    served = str(fields.get("model") or name)
    return name if served == name else f"{name} ({served})"


def _settings(asked: Asked) -> Iterator[str]:
    yield f"{counted_noun(asked.samples, 'sample')} of each item"
    words = {"temperature": "temperature", "top_p": "top-p", "max_tokens": "at most {} tokens"}
    for name, value in asked.decoding.items():
        if name in words:
            said = words[name]
            yield said.format(value) if "{}" in said else f"{said} {value}"
    if asked.seed is not None:
        yield f"seed {asked.seed}"


def _when(times: RunTimes) -> Iterator[str]:
    """The date and how long it took; of several runs how many there were, and from when until when.

    >>> from datetime import UTC
    >>> noon, later = datetime(2026, 3, 1, 12, tzinfo=UTC), datetime(2026, 3, 2, 13, 30, tzinfo=UTC)
    >>> list(_when(RunTimes(1, noon, later, later - noon)))
    ['1 March 2026, 12:00 UTC', 'took 25 h 30 min']
    >>> list(_when(RunTimes(3, noon, later, timedelta(minutes=4), without_end=1)))
    ['1 March 2026, 12:00 UTC, to 2 March 2026, 13:30 UTC, in 3 runs', 'took 4 min and one run that was cut off']
    """
    if times.began is None:
        return
    began, ended = moment(times.began), None if times.ended is None else moment(times.ended)
    until = f", to {ended}" if times.runs > 1 and ended not in (None, began) else ""
    yield f"{began}{until}{f', in {times.runs:,} runs' if times.runs > 1 else ''}"
    cut = "one run that was" if times.without_end == 1 else f"{times.without_end:,} runs that were"
    parts = [_duration(times.took)] if times.runs > times.without_end else []
    parts += [f"{cut} cut off"] if times.without_end else []
    yield f"took {' and '.join(parts)}"


_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
"""In English wherever the page is made: the same study has the same page."""


def moment(at: datetime) -> str:
    """A date and a time, to the minute."""
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}, {at:%H:%M} UTC"


def _duration(took: timedelta) -> str:
    """A duration in the two units that matter.

    >>> _duration(timedelta(seconds=0)), _duration(timedelta(seconds=95)), _duration(timedelta(hours=3, minutes=5))
    ('less than 1 s', '1 min 35 s', '3 h 5 min')
    """
    seconds = round(took.total_seconds())
    units = ((seconds // 3600, "h"), (seconds % 3600 // 60, "min"), (seconds % 60, "s"))
    first = next((at for at, (count, _) in enumerate(units) if count), None)
    if first is None:
        return "less than 1 s"
    return " ".join(f"{count} {unit}" for count, unit in units[first : first + 2] if count)
