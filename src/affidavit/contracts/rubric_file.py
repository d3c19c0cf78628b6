"""A rubric as a TOML file: dimensions, scale and thresholds, and onto what finer dimensions are mapped.

name = "essay"
[[dimensions]]
id = "CLARITY"
title = "Clarity"
words = "Can every sentence be understood at first reading?"
maps_to = "FORMAT_COMPLIANCE"
…
"""

import tomllib

import msgspec

from affidavit.contracts.rubric import Dimension, Level, MappingRule, Rubric, Thresholds
from affidavit.errors import InputError


class _Table(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A table of the file: it refuses keys that it does not know."""


class _Dimension(_Table, frozen=True, kw_only=True):
    id: str
    title: str
    words: str
    maps_to: str = ""


class _Level(_Table, frozen=True, kw_only=True):
    score: int
    title: str
    words: str


class _Thresholds(_Table, frozen=True, kw_only=True):
    pass_from: int
    fail_to: int
    pass_needs_nonzero: list[str] = []


class _File(_Table, frozen=True, kw_only=True):
    name: str
    dimensions: list[_Dimension]
    scale: list[_Level]
    thresholds: _Thresholds
    maps_by: MappingRule = MappingRule.MIN
    """How several finer scores become one (ruling J11)."""


def parse_rubric(text: str, *, where: str) -> Rubric:
    """The rubric that a TOML text describes."""
    try:
        file = msgspec.convert(tomllib.loads(text), _File)
    except RecursionError as error:
        raise InputError(where, expected="TOML", found="values that are nested too deeply") from error
    except msgspec.ValidationError as error:
        hint = "A rubric has name, [[dimensions]], [[scale]] and [thresholds]; see docs/judging.md."
        raise InputError(where, expected="a rubric", found=str(error), hint=hint) from error
    except ValueError as error:  # not TOML, or a number of thousands of digits
        raise InputError(where, expected="TOML", found=str(error)) from error
    try:
        return Rubric(
            file.name,
            tuple(Dimension(each.id, each.title, each.words) for each in file.dimensions),
            tuple(Level(each.score, each.title, each.words) for each in file.scale),
            Thresholds(
                file.thresholds.pass_from, file.thresholds.fail_to, tuple(file.thresholds.pass_needs_nonzero)
            ),
            {each.id: each.maps_to for each in file.dimensions if each.maps_to},
            file.maps_by,
        )
    except InputError as error:
        raise InputError(where, expected=error.expected, found=error.found) from error
