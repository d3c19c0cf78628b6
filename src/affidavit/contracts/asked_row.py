"""What a row says that a judge was asked: the names that it must state, and the text that it judged (ruling J9).

Names stand in the object `asked` or in fields of their own; `asked` counts, and the two may not contradict each
other. A null, or a name that is blank, says nothing.

    >>> asked_row({"asked": {"question_id": "Q1"}, "judge_model": "J", "repeat": 2}, where="rows.jsonl:1")
    Asked(meta={'judge_model': 'J', 'question_id': 'Q1'}, judged_output=None, rubric=None, repeat='2')
"""

from collections.abc import Mapping

from affidavit.contracts.evaluation import NAMES, Asked
from affidavit.errors import InputError
from affidavit.json_values import Fields, shown

REPEAT = "repeat"
ASKED_FIELDS = ("judged_output", "asked", *NAMES, REPEAT)


def asked_row(row: Fields, *, where: str) -> Asked:
    """What the row says; refused with its place where that cannot be."""
    judged, asked = row.get("judged_output"), row.get("asked")
    if judged is not None and not isinstance(judged, str):
        raise InputError(where, expected="a text in 'judged_output'", found=shown(judged))
    if asked is None:
        asked = {}
    if not isinstance(asked, dict):
        raise InputError(where, expected="an object in 'asked'", found=shown(asked))
    names = {name: _name(asked, row, name, where=where) for name in (*NAMES, REPEAT)}
    method = asked.get("method")
    if method is not None and not isinstance(method, str):
        raise InputError(where, expected="a text in 'asked.method'", found=shown(method))
    meta = {name: names[name] for name in NAMES} | {"method": method}
    return Asked({name: value for name, value in meta.items() if value is not None}, judged, repeat=names[REPEAT])


def _name(asked: Mapping[str, object], row: Fields, name: str, *, where: str) -> str | None:
    inner = _text(asked.get(name), f"asked.{name}", where)
    outer = _text(row.get(name), name, where)
    if inner is not None and outer is not None and inner != outer:
        hint = "Both say what the judge was asked: take one of them out, or make them agree."
        raise InputError(
            where, expected=f"{shown(inner)} in {name!r}, as 'asked' says", found=shown(outer), hint=hint
        )
    return outer if inner is None else inner


def _text(value: object, name: str, where: str) -> str | None:
    if value is None:
        return None
    if type(value) is int:  # numbers of questions and repeats are often kept as numbers
        return str(value)
    if not isinstance(value, str):
        raise InputError(where, expected=f"a text in {name!r}", found=shown(value))
    return value if value.strip() else None
