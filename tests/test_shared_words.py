"""What stands above all rooms: errors, JSON values, text for terminals, and the command as a module."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import affidavit.__main__ as program
from affidavit.commands.entry import main
from affidavit.errors import AffidavitError, InputError, LockedError, StorageError, UsageError, did_you_mean
from affidavit.json_values import canonical, digest, kept_as_shown, shown
from affidavit.plain_text import plain, plain_lines
from support.strategies import any_text

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(("kind", "code"), [(UsageError, 2), (InputError, 2), (StorageError, 5), (LockedError, 6)])
def test_an_error_says_where_what_was_expected_what_was_found_and_what_to_do(kind, code):
    error = kind("a.jsonl:3", expected="an object", found="[1]", hint="One per line.")
    assert isinstance(error, AffidavitError)
    assert error.exit_code == code
    assert str(error) == "a.jsonl:3: expected an object, found [1]\nOne per line."
    assert str(kind("x", expected="a", found="b")) == "x: expected a, found b"


def test_a_hint_is_given_where_a_known_name_is_near():
    assert did_you_mean("temprature", ["temperature", "top_p"]) == "Did you mean temperature?"
    assert did_you_mean("xyz", ["temperature"]) == ""


@pytest.mark.slow
@given(values)
def test_equal_values_have_equal_bytes_whatever_the_order_of_their_names(value):
    turned = json.loads(json.dumps(value))
    if isinstance(turned, dict):
        turned = dict(reversed(turned.items()))
    assert canonical(turned) == canonical(value)
    assert canonical(value).isascii()
    assert json.dumps(json.loads(canonical(value)), sort_keys=True) == json.dumps(value, sort_keys=True)
    assert digest(turned) == digest(value)


@given(values)
def test_a_value_in_a_message_stays_on_one_line_and_is_not_long(value):
    words = shown(value)
    assert words.isprintable()
    assert kept_as_shown(value).replace("…", "").isascii()
    assert len(words) <= 80


@given(any_text)
def test_no_text_commands_a_terminal(text):
    assert all(character.isprintable() for character in plain(text))
    assert plain_lines(text).count("\n") == text.count("\n")
    assert plain_lines(text).replace("\n", "").isprintable()


@pytest.mark.slow
def test_the_package_can_be_run_as_a_module():
    assert program.main is main
    done = subprocess.run([sys.executable, "-m", "affidavit", "nothing"], capture_output=True, check=False)
    assert done.returncode == 2
    assert b"No such command 'nothing'" in done.stderr
