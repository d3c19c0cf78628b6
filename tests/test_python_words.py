"""Errors of the Python interface speak of arguments, and names may come as one text or as many."""

from pathlib import Path

import pytest

from affidavit.errors import InputError, UsageError
from affidavit.python_words import for_python, names_in, path_of


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (
            ("--scorer", "a scorer", "Name it with --scorer NAME."),
            ("scorer", "a scorer", "Name it with scorer=NAME."),
        ),
        (("--answer-pattern", "none", ""), ("answer_pattern", "none", "")),
        (("file", "a text", "Name the column with --field."), ("file", "a text", "Name the column with text=.")),
    ],
)
@pytest.mark.parametrize("kind", [UsageError, InputError])
def test_options_become_arguments_and_the_kind_of_error_stays(said, heard, kind):
    @for_python
    def refusing():
        where, expected, hint = said
        raise kind(where, expected=expected, found="x", hint=hint)

    with pytest.raises(kind) as refused:
        refusing()
    error = refused.value
    assert (error.where, error.expected, error.hint) == heard


def test_names_and_places():
    assert names_in("a, b,,c ") == names_in(["a", " b", "c"]) == ("a", "b", "c")
    assert path_of("~") == path_of(Path("~")) == Path.home()
