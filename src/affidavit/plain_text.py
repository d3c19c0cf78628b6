"""Text that cannot command a terminal, whoever wrote it."""


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
