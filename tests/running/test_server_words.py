"""What servers say of themselves: counted by whoever was asked, told only where it changed."""

from affidavit.archive.record import ImportIdentity, Response
from affidavit.running.server_words import MOST_WORDS, ServerWords

ASKED = ImportIdentity("0" * 64, "s", "t", "q", "m", "c", 0, "o", None)


def words(*said: tuple[str | None, str | None]) -> list[str]:
    counted = ServerWords()
    for model, fingerprint in said:
        counted.add(
            Response(ASKED, "", "text/1", {}, True, {}, server_model=model, system_fingerprint=fingerprint)
        )
    return list(counted.changes())


def test_a_server_that_stays_the_same_or_says_nothing_is_not_told_of():
    """Ruling C9: to say nothing once is no change."""
    assert words() == words(("a", "f")) == words(("a", "f"), (None, "f"), ("a", None)) == []


def test_every_change_is_told_of_the_most_frequent_word_first():
    assert words(("a", "f"), ("b", "f"), ("b", "g")) == [
        'm: its server names the model as "b" with 2 answers, "a" with 1: it changed within the study',
        'm: the fingerprint of its server is "f" with 2 answers, "g" with 1: it changed within the study',
    ]


def test_a_server_with_a_new_word_for_every_answer_is_told_of_in_one_line():
    (told,) = words(*((f"{n:04}", None) for n in range(10 * MOST_WORDS)))
    assert told.endswith(f'"0003" with 1, {MOST_WORDS - 4} others: it changed within the study')
