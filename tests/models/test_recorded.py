"""What a record tells of an answer is all of the answer but its id, which is a fact about the day."""

from affidavit.archive.record import QuestionIdentity, Response
from affidavit.models.model import Completion
from affidavit.models.recorded import completion_of


def test_an_answer_comes_back_as_it_was():
    subject = QuestionIdentity("00" * 32, "s", "t", "q", "m", "c", 0, "p", None)
    said = Completion(
        "text\ud800", "length", "thinking", {"prompt_tokens": 3}, "rendered", "server's name", "print"
    )
    record = Response(
        subject,
        said.text,
        contract="text/1",
        contract_params={},
        protocol_compliant=True,
        fields={},
        finish_reason=said.finish_reason,
        reasoning=said.reasoning,
        rendered_prompt=said.rendered_prompt,
        usage=said.usage,
        server_model=said.server_model,
        system_fingerprint=said.system_fingerprint,
    )
    assert completion_of(record) == said
