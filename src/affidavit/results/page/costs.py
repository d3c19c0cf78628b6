"""What the answers of a study cost: tokens as servers counted them, by the prices that runs knew of."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from affidavit.plain_text import counted_noun


@dataclass(frozen=True)
class TokenSums:
    """Tokens as servers counted them, and how many outputs they counted."""

    prompt: int = 0
    completion: int = 0
    counted: int = 0
    arrived: int = 0

    def __str__(self) -> str:
        most = "" if self.counted == self.arrived else f", of {self.counted:,} of {self.arrived:,} outputs"
        return f"{self.prompt:,} in, {self.completion:,} out{most}"

    def __add__(self, other: "TokenSums") -> "TokenSums":
        return TokenSums(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.counted + other.counted,
            self.arrived + other.arrived,
        )

    def cost(self, price: Mapping[str, Any]) -> float | None:
        """At a price of a million tokens; None if that is no price.

        >>> TokenSums(1_000_000, 500_000).cost({"input": 0.15, "output": 0.6})
        0.45
        """
        amounts = [price.get(name) for name in ("input", "output")]
        if not all(isinstance(amount, int | float) and 0 <= amount < float("inf") for amount in amounts):
            return None
        return (self.prompt * float(amounts[0] or 0) + self.completion * float(amounts[1] or 0)) / 1e6


def cost_in_words(sums: Iterable[tuple[str, TokenSums]], prices: Mapping[str, Mapping[str, Any]]) -> str:
    """What all of it cost, by model; empty if no model has a price.

    >>> million = TokenSums(1_000_000, 1_000_000, 10, 10)
    >>> cost_in_words([("m", million), ("own", million)], {"m": {"input": 1, "output": 2.5}})
    '3.50, without that of 1 model, which has no price'
    >>> cost_in_words([("own", million)], {})
    ''
    """
    found = [sums.cost(prices.get(name, {})) for name, sums in sums if sums.counted]
    known = [cost for cost in found if cost is not None]
    if not known:
        return ""
    total = sum(known)
    said = "less than 0.01" if 0 < total < 0.01 else f"{total:,.2f}"
    unknown = len(found) - len(known)
    which = "which has" if unknown == 1 else "which have"
    return f"{said}, without that of {counted_noun(unknown, 'model')}, {which} no price" if unknown else said
