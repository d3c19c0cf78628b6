"""Records: what became of one question, typed from the line on the disk to the page.

A response arrived; a failure says why none did; a judgement is what a judge said of a response; a label is what a
person said of one. Each stands on a line of its own (see `checked_lines`), with its place in the journal:

    >>> asked = ImportIdentity(
    ...     key="0" * 64, study="s", task="t", item_id="q1", model="m", condition="c", sample=0, output_id="o",
    ...     prompt=None, row={"subject": "art"},
    ... )
    >>> response = Response(asked, "é", "text/1", {}, True, {})
    >>> line = encode(response, seq=1, group=1)
    >>> any_record(content_of(line)) == Placed(seq=1, group=1, record=response)
    True

This is the one place that knows how the parts of a record are called on a line. The types are structs of msgspec,
frozen and slotted like a dataclass, at half its cost: reports decode a million of them.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from hashlib import sha256
from itertools import product
from types import NoneType
from typing import Any, ClassVar, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict, replace

from affidavit.archive.checked_lines import content_of, with_checksum
from affidavit.archive.json_bytes import loads
from affidavit.archive.line_shapes import NotARecordError, Shape, check_nothing_left, check_type
from affidavit.archive.versions import FORMAT
from affidavit.contracts.contract import COMPLIANT, RAW_OUTPUT
from affidavit.contracts.evaluation import META
from affidavit.json_values import Fields, canonical, shown


class RecordKind(StrEnum):
    """What a record tells of."""

    RESPONSE = "response"
    FAILURE = "failure"
    JUDGEMENT = "judgement"
    LABEL = "label"


# --- what a record is about ---


class QuestionIdentity(Struct, frozen=True):
    """A question of a study's plan, asked once."""

    key: str
    """What its record is kept under: a digest of everything that was asked."""
    study: str
    task: str
    item_id: str
    model: str
    condition: str
    sample: int
    prompt_sha256: str
    grammar_sha256: str | None

    @property
    def cell(self) -> tuple[str, str, str]:
        """What it is counted with: its task, model and condition."""
        return self.task, self.model, self.condition


class ImportIdentity(Struct, frozen=True):
    """An output that came from elsewhere; what it answers is known as far as whoever brought it has said."""

    key: str
    study: str
    task: str
    item_id: str
    model: str
    condition: str
    sample: int
    output_id: str | None
    """The row's own name for the output; None where it has none."""
    prompt: str | None
    """The words that it answers, where the row has them."""
    row: Fields = {}
    """All other fields of the row: what its item is made of, and whatever else stood beside the text."""

    @property
    def cell(self) -> tuple[str, str, str]:
        """What it is counted with: its task, model and condition."""
        return self.task, self.model, self.condition


class JudgementIdentity(Struct, frozen=True):
    """One output put to one judge, once."""

    key: str
    study: str
    judge: str
    judged_key: str
    """The key of the response that is judged."""
    judging_sha256: str
    judging_condition: str
    repeat: int
    asked: Mapping[str, str]
    """The meta that the judge was given and must state, by the names of the protocol."""
    target_model: str
    """Whose output it is; the judge was given an alias if the judging is blind (ruling J16)."""
    method: str
    """Whether that is the judge itself, whatever it was given."""
    blind: bool
    item_id: str
    condition: str
    model: str
    """Whose output it is, by its name in the study."""
    sample: int
    prompt_sha256: str
    schema_sha256: str | None

    @property
    def cell(self) -> tuple[str, str, str]:
        """What it is counted with: its judge, condition of judging, and method."""
        return self.judge, self.judging_condition, self.method


# --- the records ---


class Response(Struct, frozen=True):
    """An output that arrived, verbatim, and everything that its contract says of it."""

    kind: ClassVar[RecordKind] = RecordKind.RESPONSE
    subject: QuestionIdentity | ImportIdentity
    raw_output: str
    contract: str
    contract_params: Fields
    protocol_compliant: bool | None
    """None if the contract could not read it (ruling C8)."""
    fields: Fields
    """The contract's own fields, by the contract's own names."""
    finish_reason: str | None = None
    reasoning: str | None = None
    rendered_prompt: str | None = None
    usage: Mapping[str, int | str] | None = None
    server_model: str | None = None
    """What the server said that it is (ruling C9)."""
    system_fingerprint: str | None = None
    keyed: bool | None = None
    """Whether the right answer is known; None where nothing says so."""

    @property
    def key(self) -> str:
        """What it is kept under."""
        return self.subject.key

    @property
    def correct(self) -> bool | None:
        """Whether the answer is right; None where there is nothing to compare."""
        return True if (said := self.fields.get("correct")) is True else (False if said is False else None)

    @property
    def reading(self) -> Fields:
        """What the contract says of the text, as the fields that a row of such texts gains."""
        return {COMPLIANT: self.protocol_compliant, **self.fields}


class Failed(Struct, frozen=True):
    """No output arrived: nothing is known of the model's skill."""

    kind: ClassVar[RecordKind] = RecordKind.FAILURE
    subject: QuestionIdentity | ImportIdentity | JudgementIdentity
    reason: str
    keyed: bool | None = None
    """Of an output from elsewhere: whether the right answer is known. A plan's items say so themselves."""

    @property
    def key(self) -> str:
        """What it is kept under."""
        return self.subject.key


class RecordedFinding(Struct, frozen=True, kw_only=True):
    """One thing that speaks against an evaluation, with its place in the judge's JSON."""

    # In the order of the line, which is also that of the files of the trees.
    code: str
    expected: str
    found: str
    path: str


class RecordedCount(Struct, frozen=True, kw_only=True):
    """How many more findings of a code there were than are kept."""

    code: str
    count: int


class RecordedQuote(Struct, frozen=True, kw_only=True):
    """One quote of a judge, what became of it, and where it stands in the judged output."""

    dimension: str
    end: int | None
    kind: str
    quote: str
    start: int | None


class Judgement(Struct, frozen=True):
    """A judge's answer, verbatim, and everything that the judge contract says of it."""

    kind: ClassVar[RecordKind] = RecordKind.JUDGEMENT
    subject: JudgementIdentity
    raw_output: str
    contract: str
    contract_params: Fields
    rubric_sha256: str
    protocol_compliant: bool
    valid: bool
    """The same, by the name that people know it under."""
    flags: tuple[str, ...]
    findings: tuple[RecordedFinding, ...]
    further_findings: tuple[RecordedCount, ...]
    judge_flags: tuple[str, ...]
    """Those that the judge itself raised."""
    further_judge_flags: int
    scores: Mapping[str, int] | None
    verdict: str | None
    evidence: tuple[RecordedQuote, ...]
    evidence_checked: bool
    identifiers_checked: bool
    finish_reason: str | None = None
    reasoning: str | None = None
    rendered_prompt: str | None = None
    usage: Mapping[str, int | str] | None = None
    server_model: str | None = None
    system_fingerprint: str | None = None

    @property
    def key(self) -> str:
        """What it is kept under."""
        return self.subject.key

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all findings, each once: also of those that are only counted."""
        kept, further = (each.code for each in self.findings), (each.code for each in self.further_findings)
        return tuple(dict.fromkeys([*kept, *further]))

    @property
    def reading(self) -> Fields:
        """What the contract says of the text, as the fields that a row of such texts gains."""
        return {
            COMPLIANT: self.protocol_compliant,
            "valid": self.valid,
            "flags": list(self.flags),
            "findings": [asdict(finding) for finding in self.findings],
            "further_findings": [asdict(further) for further in self.further_findings],
            "judge_flags": list(self.judge_flags),
            "further_judge_flags": self.further_judge_flags,
            "scores": self.scores,
            "verdict": self.verdict,
            "evidence": [asdict(quote) for quote in self.evidence],
            "evidence_checked": self.evidence_checked,
            "identifiers_checked": self.identifiers_checked,
        }


class Label(Struct, frozen=True):
    """What a person said of an output; no part of the root digest."""

    kind: ClassVar[RecordKind] = RecordKind.LABEL
    labelled_key: str
    """The key of the response."""
    about: str
    """What was asked: the verdict, a score, whether it is correct, its answer, or a name of the study's own."""
    value: str | int | float | bool
    rater: str
    date: str
    """The day, as in 2026-01-31; empty where it came with data that does not say."""
    text_sha256: str
    """Of the output's text, as the rater was shown it: the key says only what was asked."""
    column: str | None = None
    """Where it stood in the row of its output, if it came with that; such a label was never drawn."""


Record: TypeAlias = Response | Failed | Judgement | Label


# --- onto a line ---


def record_fields(record: Record) -> Fields:
    """All that a record says, by the names on its line, what it is about first."""
    if isinstance(record, Label):
        said = asdict(record)
        # Only where there is one: every other label keeps the form that it always had.
        return {"kind": RecordKind.LABEL, **{name: said[name] for name in said if said[name] is not None}}
    if isinstance(record, Failed):
        known = {} if record.keyed is None else {"keyed": record.keyed}
        return {"kind": RecordKind.FAILURE, **asdict(record.subject), "reason": record.reason, **known}
    own: Fields
    if isinstance(record, Response):
        own = {} if record.keyed is None else {"keyed": record.keyed}
    else:
        own = {"rubric_sha256": record.rubric_sha256}
    return {
        "kind": record.kind,
        **asdict(record.subject),
        RAW_OUTPUT: record.raw_output,
        "contract": record.contract,
        "contract_params": record.contract_params,
        **record.reading,
        **own,
        "finish_reason": record.finish_reason,
        "reasoning": record.reasoning,
        "rendered_prompt": record.rendered_prompt,
        "usage": record.usage,
        "server_model": record.server_model,
        "system_fingerprint": record.system_fingerprint,
    }


class Encoded(NamedTuple):
    """A record as the journal has it."""

    line: bytes
    content_digest: bytes
    """Of what it says, wherever it stands: see `content_digest`."""


def encode(record: Record, *, seq: int, group: int) -> bytes:
    """The line of a record."""
    return encoded(record, seq=seq, group=group).line


def encoded(record: Record, *, seq: int, group: int) -> Encoded:
    """The line of a record and the digest of what it says, each of its fields being made JSON of once."""
    sections = _sections(record_fields(record))
    before, to_seq, to_version, after = [canonical(section)[1:-1] for section in sections]
    place = (before, b'"group":%d' % group, to_seq, b'"seq":%d' % seq, to_version, b'"v":%d' % FORMAT, after)
    line = with_checksum(b"{" + b",".join(filter(None, place)))
    if isinstance(record, Failed) and not isinstance(record.subject, ImportIdentity):
        return Encoded(line, content_digest(record))
    content = b",".join(filter(None, (before, to_seq, to_version, after)))
    return Encoded(line, sha256(b"{%b}" % content).digest())


def _sections(fields: Fields) -> tuple[Fields, Fields, Fields, Fields]:
    """The fields that stand on a line before, between and behind those that say where it stands."""
    before: Fields = {}
    to_seq: Fields = {}
    to_version: Fields = {}
    after: Fields = {}
    for name, value in fields.items():
        if name < "group":
            before[name] = value
        elif name < "seq":
            to_seq[name] = value
        elif name < "v":
            to_version[name] = value
        else:
            after[name] = value
    return before, to_seq, to_version, after


def content_digest(record: Record) -> bytes:
    """The digest of what a record says, wherever it stands.

    Of a failure only the reason counts: how often it was tried is a fact about the day, not about the study. Of an
    output from elsewhere nothing was tried, and its row is all that there is.
    """
    if isinstance(record, Failed) and not isinstance(record.subject, ImportIdentity):
        return sha256(canonical({"kind": RecordKind.FAILURE, "key": record.key, "reason": record.reason})).digest()
    return sha256(canonical(record_fields(record))).digest()


def content_digest_of(line: bytes, placed: "Placed") -> bytes:
    """The same, from the line that the record stands on: its bytes but for those that say where it stands.

    To encode it once more would take as long as everything else that is done with a record that is read.
    """
    if isinstance(placed.record, Failed) and not isinstance(placed.record.subject, ImportIdentity):
        return content_digest(placed.record)
    content = content_of(line)
    for position in (b'"group":%d,' % placed.group, b'"seq":%d,' % placed.seq, b',"v":%d' % FORMAT):
        if content.count(position) != 1:  # an object in the record has such a field too
            return content_digest(placed.record)
        content = content.replace(position, b"")
    return sha256(content).digest()


# --- from a line ---

MOST_USAGE = 2**53


class Placed(Struct, frozen=True):
    """A record and its place in the journal."""

    seq: int
    group: int
    """The number of the first record of the group that it was finished with."""
    record: Record


def any_record(content: bytes) -> Placed:
    """The record that a JSON object says, whichever it is. Raises NotARecordError if it says none."""
    try:
        fields: Fields = loads(content)
    except (ValueError, RecursionError) as error:
        raise NotARecordError("JSON", "something else") from error
    if type(fields) is not dict:
        raise NotARecordError("an object", shown(fields))
    if type(version := fields.pop("v", None)) is not int or version != FORMAT:
        raise NotARecordError(f"a line of version {FORMAT}", f"version {shown(version)}")
    kind = fields.pop("kind", None)
    decoder = _DECODERS.get(kind) if isinstance(kind, str) else None
    if decoder is None:
        raise NotARecordError(f"one of {', '.join(RecordKind)} in 'kind'", shown(kind))
    return decoder(fields)


class _Place(Struct, frozen=True):
    """Where a record stands."""

    seq: int
    group: int


_OWN = ("subject", "fields", "keyed")
"""What of a record is made up of several fields, or is not always there."""
_RESPONSE = Shape(_Place, QuestionIdentity, Response, without=_OWN)
_IMPORTED = Shape(_Place, ImportIdentity, Response, without=_OWN)
_FAILED = Shape(_Place, QuestionIdentity, Failed, without=_OWN)
_FAILED_IMPORT = Shape(_Place, ImportIdentity, Failed, without=_OWN)
_FAILED_JUDGEMENT = Shape(_Place, JudgementIdentity, Failed, without=_OWN)
_JUDGEMENT = Shape(_Place, JudgementIdentity, Judgement, without=_OWN)
_LABEL = Shape(_Place, Label, without=("column",))
_FINDING, _QUOTE, _FURTHER = Shape(RecordedFinding), Shape(RecordedQuote), Shape(RecordedCount)
_QUESTION_END = 2 + len(QuestionIdentity.__struct_fields__)
_IMPORT_END = 2 + len(ImportIdentity.__struct_fields__)
_JUDGED_END = 2 + len(JudgementIdentity.__struct_fields__)
_KEY_LENGTH = 64
_SOMETIMES_KINDS = ((bool, NoneType), (bool, NoneType), (str, NoneType))
_SOMETIMES = frozenset(product(*_SOMETIMES_KINDS))
"""Of the fields of a response that are not always there."""


def _response(fields: Fields) -> Placed:
    # A contract may have a field `output_id` of its own; the digest of the prompt is never a contract's.
    subject: QuestionIdentity | ImportIdentity
    if "prompt_sha256" in fields:
        values, end = _RESPONSE.take(fields), _QUESTION_END
        subject = QuestionIdentity(*values[2:end])
    else:
        values, end = _IMPORTED.take(fields), _IMPORT_END
        subject = ImportIdentity(*values[2:end])
    raw, contract, params, compliant, finish_reason, reasoning, rendered, *told = values[end:]
    usage, server_model, fingerprint = told
    keyed: Any = fields.pop("keyed", None)
    _check_key(subject.key, "key")
    if usage is not None:
        _check_usage(usage)
    sometimes = keyed, fields.get("correct"), fields.get("unread")
    if tuple(map(type, sometimes)) not in _SOMETIMES:
        for name, value, kinds in zip(("keyed", "correct", "unread"), sometimes, _SOMETIMES_KINDS, strict=True):
            check_type(value, kinds, name)
    response = Response(
        subject,
        raw,
        contract,
        params,
        compliant,
        dict(sorted(fields.items())),
        finish_reason,
        reasoning,
        rendered,
        usage,
        server_model,
        fingerprint,
        keyed,
    )
    return Placed(values[0], values[1], response)


def _failed(fields: Fields) -> Placed:
    subject: QuestionIdentity | ImportIdentity | JudgementIdentity
    keyed: Any = None
    if "judged_key" in fields:
        values = _FAILED_JUDGEMENT.take(fields)
        subject = _judged(values[2:_JUDGED_END])
    elif "row" in fields:
        values = _FAILED_IMPORT.take(fields)
        subject = ImportIdentity(*values[2:_IMPORT_END])
        keyed = fields.pop("keyed", None)
        check_type(keyed, (bool, NoneType), "keyed")
    else:
        values = _FAILED.take(fields)
        subject = QuestionIdentity(*values[2:_QUESTION_END])
    _check_key(subject.key, "key")
    check_nothing_left(fields)
    return Placed(values[0], values[1], Failed(subject, values[-1], keyed))


def _judgement(fields: Fields) -> Placed:
    values = _JUDGEMENT.take(fields)
    check_nothing_left(fields)
    said = Judgement(_judged(values[2:_JUDGED_END]), *values[_JUDGED_END:])
    for name, texts in (("flags", said.flags), ("judge_flags", said.judge_flags)):
        if not all(type(text) is str for text in texts):
            raise NotARecordError(f"texts in {name!r}", shown(texts))
    _check_counts(said.scores or {}, "scores")
    _check_usage(said.usage or {})
    judgement = replace(
        said,
        flags=tuple(said.flags),
        findings=tuple(RecordedFinding(**_FINDING.all_of(each, "findings")) for each in said.findings),
        further_findings=tuple(
            RecordedCount(**_FURTHER.all_of(each, "further_findings")) for each in said.further_findings
        ),
        judge_flags=tuple(said.judge_flags),
        evidence=tuple(RecordedQuote(**_QUOTE.all_of(each, "evidence")) for each in said.evidence),
    )
    return Placed(values[0], values[1], judgement)


def _judged(values: tuple[Any, ...]) -> JudgementIdentity:
    subject = JudgementIdentity(*values)
    _check_key(subject.key, "key")
    _check_key(subject.judged_key, "judged_key")
    for name in META:
        if type(subject.asked.get(name)) is not str:
            raise NotARecordError(f"a text in 'asked.{name}'", shown(subject.asked.get(name)))
    return subject


def _label(fields: Fields) -> Placed:
    seq, group, *values = _LABEL.take(fields)
    column: Any = fields.pop("column", None)
    check_type(column, (str, NoneType), "column")
    label = replace(Label(*values), column=column)
    _check_key(label.labelled_key, "labelled_key")
    _check_key(label.text_sha256, "text_sha256")
    check_nothing_left(fields)
    return Placed(seq, group, label)


def is_key(key: str) -> bool:
    """Whether these are 64 hexadecimal digits, in a fourth of the time that a pattern takes.

    >>> is_key("0f" * 32), is_key("0f" * 31 + "0F"), is_key("0f" * 31), is_key("0f" * 32 + "\\n")
    (True, False, False, False)
    """
    try:
        return len(key) == _KEY_LENGTH and not key.encode().translate(None, b"0123456789abcdef")
    except ValueError:  # halves of characters
        return False


def _check_key(key: str, name: str) -> None:
    if not is_key(key):
        raise NotARecordError(f"64 hexadecimal digits in {name!r}", shown(key))


def _check_counts(counts: Mapping[str, int], name: str) -> None:
    for count in counts.values():
        if type(count) is not int:
            raise NotARecordError(f"whole numbers in {name!r}", shown(counts))


def _check_usage(usage: Mapping[str, int | str]) -> None:
    for count in usage.values():
        if not (type(count) is int and 0 <= count <= MOST_USAGE) and type(count) is not str:
            raise NotARecordError("counts from 0 to 2**53, or texts, in 'usage'", shown(usage))


_DECODERS: dict[str, Callable[[Fields], Placed]] = {
    RecordKind.RESPONSE: _response,
    RecordKind.FAILURE: _failed,
    RecordKind.JUDGEMENT: _judgement,
    RecordKind.LABEL: _label,
}
