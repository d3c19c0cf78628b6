"""valid_evaluations/ and invalid_evaluations/: one file per evaluation, below its names (ruling J12).

The trees are a projection: everything in them can be written again from the rows they came from. *Invalid
does not mean low quality*: an evaluation with low scores is valid; one that breaks the protocol is not.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from affidavit.archive_names import encode
from affidavit.contract import Fields, label
from affidavit.contracts.judge import Asked, EvaluationReading, Judge, own_method
from affidavit.finding import CODES_BY_FLAG, Flag
from affidavit.storage import new_directories, write_below

VALID, INVALID = "valid_evaluations", "invalid_evaluations"
_LEVELS = ("method", "judge_model", "target_model", "question_id", "prompt_variant", "output_id")

_BOUNDARIES = {
    Flag.PROTOCOL_VIOLATION: "The answer is not the protocol's: text around the JSON, unknown fields or "
    "dimensions, a score off the scale, a wrong word, or evidence that is missing or nowhere to be found.",
    Flag.UNPARSABLE_OUTPUT: "The answer cannot be read as one strict JSON object with every field of its type.",
    Flag.INCOMPLETE_COVERAGE: "The answer does not say, or misstates, which output it evaluates.",
    Flag.JUDGE_REFUSAL_OR_EVASION: "The judge gave no JSON at all, or left out scores.",
    Flag.INTERNAL_INCONSISTENCY: "The answer contradicts itself: sum, verdict or method do not fit.",
}


class JudgeArchive:
    """Two trees being written."""

    def __init__(self, directory: Path, contract: Judge) -> None:
        self._directory = directory
        self._contract = contract
        self._repeats: Counter[tuple[str, ...]] = Counter()
        self._counts: Counter[str] = Counter()
        self._flags: Counter[Flag] = Counter()

    def add(self, raw: str, asked: Asked, reading: EvaluationReading, source: str) -> None:
        """Write one evaluation below the names that were asked for, or else that the judge states."""
        tree = VALID if reading.protocol_compliant else INVALID
        names = tuple(_names({**reading.meta, **asked.meta}))
        self._repeats[names] += 1
        self._counts[tree] += 1
        self._flags.update(reading.flags)
        parts = [tree, *(part for name in names for part in encode(name)), f"{self._repeats[names]}.json"]
        content = json.dumps(self._content(raw, asked, reading, source), indent=2) + "\n"
        write_below(self._directory, parts, content.encode("ascii"))

    def add_failed(self) -> None:
        """Count a row in which no output arrived."""
        self._counts["failed"] += 1

    def _content(self, raw: str, asked: Asked, reading: EvaluationReading, source: str) -> Fields:
        verbatim = {"evaluation": json.loads(raw)} if reading.protocol_compliant else {"raw_output": raw}
        fields = reading.fields()
        return {
            "contract": label(self._contract),
            "contract_params": self._contract.params,
            "asked": dict(asked.meta),
            "source": source,
            "raw_output_sha256": hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest(),
            **{name: fields[name] for name in ("valid", "flags", "findings", "judge_flags")},
            **{name: fields[name] for name in ("evidence", "evidence_checked")},
            **verbatim,
        }

    def write_readme(self) -> None:
        """State the boundaries of the invalid tree, and how much lies on either side."""
        (self._directory / INVALID / "README.md").write_text(self._readme(), encoding="utf-8")

    def _readme(self) -> str:
        lines = [
            "# Invalid evaluations",
            "",
            "Each file is one judge's answer, verbatim, with everything that speaks against it. *Invalid* does "
            "not mean *low quality*: an evaluation that gives low scores by the rules is valid and lies in "
            f"`{VALID}/`.",
            "",
            f"{self._counts.total()} planned = {self._counts[VALID]} valid + {self._counts[INVALID]} invalid + "
            f"{self._counts['failed']} failed + 0 pending",
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
            "`a-z 0-9 _ -` and an inner dot stand for themselves, any other byte of the UTF-8 as `~xx`; `~` is "
            "the empty name, and a component ending in `~+` goes on in the next.",
            "",
        ]
        return "\n".join(lines)


def _names(meta: Mapping[str, str]) -> Iterator[str]:
    for level in _LEVELS:
        if level == "method" and level not in meta and {"judge_model", "target_model"} <= meta.keys():
            yield own_method(meta["judge_model"], meta["target_model"])
        else:
            yield meta.get(level, "")


@contextmanager
def judge_archive(directory: Path, contract: Judge) -> Iterator[JudgeArchive]:
    """Both trees below `directory`, which appear there when the block ends without an error."""
    with new_directories(directory, (VALID, INVALID)) as partial:
        archive = JudgeArchive(partial, contract)
        yield archive
        archive.write_readme()
