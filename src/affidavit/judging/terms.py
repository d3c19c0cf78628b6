"""The terms of a judging, frozen before the first judge is asked (ruling J7): rubric, prompts, date, outputs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from affidavit.archive.study_directory import NotArrived
from affidavit.contracts.contract import label
from affidavit.contracts.evaluation import JudgingMethod
from affidavit.contracts.judge import Judge
from affidavit.contracts.rubric import Dimension, Level, MappingRule, Rubric, Thresholds
from affidavit.json_values import Fields, digest
from affidavit.judging.prompt import PROMPT_IDS, judge_template
from affidavit.models.model import Message

FREE, SCHEMA = "free", "schema"
"""The conditions of judging: as the judge likes, or held to the shape of an evaluation."""

_FEWEST_DIGITS = 8
"""Of the id of an output."""


@dataclass(frozen=True)
class Terms:
    """What is frozen at the first judging."""

    rubric: Rubric
    date: str
    """Given to every judge, the same for all requests."""
    outputs: tuple[str, ...]
    """The keys of the outputs, sorted."""
    aliases: Mapping[str, str] | None = None
    """What judges are given in place of each target's name; None: the names (ruling J16)."""
    without_task: bool = False
    """Whether judges are told that the words of the task are not known."""

    @property
    def blind(self) -> bool:
        """Whether judges do not learn whose output they judge."""
        return self.aliases is not None

    @cached_property
    def contract(self) -> Judge:
        """The contract over this rubric."""
        return Judge(self.rubric)

    @cached_property
    def short_ids(self) -> Mapping[str, str]:
        """For every output of the set the shortest head of its key that no other has, of at least 8 digits.

        Judges must copy it, and many copy 64 digits wrongly (ruling J14). It follows from the frozen set, so it is
        the same for a judge that joins later.

        >>> from affidavit.contracts.rubric import DEFAULT
        >>> keys = "1234567890aa", "1234567891bb", "ffffffffffff"
        >>> list(Terms(DEFAULT, "2026-01-05", keys).short_ids.values())
        ['1234567890', '1234567891', 'ffffffff']
        """
        keys = sorted(self.outputs)
        shared = [_length_of_common_head(*pair) for pair in pairwise(keys)]
        longest = (max(pair) for pair in zip([0, *shared], [*shared, 0], strict=True))
        return {key: key[: max(_FEWEST_DIGITS, size + 1)] for key, size in zip(keys, longest, strict=True)}

    @property
    def methods(self) -> tuple[JudgingMethod, ...]:
        """The methods that judges are given: one for all where they must not learn whose output it is."""
        return (JudgingMethod.CROSS,) if self.blind else tuple(JudgingMethod)

    def template(self, method: JudgingMethod) -> tuple[Message, ...]:
        """What judges are given under a method, with placeholders."""
        return judge_template(self.contract, method, without_task=self.without_task)

    def facts(self) -> Fields:
        """Everything that the digest is over."""
        return {
            "contract": label(self.contract),
            "contract_params": dict(self.contract.params),
            "rubric": asdict(self.rubric),
            "prompts": {PROMPT_IDS[each]: digest(self.template(each)) for each in self.methods},
            "blind": self.blind,
            "aliases": dict(self.aliases or {}),
            "date": self.date,
            "evaluation_set": {"count": len(self.outputs), "sha256": digest(self.outputs)},
            # Only where it holds: every other judging keeps the digest that it always had.
            **({"without_task": True} if self.without_task else {}),
        }

    @cached_property
    def digest(self) -> str:
        """By which these terms are told from others (ruling J7)."""
        return digest(self.facts())

    @classmethod
    def of(cls, facts: Mapping[str, Any], outputs: Iterable[str]) -> "Terms":
        """The terms whose facts these are."""
        aliases = dict(facts["aliases"]) if facts["blind"] else None
        without_task = facts.get("without_task", False) is True
        return cls(rubric_of(facts["rubric"]), str(facts["date"]), tuple(outputs), aliases, without_task)


def aliases_of(targets: Iterable[str], outputs: Sequence[str]) -> dict[str, str]:
    """An alias for each target: the same for all its outputs, and no judge can tell it from the name (ruling J16).

    It is a digest over the keys of all outputs and the name, so that the same set gives the same aliases.

    >>> aliases_of(["gpt", "qwen"], ["0" * 64])
    {'gpt': 'model-b9ae75c0', 'qwen': 'model-d9edcff2'}
    """
    secret, targets = digest(list(outputs)), sorted(targets)
    full = {target: digest(["alias", secret, target]) for target in targets}
    size = next(size for size in range(8, 65) if len({each[:size] for each in full.values()}) == len(full))
    return {target: f"model-{full[target][:size]}" for target in targets}


def _length_of_common_head(one: str, other: str) -> int:
    return next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one)
    )


def rubric_of(fields: Mapping[str, Any]) -> Rubric:
    """The rubric that was frozen as these fields."""
    limits = fields["thresholds"]
    return Rubric(
        fields["name"],
        tuple(Dimension(**each) for each in fields["dimensions"]),
        tuple(Level(**each) for each in fields["scale"]),
        Thresholds(limits["pass_from"], limits["fail_to"], tuple(limits["pass_needs_nonzero"])),
        fields["maps_to"],
        MappingRule(fields["maps_by"]),
    )


@dataclass(frozen=True)
class JudgeTerms:
    """How one judge is asked; frozen when it is first asked."""

    name: str
    """In the study, or in the file of models."""
    identity: str
    request: Mapping[str, object]
    """What every request to it carries beside messages, seed and schema, merged (ruling C9)."""
    conditions: tuple[str, ...] = (FREE,)
    repeats: int = 1

    def facts(self) -> Fields:
        """As it is frozen."""
        return {
            "identity": self.identity,
            "request": dict(self.request),
            "conditions": list(self.conditions),
            "repeats": self.repeats,
        }


@dataclass(frozen=True)
class FrozenJudging:
    """A judging as it stands in a study's directory."""

    terms: Terms
    judges: tuple[JudgeTerms, ...]
    not_arrived: tuple[NotArrived, ...]
    """Outputs that were planned and were not there when the set was frozen."""
    tasks: tuple[str, ...]
    targets: Mapping[str, int]
    """How many outputs of the set each target gave."""

    @property
    def repeats(self) -> dict[str, int]:
        """How often each judge is asked about an output, under each of its conditions."""
        return {judge.name: judge.repeats for judge in self.judges}
