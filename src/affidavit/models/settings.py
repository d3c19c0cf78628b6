"""What a study says of a model: which it is, where it is reached, how patiently it is asked."""

from typing import Literal

import msgspec

Flavour = Literal["openai", "llamacpp", "vllm", "ollama", "openrouter", "embedded", "replay"]
_TAKES_GRAMMAR = ("llamacpp", "vllm", "embedded", "replay")


class SettingsTable(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A table of the file: it refuses keys that it does not know."""


class Price(SettingsTable, frozen=True, kw_only=True):
    """What a million tokens cost, in any currency: `price = { input = 0.15, output = 0.60 }`."""

    input: float
    output: float


class ModelTable(SettingsTable, frozen=True, kw_only=True):
    """`[models.NAME]`: which model it is, and where it is reached."""

    base_url: str | list[str] = ""
    embedded: str = ""
    """Instead of an address: a model that runs here, by its name in `affidavit models`."""
    gguf: str = ""
    """Instead of an address: a file of weights, to run here."""
    replay: str = ""
    """Instead of an address: the directory of another study whose answers are given again."""
    model: str = ""
    """Its name at the server or in the other study; the name in this study unless given."""
    identity: str = ""
    """Two models of one identity are one to a judge; the name in this study unless given."""
    flavour: Flavour | None = None
    key_env: str | None = None
    """The environment variable that holds the key; the key itself is never in a file."""
    connections: int = 32
    headers: dict[str, str] = {}
    body: dict[str, object] = {}
    """Further fields of every request."""
    price: Price | None = None
    slots: int = 8
    """Embedded: questions that are answered at once."""
    context: int = 2048
    """Embedded: tokens of one question with its answer."""
    threads: int = 1

    @property
    def kind(self) -> Flavour:
        """Whose ways of speaking it has."""
        if self.embedded or self.gguf:
            return "embedded"
        return "replay" if self.replay else self.flavour or "openai"

    @property
    def takes_grammar(self) -> bool:
        """Whether its output can be held to a grammar."""
        return self.kind in _TAKES_GRAMMAR


class Limits(SettingsTable, frozen=True, kw_only=True):
    """`[limits]`: seconds, unless the name says otherwise. All are finite."""

    connect: float = 10.0
    attempt: float = 120.0
    sample: float = 900.0
    run: float = 7 * 86_400.0
    attempts: int = 6
    retry_after: float = 120.0
    """The longest wait that a server may ask for."""
    body_megabytes: float = 8.0
