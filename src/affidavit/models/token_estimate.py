"""How many tokens a prompt will be, about: nobody here has the tokeniser of every model.

Measured on SmolLM2: English text has about four bytes to a token, and a chat template adds some thirty tokens with
its system prompt and its marks. By bytes and not by letters, since a letter beyond ASCII is mostly a token of its
own, or half of one.
"""

from collections.abc import Iterable

from affidavit.models.model import Message

BYTES_PER_TOKEN = 4
TEMPLATE_TOKENS = 26
"""What a template adds to a conversation: its own system prompt, and the beginning of the answer."""
TURN_TOKENS = 4
"""What it adds to each turn."""
MOST_BYTES_PER_TOKEN = 8
"""No tokeniser makes longer tokens of prose on average: a text has at least so many."""


def estimated_tokens(messages: Iterable[Message]) -> int:
    """About how many tokens a conversation is.

    >>> estimated_tokens([{"role": "user", "content": "Which of these is the capital of France?"}])
    40
    """
    sizes = [_size(message) for message in messages]
    return sum(sizes) // BYTES_PER_TOKEN + TEMPLATE_TOKENS + TURN_TOKENS * len(sizes)


def fewest_tokens(messages: Iterable[Message]) -> int:
    """How many tokens a conversation is at least."""
    return sum(_size(message) for message in messages) // MOST_BYTES_PER_TOKEN


def _size(message: Message) -> int:
    return len(message["content"].encode("utf-8", "surrogatepass"))
