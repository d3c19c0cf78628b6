"""json/1: one JSON object that fits a schema, and nothing else.

The whole output, trimmed, is one object by the strict rules of ruling J1 and fits the schema, or it is not
compliant; nothing is repaired. What a non-compliant output did instead has a name and a place (rulings O3 and O4).
An answer is compared with its key field by field, numbers by their exact value (ruling O7).

    >>> dated = JsonObject({"properties": {"year": {"type": "integer"}}, "required": ["year"]})
    >>> dated.read('{"year": 1850}').extracted_answer
    '{"year":1850}'
    >>> reading = dated.read('{"year": "1850"}')
    >>> reading.deviation.value, reading.findings[0].path
    ('schema_type', '$.year')
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from affidavit.contracts.bounded_findings import MOST, SHORT, cut
from affidavit.contracts.contract import Validation
from affidavit.contracts.count_table import CountTable
from affidavit.contracts.exact_json import exact_text
from affidavit.contracts.finding import LONGEST
from affidavit.contracts.grammar_faults import grammar_faults
from affidavit.contracts.json_deviation import ORDER, JsonDeviation
from affidavit.contracts.json_grammar import member_names, object_grammar
from affidavit.contracts.json_key import (
    ObjectKey,
    checked_fields,
    chosen_fields,
    field_hint,
    is_right,
    key_of,
    missing_field,
)
from affidavit.contracts.json_schema import Schema, compiled, schema_text
from affidavit.contracts.parts import FieldType, KeyedParts
from affidavit.contracts.schema_keywords import keyword_notes
from affidavit.contracts.schema_violations import Steps, Violation, schema_violations
from affidavit.contracts.strict_json import Refused, decode
from affidavit.errors import InputError
from affidavit.json_values import Fields, shown

INSTRUCTION = "Answer with exactly one JSON object, and nothing else: no Markdown, no explanation."
FITTING = "The object must fit this JSON Schema:"
_FENCE = "```"
_FENCED = re.compile(r"```[^\n`]*+\n(.*)\n[ \t]*+```", re.DOTALL)
"""Greedy: it ends at the last line of the text, which is looked for from the end."""
_ANY_OBJECT = "{}"


@dataclass(frozen=True, slots=True)
class ObjectFinding:
    """One thing that is wrong with an output: what, and where in the JSON."""

    code: JsonDeviation
    path: str

    def fields(self) -> Fields:
        """The finding as a JSON object."""
        return {"code": self.code, "path": self.path}


@dataclass(frozen=True, slots=True)
class ObjectReading:
    """The object, or why there is none: exactly one of the two is there."""

    answer: Mapping[str, object] | None
    """With exact numbers."""
    findings: tuple[ObjectFinding, ...] = ()
    """In the order of ruling O4, as far as they are kept."""
    further: tuple[tuple[JsonDeviation, int], ...] = ()
    """How many more there are of each code."""

    @property
    def protocol_compliant(self) -> bool:
        """The output is an object that fits, and nothing else."""
        return self.answer is not None

    @property
    def deviation(self) -> JsonDeviation | None:
        """The first finding's code; None for a compliant output."""
        return self.findings[0].code if self.findings else None

    @property
    def extracted_answer(self) -> str | None:
        """The object as canonical JSON, its numbers exact (ruling O5)."""
        return None if self.answer is None else exact_text(self.answer)

    def fields(self) -> Fields:
        """The object, the diagnosis and the findings by their names in the record."""
        return {
            "extracted_answer": self.extracted_answer,
            "deviation": self.deviation,
            "findings": [finding.fields() for finding in self.findings],
            "further_findings": [{"code": code, "count": count} for code, count in self.further],
        }


@dataclass(frozen=True, slots=True)
class FieldsValidation(Validation):
    """Whether all compared fields are right, and which of them are."""

    right_fields: tuple[str, ...] = ()
    wrong_fields: tuple[str, ...] = ()


@dataclass(frozen=True, init=False)
class JsonObject(KeyedParts):
    """One JSON object that fits a schema, compared with a key by chosen fields, or by all that the key has."""

    _schema: str
    fields: tuple[str, ...] | None
    name: str = field(default="json", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)

    def __init__(self, schema: Mapping[str, object] | None = None, fields: Sequence[str] | None = None) -> None:
        object.__setattr__(self, "_schema", schema_text({} if schema is None else schema))
        object.__setattr__(self, "fields", checked_fields(fields))

    @property
    def params(self) -> Mapping[str, object]:
        """The schema, and the chosen fields."""
        return {"schema": self.schema, "fields": None if self.fields is None else list(self.fields)}

    @property
    def schema(self) -> dict[str, Any]:
        """The schema; a copy, which may be changed."""
        value: dict[str, Any] = json.loads(self._schema)
        return value

    @property
    def _compiled(self) -> Schema:
        return compiled(self._schema)

    def instruction(self, item: object = None, /) -> str:
        """One object and nothing else, and the schema where there is one (ruling O8)."""
        if self._schema == _ANY_OBJECT:
            return INSTRUCTION
        return f"{INSTRUCTION} {FITTING}\n\n{json.dumps(_in_order(self.schema), indent=2, ensure_ascii=False)}"

    def read(self, raw: str, item: object = None, /) -> ObjectReading:
        """The object if the trimmed text is one and fits (rulings O1 and O2), else what is wrong (ruling O3)."""
        text = raw.strip()
        answer = decode(text, exact=True)
        if isinstance(answer, Refused):
            return _refused(text, answer)
        if self._schema == _ANY_OBJECT or self._compiled.fits(answer):
            return ObjectReading(answer)
        return _bounded(
            [ObjectFinding(each.code, each.path) for each in schema_violations(self._compiled, answer)]
        )

    def validate(self, reading: ObjectReading, item: ObjectKey, /) -> FieldsValidation | None:
        """Compare field by field with the key; None for a non-compliant output (ruling M6) or without a key."""
        if reading.answer is None or item.answer is None:
            return None
        told: dict[bool, list[str]] = {True: [], False: []}
        for name, steps in chosen_fields(item.answer, self.fields).items():
            told[is_right(reading.answer, item.answer, steps)].append(name)
        correct = not told[False]
        return FieldsValidation(
            correct, "ok" if correct else "wrong_fields", tuple(told[True]), tuple(told[False])
        )

    def grammar(self, item: object = None, /) -> str | None:
        """A GBNF grammar whose texts all fit the schema; None for a schema beyond the usual kind (ruling O9)."""
        return None if self._schema == _ANY_OBJECT else object_grammar(self._compiled)

    # --- the optional parts ---

    summary: ClassVar[str] = "One JSON object that fits a schema, and nothing else; compared field by field."
    rulings: ClassVar[str] = "O1-O9"
    passing: ClassVar[str] = '{"name": "Ada Lovelace", "year": 1815}'
    failing: ClassVar[str] = '```json\n{"name": "Ada Lovelace", "year": 1815}\n```'

    parameters: ClassVar[Mapping[str, str]] = {
        "schema": "a JSON Schema that objects must fit; any object if there is none",
        "fields": "the fields that are compared with the right answer, inner ones after a dot; all that it has",
    }
    file_parameters = ("schema",)
    failing_field = "deviation"
    counted: ClassVar[Mapping[str, str]] = {"deviation": "deviations", "wrong_fields": "wrong fields"}
    counted_if_kept = ("wrong_fields",)
    tables = (
        CountTable(
            name="deviations",
            question="What did non-compliant outputs do instead?",
            fields=("deviation",),
            share="arrived",
            only_non_compliant=True,
            explains=None,
        ),
        "field accuracy",
        "findings by path",
    )

    def with_parameters(self, given: Mapping[str, object]) -> "JsonObject":
        """The same with another schema, other fields, or both."""
        if not given:
            return self
        chosen: dict[str, Any] = {**self.params, **given}
        return JsonObject(chosen["schema"], chosen["fields"])

    def why_no_grammar(self) -> str:
        """The schema, and its keywords at fault (ruling O9)."""
        if self._schema == _ANY_OBJECT:
            return "no schema: a grammar is made from one"
        faults = ", ".join(map(str, grammar_faults(self._schema)[:5]))
        return f"{faults or 'a schema'} that no grammar keeps"

    def parameter_notes(self) -> tuple[str, ...]:
        """Names in the schema that are no keywords: they are allowed, and say nothing."""
        return keyword_notes(self.schema)

    def item(self, row: Fields, *, where: str) -> ObjectKey:  # type: ignore[override]  # a key of its own kind
        """The key in `answer`, which must have all chosen fields, each as an output could have it (ruling O6)."""
        if (given := row.get("answer")) is None:
            return ObjectKey(None)
        key = key_of(given, where=where)
        chosen = chosen_fields(key, self.fields)
        if (missing := missing_field(key, chosen)) is not None:
            expected = f"a field {missing!r} in 'answer', which is compared"
            raise InputError(where, expected=expected, found=shown(given), hint=field_hint(missing, key))
        if self._schema != _ANY_OBJECT:
            for each in schema_violations(self._compiled, dict(key), branches=False):
                if any(_concerns(each, steps) for steps in chosen.values()):
                    expected, found = "an answer that an output could give", f"{each.code} at {each.path}"
                    hint = "It would be counted wrong, whatever is said: mend the answer, or the schema."
                    raise InputError(where, expected=expected, found=found, hint=hint)
        return ObjectKey(key)

    def example(self, row: Fields, *, where: str) -> str | None:
        """The right object, if it fits as it is."""
        key = self.item(row, where=where).answer
        text = None if key is None else exact_text(key)
        return text if text is not None and self.read(text).protocol_compliant else None

    def fields_added(self, row: Fields) -> Mapping[str, FieldType]:
        """The object, its diagnosis and findings; what is right where the row has a key."""
        added: dict[str, FieldType] = {
            "extracted_answer": str,
            "deviation": str,
            "findings": [{"code": str, "path": str}],
            "further_findings": [{"code": str, "count": int}],
        }
        if "answer" not in row:
            return added
        return {**added, "correct": bool, "reason": str, "right_fields": [str], "wrong_fields": [str]}

    def verdict(self, row: Fields, validation: Validation | None) -> Fields:
        """Whether all fields are right, and which, where the row has a key; null where nothing was compared."""
        if "answer" not in row:
            return {}
        if not isinstance(validation, FieldsValidation):
            return dict.fromkeys(("correct", "reason", "right_fields", "wrong_fields"))
        return {
            "correct": validation.correct,
            "reason": validation.reason,
            "right_fields": list(validation.right_fields),
            "wrong_fields": list(validation.wrong_fields),
        }

    def labels(self, fields: Mapping[str, object]) -> Iterator[tuple[str, str]]:
        """The deviation, and each field that is wrong."""
        if isinstance(deviation := fields.get("deviation"), str):
            yield "deviation", deviation
        wrong = fields.get("wrong_fields")
        yield from (("wrong_fields", name) for name in (wrong if isinstance(wrong, list) else ()))


def _in_order(part: Any) -> Any:  # noqa: ANN401 - a part of a schema
    """The schema as it is shown: members of an object in the order in which they are asked for."""
    if isinstance(part, list):
        return [_in_order(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        name: {each: _in_order(value[each]) for each in member_names(part)}
        if name == "properties" and isinstance(value, dict)
        else _in_order(value)
        for name, value in part.items()
    }


def _concerns(violation: Violation, field: Steps) -> bool:
    """Whether no output could have the key's value of a field: it does not fit, or what is around it does not."""
    if violation.code in _NOT_THERE and field[: len(violation.steps)] == violation.steps:
        return True
    return violation.steps[: len(field)] == field


_NOT_THERE = (JsonDeviation.SCHEMA_ADDITIONAL_PROPERTIES, JsonDeviation.SCHEMA_TYPE)
"""What is wrong with a value as such, so that nothing that it holds could be right."""


# --- what is wrong ---


def _refused(text: str, refused: Refused) -> ObjectReading:
    """What strict JSON says against a text, and that it is empty or an object in a fence where it is."""
    if not text:
        return _bounded([ObjectFinding(JsonDeviation.EMPTY, "$")])
    found = [ObjectFinding(JsonDeviation(each.code.value), each.path) for each in refused.findings.kept]
    if _is_fenced(text):
        found.append(ObjectFinding(JsonDeviation.FENCED, "$"))
    # The same code at the same path once; those of one code stay in the order of the text (ruling O4).
    found = sorted(dict.fromkeys(found), key=lambda each: ORDER[each.code])
    further = [(JsonDeviation(each.code.value), each.count) for each in refused.findings.further]
    return ObjectReading(None, tuple(found), tuple(sorted(further, key=lambda each: ORDER[each[0]])))


def _is_fenced(text: str) -> bool:
    """Whether a text is a code fence of Markdown around one strict object (ruling O3)."""
    if not text.startswith(_FENCE) or not text.endswith(_FENCE):
        return False
    inner = _FENCED.fullmatch(text)
    return inner is not None and not isinstance(decode(inner[1].strip()), Refused)


def _bounded(found: Sequence[ObjectFinding]) -> ObjectReading:
    """The findings as far as they are kept; the others counted by code (ruling O4)."""
    longest = LONGEST if len(found) < SHORT else SHORT
    kept = tuple(ObjectFinding(each.code, cut(each.path, longest)) for each in found[:MOST])
    further: dict[JsonDeviation, int] = {}
    for each in found[MOST:]:
        further[each.code] = further.get(each.code, 0) + 1
    return ObjectReading(None, kept, tuple(further.items()))


json_object = JsonObject()
