"""Values of the environment: where they are named, what takes their place, and what may not stand in a file."""

import pytest

from affidavit.errors import InputError, UsageError
from affidavit.models.environment_values import (
    is_secret_header,
    look_up,
    mask_of,
    name_of,
    refuse_literal_secrets,
    refuse_unset,
    values_set,
    variables_in,
    with_values,
)
from affidavit.models.openai_compatible import OpenAICompatible, ServerProvider
from affidavit.models.settings import Limits

BODY = {
    "a": {"env": "A"},
    "b": [1, {"c": {"env": "B"}, "d": {"env": "A"}}],
    "e": {"env": 1},
    "f": {"env": "A", "g": 1},
}


def test_values_take_the_place_of_their_names_and_of_nothing_else():
    assert list(variables_in(BODY)) == ["A", "B", "A"]
    assert with_values(BODY, {"A": "x", "B": "y"}) == {
        "a": "x", "b": [1, {"c": "y", "d": "x"}], "e": {"env": 1}, "f": {"env": "A", "g": 1}
    }  # fmt: skip
    assert name_of("A") is None


@pytest.mark.parametrize(
    "key",
    ["api_key", "API-Key", "apiKey", "key", "token", "password", "secret", "authorization", "Authorization",
     "access_token", "auth-token", "client_secret", "my_api_key", "openai_api_key", "credentials", "x-api-key"],
)  # fmt: skip
def test_a_text_under_a_name_for_secrets_is_refused_and_not_repeated(key):
    with pytest.raises(InputError) as caught:
        refuse_literal_secrets({"a": [{key: "sk-canary"}]}, where="s", place="models.m.body")
    assert f"models.m.body.a[0].{key}" in str(caught.value)
    assert f'{key} = {{ env = "NAME" }}' in str(caught.value)
    assert "canary" not in str(caught.value)
    refuse_literal_secrets({key: {"env": "NAME"}, f"{key}s_allowed": "a"}, where="s", place="models.m.body")


@pytest.mark.parametrize(
    "body",
    [{"eos_token": "</s>"}, {"stop_token": "x"}, {"token": 3}, {"keys": "a"}, {"keyword": "a"}, {"key": ""}],
)
def test_other_texts_are_taken(body):
    refuse_literal_secrets(body, where="s", place="b")


def test_headers_are_secret_by_their_names():
    assert [is_secret_header(name) for name in ("X-Api-Key", "Proxy-Authorization", "X-Title", "Accept")] == [
        True, True, False, False
    ]  # fmt: skip


def test_a_variable_without_a_value_is_refused(monkeypatch):
    monkeypatch.setenv("A_BLANK", "  ")
    monkeypatch.setenv("A_VALUE", " x-y-z \n")
    assert look_up("A_VALUE", place="p") == "x-y-z"
    with pytest.raises(
        UsageError, match=r"(?s)^p: expected a value in the environment variable A_BLANK.*export A_BLANK"
    ):
        look_up("A_BLANK", place="p")
    assert mask_of(["A_VALUE"])("say X-Y-Z!") == "say █████!"
    assert mask_of([])("say X-Y-Z!") == "say X-Y-Z!"


def test_variables_that_hold_nothing_are_told_together(monkeypatch):
    monkeypatch.setenv("A_VALUE", "x-y-z")
    monkeypatch.setenv("A_BLANK", " ")
    refuse_unset([("models.a.key_env", "A_VALUE")])
    for needed in ([("p", "A_BLANK")], [("p", "A_BLANK"), ("q", "A_BLANK"), ("r", "A_VALUE")]):
        with pytest.raises(
            UsageError, match=r"^p: expected a value in the environment variable A_BLANK, found none"
        ):
            refuse_unset(needed)
    with pytest.raises(UsageError) as refused:
        refuse_unset([("p", "A_BLANK"), ("q", "NO_SUCH_A"), ("r", "A_VALUE"), ("p", "NO_SUCH_B")])
    assert str(refused.value).startswith(
        "p, q: expected values in the environment variables A_BLANK, NO_SUCH_A and "
    )
    assert "export A_BLANK=… NO_SUCH_A=… NO_SUCH_B=…" in str(refused.value)


def test_a_key_in_place_of_a_variable_is_not_repeated_as_a_whole(monkeypatch):
    key, header = "hf_0123456789abcdefghij", "X-0123456789abcdefghij"
    server = ServerProvider(
        base_url="http://127.0.0.1:1/v1", key_env=key, headers={header: {"env": "NO_SUCH_KEY"}}
    )
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(UsageError) as together:
        refuse_unset((f"models.m.{place}", name) for place, name in server.variables())
    with pytest.raises(UsageError) as alone:
        look_up(key, place="models.m.key_env")
    assert str(together.value) == (
        "models.m.key_env, models.m.headers.X-0123…: expected values in the environment variables hf_012… and "
        "NO_SUCH_KEY, found none\nIf it is a key, take it out of the file, and name a variable that holds it."
    )
    assert str(alone.value) == (
        "models.m.key_env: expected a value in the environment variable hf_012…, found none\n"
        "If it is a key, take it out of the file, and name a variable that holds it."
    )
    with pytest.raises(UsageError, match=r"models\.m\.headers\.X-0123…: expected a value"):
        OpenAICompatible(
            "m", ServerProvider(base_url="http://h", headers={header: {"env": "NO_SUCH_KEY"}}), Limits()
        )
    with pytest.raises(UsageError, match=r"models\.m\.headers\.X-0123…: expected a text that a header can carry"):
        OpenAICompatible("m", ServerProvider(base_url="http://h", headers={header: "é"}), Limits())


def test_values_are_looked_up_as_far_as_they_are_set(monkeypatch):
    monkeypatch.setenv("SET", " value ")
    monkeypatch.setenv("BLANK", "  ")
    monkeypatch.delenv("UNSET", raising=False)
    assert values_set(["SET", "BLANK", "UNSET"]) == {"SET": "value", "BLANK": None, "UNSET": None}
