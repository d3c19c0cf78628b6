"""The seed of one request, made of the study's seed and what is asked."""

from hashlib import sha256

from affidavit.json_values import canonical


def seed_of(study_seed: int, task: str, item: str, sample: int) -> int:
    """The seed of a request: 31 bits, the same in all conditions, so that pairs share it.

    >>> seed_of(7, "trivia", "q1", 0) == seed_of(7, "trivia", "q1", 0) < 2**31
    True
    """
    return int.from_bytes(sha256(canonical([study_seed, task, item, sample])).digest()[:4], "big") >> 1
