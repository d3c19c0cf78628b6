"""Usual lines of JSON → their texts in columns, and the same texts as JSON writes them.

Lines are usual if every one has the fields of the first row and no other, all of them texts, or null where that
has a meaning.

Most files are written by one program, in one way. So lines are first decoded in columns, by whoever is quickest
and however lenient it is, and then written again from what was found: a line that comes out as it came in was
read right, and nothing else stood in it. Lines that do not are all read anew by a decoder that is strict.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    escaped: Mapping[str, pl.Series]
    """The same as they stand between quotes in canonical JSON."""

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
        others = (_line(texts, style) != lines).arg_true() if content.isascii() else _all(len(lines))
        if not len(others):
            return UsualTexts(texts, texts)
        found = {name: text.gather(others) for name, text in texts.items()}
        escaped = {name: _escaped(text, encode_basestring_ascii) for name, text in found.items()}
        if not _is_written_so(lines.gather(others), found, escaped, style):
            return None
        return UsualTexts(
            texts, {name: text.clone().scatter(others, escaped[name]) for name, text in texts.items()}
        )

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
        return UsualTexts(texts, {name: _escaped(text, encode_basestring_ascii) for name, text in texts.items()})


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


def _escaped(text: pl.Series, encode: Callable[[str], str]) -> pl.Series:
    """Texts as they stand between quotes, by whoever writes one in quotes."""
    odd = text.str.contains(_NOT_AS_IT_IS).arg_true()
    if not len(odd):
        return text
    written = [encode(each)[1:-1] for each in text.gather(odd).to_list()]
    return text.clone().scatter(odd, pl.Series(written, dtype=pl.String))


def _line(escaped: Mapping[str, pl.Series], style: Sequence[str]) -> pl.Series:
    """Lines that are written in a style."""
    return objects(zip(style, escaped.values(), strict=True))


def objects(fields: Iterable[tuple[str, pl.Series]]) -> pl.Series:
    """JSON objects of escaped texts, each with what stands before it in the object.

    >>> objects([('{"a":', pl.Series(["x", "y"])), (',"b":', pl.Series(["z", None]))]).to_list()
    ['{"a":"x","b":"z"}', '{"a":"y","b":null}']
    """
    parts: list[pl.Expr] = []
    columns: dict[str, pl.Series] = {}
    # Names of others are no names for columns: `*` and `^.*$` would be taken for several.
    for place, (start, column) in enumerate(fields):
        name = f"field_{place}"
        if column.null_count():
            columns[name] = in_quotes(column)
            parts += [pl.lit(start), pl.col(name)]
        else:
            columns[name] = column
            parts += [pl.lit(f'{start}"'), pl.col(name), pl.lit('"')]
    return pl.DataFrame(columns).select(pl.concat_str(*parts, pl.lit("}"))).to_series()


def in_quotes(escaped: pl.Series) -> pl.Series:
    """Escaped texts as JSON writes them, null where there is none.

    >>> in_quotes(pl.Series(["x", None])).to_list()
    ['"x"', 'null']
    """
    quoted = escaped.to_frame("text").select(pl.concat_str(pl.lit('"'), "text", pl.lit('"'))).to_series()
    return quoted.fill_null("null")


def _is_written_so(
    lines: pl.Series, texts: Mapping[str, pl.Series], escaped: Mapping[str, pl.Series], style: Sequence[str]
) -> bool:
    """Whether every line is what these texts are written as, in ASCII or in UTF-8."""
    rest = (_line(escaped, style) != lines).arg_true()
    if not len(rest):
        return True
    in_utf8 = {name: _escaped(text.gather(rest), encode_basestring) for name, text in texts.items()}
    return bool((_line(in_utf8, style) == lines.gather(rest)).all())
