"""Any name as part of a path, and back (ruling J12).

Models, questions and outputs have whatever names their authors gave them: `../x`, `CON`, 300 characters, two
that differ only in case. The encoding keeps every path below its root, is reversible, and never maps two
names to one path, also on disks that ignore case.

    >>> encode("gpt-4o"), encode("Qwen/2.5 7B"), encode("..")
    (('gpt-4o',), ('~51wen~2f2.5~207~42',), ('~2e~2e',))
    >>> decode(("~51wen~2f2.5~207~42",))
    ['Qwen/2.5 7B']
"""

import re
from collections.abc import Iterable, Iterator

LONGEST = 180
"""Bytes of a path component, its mark apart, before the name goes on in a directory below."""
CONTINUED = "~+"
EMPTY = "~"

_KEPT = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_-.")
# Four characters at most, and then the end of the name or of its stem.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z)")
_ESCAPE = re.compile("~([0-9a-f]{2})")


def encode(name: str) -> tuple[str, ...]:
    """The path components that stand for the name: one, or more if it is long."""
    return tuple(_components([_unit(byte) for byte in name.encode("utf-8", "surrogatepass")])) or (EMPTY,)


def decode(components: Iterable[str]) -> list[str]:
    """The names that a run of path components stands for."""
    names, pending = [], ""
    for component in components:
        if component.endswith(CONTINUED):
            pending += component.removesuffix(CONTINUED)
        else:
            names.append(_plain(pending + ("" if component == EMPTY else component)))
            pending = ""
    return names


def _unit(byte: int) -> str:
    return chr(byte) if byte in _KEPT else _escaped(byte)


def _escaped(byte: int) -> str:
    return f"~{byte:02x}"


def _plain(encoded: str) -> str:
    raw = re.sub(_ESCAPE, lambda match: chr(int(match[1], 16)), encoded).encode("latin-1")
    return raw.decode("utf-8", "surrogatepass")


def _components(units: list[str]) -> Iterator[str]:
    if units and units[-1] == ".":
        units[-1] = _escaped(ord("."))
    start = 0
    while start < len(units):
        if units[start] == "." or _DEVICE.match("".join(units[start : start + 5])):
            units[start] = _escaped(ord(units[start]))
        size, end = 0, start
        while end < len(units) and size + len(units[end]) <= LONGEST:
            size += len(units[end])
            end += 1
        yield "".join(units[start:end]) + (CONTINUED if end < len(units) else "")
        start = end
