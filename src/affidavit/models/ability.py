"""What a model can do, as it was found out by asking: it does, it does not, or it cannot be told."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from affidavit.json_values import Fields


@dataclass(frozen=True, slots=True)
class Works:
    """It was tried, and it is so."""

    detail: str = ""


@dataclass(frozen=True, slots=True)
class Lacks:
    """It was tried, and it is not so."""

    detail: str


@dataclass(frozen=True, slots=True)
class Untold:
    """What came back does not say."""

    detail: str


Outcome = Works | Lacks | Untold
WORDS: Mapping[type, str] = {Works: "yes", Lacks: "no", Untold: "cannot be told"}


@dataclass(frozen=True, kw_only=True)
class CheckedModel:
    """A model that was named, and what was found out about it."""

    name: str
    where: str
    """Its address, without any secret, or its file."""
    flavour: str = ""
    asked_as: str = ""
    """Its name at the server."""
    listed: list[str] | None = None
    """The models that its server lists; None if it lists none."""
    fault: str | None = None
    """Why it cannot be asked, and what to do about it; None if it answers."""
    abilities: Mapping[str, Outcome] = field(default_factory=dict)

    @property
    def usable(self) -> bool:
        """Whether a run could ask it."""
        return self.fault is None

    def as_json(self) -> Fields:
        """All of it as JSON values.

        >>> CheckedModel(name="m", where="http://h/v1", abilities={"seed": Works()}).as_json()["abilities"]
        {'seed': {'found': 'yes', 'detail': ''}}
        """
        return {
            "name": self.name,
            "where": self.where,
            "flavour": self.flavour,
            "asked_as": self.asked_as,
            "listed": self.listed,
            "usable": self.usable,
            "fault": self.fault,
            "abilities": {
                name: {"found": WORDS[type(each)], "detail": each.detail} for name, each in self.abilities.items()
            },
        }
