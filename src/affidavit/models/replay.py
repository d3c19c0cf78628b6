"""A model whose answers are in another study's archive: the same questions, at no cost and without a network.

An answer is found by the words of the question, the grammar that held it and the number of the sample; which model
of the other study gave it is chosen by name.
"""

from hashlib import sha256
from pathlib import Path
from typing import Self

from affidavit.archive.record import QuestionIdentity, Response
from affidavit.archive.study_directory import ImportedStudy, StudyDirectory
from affidavit.errors import InputError
from affidavit.json_values import Fields, digest
from affidavit.models.endpoint import refuse_address
from affidavit.models.model import Answer, Completion, Failure, Model, Reason, Request
from affidavit.models.recorded import completion_of
from affidavit.models.settings import Limits, ModelTable, Provider, SettingsTable, Uses


class ReplayProvider(SettingsTable, Provider, frozen=True, kw_only=True):
    """`replay`: the directory of another study, whose answers are given again."""

    flavours = ("replay",)

    replay: str = ""

    @property
    def takes_grammar(self) -> bool:
        """Whatever the model of the other study took."""
        return True

    @property
    def takes_schema(self) -> bool:
        """Whatever the model of the other study took."""
        return True

    def check(self, *, where: str, place: str) -> None:
        """Refuse an address."""
        hint = "Copy the study here, and name its directory. A server is given as base_url."
        refuse_address(self.replay, f"{where}: {place}.replay", expected="the directory of a study", hint=hint)

    def uses(self) -> Uses:
        """The other study's directory."""
        return Uses(files=(self.replay,))

    def open(self, name: str, table: ModelTable, limits: Limits, *, beside: Path) -> Model:
        """The answers, read from the directory."""
        return Replay(name, beside / self.replay, table.model)


class Replay:
    """Answers from an archive; whatever it does not hold is a failure that asking again cannot mend."""

    connections = 1

    def __init__(self, name: str, directory: Path, model: str) -> None:
        self.name = name
        self._answers: dict[tuple[str, str | None, int], list[Completion]] = {}
        study = StudyDirectory(directory)
        if isinstance(study.frozen(), ImportedStudy):
            raise InputError(
                str(directory),
                expected="a study whose questions were asked by Affidavit",
                found="outputs from elsewhere, of which nobody knows word for word what they answer",
                hint="Judge them with `affidavit judge`; only the answers of a run can be replayed.",
            )
        seal = study.seal()
        if seal is None or study.check_seal(seal):
            hint = "Run it again to its end, or until it is stopped in order: then it is sealed."
            raise InputError(str(directory), expected="a sealed study", found="one that is not sealed", hint=hint)
        for record in study.records():
            if isinstance(record, Response) and record.subject.model == model:
                self._add(record)
        if not self._answers:
            raise InputError(str(directory), expected=f"answers of the model {model!r}", found="none")

    def _add(self, response: Response) -> None:
        subject = response.subject
        if isinstance(subject, QuestionIdentity):
            key = (subject.prompt_sha256, subject.grammar_sha256, subject.sample)
            self._answers.setdefault(key, []).append(completion_of(response))

    def facts(self) -> Fields:
        """Nothing: whose answers these are stands in the table."""
        return {}

    def notes(self) -> list[str]:
        """Nothing: it only repeats."""
        return []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        return

    async def reachable(self) -> Failure | None:
        """Always: it is all here."""
        return None

    async def complete(self, request: Request) -> Answer:
        """The answer that was given then."""
        grammar = None if request.grammar is None else sha256(request.grammar.encode()).hexdigest()
        answers = self._answers.get((digest(request.messages), grammar, request.sample))
        if not answers:
            return Failure(Reason.BAD_REQUEST, "the archive holds no answer to this question")
        return answers[0]

    async def setup_fault(self, failure: Failure) -> None:
        """None: what was not asked there fails here, and the rest is answered."""
