"""valid_evaluations/ and invalid_evaluations/: one file per evaluation, below its names (ruling J12).

The trees are a projection: everything in them can be written again from the rows they came from. *Invalid
does not mean low quality*: an evaluation with low scores is valid; one that breaks the protocol is not.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.archive.disk import new_directories, write_below
from affidavit.archive.json_bytes import indented
from affidavit.archive.layout import INVALID, VALID
from affidavit.archive.path_names import encode
from affidavit.contracts.contract import Read, label
from affidavit.contracts.evaluation import Asked, EvaluationReading, own_method
from affidavit.contracts.finding import CODES_BY_FLAG, Flag
from affidavit.contracts.judge import Judge
from affidavit.json_values import Fields
from affidavit.reading.rows import RowResult

_LEVELS = ("method", "judge_model", "target_model", "question_id", "prompt_variant", "output_id")

_BOUNDARIES = {
    Flag.PROTOCOL_VIOLATION: "The answer is not the protocol's: text around the JSON, unknown fields or "
    "dimensions, a score off the scale, a wrong word, or evidence that is missing or nowhere to be found.",
    Flag.UNPARSABLE_OUTPUT: "The answer cannot be read as one strict JSON object with every field of its type.",
    Flag.INCOMPLETE_COVERAGE: "The answer does not say, or misstates, which output it evaluates.",
    Flag.JUDGE_REFUSAL_OR_EVASION: "The judge gave no JSON at all, or left out scores.",
    Flag.INTERNAL_INCONSISTENCY: "The answer contradicts itself: sum, verdict or method do not fit.",
}


@dataclass(frozen=True)
class Evaluation:
    """One judge's answer, as it is filed."""

    raw: str
    asked: Mapping[str, str]
    """The meta that was asked for."""
    stated: Mapping[str, str]
    """The meta that the judge states, for what was not asked."""
    read: Mapping[str, object]
    """What the contract says of the answer."""
    source: Mapping[str, object]
    """Where it comes from: a place, or the keys and digests of its record."""
    names: Mapping[str, str] = field(default_factory=dict)
    """True names, for such as the judge was given otherwise or has another in its study.

    Two judges may have one identity, and each has a place of its own; a blind judge knows an alias (ruling J16).
    """
    file: str = ""
    """The file's name; counted from 1 unless given."""


_READ = (
    "valid",
    "flags",
    "findings",
    "further_findings",
    "judge_flags",
    "further_judge_flags",
    "evidence",
    "evidence_checked",
    "identifiers_checked",
)


class TreeFiles:
    """The files of both trees: where each stands and what is in it, and the counts of all of them."""

    def __init__(self, contract: Judge) -> None:
        self._contract = contract
        self._repeats: Counter[tuple[str, ...]] = Counter()
        self._counts: Counter[str] = Counter()
        self._flags: Counter[str] = Counter()

    def file(self, evaluation: Evaluation) -> tuple[list[str], bytes]:
        """Path and content of an evaluation: below the names that were asked for, or that the judge states."""
        tree = VALID if evaluation.read["valid"] else INVALID
        names = tuple(_names({**evaluation.stated, **evaluation.asked, **evaluation.names}))
        self._repeats[names] += 1
        self._counts[tree] += 1
        flags = evaluation.read["flags"]
        self._flags.update(map(str, flags if isinstance(flags, list) else ()))
        file = evaluation.file or str(self._repeats[names])
        parts = [tree, *(part for name in names for part in encode(name)), f"{file}.json"]
        content = indented(self._content(evaluation)) + "\n"
        return parts, content.encode("ascii")

    def add_missing(self, *, failed: int = 0, pending: int = 0) -> None:
        """Count judgements that are not there."""
        self._counts["failed"] += failed
        self._counts["pending"] += pending

    def _content(self, evaluation: Evaluation) -> Fields:
        raw, valid = evaluation.raw, evaluation.read["valid"]
        verbatim = {"evaluation": json.loads(raw)} if valid else {"raw_output": raw}
        return {
            "contract": label(self._contract),
            "contract_params": self._contract.params,
            "asked": dict(evaluation.asked),
            **evaluation.source,
            "raw_output_sha256": hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest(),
            **{name: evaluation.read[name] for name in _READ},
            **verbatim,
        }

    def readme(self) -> tuple[list[str], bytes]:
        """Path and content of the page that states the boundaries, and how much lies on either side."""
        return [INVALID, "README.md"], self._readme().encode()

    def _readme(self) -> str:
        lines = [
            "# Invalid evaluations",
            "",
            "Each file is one judge's answer, verbatim, with everything that speaks against it. *Invalid* does "
            "not mean *low quality*: an evaluation that gives low scores by the rules is valid and lies in "
            f"`{VALID}/`.",
            "",
            f"{self._counts.total()} planned = {self._counts[VALID]} valid + {self._counts[INVALID]} invalid + "
            f"{self._counts['failed']} failed + {self._counts['pending']} pending",
            "",
            "An answer can carry several flags, so the counts below may exceed the number of invalid ones.",
            "",
            "| flag | boundary | findings | evaluations |",
            "|---|---|---|--:|",
        ]
        for flag, codes in CODES_BY_FLAG.items():
            named = ", ".join(f"`{code}`" for code in codes)
            lines.append(f"| `{flag}` | {_BOUNDARIES[flag]} | {named} | {self._flags[flag]} |")
        lines += [
            "",
            "`declared_by_judge` falls under the flag that the judge itself named. `quote_not_found` and "
            "`quote_long` are notes and invalidate nothing.",
            "",
            "Paths are `<method>/<judge>/<target>/<question>/<variant>/<output_id>/<repeat>.json`. In names, "
            "`A-Z a-z 0-9 _ -` and an inner dot stand for themselves, any other byte of the UTF-8 as `~xx`. A "
            "name with capitals ends in `~c` and a hexadecimal number: bit i says that its letter i is a capital, "
            "so that `Q3~c1` is `Q3` also where a disk ignores case. `~` is the empty name, and a component "
            "ending in `~+` goes on in the next.",
            "",
        ]
        return "\n".join(lines)


class JudgeArchive:
    """Two trees being written."""

    def __init__(self, directory: Path, contract: Judge) -> None:
        self._directory = directory
        self._files = TreeFiles(contract)

    def add(self, evaluation: Evaluation) -> None:
        """Write one evaluation below the names that were asked for, or else that the judge states."""
        write_below(self._directory, *self._files.file(evaluation))

    def add_missing(self, *, failed: int = 0, pending: int = 0) -> None:
        """Count judgements that are not there."""
        self._files.add_missing(failed=failed, pending=pending)

    def write_readme(self) -> None:
        """State the boundaries of the invalid tree."""
        write_below(self._directory, *self._files.readme())


def _names(meta: Mapping[str, str]) -> Iterator[str]:
    for level in _LEVELS:
        if level == "method" and level not in meta and {"judge_model", "target_model"} <= meta.keys():
            yield own_method(meta["judge_model"], meta["target_model"])
        else:
            yield meta.get(level, "")


def file_row(trees: JudgeArchive, raw: object, result: RowResult, where: str) -> None:
    """File the evaluation that a row holds; a row without one counts as missing."""
    reading = result.outcome.reading if isinstance(result.outcome, Read) else None
    asked = result.item
    if isinstance(reading, EvaluationReading) and isinstance(raw, str) and isinstance(asked, Asked):
        trees.add(Evaluation(raw, asked.meta, reading.meta, reading.fields(), {"source": where}))
    else:
        trees.add_missing(failed=1)


@contextmanager
def judge_archive(directory: Path, contract: Judge, *, anew: bool = False) -> Iterator[JudgeArchive]:
    """Both trees below `directory`, which appear there when the block ends without an error.

    With `anew` they take the place of trees that are there: they are made of what stands elsewhere.
    """
    with new_directories(directory, (VALID, INVALID), anew=anew) as partial:
        archive = JudgeArchive(partial, contract)
        yield archive
        archive.write_readme()
