"""What is sent is what was hashed, but for values that come from the environment."""

import json

import pytest

from affidavit.errors import UsageError
from affidavit.models.model import Request
from affidavit.models.redaction import Redaction
from affidavit.models.sent_body import SentBody

REQUEST = Request({"model": "m", "user": {"env": "WHO"}, "seed": 1}, encoded=b'{"as": "hashed"}')
BODY = {"user": {"env": "WHO"}, "top_k": 3}


def test_what_was_hashed_is_sent_to_the_byte():
    assert SentBody("m", {"top_k": 3}, Redaction()).encoded(REQUEST) == b'{"as": "hashed"}'
    bare = Request({"model": "m"})
    assert json.loads(SentBody("m", {}, Redaction()).encoded(bare)) == {"model": "m"}


def test_values_of_the_environment_are_sent_in_their_place_and_are_secrets(monkeypatch):
    monkeypatch.setenv("WHO", "somebody-17")
    redaction = Redaction()
    sent = SentBody("m", BODY, redaction)
    assert sent.variables == ("WHO",)
    assert json.loads(sent.encoded(REQUEST)) == {"model": "m", "user": "somebody-17", "seed": 1}
    assert redaction.redacted("no somebody-17 here") == "no [secret] here"


def test_a_value_that_is_not_there_is_asked_for_where_it_is_sent(monkeypatch):
    monkeypatch.delenv("WHO", raising=False)
    with pytest.raises(UsageError, match=r"models\.m\.body: expected a value in the environment variable WHO"):
        SentBody("m", BODY, Redaction())
