"""Any name as part of a path, and back (ruling J12).

Models, questions and outputs have whatever names their authors gave them: `../x`, `CON`, 300 characters, two
that differ only in case. The encoding keeps every path below its root, is reversible, and never maps two
names to one path, also on disks that ignore case: a name with capitals ends in a number that says which of its
letters they are.

    >>> encode("gpt-4o"), encode("Q3"), encode("Qwen/2.5 7B"), encode("..")
    (('gpt-4o',), ('Q3~c1',), ('Qwen~2f2.5~207B~c11',), ('~2e~2e',))
    >>> decode(("Qwen~2f2.5~207B~c11",))
    ['Qwen/2.5 7B']
"""

import re
from collections.abc import Iterable, Iterator

LONGEST = 180
"""Bytes of a path component, its mark apart, before the name goes on in a directory below."""
CONTINUED = "~+"
EMPTY = "~"

_KEPT = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
# Four characters at most, and then the end of the name or of its stem.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z)", re.IGNORECASE)
_ESCAPE = re.compile("~([0-9a-f]{2})")
_LETTER = re.compile("[A-Za-z]")
# Never an escaped byte: in UTF-8 one from c0 to cf is followed by another, which is escaped too.
_CAPITALS = re.compile(r"~c([0-9a-f]+)\Z")


def encode(name: str) -> tuple[str, ...]:
    """The path components that stand for the name: one, or more if it is long."""
    units = [_unit(byte) for byte in name.encode("utf-8", "surrogatepass")]
    return tuple(_components(units, _capitals(name))) or (EMPTY,)


def decode(components: Iterable[str]) -> list[str]:
    """The names that a run of path components stands for."""
    names, pending = [], ""
    for component in components:
        if component.endswith(CONTINUED):
            pending += component.removesuffix(CONTINUED)
        else:
            names.append(_name(pending + ("" if component == EMPTY else component)))
            pending = ""
    return names


def _unit(byte: int) -> str:
    return chr(byte) if byte in _KEPT else _escaped(byte)


def _escaped(byte: int) -> str:
    return f"~{byte:02x}"


def _capitals(name: str) -> list[str]:
    """The end of a name with capitals, in parts that stay whole: bit i says that its letter i is one."""
    bits = "".join("1" if letter.isupper() else "0" for letter in reversed(_LETTER.findall(name)))
    number = int(bits or "0", 2)
    return ["~c", *f"{number:x}"] if number else []


def _name(encoded: str) -> str:
    ended = _CAPITALS.search(encoded)
    if ended is None:
        return _plain(encoded)
    # By the number and not by what stands there: a disk may have changed the case.
    bits = iter(reversed(f"{int(ended[1], 16):b}"))
    plain = _plain(encoded[: ended.start()])
    return _LETTER.sub(lambda letter: letter[0].upper() if next(bits, "0") == "1" else letter[0].lower(), plain)


def _plain(encoded: str) -> str:
    raw = re.sub(_ESCAPE, lambda match: chr(int(match[1], 16)), encoded).encode("latin-1")
    return raw.decode("utf-8", "surrogatepass")


def _components(units: list[str], ending: list[str]) -> Iterator[str]:
    if units and units[-1] == ".":
        units[-1] = _escaped(ord("."))
    start, both = 0, [*units, *ending]
    while start < len(both):
        if both[start] == "." or _DEVICE.match("".join(units[start : start + 5])):
            both[start] = _escaped(ord(both[start]))
        size, end = 0, start
        while end < len(both) and size + len(both[end]) <= LONGEST:
            size += len(both[end])
            end += 1
        yield "".join(both[start:end]) + (CONTINUED if end < len(both) else "")
        start = end
