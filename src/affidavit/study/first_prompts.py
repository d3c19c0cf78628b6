"""The first question of each task under each condition, word for word: to be looked at before it is asked."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from affidavit.json_values import Fields
from affidavit.models.model import Message
from affidavit.plain_text import plain
from affidavit.study.task import Question

MOST_LINES, LONGEST_LINE = 16, 160


@dataclass(frozen=True)
class FirstPrompt:
    """What is said about the first item of a task under one condition."""

    task: str
    condition: str
    item: str
    messages: tuple[Message, ...]

    @classmethod
    def of(cls, question: Question) -> "FirstPrompt":
        """The prompt of a question."""
        return cls(question.task.name, question.condition, question.item.id, question.request.messages)

    def as_json(self) -> Fields:
        """The prompt as JSON values."""
        messages = [dict(message) for message in self.messages]
        return {"task": self.task, "condition": self.condition, "item": self.item, "messages": messages}

    def lines(self) -> Iterator[str]:
        """The prompt for a terminal, cut where it is long."""
        yield f"the first question of {self.task} under {self.condition}, {self.item}:"
        said = [line for message in self.messages for line in _said(message)]
        for line in said[:MOST_LINES]:
            yield f"  {line if len(line) <= LONGEST_LINE else f'{line[:LONGEST_LINE]} …'}".rstrip()
        if len(said) > MOST_LINES:
            yield f"  … and {len(said) - MOST_LINES:,} lines more"


def _said(message: Message) -> Iterator[str]:
    """What is said to the model, line by line; the role stands before what is not the user's."""
    role = message["role"]
    for number, line in enumerate(message["content"].splitlines()):
        yield f"{role}: {line}" if number == 0 and role != "user" else line


def prompt_lines(prompts: Iterable[FirstPrompt]) -> list[str]:
    """One prompt of each task, every line safe for a terminal; JSON has those of all conditions."""
    shown: dict[str, FirstPrompt] = {}
    every: Sequence[FirstPrompt] = list(prompts)
    for prompt in every:
        shown.setdefault(prompt.task, prompt)
    lines = [plain(line) for prompt in shown.values() for line in ("", *prompt.lines())]
    if len(every) > len(shown):
        lines.append("the prompts of other conditions: --dry-run --json")
    return lines
