"""An address: where its resources are, and what of it may be shown."""

import pytest

from affidavit import __version__
from affidavit.models.endpoint import Endpoint, is_address, shown_address
from affidavit.models.redaction import Redaction


@pytest.mark.parametrize(
    ("url", "answer"),
    [
        ("http://127.0.0.1:8000/v1", True), ("https://me:word@127.0.0.1/v1?a=b", True), ("http://[::1]:9/v1", True),
        ("", False), ("127.0.0.1:8000/v1", False), ("ftp://127.0.0.1/v1", False), ("http://", False),
        ("http://127.0.0.1:0/v1", False), ("http://127.0.0.1:99999/v1", False), ("http://[::1/v1", False),
        (f"http://{'a' * 63}.example/v1", True), (f"http://{'a' * 64}.example/v1", False), ("http://a..b/v1", False),
        (f"http://{'abc.' * 63}e/v1", True), (f"http://{'abc.' * 63}ef/v1", False), ("http://é.example/v1", True),
        ("http://example./v1", True), ("http://../v1", False), ("http://a\u2028b/v1", False),
        ("http://127.0.0.1\x00.x:9/v1", False), ("http://a b/v1", False), ("http://a\u00a0b/v1", False),
    ],
)  # fmt: skip
def test_what_is_an_address(url, answer):
    assert is_address(url) is answer


@pytest.mark.parametrize("above", ["/v1", "/v1/", "", "/a/b/v1//"])
def test_resources_are_below_the_address(above):
    endpoint = Endpoint(f"http://127.0.0.1:8000{above}", Redaction())
    assert endpoint.target("models") == f"{above.rstrip('/')}/models"
    assert (endpoint.host, endpoint.origin) == ("127.0.0.1:8000", ("127.0.0.1", 8000, False))


@pytest.mark.parametrize(
    ("url", "host", "origin", "target"),
    [
        ("http://127.0.0.1/v1?version=2", "127.0.0.1", ("127.0.0.1", 80, False), "/v1/models?version=2"),
        ("https://Example.org/v1", "example.org", ("example.org", 443, True), "/v1/models"),
        ("http://[::1]:9/v1", "[::1]:9", ("::1", 9, False), "/v1/models"),
        ("http://é.example/a b/é/v1", "xn--9ca.example", ("é.example", 80, False), "/a%20b/%C3%A9/v1/models"),
        ("http://h/a%20b/v1?key=a%2Fb+c&d", "h", ("h", 80, False), "/a%20b/v1/models?key=a%2Fb+c&d"),
    ],
)
def test_where_a_request_goes_and_what_its_first_line_says(url, host, origin, target):
    endpoint = Endpoint(url, Redaction())
    assert (endpoint.host, endpoint.origin, endpoint.target("models")) == (host, origin, target)


def test_a_request_as_it_is_sent():
    endpoint = Endpoint("http://127.0.0.1:8000/v1", Redaction(), {"X-Team": "a", "accept": "*/*"})
    head = (
        f"/v1/{{}} HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nUser-Agent: affidavit/{__version__}\r\naccept: */*\r\n"
        "Accept-Encoding: identity\r\nContent-Type: application/json\r\nX-Team: a\r\n"
    )
    assert endpoint.get("models").decode() == f"GET {head.format('models')}\r\n"
    assert endpoint.post("x", b"{}").decode() == f"POST {head.format('x')}Content-Length: 2\r\n\r\n{{}}"


def test_credentials_become_a_header_and_a_secret():
    redaction = Redaction()
    endpoint = Endpoint("http://me:s%3Acret@127.0.0.1:8000/v1", redaction)
    sent = endpoint.get("models").decode()
    assert "\r\nAuthorization: Basic bWU6czpjcmV0\r\n" in sent
    assert endpoint.host == "127.0.0.1:8000"
    for secret in ("s%3Acret", "s:cret", "bWU6czpjcmV0", "me:s%3Acret"):
        assert secret not in sent.replace("bWU6czpjcmV0", "", 1)
        assert redaction.redacted(f"it says {secret}!") == "it says [secret]!"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("https://me:word@[::1]:9/v1/?a=b&c=&a=d#e", "https://[::1]:9/v1/?a=…&c=…&a=…"),
        ("http://me@host", "http://host"),
    ],
)
def test_an_address_is_shown_without_what_may_be_secret(url, shown):
    assert shown_address(url) == shown


def test_the_values_of_a_query_and_the_user_are_taken_out_of_what_is_said():
    redaction = Redaction()
    Endpoint("http://some-user:word@127.0.0.1/v1?code=a%2Fsecret&version=2", redaction)
    assert redaction.redacted("a/secret, A%2FSECRET of some-user in version 2") == (
        "[secret], [secret] of [secret] in version 2"
    )
