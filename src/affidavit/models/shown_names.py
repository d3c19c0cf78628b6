"""Names of a file as messages repeat them: a long one may be a key or a password that was put at the wrong place.

Of such a name the beginning is told, less than half a secret, and enough to find it in the file.
"""

import re
from collections.abc import Collection

from affidavit.errors import did_you_mean

LONGEST_WORD = 16
"""Characters; a longer text in place of a number, a word or a name may be a key at the wrong place."""
_SHOWN = 6
"""Characters of one that is not told as a whole."""


def shown_name(name: str) -> str:
    """A name as a part of a place in a file.

    >>> shown_name("X-Title"), shown_name("sk-proj-0123456789abcdef")
    ('X-Title', 'sk-pro…')
    """
    return name if len(name) <= LONGEST_WORD else f"{name[:_SHOWN]}…"


def quoted_name(name: str, known: Collection[str] = ()) -> str:
    """A name that was found where it does not belong; what is nearly a `known` one is repeated however long it is.

    >>> quoted_name("temprature"), quoted_name("sk-proj-0123456789abcdef")
    ("'temprature'", "'sk-pro…', a name of 24 characters")
    >>> quoted_name("max_completion_tokns", ["max_completion_tokens"])
    "'max_completion_tokns'"
    """
    if len(name) <= LONGEST_WORD or did_you_mean(name, known):
        return repr(name)
    return f"{shown_name(name)!r}, a name of {len(name):,} characters"


def shown_variable(name: str) -> str:
    """The name of a variable of the environment; of a key in its place, which no name looks like, the beginning.

    >>> shown_variable("THE_KEY_OF_OUR_SERVER_2"), shown_variable("hf_0123456789abcdefghij")
    ('THE_KEY_OF_OUR_SERVER_2', 'hf_012…')
    """
    words = name.split("_")
    is_key = any(len(word) > LONGEST_WORD and re.search("[0-9]", word) for word in words)
    return shown_name(name) if is_key else name


def without_long_names(said: str) -> str:
    """What a library says of a file, its quoted names as messages repeat them.

    >>> without_long_names("Cannot declare ('models', 'sk-proj-0123456789abcdef') twice (at line 3, column 9)")
    "Cannot declare ('models', 'sk-pro…') twice (at line 3, column 9)"
    """
    return re.sub(r"""'[^']*'|"[^"]*\"""", lambda found: repr(shown_name(found[0][1:-1])), said)
