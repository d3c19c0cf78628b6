"""A JSON Schema as a parameter: checked when a contract is made, never fetched, and the same in every process.

What fits is decided by jsonschema-rs: its regular expressions run in linear time (ruling C4), and it is told to
fetch nothing. What it does not decide exactly, `exact_keywords.py` does; what is wrong, and where, is said by
`schema_violations.py`.
"""

import json
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from affidavit.contracts.bounded_findings import cut
from affidavit.contracts.exact_keywords import EXACT_KEYWORDS
from affidavit.contracts.finding import LONGEST, at_key
from affidavit.errors import InputError
from affidavit.json_values import canonical, shown

if TYPE_CHECKING:
    from jsonschema_rs import Registry, Validator

LARGEST, DEEPEST = 256 * 1024, 64
"""Characters of a schema's canonical JSON, and how deep it may be nested."""
PLACE = "parameters.schema"
_EXPECTED = "a JSON Schema: an object"
_NOT_YET = {
    "contains": ("draft-04",),
    "if": ("draft-04", "draft-06"),
    "dependentSchemas": ("draft-0",),
    "minContains": ("draft-0",),
    "prefixItems": ("draft-0", "2019-09"),
}
"""The drafts that do not know a keyword yet, by what stands in their names."""


def schema_text(schema: object) -> str:
    """The canonical JSON of a schema; refused with its place if it is none (ruling O2).

    >>> schema_text({"type": "object", "required": ["year"]})
    '{"required":["year"],"type":"object"}'
    >>> schema_text({"properties": {"year": {"type": "whole"}}})
    Traceback (most recent call last):
    affidavit.errors.InputError: parameters.schema: expected a valid JSON Schema, found at $.properties.year.type: "whole" is not valid under any of the schemas listed in the 'anyOf' keyword
    """  # noqa: E501
    text = _written(schema)
    if text != "{}":
        compiled(text)
    return text


def _written(schema: object) -> str:
    """The canonical JSON of what may be a schema: an object of JSON values, neither too large nor too deep."""
    if not isinstance(schema, Mapping):
        hint = "It is given by a JSON file: `affidavit read json --param schema=FILE.json`, or schema in a study."
        raise InputError(PLACE, expected=_EXPECTED, found=shown(schema), hint=hint)
    try:
        text = canonical(dict(schema)).decode()
        json.dumps(json.loads(text), ensure_ascii=False).encode()
    except RecursionError:
        raise InputError(PLACE, expected=_EXPECTED, found="values that are nested too deeply") from None
    except TypeError as error:
        found = "a value that is none, such as a date"
        raise InputError(PLACE, expected=f"{_EXPECTED} of JSON values", found=found) from error
    except ValueError as error:  # a number that is none, half of a character
        raise InputError(PLACE, expected=f"{_EXPECTED} of JSON values", found=cut(str(error), LONGEST)) from error
    if len(text) > LARGEST:
        found = f"{len(text):,} characters"
        raise InputError(PLACE, expected=f"a JSON Schema of at most {LARGEST:,} characters", found=found)
    if _is_deeper(json.loads(text), DEEPEST):
        expected = f"a JSON Schema nested at most {DEEPEST} deep"
        raise InputError(PLACE, expected=expected, found="a deeper one")
    return text


def _is_deeper(value: object, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return inner is not None and (levels == 0 or any(_is_deeper(each, levels - 1) for each in inner))


@lru_cache(maxsize=64)
def compiled(text: str) -> "Schema":
    """The schema of this canonical JSON, compiled once in a process; refused if it is no schema."""
    return Schema(text)


class Schema:
    """A schema and what is compiled of it."""

    def __init__(self, text: str) -> None:
        self.value: dict[str, Any] = json.loads(text)
        """The schema itself."""
        self._whole = self._validator(self.value)
        self._parts: dict[str, Validator | None] = {}
        # A reference within a part that has a name of its own leads into that part, and is not followed.
        self.has_parts_with_names = text.count('"$id":') > ("$id" in self.value)

    def fits(self, value: dict[str, object]) -> bool:
        """Whether an object fits; numbers are compared as they are written (ruling O5)."""
        return self._whole.is_valid(value)

    def fits_part(self, pointer: str, value: object) -> bool | None:
        """Whether a value fits the part of the schema at a JSON pointer; None if it cannot be taken alone.

        >>> schema = compiled('{"properties":{"year":{"type":"integer"}}}')
        >>> [schema.fits_part("/properties/year", value) for value in (1850, "1850")]
        [True, False]
        """
        if pointer not in self._parts:
            self._parts[pointer] = self._part(pointer)
        part = self._parts[pointer]
        return None if part is None else part.is_valid(value)

    def fits_keywords(self, keywords: Mapping[str, object], value: object) -> bool:
        """Whether a value fits some keywords by themselves, in the draft of the schema."""
        name = canonical(keywords).decode()
        if name not in self._parts:
            self._parts[name] = self._validator({**self._draft, **keywords})
        part = self._parts[name]
        return part is None or part.is_valid(value)

    @property
    def _draft(self) -> dict[str, object]:
        return {"$schema": self.value["$schema"]} if "$schema" in self.value else {}

    def knows(self, keyword: str) -> bool:
        """Whether a keyword is one of the schema's draft: in an older one it is a note, whatever it says."""
        named = str(self.value.get("$schema"))
        return not any(draft in named for draft in _NOT_YET[keyword])

    @cached_property
    def old_draft(self) -> bool:
        """Whether it is of a draft in which nothing beside a reference counts."""
        return "draft-0" in str(self.value.get("$schema"))

    @cached_property
    def _registry(self) -> "Registry":
        from jsonschema_rs import Registry  # noqa: PLC0415 - a tenth of a second that only this contract needs

        return Registry([(self._name, self.value)])

    @property
    def _name(self) -> str:
        return str(self.value.get("$id", "urn:schema")).rstrip("#")

    def _part(self, pointer: str) -> "Validator | None":
        try:
            return self._validator({"$ref": f"{self._name}#{quote(pointer)}"}, registry=self._registry)
        except (InputError, ValueError):  # such as a reference by a name that only the whole knows
            return None

    @staticmethod
    def _validator(schema: dict[str, Any], **given: Any) -> "Validator":  # noqa: ANN401
        import jsonschema_rs  # noqa: PLC0415

        # A format is a note and no condition, as 2020-12 has it; nothing is fetched (ruling O2).
        linear = jsonschema_rs.RegexOptions()
        try:
            return jsonschema_rs.validator_for(
                schema,
                pattern_options=linear,
                validate_formats=False,
                offline=True,
                keywords=dict(EXACT_KEYWORDS),
                **given,
            )
        except jsonschema_rs.ValidationError as error:
            raise _no_schema(error) from error
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            found = cut(str(error), LONGEST)
            raise InputError(PLACE, expected="a valid JSON Schema", found=found) from error


def _no_schema(error: Any) -> InputError:  # noqa: ANN401 - an error of the library
    path = "$"
    for step in error.instance_path:
        path = f"{path}[{step}]" if isinstance(step, int) else at_key(path, step)
    hint = ""
    if error.kind.name == "$ref" and "meta-schema" in error.message:
        hint = "The drafts 4, 6, 7, 2019-09 and 2020-12 are known; without $schema it is the last of them."
    elif error.kind.name == "$ref":
        hint = "References lead within the schema: nothing is fetched. Put what they name into $defs."
    if error.kind.name == "format":
        hint = "Patterns run in linear time: no look-around, no backreferences, no repetition of many repetitions."
    found = cut(f"at {path}: {error.message}", LONGEST)
    return InputError(PLACE, expected="a valid JSON Schema", found=found, hint=hint)
