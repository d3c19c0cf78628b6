"""By what outputs are read, in words: a contract's label, and those of its parameters that are not the defaults.

Readings under other parameters are other readings. Wherever figures are shown or compared, they are named so.

    >>> str(ReadBy("number/1", {"marker": "####", "unit": ""}))
    'number/1, marker ####'
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from affidavit.contracts.contract import AnyContract, label
from affidavit.contracts.parts import parts_of
from affidavit.contracts.registry import BUILT_IN
from affidavit.json_values import digest, shown

_LONGEST = 60
"""Characters of a value; a longer one is cut."""


class OtherParameter(NamedTuple):
    """A parameter that differs, with its value on both sides in words."""

    name: str
    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.name} {self.first} / {self.second}"


@dataclass(frozen=True)
class ReadBy:
    """A contract by its label and parameters, which may be what somebody else's directory says of it."""

    label: str
    params: Mapping[str, object]

    @classmethod
    def of(cls, contract: AnyContract) -> "ReadBy":
        """That which reads by this contract."""
        return cls(label(contract), contract.params)

    @classmethod
    def frozen(cls, described: Mapping[str, object]) -> "ReadBy":
        """That which a study froze of a contract.

        >>> str(ReadBy.frozen({"contract": "mcqa/1", "params": {"options": "A-E"}}))
        'mcqa/1, options A-E'
        """
        params = described.get("params")
        return cls(str(described.get("contract")), params if isinstance(params, Mapping) else {})

    def __str__(self) -> str:
        defaults = _defaults(self.label)
        other = (
            f"{name} {_worded(value)}"
            for name, value in self.params.items()
            if name not in defaults or defaults[name] != value
        )
        return ", ".join((self.label, *other))

    def differing(self, other: "ReadBy") -> list[OtherParameter]:
        """The parameters of which another reader has another value, or none.

        >>> plain, marked = ReadBy("number/1", {"marker": ""}), ReadBy("number/1", {"marker": "####"})
        >>> print(*plain.differing(marked))
        marker none / ####
        """
        names = dict.fromkeys((*self.params, *other.params))
        pairs = ((name, self.params.get(name), other.params.get(name)) for name in names)
        return [OtherParameter(name, *_apart(one, two)) for name, one, two in pairs if one != two]


def _defaults(name_and_version: str) -> Mapping[str, object]:
    """The parameters of a built-in contract that nobody gave any; of a user's own they are not known.

    What is required has no default, whatever the example in the list of contracts has.
    """
    for contract in BUILT_IN.values():
        if label(contract) == name_and_version:
            required = parts_of(contract).required_parameters
            return {name: value for name, value in contract.params.items() if name not in required}
    return {}


def _apart(first: object, second: object) -> tuple[str, str]:
    """Both values in words that tell them apart.

    >>> _apart("a" * 99, "a" * 98)[0][-19:]
    '… (sha256 d4232aae)'
    """
    one, two = _worded(first), _worded(second)
    if one != two:
        return one, two
    return f"{one} (sha256 {digest(first)[:8]})", f"{two} (sha256 {digest(second)[:8]})"


def _worded(value: object) -> str:
    """A value as people would write it.

    >>> [_worded(value) for value in ("", None, True, "####", ",", ["a", "b"], 0.5, {}, {"x": 1})]
    ['none', 'none', 'yes', '####', '","', '[a, b]', '0.5', 'none', '{…}']
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value in ("", [], {}):
        return "none"
    if isinstance(value, Mapping):  # a schema, say: nobody reads it in a heading
        return "{…}"
    if isinstance(value, list) and all(isinstance(each, str) and each.strip() for each in value):
        return _cut(f"[{', '.join(value)}]")
    # A comma would look like the end of the value.
    if isinstance(value, str) and value == value.strip() and value.isprintable() and "," not in value:
        return _cut(value)
    return shown(value, _LONGEST)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
