"""text/1: any output that is not blank. For open tasks, whose outputs are judged rather than read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from affidavit.contracts.contract import Validation
from affidavit.contracts.parts import Parts
from affidavit.json_values import Fields


@dataclass(frozen=True, slots=True)
class TextReading:
    """Whether there is anything to judge."""

    protocol_compliant: bool

    def fields(self) -> Fields:
        """No fields: the text itself is the answer."""
        return {}


@dataclass(frozen=True)
class Text(Parts):
    """The contract of an open task.

    >>> text.read("Dear reader, ...").protocol_compliant, text.read(" \\n").protocol_compliant
    (True, False)
    """

    name: str = field(default="text", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)

    @property
    def params(self) -> Mapping[str, object]:
        """Empty: one `text` reads as any other does."""
        return {}

    def instruction(self, item: object = None, /) -> str:
        """Nothing: an open task says what it wants in its own words."""
        return ""

    def read(self, raw: str, item: object = None, /) -> TextReading:
        """Compliant if anything but whitespace (ruling M1) arrived."""
        return TextReading(bool(raw.strip()))

    def validate(self, reading: TextReading, item: object, /) -> None:
        """None: nothing to compare."""

    def grammar(self, item: object = None, /) -> None:
        """None: any text will do."""

    # --- the optional parts ---

    summary = "Whatever an open task asks for: anything but whitespace."
    rulings = "M1"
    passing = "Dear reader, thank you for your letter."
    failing = " \n"

    columns_hold_all = True
    open_ended = True
    has_grammar = False
    item_fields = ()
    counted: ClassVar[Mapping[str, str]] = {}

    def item(self, row: Fields, *, where: str) -> None:
        """Nothing: any text will do, whatever was asked."""

    def right_answer_known(self, item: object) -> bool:
        """Never: an open task has no one right answer."""
        return False

    def verdict(self, row: Fields, validation: Validation | None) -> Fields:
        """Nothing: there is nothing to compare with."""
        return {}


text = Text()
