"""A line of the journal → its record: the one way in. Lines like those before them are read in half the time.

Most lines of a journal are responses with the same fields. Their names are learnt, and from then on types are
checked by the parser itself (see `learnt_objects`). It says what `any_record` says, or nothing: whatever there is
some doubt about is left to `any_record`, to be read or refused.
"""

from typing import Annotated, Any, Literal, get_type_hints

from msgspec import Meta, Struct

from affidavit.archive.checked_lines import checked_content
from affidavit.archive.learnt_objects import LearntObjects
from affidavit.archive.record import (
    MOST_USAGE,
    ImportIdentity,
    Placed,
    QuestionIdentity,
    Response,
    any_record,
    is_key,
)
from affidavit.archive.versions import FORMAT


def decode(line: bytes) -> Placed | None:
    """What a whole line says; None for any other. Raises NotARecordError if its fields are not a record's."""
    content = checked_content(line)
    if content is None:
        return None
    placed = usual_response(content)
    if placed is None:
        placed = any_record(content)
        _learn(placed)
    return placed


def _lines_about(subject: type[Struct]) -> LearntObjects:
    """Lines of responses about such a subject."""
    hints = {**get_type_hints(Response), **get_type_hints(subject), "seq": int, "group": int}
    names = [*subject.__struct_fields__, *Response.__struct_fields__, "seq", "group"]
    known: dict[str, Any] = {name: hints[name] for name in names if name not in ("subject", "fields", "keyed")}
    known |= {"kind": Literal["response"], "v": Literal[FORMAT], "contract_params": dict[str, Any]}
    if "row" in known:
        known["row"] = dict[str, Any]
    known |= {"usage": dict[str, Annotated[int, Meta(ge=0, le=MOST_USAGE)] | str] | None}
    return LearntObjects(known, {"correct": bool | None, "unread": str | None}, {"keyed": bool})


_QUESTION_LINES, _IMPORTED_LINES = _lines_about(QuestionIdentity), _lines_about(ImportIdentity)


def _learn(placed: Placed) -> None:
    record = placed.record
    if isinstance(record, Response):
        asked = isinstance(record.subject, QuestionIdentity)
        (_QUESTION_LINES if asked else _IMPORTED_LINES).learn(record.fields)


def usual_response(content: bytes) -> Placed | None:
    """The response that a JSON object says, if it is like those before it; None: only `any_record` can tell."""
    subject: QuestionIdentity | ImportIdentity
    # Written out, field by field: that takes half the time of anything that goes by lists of names.
    if (read := _QUESTION_LINES.read(content)) is not None:
        said, own = read
        subject = QuestionIdentity(
            said.key,
            said.study,
            said.task,
            said.item_id,
            said.model,
            said.condition,
            said.sample,
            said.prompt_sha256,
            said.grammar_sha256,
        )
    elif (read := _IMPORTED_LINES.read(content)) is not None:
        said, own = read
        subject = ImportIdentity(
            said.key,
            said.study,
            said.task,
            said.item_id,
            said.model,
            said.condition,
            said.sample,
            said.output_id,
            said.prompt,
            said.row,
        )
    else:
        return None
    if not is_key(subject.key):
        return None
    response = Response(
        subject,
        said.raw_output,
        said.contract,
        said.contract_params,
        said.protocol_compliant,
        own,
        said.finish_reason,
        said.reasoning,
        said.rendered_prompt,
        said.usage,
        said.server_model,
        said.system_fingerprint,
        said.keyed,
    )
    return Placed(said.seq, said.group, response)
