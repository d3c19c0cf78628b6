"""All tables over a million records, beside the plain group-by of the same file.

    python benchmarks/figures.py [--quick]

Bounds: all tables with their intervals at most 20 times the plain Polars group-by and below 600 MB; a cluster
bootstrap of 2,000 resamples in 60 groups at most 10 times. What is compared takes turns, and the least of all
rounds counts; each measurement is a process of its own, since Linux counts memory by its peak. `--quick` has a
tenth of the records. (Not called `numbers`: Python has a module of that name.)
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
import polars as pl
import scipy.optimize  # loaded where a figure needs it, and imports are left aside here
import scipy.special  # noqa: F401

from affidavit import mcqa
from affidavit.archive.record_columns import SCHEMA
from affidavit.results.counting import RecordSet, groups
from affidavit.results.groups import CELL
from affidavit.results.tables import all_tables

MODELS, CONDITIONS, SAMPLES = 5, 12, 2
MOST_TABLES, MOST_BOOTSTRAP, MOST_MEGABYTES = 20.0, 10.0, 600.0
ROUNDS = 3
_OUTPUTS = ["<answer>A</answer>", "<answer>B</answer>", "<answer>C</answer>", "<answer>D</answer>"]
_OTHERS = [
    "B. Paris, because it is the capital of France. " * 4,
    "The answer is <answer>C</answer>",
    "I do not know.",
]


def records(count: int) -> pl.DataFrame:
    """So many records of multiple choice, two samples of each item, in 60 cells."""
    draws, cells = np.random.default_rng(7), MODELS * CONDITIONS
    items = count // (cells * SAMPLES)
    cell, item, sample = (
        part.ravel() for part in np.meshgrid(np.arange(cells), np.arange(items), np.arange(SAMPLES), indexing="ij")
    )
    size, skill = len(cell), 0.3 + 0.4 * (cell % MODELS) / MODELS
    right, compliant = draws.random(size) < skill, draws.random(size) < 0.4 + 0.5 * (cell % 7) / 7
    key = item % 4
    letter = np.where(right, key, (key + draws.integers(1, 4, size)) % 4)
    letters = np.array(list("ABCD"))
    texts = np.where(compliant, np.array(_OUTPUTS)[letter], np.array(_OTHERS)[draws.integers(0, 3, size)])
    deviation = np.array(["option_text", "text_around", "no_tag"])[draws.integers(0, 3, size)]
    frame = pl.DataFrame(
        {
            "kind": pl.repeat("response", size, eager=True),
            "key": pl.Series([f"{number:064x}" for number in range(size)]),
            "task": pl.repeat("trivia", size, eager=True),
            "item_id": pl.Series(item).cast(pl.String).str.zfill(6),
            "model": "model-" + pl.Series(cell % MODELS).cast(pl.String),
            "condition": "condition-" + pl.Series(cell // MODELS).cast(pl.String),
            "sample": pl.Series(sample),
            "contract": pl.repeat("mcqa/1", size, eager=True),
            "raw_output": pl.Series(texts),
            "protocol_compliant": pl.Series(compliant),
            "answer": _where(compliant, letters[letter]),
            "letter": _where(compliant, letters[letter]),
            "deviation": _where(~compliant, deviation),
            "correct": _where(compliant, right),
            "keyed": pl.repeat(value=True, n=size, eager=True),
            "right_letter": pl.Series(letters[key]),
            "options": pl.repeat("A-D", size, eager=True),
            "truncated": pl.Series(draws.random(size) < 0.01),
            "prompt_tokens": pl.repeat(120, size, eager=True, dtype=pl.Int64),
            "completion_tokens": pl.repeat(8, size, eager=True, dtype=pl.Int64),
        }
    )
    missing = [pl.lit(None, dtype=kind).alias(name) for name, kind in SCHEMA.items() if name not in frame.columns]
    return frame.with_columns(missing).select(list(SCHEMA))


def _where(which: "np.ndarray", values: "np.ndarray") -> pl.Series:
    """The values there, null elsewhere."""
    frame = pl.DataFrame({"which": which, "values": values})
    return frame.select(pl.when("which").then("values")).to_series()


def records_of(path: Path) -> RecordSet:
    """The file as records of one task; how many were planned a study knows from its manifest, not from records."""
    models, conditions = range(MODELS), range(CONDITIONS)
    cells = [("trivia", f"model-{model}", f"condition-{each}") for model in models for each in conditions]
    planned = pl.DataFrame(cells, schema=list(CELL), orient="row")
    size = pl.scan_parquet(path).select(pl.len()).collect().item() // len(cells)
    planned = planned.with_columns(planned=pl.lit(size, dtype=pl.Int64))
    return RecordSet(pl.scan_parquet(path), planned, 7, CELL, {"trivia": mcqa})


# --- what is measured, each in a process of its own ---


def plain_group_by(path: Path) -> None:
    """The aggregate that anybody would write."""
    pl.scan_parquet(path).group_by(list(CELL)).agg(
        n=pl.len(), compliant=pl.col("protocol_compliant").sum(), right=pl.col("correct").sum()
    ).collect()


def tables(path: Path) -> None:
    """Every table, with its intervals."""
    controls = {"condition-1": "condition-0"}
    records = records_of(path)
    assert len(list(all_tables(records, groups(records), samples=SAMPLES, controls=controls))) >= 6


def bootstrap(path: Path) -> None:
    """The cluster bootstrap of accuracy in every group."""
    for group in groups(records_of(path)):
        assert group.share("right", "compared") is not None


WORK: dict[str, Callable[[Path], None]] = {"plain": plain_group_by, "tables": tables, "bootstrap": bootstrap}


def measured(name: str, path: Path) -> tuple[float, float]:
    """Seconds and megabytes of a process that does it once, imports aside."""
    done = subprocess.run(
        [sys.executable, __file__, "--measure", name, str(path)], capture_output=True, text=True, check=True
    )
    seconds, megabytes = json.loads(done.stdout)
    return seconds, megabytes


def main() -> int:
    """Print the figures; 1 if a bound is not held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--measure", nargs=2)
    parser.add_argument("--make", nargs=2)
    given = parser.parse_args()
    if given.make:
        size, path = given.make
        records(int(size)).write_parquet(path, compression="zstd", row_group_size=20_000)
        return 0
    if given.measure:
        name, path = given.measure
        began = perf_counter()
        WORK[name](Path(path))
        print(json.dumps([perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3]))
        return 0
    count = 100_000 if given.quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "records.parquet")
        made = [sys.executable, __file__, "--make", str(count), str(path)]
        subprocess.run(made, check=True)  # in a process of its own: its memory would count as ours
        print(f"{count:,} records, {path.stat().st_size / 1e6:.0f} MB as Parquet")
        rounds = [{name: measured(name, path) for name in WORK} for _ in range(ROUNDS)]
    return _report({name: min(each[name] for each in rounds) for name in WORK})


def _report(best: dict[str, tuple[float, float]]) -> int:
    plain, status = best["plain"][0], 0
    for name, bound in (("tables", MOST_TABLES), ("bootstrap", MOST_BOOTSTRAP)):
        seconds, megabytes = best[name]
        held = seconds / plain <= bound
        status |= not held
        print(
            f"{name:10} {seconds:6.2f} s  {seconds / plain:5.1f}x of {plain:.3f} s (bound {bound:g}x)  "
            f"{megabytes:.0f} MB  {'held' if held else 'NOT HELD'}"
        )
    if best["tables"][1] > MOST_MEGABYTES:
        print(f"memory: {best['tables'][1]:.0f} MB, NOT HELD (bound {MOST_MEGABYTES:g} MB)")
        status = 1
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
