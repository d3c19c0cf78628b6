"""The records that answers become: what was asked, what arrived, and everything that the contract says of it."""

from hashlib import sha256

from affidavit.archive.record import Kind
from affidavit.contracts.contract import RAW_OUTPUT
from affidavit.items.option_order import lettered, own_letter
from affidavit.json_values import Fields
from affidavit.models.model import Completion, Failure
from affidavit.study.task import Question


def response_record(study: str, question: Question, completion: Completion) -> Fields:
    """The record of an answer: what arrived, and everything that its contract says of it."""
    return {
        "kind": Kind.RESPONSE,
        **identity(study, question),
        RAW_OUTPUT: completion.text,
        **derived(question, completion.text),
        **completion.about(),
    }


def failure_record(study: str, question: Question, failure: Failure) -> Fields:
    """The record of a question that nobody answered; what was said on the way is a fact about the day."""
    return {"kind": Kind.FAILURE, **identity(study, question), "reason": failure.reason}


def identity(study: str, question: Question) -> Fields:
    """What every record says of its question."""
    grammar = question.request.grammar
    return {
        "key": question.key,
        "study": study,
        "task": question.task.name,
        "item_id": question.item.id,
        "model": question.model,
        "condition": question.condition,
        "sample": question.sample,
        "prompt_sha256": question.prompt_sha256,
        "grammar_sha256": None if grammar is None else sha256(grammar.encode()).hexdigest(),
    }


def derived(question: Question, raw: str) -> Fields:
    """Every field that follows from the raw text and the item alone (ruling C2), with its contract (ruling C3)."""
    reader = question.task.reader_for(question.item)
    result = reader.read({**question.item.fields, RAW_OUTPUT: raw}, where=question.item.id)
    found = {**reader.about, **result.added, "keyed": result.right_answer_known}
    if "answer" in question.item.fields:
        found["right_answer"] = question.item.fields["answer"]
    if question.order is not None:
        letter = result.added.get("extracted_answer")
        found["option_order"] = lettered(question.order)
        found["own_answer"] = None if letter is None else own_letter(str(letter), question.order)
    return found
