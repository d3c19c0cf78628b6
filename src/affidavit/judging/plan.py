"""The plan of a judging: which outputs are judged by whom, in which words, and what is kept of it.

The terms are frozen at the first judging (ruling J7): rubric, thresholds, prompts, date and the set of outputs.
Each planned judgement is one output, one judge, one condition of decoding and one repeat, under a key of its own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

from affidavit.archive.record import Kind
from affidavit.contracts.contract import RAW_OUTPUT, label
from affidavit.contracts.judge import Asked, Judge, JudgingMethod, own_method
from affidavit.contracts.rubric import Dimension, Level, MappingRule, Rubric, Thresholds
from affidavit.json_values import Fields, canonical, digest
from affidavit.judging.prompt import PROMPT_IDS, evaluation_schema, judge_messages, judge_template, nonce_of
from affidavit.models.model import Completion, Failure, Request

FREE, SCHEMA = "free", "schema"
"""The conditions of judging: as the judge likes, or held to the shape of an evaluation."""


class Output(NamedTuple):
    """One output that can be judged."""

    key: str
    """Of its record."""
    output_id: str
    question_id: str
    prompt_variant: str
    model: str
    """Who gave it, by its name in the study."""
    target_model: str
    """Who that is (ruling J13)."""
    sample: int
    text: str
    task: str
    """The words that it answers, as far as they are known."""


class NotArrived(NamedTuple):
    """An output that was planned and is not there: outside the identity, listed beside it."""

    question_id: str
    prompt_variant: str
    target_model: str
    sample: int
    why: str


@dataclass(frozen=True)
class Terms:
    """What is frozen at the first judging."""

    rubric: Rubric
    date: str
    """Given to every judge, the same for all requests."""
    outputs: tuple[str, ...]
    """The keys of the outputs, sorted."""

    @cached_property
    def contract(self) -> Judge:
        """The contract over this rubric."""
        return Judge(self.rubric)

    def facts(self) -> Fields:
        """Everything that the digest is over."""
        return {
            "contract": label(self.contract),
            "contract_params": dict(self.contract.params),
            "rubric": asdict(self.rubric),
            "prompts": {PROMPT_IDS[each]: digest(judge_template(self.contract, each)) for each in JudgingMethod},
            "date": self.date,
            "evaluation_set": {"count": len(self.outputs), "sha256": digest(self.outputs)},
        }

    @cached_property
    def digest(self) -> str:
        """By which these terms are told from others (ruling J7)."""
        return digest(self.facts())

    @classmethod
    def of(cls, facts: Mapping[str, Any], outputs: Iterable[str]) -> "Terms":
        """The terms whose facts these are."""
        return cls(rubric_of(facts["rubric"]), str(facts["date"]), tuple(outputs))


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
    decoding: Mapping[str, object]
    conditions: tuple[str, ...] = (FREE,)
    repeats: int = 1

    def facts(self) -> Fields:
        """As it is frozen."""
        return {
            "identity": self.identity,
            "decoding": dict(self.decoding),
            "conditions": list(self.conditions),
            "repeats": self.repeats,
        }

    @classmethod
    def of(cls, name: str, facts: Mapping[str, Any]) -> "JudgeTerms":
        """The terms that were frozen as these facts."""
        conditions = tuple(facts["conditions"])
        return cls(name, facts["identity"], facts["decoding"], conditions, int(facts["repeats"]))


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


class JudgeCell(NamedTuple):
    """One judge under one condition, on outputs of others or on its own."""

    judge: str
    judging_condition: str
    method: str


class Judgement(NamedTuple):
    """One output put to one judge, once."""

    key: str
    output: Output
    model: str
    """The judge."""
    condition: str
    repeat: int
    asked: Asked
    prompt_sha256: str
    request: Request


class JudgingPlan:
    """All judgements under frozen terms."""

    def __init__(self, study: str, seed: int, terms: Terms, judges: Sequence[JudgeTerms]) -> None:
        self.study = study
        self.terms = terms
        self.judges = {judge.name: judge for judge in judges}
        self._seed = seed
        self._set = frozenset(terms.outputs)

    def judgements(self, judge: str, outputs: Iterable[Output]) -> Iterator[Judgement]:
        """What one judge is asked about outputs; those outside the set are not judged."""
        terms = self.judges[judge]
        for output in outputs:
            if output.key in self._set:
                for condition in terms.conditions:
                    for repeat in range(1, terms.repeats + 1):
                        yield self.judgement(terms, output, condition, repeat)

    def judgement(self, judge: JudgeTerms, output: Output, condition: str, repeat: int) -> Judgement:
        """One judgement of the plan."""
        asked = self._asked(judge, output)
        nonce = nonce_of(
            judging=self.terms.digest,
            output=output.key,
            text=output.text,
            task=output.task,
            judge=judge.name,
            repeat=repeat,
        )
        said = judge_messages(self.terms.contract, asked, task=output.task, nonce=nonce)
        schema = evaluation_schema(self.terms.rubric, asked.meta) if condition == SCHEMA else None
        what = {
            "condition": condition,
            "decoding": judge.decoding,
            "judge": judge.name,
            "judged_key": output.key,
            "messages": said,
            "repeat": repeat,
            "schema": schema,
        }
        drawn = sha256(canonical([self._seed, "judging", output.key, repeat])).digest()
        seed = int.from_bytes(drawn[:4], "big") >> 1
        request = Request(said, judge.decoding, seed, repeat - 1, schema=schema)
        return Judgement(digest(what), output, judge.name, condition, repeat, asked, digest(said), request)

    @staticmethod
    def method(judge: JudgeTerms, target: str) -> JudgingMethod:
        """How a judge judges a target (ruling J13)."""
        return own_method(judge.identity, target)

    def _asked(self, judge: JudgeTerms, output: Output) -> Asked:
        meta = {
            "judge_model": judge.identity,
            "target_model": output.target_model,
            "question_id": output.question_id,
            "prompt_variant": output.prompt_variant,
            "output_id": output.output_id,
            "method": self.method(judge, output.target_model),
            "timestamp": self.terms.date,
        }
        return Asked(meta, output.text)

    # --- records ---

    def response(self, judgement: Judgement, completion: Completion) -> Fields:
        """The record of an evaluation, valid or not: what arrived, and everything that the contract says of it."""
        return {
            "kind": Kind.JUDGEMENT,
            **self.identity(judgement),
            RAW_OUTPUT: completion.text,
            **self.derived(judgement, completion.text),
            **completion.about(),
        }

    def failure(self, judgement: Judgement, failure: Failure) -> Fields:
        """The record of a judgement that nobody gave."""
        return {"kind": Kind.FAILURE, **self.identity(judgement), "reason": failure.reason}

    def identity(self, judgement: Judgement) -> Fields:
        """What every record says of its judgement."""
        output, schema = judgement.output, judgement.request.schema
        return {
            "key": judgement.key,
            "study": self.study,
            "judge": judgement.model,
            "judged_key": output.key,
            "judging_sha256": self.terms.digest,
            "judging_condition": judgement.condition,
            "repeat": judgement.repeat,
            "asked": dict(judgement.asked.meta),
            "item_id": output.question_id,
            "condition": output.prompt_variant,
            "model": output.model,
            "sample": output.sample,
            "prompt_sha256": judgement.prompt_sha256,
            "schema_sha256": None if schema is None else digest(schema),
        }

    def derived(self, judgement: Judgement, raw: str) -> Fields:
        """Every field that follows from the raw text, the judged output and the terms (ruling C2)."""
        contract = self.terms.contract
        reading = contract.read(raw, judgement.asked)
        return {
            "contract": label(contract),
            "contract_params": dict(contract.params),
            "rubric_sha256": self.terms.rubric.sha256(),
            "protocol_compliant": reading.protocol_compliant,
            **reading.fields(),
        }
