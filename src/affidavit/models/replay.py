"""A model whose answers are in another study's archive: the same questions, at no cost and without a network.

An answer is found by the words of the question, the grammar that held it and the number of the sample; which model
of the other study gave it is chosen by name.
"""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Self

from affidavit.archive.journal import read_seal, scan, segments
from affidavit.archive.record import Kind
from affidavit.errors import InputError
from affidavit.json_values import digest
from affidavit.models.model import Answer, Completion, Failure, Reason, Request


class Replay:
    """Answers from an archive; whatever it does not hold is a failure that asking again cannot mend."""

    connections = 1

    def __init__(self, name: str, directory: Path, model: str) -> None:
        self.name = name
        self._answers: dict[tuple[str, object, int], list[Completion]] = {}
        seal, first = read_seal(directory), 1
        sealed = 0 if seal is None else len(seal.segments)
        for segment in segments(directory):
            for line in scan(segment.path, first=first, sealed=segment.number <= sealed):
                first += 1
                if line.fields["kind"] == Kind.RESPONSE and line.fields["model"] == model:
                    self._add(line.fields)
        if not self._answers:
            raise InputError(str(directory), expected=f"answers of the model {model!r}", found="none")

    def _add(self, fields: Mapping[str, object]) -> None:
        usage = fields["usage"]
        key = (str(fields["prompt_sha256"]), fields["grammar_sha256"], int(str(fields["sample"])))
        self._answers.setdefault(key, []).append(
            Completion(
                str(fields["raw_output"]),
                None if fields["finish_reason"] is None else str(fields["finish_reason"]),
                None if fields["reasoning"] is None else str(fields["reasoning"]),
                usage if isinstance(usage, dict) else None,
                None if fields["rendered_prompt"] is None else str(fields["rendered_prompt"]),
            )
        )

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
        found = self._answers.get((digest(request.messages), grammar, request.sample))
        if not found:
            return Failure(Reason.BAD_REQUEST, "the archive holds no answer to this question")
        return found[0]
