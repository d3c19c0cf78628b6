"""Text that cannot command a terminal or a spreadsheet, whoever wrote it; and counts with their nouns, as people
read them."""

_BREAKS, _FORMULA = tuple("\t\r\n"), tuple("=+-@|%＝＋－＠")


def plain(text: str) -> str:
    """The text on one line, its control characters spelt out.

    >>> plain("red \\x1b[31m\\n")
    'red \\\\u001b[31m\\\\u000a'
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in text)


def plain_lines(text: str) -> str:
    """The same, with its lines kept."""
    return "\n".join(map(plain, text.split("\n")))


def is_formula(text: str) -> bool:
    """Whether a spreadsheet might compute the text of a cell.

    >>> is_formula("=1+1"), is_formula(" -2"), is_formula("\\tx"), is_formula("1 + 1"), is_formula("")
    (True, True, True, False, False)
    """
    if text[:1].isalnum():
        return False  # most texts begin with what they are
    # Spreadsheets skip blanks and what cannot be seen, and some know the wide forms of East Asian texts.
    seen = next((each for each in text if each.isprintable() and not each.isspace()), "")
    return text[:1] in _BREAKS or seen in _FORMULA


def counted_noun(count: int, noun: str) -> str:
    """A count with its noun.

    >>> counted_noun(1, "question"), counted_noun(2000, "question")
    ('1 question', '2,000 questions')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
