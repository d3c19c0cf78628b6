"""Which option a text names first, by the patterns of OpenCompass 0.5.4 in their order (ruling M28).

The patterns are facts about that version. They are searched in other ways where the plain one would not be linear
(ruling C4), and skipped where a text lacks what they need.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from affidavit.contracts.answer_word import matches_at_answer

_Named = Callable[[str], str | None]
"""What one pattern captures in a trimmed text; None if it is not there."""

_TAIL = 6
"""Characters that a pattern which holds to the end of the text can reach back."""


def first_option(text: str, letters: str) -> str | None:
    """The letter, or None: the first in the order of the letters that stands in what the first such pattern gives.

    >>> first_option("The answer is B. But A is near.", "ABCD"), first_option("so 1. C", "ABCD"), first_option("?", "ABCD")
    ('B', 'C', None)
    """  # noqa: E501
    there = [letter for letter in letters if letter in text]
    if not there:
        return None
    trimmed = text.strip()
    chinese = not trimmed.isascii() and _CHINESE.search(trimmed) is not None
    english = "he answer" in trimmed or "he correct" in trimmed
    for named in _patterns(letters, chinese=chinese, english=english):
        found = named(trimmed)
        if found:
            for letter in there:
                if letter in found:
                    return letter
    return None


_CHINESE = re.compile("[选有法是所此然案项故即为。]")
"""Each of the patterns in Chinese needs one of these."""


@cache
def _patterns(letters: str, *, chinese: bool, english: bool) -> Sequence[_Named]:
    """All of them in their order, but for those that need words which a text has not."""
    one = f"([{letters}])"
    words = map(_word_after, ("答案是", "答案应该是", "答案为"))
    every = (
        *(_in_chinese(one) if chinese else ()),
        _at_end(rf"[\s，：:,]{one}[。，,\.]?$"),
        *((*_at_the_end_in_chinese(one), *words) if chinese else ()),
        _after_answer(rf"(?i)ANSWER\s*:\s*{one}"),
        *(_in_english(one) if english else ()),
        *((_of("选项", rf"^选项\s?{one}"), _of("项", rf"^{one}\s?选?项")) if chinese else ()),
    )
    return (*every, _begins_with(letters), _after_one, _of(":", f"{one}:"), _of("", one))


def _of(needed: str, pattern: str) -> _Named:
    """What a pattern captures; it is not searched for where `needed` does not stand."""
    compiled = re.compile(pattern, re.DOTALL)

    def named(text: str) -> str | None:
        found = compiled.search(text) if needed in text else None
        return None if found is None else found[1]

    return named


def _after_answer(pattern: str) -> _Named:
    compiled = re.compile(pattern)

    def named(text: str) -> str | None:
        found = next(matches_at_answer(compiled, text), None) if ":" in text else None
        return None if found is None else found[1]

    return named


def _at_end(pattern: str) -> _Named:
    compiled = re.compile(pattern)

    def named(text: str) -> str | None:
        found = compiled.search(text[-_TAIL:])
        return None if found is None else found[1]

    return named


def _in_chinese(one: str) -> Iterator[_Named]:
    for tail in (
        rf"是?\s*{one}", rf"是?\s*：\s*{one}", rf"是?\s*:\s*{one}", rf"选项应?该?是\s*{one}",
        rf"选项应?该?为\s*{one}", rf"应该?是\s*{one}", rf"应该?选\s*{one}", rf"选项为?\s*：\s*{one}",
        rf"选项为?\s+\(?\*?\*?{one}\*?\*?\)?", rf"选项是?\s*:\s*{one}", rf"为\s*{one}", rf"选\s*{one}",
    ):  # fmt: skip
        yield _of("答案", f"答案{tail}")
    yield _of("选", rf"选择?\s*{one}")
    # A comma is missing in the source, which makes one pattern of two.
    yield _of("只有", rf"故选?\s*{one}只有选?项?\s?{one}\s?是?对")
    for tail in ("是?错", "不?正确", "错误"):
        yield _of("只有", rf"只有选?项?\s?{one}\s?{tail}")
    for kind in ("不?对", "不?正确", "错误"):
        yield _of("说法", rf"说法{kind}选?项?的?是\s?{one}")
    yield _of("是正确的", rf"{one}\s?是正确的")
    yield _of("是正确答案", rf"{one}\s?是正确答案")
    yield _of("选项", rf"选项\s?{one}\s?正确")
    yield _of("所以答", rf"所以答\s?{one}")
    yield _at_end(rf"所以\s?({one}[.。$]?$)")
    yield _at_end(rf"所有\s?({one}[.。$]?$)")


def _at_the_end_in_chinese(one: str) -> Iterator[_Named]:
    for head in (r"[\s，,：:][故即]", r"[\s，,：:]因此", r"[是为。]\s?", r"因此\s?", r"显然\s?"):
        yield _at_end(rf"{head}{one}[。\.]?$")


def _word_after(head: str) -> _Named:
    r"""What `HEAD\s?(\S+)(?:。|$)` captures: the word after the head, up to its last full stop or the text's end.

    Of all heads within a word, the first reaches as far as any other. Only a head that ends a word is followed by
    the next one, and looks at that.
    """
    within, before = re.compile(rf"{head}(\S++)"), re.compile(rf"{head}\s(?=(\S++))")

    def named(text: str) -> str | None:
        if head not in text:
            return None
        found = [
            (start, word)
            for form in (within, before)
            for start, word in ((match.start(), _up_to_full_stop(match, text)) for match in form.finditer(text))
            if word
        ]
        return min(found)[1] if found else None

    return named


def _up_to_full_stop(match: re.Match[str], text: str) -> str:
    return match[1] if match.end(1) == len(text) else match[1][: max(0, match[1].rfind("。"))]


def _in_english(one: str) -> Iterator[_Named]:
    yield _of("he answer is", rf"[Tt]he answer is:?\s+\(?{one}\)?")
    yield _of("he answer is", rf"[Tt]he answer is:?\s+\(?\*?\*?{one}\*?\*?\)?")
    yield _of("he answer is option", rf"[Tt]he answer is option:?\s+\(?{one}\)?")
    yield _of("he correct answer is", rf"[Tt]he correct answer is:?\s+\(?{one}\)?")
    yield _of("he correct answer is option", rf"[Tt]he correct answer is option:?\s+\(?{one}\)?")
    for head in ("correct answer is", "correct option is", "correct answer option is"):
        yield _boxed_after(f"he {head}", one)
    yield _of("he answer to the question is", rf"[Tt]he answer to the question is:?\s+\(?{one}\)?")


def _boxed_after(needed: str, one: str) -> _Named:
    """The first boxed letter after the first such words: whatever follows later ones follows these too."""
    head, boxed = re.compile(f"[Tt]{needed}"), re.compile(rf"boxed\{{{one}\}}")

    def named(text: str) -> str | None:
        begun = head.search(text) if needed in text else None
        found = None if begun is None else boxed.search(text, begun.end())
        return None if found is None else found[1]

    return named


def _begins_with(letters: str) -> _Named:
    r"""The letter that a text begins with, and a sign after it.

    The source looks for `(\s|^)[ABCD][\s。，,：:\.$]`, and gives up where it finds one after a blank.
    """
    signs = re.compile(rf"[{letters}][\s。，,：:.$]")

    def named(text: str) -> str | None:
        return text[0] if signs.match(text) else None

    return named


def _after_one(text: str) -> str | None:
    r"""Everything after the first `1` and the character that follows, by `1.\s?(.*?)$` where `.` is anything.

    What the source would look for next, `1.\s?([ABCD])[.。$]?$`, stands in that already.
    """
    start = text.find("1")
    if start < 0 or start + 1 == len(text):
        return None
    rest = text[start + 2 :]
    return (rest[1:] if rest[:1].isspace() else rest) or text[start:]
