"""Usual rows of multiple choice → the lines of their records, in columns: the bytes that row by row gives, sooner.

Lines are usual if every one has the fields of the first row and no other, all of them texts, or null for an output
that never arrived, for a right answer that is not known, or for a prompt. Whatever is not usual is left to the way
row by row; a law holds the two to the same bytes.

A line is made of parts that many lines share (all that follows from cell, right answer and reading) and of what is
its own: item, key, prompt, text, row, and two numbers. What is shared is made once, by the one encoder of records;
lines are put together in columns, and only their digests are taken one by one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from json.encoder import encode_basestring_ascii
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from affidavit.archive.record import Failed, Response, record_fields
from affidavit.archive.record_columns import RecordColumns
from affidavit.archive.study_directory import IMPORTED
from affidavit.archive.versions import FORMAT
from affidavit.contracts.choice_columns import WHITESPACE
from affidavit.contracts.contract import AnyContract
from affidavit.contracts.parts import Parts
from affidavit.json_values import Fields, canonical
from affidavit.reading.imported_records import ONE_CONDITION, UNNAMED, NamedRow, RecordMaker
from affidavit.reading.output_columns import ANSWER, OutputColumns, Role
from affidavit.reading.repeat_counts import RepeatCounts, hashes_of
from affidavit.reading.rows import RowReader

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_SPECIAL, _OTHERS = r'[\\"\n\r\t\x08\x0c]', r"[^ -~\n\r\t\x08\x0c]"
_OWN = ("item_id", "key", "prompt", "raw_output", "row", "sample")
"""What is a record's own, in the order of its line."""
_HOLE = "\0"
"""Stands for what is a line's own while the shared parts are made."""


class Kind(NamedTuple):
    """Records of one cell, right answer and reading: what their lines share."""

    record: Response | Failed
    """The first of them."""
    content: tuple[str, ...]
    """What a record says, cut where its own values are."""
    key: tuple[str, str]
    """What the key is a digest of, before and behind the item."""
    head: bytes
    """The line up to the item, with the group."""
    same: slice
    """From the item to the sample the line is what the record says."""
    before_seq: bytes
    after_seq: bytes


@dataclass(frozen=True)
class RecordBatch:
    """Records that are ready to be written."""

    lines: bytes
    entries: bytes
    """Of each record half of its key and the digest of what it says, as the root digest takes them."""
    counts: tuple[tuple[Response | Failed, int], ...]
    """One record of each kind, and how many there are."""
    samples: int
    """One more than the greatest number of a sample."""
    frame: pl.DataFrame
    """The columns of the records, which tables are counted from."""

    @property
    def size(self) -> int:
        """How many records there are."""
        return len(self.frame)


def kind_of(record: Response | Failed) -> Kind:
    """What the lines of a record's kind share."""
    fields, (task, model, condition) = record_fields(record), record.subject.cell
    line = _cut({**fields, "group": 1, "seq": 0, "v": FORMAT}, (*_OWN, "seq"))
    *content, last = _cut(fields, _OWN)
    content.append(f"{last}}}")
    before = canonical([IMPORTED, task])[:-1].decode() + ","
    behind = "," + canonical([condition, model])[1:-1].decode() + ","
    same = slice(len(content[0]), -len(content[-1]))
    head, before_seq, after_seq = (part.encode() for part in (line[0], line[-2], line[-1]))
    return Kind(record, tuple(content), (before, behind), head, same, before_seq, after_seq)


def _cut(fields: Fields, own: Sequence[str]) -> tuple[str, ...]:
    """The start of a line, cut where its own values stand; where one is not there, an empty one may stand."""
    line = canonical({**fields, **{name: _HOLE for name in own if name in fields}}).decode().removesuffix("}")
    parts = line.split(canonical(_HOLE).decode())
    for place, name in enumerate(own):
        if name not in fields:
            parts.insert(place, "")
    return tuple(parts)


class _Rows:
    """Usual rows as columns: as they are, and as JSON writes their texts."""

    def __init__(self, columns: OutputColumns, values: dict[str, pl.Series], before: int) -> None:
        self._paths = columns.paths
        self.values = values
        self.height = len(next(iter(values.values())))
        numbers = pl.Series(range(before + 1, before + self.height + 1)).cast(pl.String)
        self.item = self._of(Role.ID, numbers)
        self.text = values[columns.text.text]
        self.answer = values.get(columns.answer.text)
        self.prompt = self._of(Role.PROMPT, pl.Series([None], dtype=pl.String).new_from_index(0, self.height))
        defaults = {Role.TASK: IMPORTED, Role.CONDITION: ONE_CONDITION, Role.MODEL: UNNAMED}
        self.cell = [
            self._of(role, pl.Series([name]).new_from_index(0, self.height)) for role, name in defaults.items()
        ]

    def _of(self, role: Role, default: pl.Series) -> pl.Series:
        path = self._paths.get(role)
        return default if path is None else self.values[path.text]

    @property
    def names_are_usual(self) -> bool:
        """Whether no name is blank, which is told row by row."""
        return not any((name.str.strip_chars(WHITESPACE) == "").any() for name in (self.item, *self.cell))

    def samples(self, repeats: RepeatCounts) -> NDArray[np.int64]:
        """The number of each row's sample."""
        if Role.ID not in self._paths:
            return np.zeros(self.height, np.int64)
        task, condition, model = self.cell
        return repeats.before(hashes_of([task, self.item, condition, model]))

    def row(self, names: Sequence[str]) -> pl.Series:
        """The JSON of the fields of these names, which are sorted."""
        parts: list[pl.Expr] = []
        for place, name in enumerate(names):
            parts += [pl.lit(("," if place else "{") + f"{canonical(name).decode()}:"), pl.col(name)]
        written = {name: as_json(self.values[name]) for name in names}
        if not names:
            return pl.Series(["{}"]).new_from_index(0, self.height)
        return pl.DataFrame(written).select(pl.concat_str(*parts, pl.lit("}"))).to_series()


class BulkRecords:
    """Pieces of a file of usual rows, each as a batch of records."""

    def __init__(self, study: str, first: Fields, columns: OutputColumns, contract: AnyContract) -> None:
        reader, kind = RowReader(contract), _usual_row(first, columns)
        self.possible = kind is not None and reader.in_columns and _is_same_for_all(contract)
        """Whether any rows like the first can be read so."""
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(kind or Any)
        self._names = list(first)
        self._columns, self._parts = columns, reader.parts
        self._maker = RecordMaker(study, columns, contract)
        self._parts_of: dict[str, Parts] = {IMPORTED: reader.parts}
        self._record_columns = RecordColumns(self._parts_of)
        self._codes: dict[tuple[str | None, ...], int] = {}
        self._kinds: list[Kind] = []
        taken = {path.text for path in columns.taken}
        self._rest = sorted(name for name in self._names if name not in taken)

    def batch(self, content: bytes, records: int, repeats: RepeatCounts) -> RecordBatch | None:
        """The records of whole lines, behind so many others; None if anything about them is not usual."""
        rows = self._decoded(content, records)
        if rows is None or not rows.names_are_usual:
            return None
        codes = self._coded(rows)
        return None if codes is None else self._made(rows, codes, records, repeats)

    def _decoded(self, content: bytes, before: int) -> _Rows | None:
        try:
            rows = self._decoder.decode_lines(content)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        if len(rows) != content.count(b"\n") + (not content.endswith(b"\n")):
            return None  # blank lines, or several objects on one
        values = {
            name: pl.Series(name, list(map(attrgetter(f"field_{place}"), rows)), pl.String)
            for place, name in enumerate(self._names)
        }
        return _Rows(self._columns, values, before)

    def _coded(self, rows: _Rows) -> list[int] | None:
        """The number of each row's kind; None if one has a right answer that no output could give."""
        frame = self._parts.read_texts(rows.text)
        if frame is None:
            return None
        keys = rows.answer if rows.answer is not None else pl.Series([None]).new_from_index(0, rows.height)
        if not all(self._parts.can_answer(str(key)) for key in keys.drop_nulls().unique()):
            return None
        found = [frame["extracted_answer"], frame["deviation"], keys, *rows.cell]
        tuples = list(zip(*(each.to_list() for each in found), strict=True))
        codes = self._codes
        for each in [each for each in dict.fromkeys(tuples) if each not in codes]:
            codes[each] = len(self._kinds)
            self._kinds.append(self._first(rows, tuples.index(each)))
        return list(map(codes.__getitem__, tuples))

    def _first(self, rows: _Rows, place: int) -> Kind:
        """The kind of a row, by its record as it is made row by row."""
        task, condition, model = (str(name[place]) for name in rows.cell)
        rest = {name: rows.values[name][place] for name in self._rest}
        names = ("", task, str(rows.item[place]), model, condition, None, None)
        return kind_of(self._maker.record(NamedRow(*names, rows.prompt[place], rows.text[place], rest), 0))

    def _made(self, rows: _Rows, codes: list[int], records: int, repeats: RepeatCounts) -> RecordBatch:
        samples = rows.samples(repeats)
        own = {
            "item_id": as_json(rows.item),
            "prompt": as_json(rows.prompt),
            # What did not arrive has no text, not even null.
            "raw_output": as_json(rows.text, none=""),
            "row": rows.row(self._rest),
            "sample": pl.Series(samples).cast(pl.String),
        }
        digests = self._keys(codes, own)
        keys = [digest.hex() for digest in digests]
        own["key"] = pl.Series(keys).to_frame("key").select(pl.concat_str(_QUOTE, "key", _QUOTE)).to_series()
        contents = self._joined(codes, own, _OWN, [kind.content for kind in self._kinds])
        entries = [key[:16] + sha256(content).digest() for key, content in zip(digests, contents, strict=True)]
        kinds = map(self._kinds.__getitem__, codes)
        starts = [
            b"%b%b%b%d%b" % (kind.head, content[kind.same], kind.before_seq, seq, kind.after_seq)
            for kind, content, seq in zip(kinds, contents, count(records + 1), strict=False)
        ]
        lines = [b'%b,"sha256":"%b"}\n' % (start, sha256(start).hexdigest().encode()) for start in starts]
        counts = np.bincount(np.asarray(codes), minlength=len(self._kinds))
        return RecordBatch(
            b"".join(lines),
            b"".join(entries),
            tuple((kind.record, int(times)) for kind, times in zip(self._kinds, counts, strict=True) if times),
            int(samples.max()) + 1,
            self._frame(rows, codes, keys, samples, own["row"]),
        )

    def _keys(self, codes: list[int], own: dict[str, pl.Series]) -> list[bytes]:
        """The keys: digests of the names."""
        names = self._joined(codes, own, ("item_id", "sample"), [(*kind.key, ",null]") for kind in self._kinds])
        return [sha256(each).digest() for each in names]

    def _joined(
        self, codes: list[int], own: dict[str, pl.Series], names: Sequence[str], shared: Sequence[tuple[str, ...]]
    ) -> list[bytes]:
        """What rows share with their kind and what is their own, in turn."""
        at = pl.Series(codes, dtype=pl.UInt32)
        columns = list[pl.Series]()
        for place, texts in enumerate(zip(*shared, strict=True)):
            columns.append(pl.Series(texts, dtype=pl.String).gather(at))
            columns += [own[names[place]]] if place < len(names) else []
        frame = pl.DataFrame([each.alias(str(place)) for place, each in enumerate(columns)])
        return frame.select(pl.concat_str(pl.all()).cast(pl.Binary)).to_series().to_list()

    def _frame(
        self, rows: _Rows, codes: list[int], keys: list[str], samples: NDArray[np.int64], row: pl.Series
    ) -> pl.DataFrame:
        """The columns of the records: those of their kinds, and their own."""
        self._parts_of |= {kind.record.subject.cell[0]: self._parts for kind in self._kinds}
        kinds = self._record_columns.frame(self._record_columns.row(kind.record) for kind in self._kinds)
        return kinds[codes].with_columns(
            pl.Series("key", keys),
            rows.item.alias("item_id"),
            pl.Series("sample", samples, pl.Int64),
            rows.text.alias("raw_output"),
            row.alias("row"),
        )


_QUOTE = pl.lit('"')


def as_json(texts: pl.Series, *, none: str = "null") -> pl.Series:
    """Texts as JSON writes them.

    >>> as_json(pl.Series(['say "B"\\n', None])).to_list()
    ['"say \\\\"B\\\\"\\\\n"', 'null']
    """
    if texts.str.contains(_OTHERS).any():
        return pl.Series(
            [none if each is None else encode_basestring_ascii(each) for each in texts], dtype=pl.String
        )
    if texts.str.contains(_SPECIAL).any():
        for character, escape in _ESCAPES.items():
            texts = texts.str.replace_all(character, escape, literal=True)
    return texts.to_frame("text").select(pl.concat_str(_QUOTE, "text", _QUOTE).fill_null(none)).to_series()


def _is_same_for_all(contract: AnyContract) -> bool:
    """Whether all items are read by the contract as it is."""
    return getattr(type(contract), "for_item", None) is Parts.for_item


def _usual_row(first: Fields, columns: OutputColumns) -> type | None:
    """The type of usual rows of a file, by its first; None if rows like it are read one by one."""
    paths = columns.paths
    if any(path.is_nested for path in paths.values()) or paths.keys() & {Role.SAMPLE, Role.OUTPUT_ID}:
        return None
    optional = {columns.text.text, columns.answer.text}
    if Role.PROMPT in paths:
        optional.add(paths[Role.PROMPT].text)
    renamed = columns.answer.text != ANSWER and ANSWER in first
    if renamed or not all(
        isinstance(value, str) or (value is None and name in optional) for name, value in first.items()
    ):
        return None
    fields = [(f"field_{place}", str | None if name in optional else str) for place, name in enumerate(first)]
    names = {f"field_{place}": name for place, name in enumerate(first)}
    return msgspec.defstruct("UsualRow", fields, rename=names, forbid_unknown_fields=True, gc=False)
