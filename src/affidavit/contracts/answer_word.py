"""Where patterns match that begin with the word `answer` in either case: most texts have it once or not at all.

A regular expression that ignores case tries every character of a text; the plain search for a word does not.
"""

import re
from collections.abc import Iterator

_WORD = "answer"


def matches_at_answer(form: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """What `form.finditer(text)` gives, for a form that ignores case and begins with `answer`, or with `^answer`.

    >>> [match[1] for match in matches_at_answer(re.compile("(?i)answer: (.)"), "Answer? ANSWER: b, answer: C")]
    ['b', 'C']
    """
    if not text.isascii():
        # A long s is an s without case, and some letters have several in the other case: places would move.
        yield from form.finditer(text) if _WORD in text.casefold() else ()
        return
    # A line begins the text or follows a line feed: with one before both, places are still those of the text.
    lead = "\n" if form.pattern.startswith("^") else ""
    lower, word = lead + text.lower(), lead + _WORD
    at = lower.find(word)
    while at >= 0:
        found = form.match(text, at)
        if found is not None:
            yield found
        at = lower.find(word, at + 1 if found is None else found.end())
