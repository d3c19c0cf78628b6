"""What it costs to read records, with bounds; run by `make bench`. Exit code 1 if one is not held.

    python benchmarks/records.py [--quick | --large]

1. A million lines, decoded to records: each is checked against its checksum, and every field against its type.
   Beside it is what anybody would write who needs none of that: `json.loads` of the same lines.
2. A study of 100,000 records: `affidavit verify`, which derives every field again, and the journal as columns.
3. The same study: what the copy in columns costs that is kept in the user's cache, and what it saves: `affidavit
   report` of the tables without a copy, while one is made, and from one.

The machine may be noisy: what is compared takes turns, line by line in pieces, and the least of all rounds counts.
`--quick` has a tenth of the records; `--large` has a million in the second and third part.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time

from affidavit.archive.parquet_copy import journal_frame
from affidavit.archive.record import QuestionIdentity, Response, encode
from affidavit.archive.record_lines import decode
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.json_values import Fields
from affidavit.running.verify import verify
from columns import MEASURE, Cost
from runner import Bound, told, write_finished, write_study

LINES, RECORDS, PIECE, ROUNDS = 1_000_000, 100_000, 10_000, 3
MOST_TIMES = 1.6
"""Of the time of `json.loads`."""


def made_lines(first: int, count: int) -> list[bytes]:
    """Lines of multiple choice, as a run writes them."""
    return [encode(_record(number), seq=number, group=number) for number in range(first, first + count)]


def _record(number: int) -> Response:
    digest = f"{number:064x}"
    subject = QuestionIdentity(
        digest, "bench", "choices", f"q{number:06}", "mock", "base", 0, digest, grammar_sha256=None
    )
    own: Fields = {"extracted_answer": "B", "deviation": None, "correct": False, "right_answer": "C"}
    usage = {"prompt_tokens": 90, "completion_tokens": 7}
    options: Fields = {"options": "A-D"}
    compliant = True
    return Response(
        subject, "<answer>B</answer>", "mcqa/1", options, compliant, own, "stop", usage=usage, keyed=True
    )


def seconds(step: Callable[[bytes], object], lines: Sequence[bytes]) -> float:
    began = process_time()
    for line in lines:
        step(line)
    return process_time() - began


def decoding(count: int) -> list[Bound]:
    ours = theirs = 0.0
    for first in range(1, count, PIECE):
        lines = made_lines(first, PIECE)
        turns = [(seconds(decode, lines), seconds(json.loads, lines)) for _ in range(ROUNDS)]
        ours += min(turn[0] for turn in turns)
        theirs += min(turn[1] for turn in turns)
    print(f"1. {count:,} lines\n")
    print(f"  {'to records':<32} {ours:.2f} s, {ours / count * 1e6:.1f} µs each")
    print(f"  {'json.loads':<32} {theirs:.2f} s, {theirs / count * 1e6:.1f} µs each")
    return [Bound("records / json.loads", ours / theirs, MOST_TIMES)]


def reading(directory: StudyDirectory, count: int) -> None:
    began = process_time()
    assert verify(directory, GivenContracts()).records == count
    verified = process_time()
    assert journal_frame(directory).collect().height == count
    print(f"\n2. {count:,} records of a study, seconds of CPU\n")
    print(f"  {'verify':<32} {verified - began:.2f}")
    print(f"  {'as columns':<32} {process_time() - verified:.2f}\n")


def cached(directory: StudyDirectory, count: int) -> None:
    """Each by the command itself, once: a copy is made once."""
    cache = directory.path.with_name("cache")
    report = [str(Path(sys.executable).with_name("affidavit")), "report", str(directory.path), "--format", "md"]
    copy = [sys.executable, "-P", "-m", "affidavit.archive.parquet_copy", str(directory.path)]
    print(f"3. A copy of {count:,} records in the user's cache; seconds, CPU, peak MB\n")
    for name, command, where in (
        ("report, AFFIDAVIT_CACHE=off", report, "off"),
        ("making the copy, once", copy, str(cache)),
        ("report, from the copy", report, str(cache)),
    ):
        measured = [sys.executable, "-c", MEASURE, *command]
        environment = {**os.environ, "AFFIDAVIT_CACHE": where}
        run = subprocess.run(measured, env=environment, check=True, capture_output=True)
        status, *numbers = json.loads(run.stdout)
        assert status == 0, run.stderr
        print(f"  {name:<32} {Cost(*numbers)}")
    size = sum(file.stat().st_size for file in cache.rglob("*") if file.is_file())
    print(f"  {'size of the copy':<32} {size / 1e6:7.1f} MB, {size / count:.1f} bytes a record\n")


def main() -> int:
    """Print the figures; 1 if a bound is not held."""
    parser = argparse.ArgumentParser(description="What it costs to read records, with bounds.")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="a tenth of the records")
    size.add_argument("--large", action="store_true", help="a million records in all parts")
    chosen = parser.parse_args()
    part, records = 10 if chosen.quick else 1, LINES if chosen.large else RECORDS
    broken = list(told(decoding(LINES // part)))
    with tempfile.TemporaryDirectory(prefix="affidavit-bench-") as folder:
        study = write_study(Path(folder) / "study", records // part)
        write_finished(study)
        directory = StudyDirectory(study.with_name("run"))
        reading(directory, records // part)
        cached(directory, records // part)
    for bound in broken:
        print(f"bound not held: {bound}")
    if not broken:
        print("all bounds held")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
