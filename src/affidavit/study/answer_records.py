"""The records that answers become: what was asked, what arrived, and everything that the contract says of it."""

from hashlib import sha256

from affidavit.archive.record import Failed, QuestionIdentity, Response
from affidavit.contracts.contract import RAW_OUTPUT, Unread, guarded
from affidavit.items.option_order import lettered, own_letter
from affidavit.models.model import Completion, Failure
from affidavit.reading.record_fields import ReadFields, record_fields_of
from affidavit.reading.rows import UNREAD, RowReader
from affidavit.study.task import Question


def response_record(study: str, question: Question, completion: Completion) -> Response:
    """The record of an answer: what arrived, and everything that follows from it and the item (ruling C2).

    No contract of ours raises, and one of a user is guarded. Should anything raise all the same, the text is kept
    as `unread` with the error, as ruling C8 has it: what was paid for is not lost, and the others are read.
    """
    read = guarded(lambda: _read_record(study, question, completion))
    return _unread_record(study, question, completion, read.error) if isinstance(read, Unread) else read


def _unread_record(study: str, question: Question, completion: Completion, error: str) -> Response:
    return _record(
        study, question, completion, question.task.reader, ReadFields(None, {UNREAD: error}, keyed=False)
    )


def _read_record(study: str, question: Question, completion: Completion) -> Response:
    reader = question.task.reader_for(question.item)
    row = {**question.item.row, RAW_OUTPUT: completion.text}
    read = record_fields_of(reader, row, where=question.item.id)
    if question.order is not None:
        letter = read.own.get("extracted_answer")
        read.own["option_order"] = lettered(question.order)
        read.own["own_answer"] = None if letter is None else own_letter(str(letter), question.order)
    return _record(study, question, completion, reader, read)


def _record(
    study: str, question: Question, completion: Completion, reader: RowReader, read: ReadFields
) -> Response:
    return Response(
        identity(study, question),
        completion.text,
        contract=reader.label,
        contract_params=reader.params,
        protocol_compliant=read.protocol_compliant,
        fields=read.own,
        finish_reason=completion.finish_reason,
        reasoning=completion.reasoning,
        rendered_prompt=completion.rendered_prompt,
        usage=completion.usage,
        server_model=completion.server_model,
        system_fingerprint=completion.system_fingerprint,
        keyed=read.keyed,
    )


def failure_record(study: str, question: Question, failure: Failure) -> Failed:
    """The record of a question that nobody answered; what was said on the way is a fact about the day."""
    return Failed(identity(study, question), failure.reason)


def identity(study: str, question: Question) -> QuestionIdentity:
    """What every record says of its question."""
    grammar = question.request.grammar
    return QuestionIdentity(
        key=question.key,
        study=study,
        task=question.task.name,
        item_id=question.item.id,
        model=question.model,
        condition=question.condition,
        sample=question.sample,
        prompt_sha256=question.prompt_sha256,
        grammar_sha256=None if grammar is None else sha256(grammar.encode()).hexdigest(),
    )
