"""The report of `affidavit doctor`: facts become lines for people, or JSON. Nothing is looked up here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from affidavit.commands.machine import Machine
from affidavit.errors import AffidavitError, MistakesError
from affidavit.json_values import Fields
from affidavit.models.ability import WORDS, CheckedModel


@dataclass(frozen=True)
class CheckedStudy:
    """A study, and what is wrong with it."""

    file: str
    fault: AffidavitError | None = None

    @property
    def fits(self) -> bool:
        """Whether nothing is wrong with it."""
        return self.fault is None

    @property
    def mistakes(self) -> Sequence[AffidavitError]:
        """Each by itself."""
        if self.fault is None:
            return ()
        return self.fault.mistakes if isinstance(self.fault, MistakesError) else (self.fault,)

    def as_json(self) -> Fields:
        """The study as JSON values."""
        names = ("where", "expected", "found", "hint")
        mistakes = [{name: getattr(each, name) for name in names} for each in self.mistakes]
        return {"file": self.file, "fits": self.fits, "mistakes": mistakes}


SLOW_SYNC = 0.05
"""Seconds of one sync from which a run waits for its disk: an answer is kept before the next question is asked."""
FEW_FILES = 256
"""Open files below which fewer requests can be open at once than most servers take."""
_MOST_LISTED = 8


def slow_parts(machine: Machine) -> list[str]:
    """What would be slow here, and why.

    >>> slow_parts(Machine(versions={}, cores=1, avx=False, sync_seconds=0.2, open_files=(1024, 4096)))[0]
    'one core: a model that runs here shares it with everything else'
    """
    found = []
    if machine.cores == 1:
        found.append("one core: a model that runs here shares it with everything else")
    if machine.avx is False:
        found.append("no AVX2 in this processor: a model that runs here takes several times as long")
    if machine.sync_seconds is None:
        found.append("not measured how long a file takes to the disk: none can be written in this directory")
    elif machine.sync_seconds >= SLOW_SYNC:
        took = f"{1000 * machine.sync_seconds:,.0f} ms"
        found.append(f"a file takes {took} to the disk here: give studies a faster one with `affidavit run --out`")
    most = machine.open_files[1]
    if 0 <= most < FEW_FILES:
        found.append(f"at most {most:,} open files (ulimit -n): fewer connections to servers than they could take")
    if not any(each.fault is None for each in machine.weights):
        return found
    return [*found, *_without_library(machine)]


def _without_library(machine: Machine) -> Iterator[str]:
    for extra in machine.extras:
        if extra.name == "embedded" and not extra.installed:
            yield f"weights are here, and nothing that runs them: {extra.command}"


def usable(models: Sequence[CheckedModel]) -> bool:
    """Whether everything that was named can be asked."""
    return all(model.usable for model in models)


def as_json(machine: Machine, models: Sequence[CheckedModel], studies: Sequence[CheckedStudy] = ()) -> Fields:
    """All of it as JSON values."""
    soft, hard = machine.open_files
    return {
        "versions": dict(machine.versions),
        "extras": [
            {
                "name": extra.name,
                "installed": extra.installed,
                "libraries": dict(extra.libraries),
                "command": extra.command,
            }
            for extra in machine.extras
        ],
        "weights": [
            {"name": each.name, "size": each.size, "quantisation": each.quantisation, "fault": each.fault}
            for each in machine.weights
        ],
        "weights_fault": machine.weights_fault,
        "models_directory": machine.models_directory,
        "cache": {
            "directory": machine.cache,
            "bytes": machine.cache_bytes,
            "most_bytes": machine.most_cache_bytes,
        },
        "limits": {"open_files": soft, "most_open_files": hard, "cores": machine.cores, "avx2": machine.avx},
        "sync_seconds": machine.sync_seconds,
        "variables": list(machine.variables),
        "slow": slow_parts(machine),
        "studies": [study.as_json() for study in studies],
        "models": [model.as_json() for model in models],
        "usable": usable(models),
    }


def lines_before_asking(machine: Machine, studies: Sequence[CheckedStudy] = ()) -> list[str]:
    """What is known before any model is asked, for people, to be copied into a report of a mistake."""
    lines = [*_installation(machine), *_place(machine), "", "would be slow"]
    lines += [f"  {each}" for each in slow_parts(machine) or ["nothing that was looked at"]]
    for study in studies:
        lines += ["", study.file, f"  study: {'fits' if study.fits else 'does not fit'}"]
        lines += [f"    {line}" for line in str(study.fault or "").splitlines()]
    return lines


def model_lines(models: Sequence[CheckedModel], studies: Sequence[CheckedStudy] = ()) -> list[str]:
    """What the models that were asked can do; a study that does not fit is told again at the end."""
    lines = [line for model in models for line in ("", *_model(model))]
    count = sum(model.usable for model in models)
    wrong = [f"{study.file} does not fit: see above" for study in studies if not study.fits]
    return [*lines, "", f"{count:,} of {len(models):,} can be asked", *wrong]


def _installation(machine: Machine) -> Iterator[str]:
    yield "installation"
    width = max(map(len, machine.versions), default=0)
    for name, version in machine.versions.items():
        yield f"  {name:<{width}}  {version}"
    yield ""
    yield "extras"
    width = max((len(extra.name) for extra in machine.extras), default=0)
    for extra in machine.extras:
        there = ", ".join(f"{name} {version}" for name, version in extra.libraries.items() if version is not None)
        yield f"  {extra.name:<{width}}  {there if extra.installed else f'not installed: {extra.command}'}"


def _place(machine: Machine) -> Iterator[str]:
    yield ""
    yield f"weights in {machine.models_directory}" if machine.models_directory else "weights"
    for each in machine.weights:
        yield f"  {each.name}  {_size(each.size)}" + (f"  cannot be used: {each.fault}" if each.fault else "")
    if not machine.weights:
        yield f"  {machine.weights_fault or 'none; to get a small model: affidavit models pull smollm2'}"
    yield ""
    yield "machine"
    soft, hard = machine.open_files
    most = f"{hard:,} at most" if hard >= 0 else "no limit above"
    cores = "1 core" if machine.cores == 1 else f"{machine.cores:,} cores"
    yield f"  {cores}; open files: {f'{soft:,} now, {most}' if soft >= 0 else 'no limit'}"
    if machine.sync_seconds is not None:
        yield f"  a small file takes {1000 * machine.sync_seconds:,.1f} ms to the disk"
    if machine.cache is None:
        yield "  no cache of columns"
    else:
        most = _size(machine.most_cache_bytes)
        yield f"  cache of columns in {machine.cache}: {_size(machine.cache_bytes)} of at most {most}"
    if machine.variables:
        yield f"  set: {', '.join(machine.variables)}"


def _model(model: CheckedModel) -> Iterator[str]:
    flavour = f" ({model.flavour})" if model.flavour else ""
    yield f"{model.name} at {model.where}{flavour}"
    if model.listed is not None:
        more = len(model.listed) - _MOST_LISTED
        names = [*model.listed[:_MOST_LISTED], *([f"and {more:,} more"] if more > 0 else [])]
        yield f"  lists {', '.join(names) or 'no models'}"
    if model.fault is not None:
        yield "  cannot be used"
        yield from (f"    {line}" for line in model.fault.splitlines())
    elif model.abilities:
        yield f"  answers as {model.asked_as}"
    width = max(map(len, model.abilities), default=0)
    for name, found in model.abilities.items():
        detail = f": {found.detail}" if found.detail else ""
        yield f"  {name:<{width}}  {WORDS[type(found)]}{detail}"


def _size(size: int) -> str:
    """Bytes for people.

    >>> _size(98_362_432), _size(24)
    ('98.4 MB', '0.0 MB')
    """
    return f"{size / 1e6:,.1f} MB"
