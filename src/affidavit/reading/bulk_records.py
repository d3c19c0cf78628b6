"""Usual rows of multiple choice → the lines of their records, in columns: the bytes that row by row gives, sooner.

Lines are usual if every one has the fields of the first row and no other, all of them texts, or null for an output
that never arrived, for a right answer that is not known, or for a prompt. Whatever is not usual is left to the way
row by row; a law holds the two to the same bytes. How they are decoded is told in `usual_lines.py`.

A line is made of parts that many lines share (all that follows from cell, right answer and reading) and of what is
its own: item, key, prompt, text, row, and two numbers. What is shared is made once, by the one encoder of records;
lines are put together in columns, and so are their digests. No line is an object by itself.
"""

from binascii import unhexlify
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affidavit.archive.record import Failed, Response, record_fields
from affidavit.archive.record_columns import NEVER_IMPORTED, RecordColumns
from affidavit.archive.study_directory import IMPORTED
from affidavit.archive.versions import FORMAT
from affidavit.contracts.contract import AnyContract
from affidavit.contracts.parts import Parts
from affidavit.contracts.whitespace import WHITESPACE
from affidavit.json_values import Fields, canonical
from affidavit.reading.column_digests import sha256_of
from affidavit.reading.imported_records import FINISH_REASON, NamedRow, RecordMaker
from affidavit.reading.output_columns import ANSWER, ONE_CONDITION, UNNAMED, OutputColumns, Role
from affidavit.reading.record_batch import RecordBatch
from affidavit.reading.repeat_counts import Hashes, RepeatCounts, hashes_of
from affidavit.reading.rows import RowReader
from affidavit.reading.usual_lines import UsualLines, UsualTexts, in_quotes, objects

_OWN = ("item_id", "key", "prompt", "raw_output", "row", "sample")
"""What is a record's own, in the order of its line."""
_MOST_KINDS = 4096
"""Kinds that are remembered: more are made anew."""
_Names = tuple[str | None, ...]
"""What decides the kind of a row."""
_PARTS = {"between": 5, "content": 2, "line": 3, "key": 3}
"""How many texts there are of each that the lines of a kind share, in the order of `Kind`."""
_SHARED = {f"{name}_{place}": pl.String() for name, count in _PARTS.items() for place in range(count)}
"""The columns of these texts."""


class Kind(NamedTuple):
    """Records of one cell, right answer and reading: what their lines share."""

    record: Response | Failed
    """The first of them."""
    between: tuple[str, ...]
    """What stands between a record's own values, from the item to the sample, with the quotes of item, key and
    text."""
    content: tuple[str, str]
    """What a record says before and behind these."""
    line: tuple[str, str, str]
    """What its line says before these, behind them up to its number, and behind that."""
    key: tuple[str, str, str]
    """What the key is a digest of, around item and sample."""

    @property
    def shared(self) -> tuple[str, ...]:
        """All of these texts."""
        return (*self.between, *self.content, *self.line, *self.key)


def kind_of(record: Response | Failed) -> Kind:
    """What the lines of a record's kind share."""
    fields, (task, model, condition) = record_fields(record), record.subject.cell
    before, *_, to_number, after = _cut({**fields, "group": 1, "seq": 0, "v": FORMAT}, (*_OWN, "seq"))
    first, to_key, behind_key, to_text, to_row, *between, last = _cut(fields, _OWN)
    names = canonical([IMPORTED, task])[:-1].decode() + ',"'
    cell = '",' + canonical([condition, model])[1:-1].decode() + ","
    # Items, keys and texts stand in quotes; what did not arrive has no text.
    quote = '"' if "raw_output" in fields else ""
    return Kind(
        record,
        (f'"{to_key}"', f'"{behind_key}', f"{to_text}{quote}", f"{quote}{to_row}", *between),
        (f'{first}"', f"{last}}}"),
        (f'{before}"', to_number, after),
        (names, cell, ",null]"),
    )


def _cut(fields: Fields, own: Sequence[str]) -> tuple[str, ...]:
    """The start of a line, cut where its own values stand; where one is not there, an empty one may stand."""
    hole = "\0"  # stands for what is the line's own, and stands nowhere else in it
    while canonical(hole) in canonical({name: value for name, value in fields.items() if name not in own}):
        hole += "\0"
    line = canonical({**fields, **{name: hole for name in own if name in fields}}).decode().removesuffix("}")
    parts = line.split(canonical(hole).decode())
    for place, name in enumerate(own):
        if name not in fields:
            parts.insert(place, "")
    return tuple(parts)


class _Rows:
    """Usual rows as columns, and their texts as JSON writes them."""

    def __init__(self, columns: OutputColumns, found: UsualTexts, before: int) -> None:
        self._paths = columns.paths
        self._found = found
        self.height = found.height
        self._before = before
        text, answer = columns.text.text, columns.answer.text
        # What did not arrive has no text, not even null.
        self.text, self.escaped_text = found.texts[text], found.escaped[text].fill_null("")
        self.answer = found.texts[answer] if answer in found.texts else self._same(None)
        self.item, self.escaped_item = self._items()
        prompt = self._paths.get(Role.PROMPT)
        self.json_prompt = self._same("null") if prompt is None else in_quotes(found.escaped[prompt.text])
        defaults = {Role.TASK: IMPORTED, Role.CONDITION: ONE_CONDITION, Role.MODEL: UNNAMED}
        self.cell = [
            self._same(name) if (path := self._paths.get(role)) is None else found.texts[path.text]
            for role, name in defaults.items()
        ]

    def _same(self, text: str | None) -> pl.Series:
        return pl.Series([text], dtype=pl.String).new_from_index(0, self.height)

    def _items(self) -> tuple[pl.Series, pl.Series]:
        path = self._paths.get(Role.ID)
        if path is not None:
            return self._found.texts[path.text], self._found.escaped[path.text]
        numbers = pl.int_range(self._before + 1, self._before + self.height + 1, eager=True).cast(pl.String)
        return numbers, numbers

    def value(self, name: str, place: int) -> str | None:
        """One text."""
        text = self._found.texts[name][place]
        return None if text is None else str(text)

    def prompt(self, place: int) -> str | None:
        """What was asked, where the rows say it."""
        path = self._paths.get(Role.PROMPT)
        return None if path is None else self.value(path.text, place)

    @property
    def names_are_usual(self) -> bool:
        """Whether no name is blank, which is told row by row."""
        for name in (self.item, *self.cell):
            padded = name.filter((name < "!") | (name > "~"))  # all whitespace sorts there, and little else
            if len(padded) and (padded.str.strip_chars(WHITESPACE) == "").any():
                return False
        return True

    def hashes(self) -> Hashes | None:
        """What samples are counted by; None if each row is an item of its own."""
        if Role.ID not in self._paths:
            return None
        task, condition, model = self.cell
        return hashes_of([task, self.item, condition, model])

    def row(self, names: Sequence[str]) -> pl.Series:
        """The JSON of the fields of these names, which are sorted."""
        if not names:
            return self._same("{}")
        starts = [f"{',' if place else '{'}{canonical(name).decode()}:" for place, name in enumerate(names)]
        return objects((start, self._found.escaped[name]) for start, name in zip(starts, names, strict=True))


class _KindTable:
    """Kinds in columns: what their lines share, and what their records say to tables."""

    def __init__(self, kinds: Mapping[_Names, Kind], parts: Parts) -> None:
        self.kinds = tuple(kinds.values())
        self.places = {names: place for place, names in enumerate(kinds)}
        self.shared = pl.DataFrame([kind.shared for kind in self.kinds], schema=_SHARED, orient="row")
        columns = RecordColumns({kind.record.subject.cell[0]: parts for kind in self.kinds})
        self.frame = columns.frame(columns.row(kind.record) for kind in self.kinds).drop(NEVER_IMPORTED)


class KnownRows(NamedTuple):
    """Usual rows, and what kinds they are of."""

    rows: _Rows
    table: _KindTable
    codes: pl.Series
    """The place of each row's kind in the table."""


class CodedRows(NamedTuple):
    """Usual rows of which is known what their records will be."""

    known: KnownRows
    samples: NDArray[np.int64]
    """The number of each row's sample."""
    before: int
    """Records that come before."""

    @property
    def height(self) -> int:
        """How many rows there are."""
        return self.known.rows.height


class BulkRecords:
    """Pieces of a file of usual rows, each as a batch of records."""

    def __init__(self, study: str, first: Fields, columns: OutputColumns, contract: AnyContract) -> None:
        reader, lines = RowReader(contract), _usual_lines(first, columns)
        self.possible = (
            lines is not None
            and reader.in_columns
            and _is_same_for_all(contract)
            and not _tells_places(reader.parts)
            and FINISH_REASON not in first
        )
        """Whether any rows like the first can be read so."""
        self._usual = lines
        self._columns, self._parts = columns, reader.parts
        self._maker = RecordMaker(study, columns, contract)
        self._kinds: dict[_Names, Kind] = {}
        self._table: _KindTable | None = None
        taken = {path.text for path in columns.taken}
        self._rest = sorted(name for name in first if name not in taken)

    def coded(self, content: bytes, before: int, repeats: RepeatCounts) -> CodedRows | None:
        """What whole lines hold, behind so many records; None if anything about them is not usual.

        Lines are coded in their order: samples are counted on the way.
        """
        known = self.known(content, before)
        if known is None:
            return None
        hashes = known.rows.hashes()
        samples = np.zeros(known.rows.height, np.int64) if hashes is None else repeats.before(hashes)
        return CodedRows(known, samples, before)

    def known(self, content: bytes, before: int) -> KnownRows | None:
        """The same, without the numbers of samples; `before` matters only where rows have no id."""
        texts = None if self._usual is None else self._usual.of(content)
        rows = None if texts is None else _Rows(self._columns, texts, before)
        if rows is None or not rows.names_are_usual:
            return None
        found = self._found(rows)
        if found is None:
            return None
        _, first, kinds = np.unique(found.hash_rows(seed=24).to_numpy(), return_index=True, return_inverse=True)
        distinct = found[first]
        if not found.equals(distinct[kinds]):
            return None  # two kinds that met in one number by chance
        names = distinct.rows()
        table = self._table_of(rows, {names[each]: int(first[each]) for each in np.argsort(first)})
        places = np.array([table.places[each] for each in names], np.uint32)
        return KnownRows(rows, table, pl.Series("code", places[kinds]))

    def _table_of(self, rows: _Rows, found: Mapping[_Names, int]) -> _KindTable:
        """A table that has the kinds of these names, one row of each being at the place: mostly the last one."""
        if self._table is None or not self._table.places.keys() >= found.keys():
            kinds = {names: self._kind(rows, names, place) for names, place in found.items()}
            self._table = _KindTable(kinds, self._parts)
        return self._table

    def _found(self, rows: _Rows) -> pl.DataFrame | None:
        """What decides the kind of a row; None if one has a right answer that no output could give."""
        frame = self._parts.read_texts(rows.text)
        if frame is None:
            return None
        if not all(self._parts.can_answer(str(key)) for key in rows.answer.drop_nulls().unique()):
            return None
        found = [frame["extracted_answer"], frame["deviation"], rows.answer, *rows.cell]
        return pl.DataFrame([each.alias(f"kind_{place}") for place, each in enumerate(found)])

    def _kind(self, rows: _Rows, names: _Names, place: int) -> Kind:
        """The kind of these names, by the record of the row at this place as it is made row by row."""
        if names not in self._kinds:
            if len(self._kinds) >= _MOST_KINDS:
                self._kinds.clear()
            task, condition, model = (str(name[place]) for name in rows.cell)
            rest: Fields = {name: rows.value(name, place) for name in self._rest}
            prompt, item, text = rows.prompt(place), str(rows.item[place]), rows.text[place]
            row = NamedRow("", task, item, model, condition, None, None, prompt, text, rest)
            self._kinds[names] = kind_of(self._maker.record(row, 0))
        return self._kinds[names]

    def made(self, coded: CodedRows) -> RecordBatch:
        """The records of rows; it may be done while others are coded."""
        (rows, table, codes), samples = coded.known, coded.samples
        shared = table.shared[codes]
        own = {
            "item_id": rows.escaped_item,
            "prompt": rows.json_prompt,
            "raw_output": rows.escaped_text,
            "row": rows.row(self._rest),
            "sample": pl.Series(samples),
        }
        made = _lines(shared.with_columns(**own), coded.before)
        frame = table.frame[codes].with_columns(
            made["key"],
            rows.item.alias("item_id"),
            pl.Series("sample", samples, pl.Int64),
            rows.text.alias("raw_output"),
            own["row"].alias("row"),
        )
        counts = np.bincount(codes.to_numpy(), minlength=len(table.kinds)).tolist()
        return RecordBatch(
            rows.height,
            _content(made["line"]),
            memoryview(unhexlify(_content(made["entry"]))),
            tuple((kind.record, times) for kind, times in zip(table.kinds, counts, strict=True) if times),
            int(samples.max()) + 1,
            frame,
        )


def _lines(parts: pl.DataFrame, before: int) -> pl.DataFrame:
    """Of each row its key, its line, and its entry; in one query, so that nothing is done twice."""
    return (
        parts.lazy()
        .with_columns(
            pl.col("sample").cast(pl.String), seq=pl.int_range(before + 1, before + len(parts) + 1).cast(pl.String)
        )
        .with_columns(key=sha256_of(pl.concat_str(*_in_turn(_texts("key"), ["item_id", "sample"]))))
        .with_columns(own=pl.concat_str(*_in_turn(_OWN, _texts("between"))))
        .with_columns(
            content=sha256_of(pl.concat_str(*_in_turn(_texts("content"), ["own"]))),
            start=pl.concat_str(*_in_turn(_texts("line"), ["own", "seq"])),
        )
        .select(
            "key",
            line=pl.concat_str("start", pl.lit(',"sha256":"'), sha256_of("start"), pl.lit('"}\n')),
            entry=pl.concat_str(pl.col("key").str.slice(0, 32), "content"),
        )
        .collect(engine="in-memory")  # the other engine is at the copy
    )


def _content(texts: pl.Series) -> memoryview:
    """The bytes of texts, none of them empty, one behind the other; none becomes an object."""
    return texts.cast(pl.Binary).cast(pl.List(pl.UInt8)).explode().to_numpy().data


def _texts(name: str) -> list[str]:
    """The columns of what lines share, of one name."""
    return [f"{name}_{place}" for place in range(_PARTS[name])]


def _in_turn(outer: Sequence[str], inner: Sequence[str]) -> list[str]:
    """Two kinds of columns in turn, the one there is more of first and last."""
    return [name for pair in zip(outer, inner, strict=False) for name in pair] + [outer[-1]]


def _is_same_for_all(contract: AnyContract) -> bool:
    """Whether all items are read by the contract as it is."""
    return getattr(type(contract), "for_item", None) is Parts.for_item


def _tells_places(parts: Parts) -> bool:
    """Whether records say where the answer stands: then hardly two of them share what lines of a kind share."""
    return any(name in parts.fields_added({}) for pair in parts.mark_fields for name in pair)


def _usual_lines(first: Fields, columns: OutputColumns) -> UsualLines | None:
    """Lines like the first of a file; None if such rows are read one by one."""
    paths = columns.paths
    if any(path.is_nested for path in paths.values()) or paths.keys() & {Role.SAMPLE, Role.OUTPUT_ID}:
        return None
    optional = {columns.text.text, columns.answer.text}
    if Role.PROMPT in paths:
        optional.add(paths[Role.PROMPT].text)
    renamed = columns.answer.text != ANSWER and ANSWER in first
    lines = UsualLines(first, frozenset(optional))
    return lines if lines.possible and not renamed else None
