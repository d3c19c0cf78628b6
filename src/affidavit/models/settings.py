"""What a study file says of its models, and how patiently they are asked: `[models.NAME]` and `[limits]`.

Some keys of a model's table mean the same whoever answers; the others are its provider's. A provider is a class of
settings in the file of the model that it makes, and one line in `registry.py`.
"""

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import ClassVar, NamedTuple, Self

import msgspec

from affidavit.archive.checked_lines import LONGEST_TEXT
from affidavit.errors import InputError, Mistakes
from affidavit.json_values import Fields
from affidavit.models.embedded_pace import EmbeddedPace
from affidavit.models.environment_values import refuse_literal_secrets, refuse_odd_names, variables_in
from affidavit.models.model import Model
from affidavit.models.request_body import TokenLimit, refuse_replaced, shared_fields
from affidavit.models.shown_names import shown_name

TOO_LARGE = 1e9
"""No setting that is a number is as large as this."""
CONTEXT = 2048
"""Tokens of one question with its answer; frozen with every model, also where the provider has no such key."""


class SettingsTable(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A table of the file: it refuses keys that it does not know."""


class Uses(NamedTuple):
    """What a model needs of the world, without any secret."""

    addresses: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    """Names of variables."""
    files: tuple[str, ...] = ()


class Provider:
    """Who answers the requests to a model: a server, weights that run here, the archive of another study.

    A provider is a `SettingsTable` too. Its fields are the keys that it adds to `[models.NAME]`, every one with a
    default, and one of them names what is asked; by that key the registry knows it:

        class Parrot(SettingsTable, Provider, frozen=True, kw_only=True):
            flavours = ("parrot",)
            parrot: str = ""

            def open(self, name, table, limits, *, beside):
                return ParrotModel(name, self.parrot)
    """

    __slots__ = ()
    __struct_fields__: ClassVar[tuple[str, ...]]

    flavours: ClassVar[tuple[str, ...]]
    """The ways of speaking that it has; a frozen study names one of them, and by it the provider."""

    @property
    def flavour(self) -> str:
        """The way of speaking of this model: what is frozen with a study and written to the run log."""
        return self.flavours[0]

    @property
    def takes_grammar(self) -> bool:
        """Whether its decoding can be constrained by a GBNF grammar."""
        return False

    @property
    def takes_schema(self) -> bool:
        """Whether its decoding can be constrained by a JSON schema."""
        return False

    @property
    def takes_batches(self) -> bool:
        """Whether its requests can be put into files for a batch service, which answers them some time later."""
        return False

    @property
    def own_fields(self) -> Fields:
        """What it adds to every request by itself."""
        return {}

    @property
    def known_context(self) -> int | None:
        """Tokens of a question with its answer, where that is known beforehand."""
        return None

    def grammar_fields(self, grammar: str) -> Fields:
        """How it is sent a grammar, if it takes one."""
        return {"grammar": grammar}

    def check(self, *, where: str, place: str) -> None:
        """Refuse settings that are of the right types and still cannot be used; `place` is the table's name."""

    def weights(self, *, beside: Path) -> Path | None:
        """The file whose digest is frozen with the study, if there is one, checked; meant from `beside`."""

    def refuse_unknown_weights(self) -> None:
        """Refuse a name of weights that nobody knows, whether or not their file is here."""

    def pace(self, *, beside: Path) -> EmbeddedPace | None:
        """What decides how long its attempts take, where that is this machine; None where it is a server."""

    def uses(self) -> "Uses":
        """What of the world it needs, for `--dry-run`."""
        return Uses()

    def variables(self) -> tuple[tuple[str, str], ...]:
        """The environment variables that must hold something before it is asked, each behind its key."""
        return ()

    def frozen(self) -> Fields:
        """What of these settings decides the answers."""
        return {"flavour": self.flavour, "context": CONTEXT}

    @classmethod
    def from_frozen(cls, *, flavour: str, context: int) -> Self:
        """Settings that are frozen alike; they know nobody to ask."""
        return cls()

    def open(self, name: str, table: "ModelTable", limits: "Limits", *, beside: Path) -> Model:
        """The model, ready for `async with`. `name` is its name in the study; paths are meant from `beside`."""
        raise NotImplementedError


class Price(SettingsTable, frozen=True, kw_only=True):
    """What a million tokens cost, in any currency: `price = { input = 0.15, output = 0.60 }`."""

    input: float
    output: float


class ModelTable(SettingsTable, frozen=True, kw_only=True):
    """`[models.NAME]`: what means the same for every model, and the settings of its provider."""

    provider: Provider
    model: str = ""
    """Its name at the server or in the other study; once read, the name in this study unless given."""
    identity: str = ""
    """Two models of one identity are one to a judge; once read, the name in this study unless given."""
    tools: list[dict[str, object]] = []
    """Which tools it is told of, as its server takes them."""
    token_limit: TokenLimit = "max_tokens"  # noqa: S105 - a name of a key, no secret
    """By which name its server takes the most tokens of an answer."""
    seed: bool = True
    """Whether its server takes a seed; without one, samples differ by chance alone."""
    body: dict[str, object] = {}
    """Further keys of every request."""
    price: Price | None = None

    def check(self, *, where: str, place: str) -> None:
        """Refuse a model that could not be asked, or of which the record could not tell what was asked."""
        self.provider.check(where=where, place=place)
        refuse_odd_names((*self.provider.uses().environment, *variables_in(self.body)), where=where, place=place)
        refuse_replaced(self.body, where=where, place=place)
        check_json({f"{place}.body": self.body, f"{place}.tools": self.tools}, where=where)
        refuse_literal_secrets(self.body, where=where, place=f"{place}.body")
        price = self.price
        if price is not None and not all(0 <= amount < TOO_LARGE for amount in (price.input, price.output)):
            raise InputError(where, expected=f"finite prices from 0 in {place}.price", found=repr(price))

    def uses(self) -> Uses:
        """What it needs of the world, without any secret."""
        own = self.provider.uses()
        names = dict.fromkeys((*own.environment, *variables_in(self.body)))
        return own._replace(environment=tuple(names))

    def variables(self) -> tuple[tuple[str, str], ...]:
        """The environment variables that must hold something before it is asked, each behind its key."""
        return (*self.provider.variables(), *(("body", name) for name in variables_in(self.body)))

    def frozen(self) -> Fields:
        """What of the table decides the answers, as JSON values: no address, no header, no price."""
        names = ("model", "identity", "tools", "token_limit", "body")
        unseeded = {} if self.seed else {"seed": False}
        return {**{name: getattr(self, name) for name in names}, **unseeded, **self.provider.frozen()}

    def request(self, decoding: Mapping[str, object]) -> Fields:
        """What all requests to it carry beside messages, seed and constraint, merged (ruling C9)."""
        return shared_fields(
            self.model,
            decoding,
            limit_name=self.token_limit,
            own=self.provider.own_fields,
            tools=self.tools,
            body=self.body,
            seeded=self.seed,
        )


class Limits(SettingsTable, frozen=True, kw_only=True):
    """`[limits]`: how long anything may take, in seconds unless the name says otherwise. All are finite."""

    connect: float = 10.0
    """To reach a server, or to ask it which models it has."""
    attempt: float = 120.0
    """One request with its answer."""
    sample: float = 900.0
    """All attempts at one sample, with the waits between them."""
    run: float = 7 * 86_400.0
    attempts: int = 6
    """How often one sample is asked for, at most."""
    retry_after: float = 120.0
    """The longest wait that a server may ask for."""
    body_megabytes: float = 8.0
    """The longest body of an answer."""

    def check(self, *, where: str) -> None:
        """Refuse limits that are none."""
        numbers = {f"limits.{name}": getattr(self, name) for name in self.__struct_fields__}
        mistakes, most = Mistakes(), LONGEST_TEXT / 1e6
        with mistakes.gathered():
            check_positive(numbers, where=where)
        if most < self.body_megabytes < TOO_LARGE:
            expected = f"limits.body_megabytes of at most {most:g}, so that a record stays below its longest line"
            mistakes.add(InputError(where, expected=expected, found=f"{self.body_megabytes:g}"))
        mistakes.refuse()


def check_positive(numbers: Mapping[str, float], *, where: str) -> None:
    """Refuse a number that is not positive and finite; each is named by its place in the file.

    >>> check_positive({"limits.attempts": 0}, where="study.toml")
    Traceback (most recent call last):
    affidavit.errors.InputError: study.toml: expected a positive, finite limits.attempts, found 0
    """
    mistakes = Mistakes()
    for place, number in numbers.items():
        if not 0 < number < TOO_LARGE:
            mistakes.add(InputError(where, expected=f"a positive, finite {place}", found=str(number)))
    mistakes.refuse()


DEEPEST = 32
"""Levels of a value that is sent along."""


def check_json(values: Mapping[str, object], *, where: str) -> None:
    """Refuse values of TOML that JSON has not: dates, times, infinities and what is no number.

    >>> check_json({"models.m.body": {"stop": [1.0, float("nan")]}}, where="study.toml")
    Traceback (most recent call last):
    affidavit.errors.InputError: study.toml: expected a JSON value in models.m.body.stop[1], found nan
    """
    waiting = [(place, value, 0) for place, value in values.items()]
    while waiting:
        place, value, depth = waiting.pop()
        if depth > DEEPEST:
            raise InputError(where, expected=f"at most {DEEPEST} levels in {place[:100]}", found="more")
        if isinstance(value, dict):
            waiting += [(f"{place}.{shown_name(name)}", each, depth + 1) for name, each in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{place}[{number}]", each, depth + 1) for number, each in enumerate(value)]
        elif not (isinstance(value, str | int) or (isinstance(value, float) and isfinite(value))):
            hint = "Write a date as a text." if not isinstance(value, float) else ""
            raise InputError(where, expected=f"a JSON value in {place}", found=str(value), hint=hint)
