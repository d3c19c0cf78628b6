"""What LiteLLM's proxy says of mistakes, word for word as it said it: each is told with what to change."""

import pytest

from affidavit.models.chat_response import listed_models, read_chat, read_refusal
from affidavit.models.model import Completion, Failure
from affidavit.models.setup_fault import AskedServer, fault_of
from support.litellm_answers import MODEL, REQUESTS, WITH, WITHOUT, Said, kept

INSTALLATIONS = (WITH, WITHOUT)


def failure(said: Said) -> Failure:
    """The failure that a client makes of it."""
    refused = read_refusal(said.status, said.content)
    return Failure(refused.reason, refused.detail, status=said.status)


def hint(how: str, name: str, *, listed: str, asked: str = MODEL, **known: object) -> str:
    answers = kept()[how]
    list_of_models = answers[listed]
    names = listed_models(list_of_models.content) if list_of_models.status == 200 else None
    server = AskedServer(
        name="m", address="http://h/v1", model=asked, listed=names, status=list_of_models.status, **known
    )
    fault = fault_of(failure(answers[name]), server)
    assert fault is not None
    assert fault.where == "models.m at http://h/v1"
    return fault.hint


def test_every_request_is_kept_of_both_installations():
    assert {how: [*said] for how, said in kept().items()} == {how: [*REQUESTS] for how in INSTALLATIONS}


@pytest.mark.parametrize("how", INSTALLATIONS)
@pytest.mark.parametrize("name", ["a question", "a question, without /v1"])
def test_an_answer_is_read(how, name):
    answer = read_chat(kept()[how][name].content)
    assert isinstance(answer, Completion)
    assert (answer.text, answer.finish_reason) == ("<answer>B</answer>", "stop")


@pytest.mark.parametrize("how", INSTALLATIONS)
@pytest.mark.parametrize("name", ["the list of models", "the list of models, without /v1"])
def test_its_models_are_read(how, name):
    assert listed_models(kept()[how][name].content) == [MODEL]


@pytest.mark.parametrize("how", INSTALLATIONS)
def test_a_wrong_name_gets_the_nearest(how):
    said = hint(how, "a question to another model", listed="the list of models", asked="qwen-7b-instruct")
    assert said == f'Did you mean {MODEL}? Write its name as model = "…" in [models.m].'


@pytest.mark.parametrize("how", INSTALLATIONS)
def test_a_wrong_key_that_it_would_look_up_in_a_database_is_told_as_one(how):
    wrong = "the list of models, with a wrong key"
    said = hint(how, "a question, with a wrong key", listed=wrong, key_env="THE_KEY")
    assert said == "Set the variable THE_KEY to a key that this server takes."


@pytest.mark.parametrize("how", INSTALLATIONS)
def test_no_key_is_told_even_where_it_breaks_over_it(how):
    said = hint(how, "a question, without a key", listed="the list of models, without a key")
    assert said.endswith(
        'Name the variable of the environment that holds the key: key_env = "NAME" in [models.m].'
    )


@pytest.mark.parametrize("how", INSTALLATIONS)
def test_a_wrong_address_gets_the_right_one(how):
    said = hint(how, "a question, elsewhere", listed="the list of models, elsewhere", elsewhere="http://h/v1")
    assert 'write base_url = "http://h/v1" in [models.m]' in said


def test_a_server_that_breaks_while_it_has_our_key_has_its_own_reasons():
    broken = failure(kept()[WITHOUT]["a question, without a key"])
    server = AskedServer(name="m", address="http://h/v1", model=MODEL, status=500, key_env="THE_KEY")
    assert fault_of(broken, server) is None
