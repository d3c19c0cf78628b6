"""What an output is called on a sheet: a name that follows from its text too, and that no dictionary finds.

The key of an output is a digest of what was asked: two runs of one study have equal keys, and whoever tries names
of models finds the one that fits. So a name on a sheet is a digest over the key, the text, and all texts of the
list that was drawn from. It names no output of another run, and says nothing to whoever lacks the whole study.
"""

from collections.abc import Iterable, Mapping

from affidavit.json_values import digest
from affidavit.judging.label_draws import Drawable, LabelDraw

MARK = "o-"
"""How a name on a sheet begins: no key does, and no spreadsheet takes it for a number."""
_DIGITS = 32


def text_sha256(text: str) -> str:
    """The digest of an output's text, by which a label says what was read.

    >>> text_sha256("A") == text_sha256("A"), text_sha256("A") == text_sha256("B")
    (True, False)
    """
    return digest(text)


def list_sha256(outputs: Iterable[Drawable], texts: Mapping[str, str]) -> str:
    """The digest of a list that is drawn from; `texts` has that of each text by its output's key."""
    return digest(sorted([output.key, texts[output.key]] for output in outputs))


def name_on_sheet(draw: LabelDraw, key: str, text: str) -> str:
    """What an output is called on the sheets of a draw, and of every draw of the same list; `text`: a digest."""
    return f"{MARK}{digest([draw.list_sha256, draw.about, key, text])[:_DIGITS]}"


def keys_by_name(draws: Iterable[LabelDraw], texts: Mapping[str, str]) -> dict[str, str]:
    """The key of every output that was drawn, by its name on the sheets."""
    return {name_on_sheet(draw, key, texts[key]): key for draw in draws for key in draw.outputs if key in texts}


def is_name_on_sheet(name: str) -> bool:
    """Whether it has the form of such a name, of this study or of another.

    >>> is_name_on_sheet("o-" + "0" * 32), is_name_on_sheet("o-1"), is_name_on_sheet("0" * 64)
    (True, False, False)
    """
    digits = name.removeprefix(MARK)
    return name.startswith(MARK) and len(digits) == _DIGITS and set(digits) <= set("0123456789abcdef")
