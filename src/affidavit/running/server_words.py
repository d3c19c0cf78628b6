"""What servers said of themselves in the course of a study, and where they changed it (ruling C9)."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from affidavit.archive.record import Judgement, JudgementIdentity, Response
from affidavit.json_values import shown

MOST_WORDS = 50
"""Different words of one kind that are counted for one model; more of them say nothing new."""
_KINDS = {
    "server_model": "its server names the model as",
    "system_fingerprint": "the fingerprint of its server is",
}


class ServerWords:
    """The names and fingerprints that came with the answers, by whoever was asked."""

    def __init__(self) -> None:
        self._counted: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)

    def add(self, record: Response | Judgement, *, times: int = 1) -> None:
        """One more answer, or several that say the same."""
        if record.server_model is None and record.system_fingerprint is None:
            return
        subject = record.subject
        who = subject.judge if isinstance(subject, JudgementIdentity) else subject.model
        for kind in _KINDS:
            if (word := getattr(record, kind)) is not None:
                counter = self._counted[who, kind]
                if word in counter or len(counter) < MOST_WORDS:
                    counter[word] += times

    def changes(self) -> Iterator[str]:
        """A line for everything that did not stay the same."""
        for (who, kind), counter in sorted(self._counted.items()):
            yield from changed(who, kind, counter)


def changed(who: str, kind: str, words: Mapping[str, int]) -> Iterator[str]:
    """In words that a server did not stay the same; nothing if it did.

    >>> list(changed("m", "system_fingerprint", {"fp_1": 90, "fp_2": 10}))
    ['m: the fingerprint of its server is "fp_1" with 90 answers, "fp_2" with 10: it changed within the study']
    >>> list(changed("m", "system_fingerprint", {"fp_1": 90}))
    []
    """
    if len(words) > 1:
        ranked = sorted(words.items(), key=lambda each: (-each[1], each[0]))
        (first, times), *others = [(shown(word), count) for word, count in ranked]
        more = [f"{word} with {count:,}" for word, count in others[:3]]
        more += [f"{len(others) - 3:,} others"] if len(others) > 3 else []
        said = f"{first} with {times:,} answers, {', '.join(more)}"
        yield f"{who}: {_KINDS[kind]} {said}: it changed within the study"
