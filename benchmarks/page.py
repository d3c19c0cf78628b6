"""The page of a large study, beside the Markdown report of the same study.

    python benchmarks/page.py [--quick]

Bounds: the page takes at most twice the time of the Markdown report, and has at most 3 MB. The study has a million
records of multiple choice in 60 cells, a control, and its columnar copy; both are made by the real command, in
turn, and the least of all rounds counts. `--quick` has a tenth of the records.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from affidavit.archive.checked_lines import checked_line
from affidavit.archive.disk import Disk
from affidavit.archive.parquet_copy import copied_frame, copy_of
from affidavit.archive.record import Failed, QuestionIdentity, encode
from affidavit.archive.seal import Root, SealedSegment, file_sha256, write_seal
from affidavit.archive.study_directory import StudyDirectory
from affidavit.archive.versions import FORMAT
from affidavit.study.frozen_form import frozen
from affidavit.study.study_file import decode_study
from figures import CONDITIONS, MODELS, SAMPLES

MOST_TIMES, MOST_MEGABYTES, ROUNDS = 2.0, 3.0, 3


def write_study(directory: Path, count: int) -> None:
    """A sealed study of so many records: its plan, a segment of one record, and the copy that is counted from.

    The journal itself is read by neither command as long as the copy fits, so it is not written out here.
    """
    items = count // (MODELS * CONDITIONS * SAMPLES)
    (directory / "records").mkdir(parents=True)
    models = "".join(f'[models.model-{number}]\nbase_url = "http://127.0.0.1"\n' for number in range(MODELS))
    conditions = "[conditions.condition-0]\n" + "".join(
        f'[conditions.condition-{number}]\ncontrol = "condition-0"\npreamble = "Number {number}."\n'
        for number in range(1, CONDITIONS)
    )
    text = f"""
[study]
name = "large"
{models}{conditions}
[tasks.trivia]
contract = "mcqa"
items = "items.jsonl"
[decoding]
samples = {SAMPLES}
"""
    config = {
        **frozen(decode_study(text, where="here")),
        "contracts": {"trivia": {"contract": "mcqa/1", "params": {"options": "A-D"}}},
        "items": {},
        "examples": {},
        "weights": {},
    }
    with (directory / "items.jsonl").open("wb") as stream:
        for number in range(items):
            fields = {
                "question": f"Question {number}?",
                "options": ["a", "b", "c", "d"],
                "answer": "ABCD"[number % 4],
            }
            stream.write(
                checked_line({"kind": "item", "v": FORMAT, "task": "trivia", "id": f"{number:06}", "item": fields})
            )
    plan = {"config": config, "counts": {"trivia": items}, "items_file_sha256": "", "versions": {}, "git": None}
    StudyDirectory(directory).freeze(plan, Disk())
    segment = directory / "records" / "000001.jsonl"
    asked = QuestionIdentity("0" * 64, "large", "trivia", "000000", "model-0", "condition-0", 0, "0" * 64, None)
    segment.write_bytes(encode(Failed(asked, "timeout"), seq=1, group=1))
    sealed = (SealedSegment(segment.name, count, file_sha256(segment)),)
    seal = write_seal(directory, sealed, {}, Root(), Disk())
    copy = copy_of(StudyDirectory(directory), seal)
    assert copy is not None
    made = [sys.executable, str(Path(__file__).with_name("figures.py")), "--make", str(count), str(copy)]
    subprocess.run(made, check=True)
    copy.with_suffix(".json").write_bytes(checked_line({"copy_sha256": file_sha256(copy)}))
    found = copied_frame(StudyDirectory(directory), seal)
    assert found is not None, "the copy does not fit: nothing would be measured"


def seconds(*arguments: str) -> float:
    """What the command took, from its start to its end."""
    program = str(Path(sys.executable).with_name("affidavit"))
    began = perf_counter()
    subprocess.run([program, "report", *arguments], check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - began


def main() -> int:
    """Print the figures; 1 if a bound is not held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    count = 100_000 if parser.parse_args().quick else 1_000_000
    folder = Path(tempfile.mkdtemp())
    os.environ["AFFIDAVIT_CACHE"] = str(folder / "cache")
    try:
        study = folder / "large"
        write_study(study, count)
        page, markdown = [], []
        for _ in range(ROUNDS):
            markdown.append(seconds(str(study), "--format", "md"))
            page.append(seconds(str(study)))
        size = (study / "report.html").stat().st_size / 1e6
    finally:
        shutil.rmtree(folder)
    times = min(page) / min(markdown)
    held = times <= MOST_TIMES and size <= MOST_MEGABYTES
    print(f"{count:,} records")
    print(f"Markdown {min(markdown):6.2f} s")
    print(f"page     {min(page):6.2f} s  {times:.2f}x (bound {MOST_TIMES:g}x)")
    print(f"page     {size:6.2f} MB (bound {MOST_MEGABYTES:g} MB)  {'held' if held else 'NOT HELD'}")
    return int(not held)


if __name__ == "__main__":
    sys.exit(main())
