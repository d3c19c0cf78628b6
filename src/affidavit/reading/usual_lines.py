"""Usual lines of JSON → their texts in columns, and the same texts as JSON writes them.

Lines are usual if every one has the fields of the first row and no other, all of them texts, or null where that
has a meaning.

Most files are written by one program, in one way. So lines are first decoded in columns, by whoever is quickest
and however lenient it is, and then written again from what was found: a line that comes out as it came in was
read right, and nothing else stood in it. Lines that do not are all read anew by a decoder that is strict.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from json.encoder import encode_basestring, encode_basestring_ascii
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
import polars as pl

from affidavit.json_values import Fields, canonical

_PLAIN_NAME = re.compile(r'[^\\"\x00-\x1f\ud800-\udfff]*')
"""A name of a field that the quick decoders can look for."""
_NOT_AS_IT_IS = r"[^ !#-\[\]-~]"
"""What stands in JSON in another form than in the text."""
_STYLES = ((", ", ": "), (",", ":"))
"""What programs put between fields, and between a name and its text."""


class UsualTexts(NamedTuple):
    """The fields of usual lines, by name."""

    texts: Mapping[str, pl.Series]
    written: Mapping[str, pl.Series]
    """The same as canonical JSON, `null` where there is none."""

    @property
    def height(self) -> int:
        """How many lines there are."""
        return len(next(iter(self.texts.values())))


class UsualLines:
    """Lines like the first row of a file."""

    def __init__(self, first: Fields, optional: frozenset[str]) -> None:
        """`optional` are the fields that may be null."""
        self.possible = bool(first) and all(
            (isinstance(value, str) or (value is None and name in optional)) and _PLAIN_NAME.fullmatch(name)
            for name, value in first.items()
        )
        """Whether there are any."""
        self._names = list(first)
        self._optional = optional
        if self.possible:
            self._starts = [_starts(self._names, *style) for style in _STYLES]
            self._strict: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_row_type(self._names, optional))
            self._schema = dict.fromkeys(self._names, pl.String())

    def of(self, content: bytes) -> UsualTexts | None:
        """What whole lines hold; None if one of them is not usual."""
        quick = self._in_columns(content)
        return self._by_strict_decoder(content) if quick is None else quick

    # --- in columns ---

    def _in_columns(self, content: bytes) -> UsualTexts | None:
        """The texts of lines that are written in one way; None if they are not, or if one is not usual."""
        style = next((each for each in self._starts if content.startswith(each[0].encode())), None)
        if style is None:
            return None
        try:
            frame = pl.read_ndjson(content, schema=self._schema)
            lines = pl.Series([content.removesuffix(b"\n")], dtype=pl.Binary).cast(pl.String)
        except pl.exceptions.PolarsError:
            return None
        lines = lines.str.split("\n").explode()
        texts = dict(zip(self._names, frame.get_columns(), strict=True))
        if len(lines) != frame.height or any(texts[name].null_count() for name in self._required):
            return None
        written = {name: _plainly_written(text) for name, text in texts.items()}
        others = (_line(written, style) != lines).arg_true() if content.isascii() else _all(len(lines))
        if len(others):
            found = {name: text.gather(others) for name, text in texts.items()}
            escaped = {name: _escaped(text, encode_basestring_ascii) for name, text in found.items()}
            if not _is_written_so(lines.gather(others), found, escaped, style):
                return None
            written = {name: column.scatter(others, escaped[name]) for name, column in written.items()}
        return UsualTexts(texts, written)

    @property
    def _required(self) -> list[str]:
        return [name for name in self._names if name not in self._optional]

    # --- strictly ---

    def _by_strict_decoder(self, content: bytes) -> UsualTexts | None:
        try:
            rows = self._strict.decode_lines(content)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        if not len(rows) == content.count(b"\n{") + 1 == content.count(b"\n") + (not content.endswith(b"\n")):
            # A blank line, several objects on one, or one on several: all begin lines, and no other does.
            return None
        values = {name: list(map(attrgetter(f"field_{place}"), rows)) for place, name in enumerate(self._names)}
        texts = {name: pl.Series(found, dtype=pl.String) for name, found in values.items()}
        return UsualTexts(texts, {name: as_json(found) for name, found in values.items()})


def _starts(names: Sequence[str], between: str, behind_name: str) -> list[str]:
    """What stands in a line before each of its texts."""
    quoted = [canonical(name).decode() for name in names]
    return [f"{between if place else '{'}{name}{behind_name}" for place, name in enumerate(quoted)]


def _row_type(names: Sequence[str], optional: frozenset[str]) -> type:
    """The type of usual rows, for a strict decoder."""
    fields = [(f"field_{place}", str | None if name in optional else str) for place, name in enumerate(names)]
    renamed = {f"field_{place}": name for place, name in enumerate(names)}
    return msgspec.defstruct("UsualRow", fields, rename=renamed, forbid_unknown_fields=True, gc=False)


def _all(height: int) -> pl.Series:
    return pl.int_range(height, eager=True, dtype=pl.UInt32)


def _plainly_written(text: pl.Series) -> pl.Series:
    """Texts in quotes, as if nothing in them had to be escaped."""
    quoted = text.to_frame("text").select(pl.concat_str(pl.lit('"'), "text", pl.lit('"'))).to_series()
    return quoted.fill_null("null") if text.null_count() else quoted


def _escaped(text: pl.Series, encode: Callable[[str], str]) -> pl.Series:
    """Texts as JSON writes them, by whoever escapes one."""
    written = _plainly_written(text)
    odd = text.str.contains(_NOT_AS_IT_IS).arg_true()
    if not len(odd):
        return written
    return written.scatter(odd, pl.Series(list(map(encode, text.gather(odd).to_list())), dtype=pl.String))


def _line(written: Mapping[str, pl.Series], style: Sequence[str]) -> pl.Series:
    """Lines that are written in a style."""
    columns = {f"field_{place}": column for place, column in enumerate(written.values())}
    parts = [part for start, name in zip(style, columns, strict=True) for part in (pl.lit(start), pl.col(name))]
    return pl.DataFrame(columns).select(pl.concat_str(*parts, pl.lit("}"))).to_series()


def _is_written_so(
    lines: pl.Series, texts: Mapping[str, pl.Series], escaped: Mapping[str, pl.Series], style: Sequence[str]
) -> bool:
    """Whether every line is what these texts are written as, in ASCII or in UTF-8."""
    rest = (_line(escaped, style) != lines).arg_true()
    if not len(rest):
        return True
    in_utf8 = {name: _escaped(text.gather(rest), encode_basestring) for name, text in texts.items()}
    return bool((_line(in_utf8, style) == lines.gather(rest)).all())


def as_json(texts: Sequence[str | None], *, none: str = "null") -> pl.Series:
    """Texts as JSON writes them.

    >>> as_json(['say "B"\\n', None]).to_list()
    ['"say \\\\"B\\\\"\\\\n"', 'null']
    """
    # The standard library's own function in C is quicker than a search for each character in a column.
    return pl.Series([none if text is None else encode_basestring_ascii(text) for text in texts], dtype=pl.String)
