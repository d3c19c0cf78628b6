"""About how long an attempt takes with a model that runs here: questions that are answered at once share threads.

The rates are rough: of the order that was measured with SmolLM2 (98 MB) on one thread, and taken to fall as
weights grow.
"""

from dataclasses import dataclass
from math import ceil, floor

PROMPT_RATE = 80.0
"""Tokens of prompts that one thread reads in a second, with 100 MB of weights."""
ANSWER_RATE = 40.0
"""Tokens of answers that it writes in a second."""
RATED_BYTES = 100_000_000
"""Of the weights that the rates are about."""
_MARGIN = 2.0
"""Times the estimate, so that values that are named will do."""


@dataclass(frozen=True, kw_only=True)
class EmbeddedPace:
    """What decides how long an attempt takes."""

    slots: int
    threads: int
    context: int
    weight_bytes: int

    @property
    def shared(self) -> str:
        """Who shares what.

        >>> EmbeddedPace(slots=8, threads=1, context=2048, weight_bytes=RATED_BYTES).shared
        '8 slots share 1 thread'
        """
        threads = "1 thread" if self.threads == 1 else f"{self.threads:,} threads"
        return f"{self.slots:,} slots share {threads}" if self.slots > 1 else f"1 slot has {threads}"

    @property
    def rates(self) -> str:
        """The rates that an estimate is made with, in words."""
        by = RATED_BYTES / self.weight_bytes * self.threads
        prompt, answer = (f"{rate * by:,.2g}" for rate in (PROMPT_RATE, ANSWER_RATE))
        return f"at a rough {prompt} prompt tokens and {answer} answer tokens a second"

    def seconds(self, prompt_tokens: int, answer_tokens: int) -> float:
        """About how long an attempt takes at most: all slots have such a question, and the longest answer.

        >>> EmbeddedPace(slots=8, threads=1, context=4096, weight_bytes=RATED_BYTES).seconds(1600, 800)
        320.0
        """
        prompt = min(prompt_tokens, self.context)
        answer = min(answer_tokens, self.context - prompt)
        alone = prompt / PROMPT_RATE + answer / ANSWER_RATE
        return self.slots * alone * self.weight_bytes / RATED_BYTES / self.threads

    @staticmethod
    def enough_for(tokens: int) -> int:
        """A context that holds so many tokens, which are an estimate.

        >>> EmbeddedPace.enough_for(1912)
        2560
        """
        return 512 * ceil(1.3 * tokens / 512)

    def advice(self, name: str, seconds: float, *, attempt: float, sample: float) -> str:
        """Which settings would do for attempts that take so long; `attempt` and `sample` are the limits now.

        >>> pace = EmbeddedPace(slots=8, threads=1, context=4096, weight_bytes=RATED_BYTES)
        >>> pace.advice("m", 200.0, attempt=120.0, sample=900.0)
        'Set attempt = 420 in [limits], or slots = 2 in [models.m].'
        >>> pace.advice("m", 2000.0, attempt=120.0, sample=900.0)
        'Set slots = 1 in [models.m] and attempt = 540 in [limits].'
        """
        slots = floor(self.slots * attempt / (_MARGIN * seconds))
        if slots >= 1 and self.slots > 1:
            return f"Set {_longer(seconds, sample)} in [limits], or slots = {slots:,} in [models.{name}]."
        alone = _longer(seconds / self.slots, sample)
        fewer = f"slots = 1 in [models.{name}] and " if self.slots > 1 else ""
        return f"Set {fewer}{alone} in [limits]."


def _longer(seconds: float, sample: float) -> str:
    """The limit for attempts that take so long, in whole minutes; a sample must have time for two of them."""
    attempt = 60 * ceil(_MARGIN * seconds / 60 + 1e-9)
    return f"attempt = {attempt}" + (f" and sample = {2 * attempt}" if attempt > sample else "")
