"""The directory of part files: a plan, parts, what is known of each, and a manifest when all are there.

    plan.json            what is read, and into which parts
    part-000000.jsonl    the rows of a range, with the contract's fields
    part-000000.json     its digest and counts; it is there when the part is whole, and not before
    part-000000.bad.jsonl    rows of the range that are none
    manifest.json        every part in order, and the counts of all: whoever finds it has everything
    bad_rows.jsonl       all bad rows, by file and line

Nothing in here is ever changed, so that whatever was interrupted goes on with the parts that are missing, and what
was done twice, here or on another machine, is there once.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec

from affidavit.archive.disk import Disk, new_file, refuse_study, storage_errors
from affidavit.errors import InputError, UsageError
from affidavit.plain_text import counted_noun
from affidavit.reading.batches import Result
from affidavit.reading.part_files.counts import result_of
from affidavit.reading.part_files.part_reading import BadRow, Part, WrittenPart
from affidavit.reading.part_files.plan import Plan, Shard

PLAN, MANIFEST, BAD_ROWS = "plan.json", "manifest.json", "bad_rows.jsonl"
_plan = msgspec.json.Decoder(Plan)
_part = msgspec.json.Decoder(Part)
_bad_row = msgspec.json.Decoder(BadRow)


class Manifest(msgspec.Struct, frozen=True):
    """Everything that was read, when it is whole."""

    plan_sha256: str
    contract: str
    digest: str
    """Of the parts' digests in their order: equal for equal rows under an equal plan, whoever read them."""
    rows: int
    bad_rows: int
    parts: list[Part]
    v: int = 1


class PartsFolder:
    """A directory of part files."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begun(self, plan: Plan) -> None:
        """Have the directory be of this plan; UsageError if it holds another, or something else."""
        refuse_study(self.path)
        with storage_errors(str(self.path)):
            if self.path.exists() and not self.path.is_dir():
                raise UsageError(str(self.path), expected="a directory of part files", found="a file")
            self.path.mkdir(parents=True, exist_ok=True)
            if (self.path / PLAN).exists():
                self._refuse_another(plan)
            elif any(not each.name.startswith(".") for each in self.path.iterdir()):
                hint = "Give a directory that is empty, or not there yet."
                raise UsageError(str(self.path), expected="an empty directory", found="other files", hint=hint)
            else:
                with new_file(self.path / PLAN) as stream:
                    stream.write(msgspec.json.format(msgspec.json.encode(plan)))

    def _refuse_another(self, plan: Plan) -> None:
        if (there := self.plan()).sha256() == plan.sha256():
            return
        names = [each for each in plan.__struct_fields__ if getattr(there, each) != getattr(plan, each)]
        hint = "Give another directory; this one is left as it is."
        found = f"those of another, with other {', '.join(names)}"
        raise UsageError(str(self.path), expected="the parts of this reading", found=found, hint=hint)

    def plan(self) -> Plan:
        """What is read here; InputError if there is no plan."""
        path = self.path / PLAN
        try:
            return _plan.decode(path.read_bytes())
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise InputError(str(path), expected="the plan of part files", found=_reason(error)) from error

    def parts(self, plan: Plan) -> dict[int, Part]:
        """The parts that are whole, by number."""
        found = {}
        for number in range(len(plan.ranges)):
            if (part := self._there(plan, number)) is not None:
                found[number] = part
        return found

    def _there(self, plan: Plan, number: int) -> Part | None:
        name = plan.name_of(number)
        with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
            part = _part.decode(self._beside(name).read_bytes())
            if (part.number, part.name) == (number, name) and (self.path / name).stat().st_size == part.size:
                return part
        return None

    def _beside(self, name: str) -> Path:
        return self.path / f"{name.partition('.')[0]}.json"

    def bad_rows_of(self, part: Part) -> Path:
        """Where the bad rows of a part are, if it has any."""
        return self.path / f"{part.name.partition('.')[0]}.bad.jsonl"

    def commit(self, written: WrittenPart) -> None:
        """Give a part its name: from now on it is there, also after a loss of power."""
        part, disk = written.part, Disk()
        with storage_errors(str(self.path)):
            if written.bad_rows is not None:
                disk.replace(self.path / written.bad_rows, self.bad_rows_of(part))
            disk.replace(self.path / written.content, self.path / part.name)
            disk.sync_directory(self.path)
            disk.place(self._beside(part.name), msgspec.json.format(msgspec.json.encode(part)))

    def clear(self, plan: Plan, shard: Shard) -> None:
        """Take away what a reading of this shard has left half done."""
        for path in self.path.glob(".part-*.partial*"):
            number = path.name[len(".part-") :][:6]
            if number.isdigit() and int(number) < len(plan.ranges) and shard.has(int(number)):
                path.unlink(missing_ok=True)

    def finished(self, plan: Plan) -> "Manifest":
        """Write the manifest of all parts; UsageError if one is missing."""
        parts = self.parts(plan)
        if missing := [number for number in range(len(plan.ranges)) if number not in parts]:
            raise UsageError(str(self.path), expected=f"all {len(plan.ranges):,} parts", found=_missing(missing))
        manifest = manifest_of(plan, parts)
        with storage_errors(str(self.path)):
            if manifest.bad_rows:
                with new_file(self.path / BAD_ROWS) as stream:
                    stream.writelines(msgspec.json.encode(row) + b"\n" for row in self._all_bad_rows(parts))
            Disk().place(self.path / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
            for left in self.path.glob(".*.partial*"):  # every part is there: nobody goes on with these
                left.unlink(missing_ok=True)
        return manifest

    def _all_bad_rows(self, parts: Mapping[int, Part]) -> Iterator[BadRow]:
        """The bad rows by file and line: lines of a range come behind those of the ranges before it."""
        before, file = 0, -1
        for number in sorted(parts):
            part = parts[number]
            if part.input.input != file:
                before, file = 0, part.input.input
            if part.bad:
                for line in self.bad_rows_of(part).read_bytes().splitlines():
                    row = _bad_row.decode(line)
                    yield row if row.line is None else msgspec.structs.replace(row, line=row.line + before)
            before += part.lines


def manifest_of(plan: Plan, parts: Mapping[int, Part]) -> Manifest:
    """What the manifest says of these parts."""
    ordered = [parts[number] for number in sorted(parts)]
    digest = sha256("".join(part.sha256 for part in ordered).encode()).hexdigest()
    rows = result_of_parts(ordered).tally.n
    return Manifest(plan.sha256(), plan.contract, digest, rows, sum(part.bad for part in ordered), ordered)


def result_of_parts(parts: Sequence[Part]) -> Result:
    """The counts of all parts together."""
    total = Result()
    for part in parts:
        total += result_of(part.counts)
    return total


def _missing(numbers: Sequence[int]) -> str:
    """Which parts are missing, in few words.

    >>> _missing([3]), _missing([1, 2, 3, 7])
    ('no part 3', '4 parts missing: 1-3, 7')
    """
    if len(numbers) == 1:
        return f"no part {numbers[0]}"
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    said = [str(first) if first == last else f"{first}-{last}" for first, last in spans]
    more = f" and {len(said) - 8} spans more" if len(said) > 8 else ""
    return f"{counted_noun(len(numbers), 'part')} missing: {', '.join(said[:8])}{more}"


def _reason(error: Exception) -> str:
    return "no such file" if isinstance(error, FileNotFoundError) else str(error)
