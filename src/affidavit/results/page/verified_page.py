"""The page of a study that is verified: made again from the records, and compared with the one that is there.

Where things stand in a chart depends on the library that draws it. If nothing else differs, that is listed as not
checked.
"""

import json
import re
from html import unescape
from typing import Any

from affidavit import __version__
from affidavit.archive.disk import storage_errors
from affidavit.archive.layout import PAGE
from affidavit.archive.regular_files import open_to_read
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.errors import UsageError
from affidavit.results.page.study_page import make_page
from affidavit.running.verify import Verified, verify

_MADE_OF = re.compile(rb'<meta name="affidavit" content="([^"]{0,4000})">')
_CHART = re.compile(rb"<svg\b[^>]*>.*?</svg>", re.DOTALL)
_TAG = re.compile(rb"<[^>]*>")
_NUMBER = re.compile(rb"[-+.]*[0-9][-+.0-9a-f]*")
"""Where something is drawn and how large; also the names of shapes, which are digests."""
_DRAWN_OTHERWISE = "the places and sizes in its charts are others than here; their words and everything else fit"


def verify_study(
    directory: StudyDirectory, given: GivenContracts, *, expect: str | None = None, without_code: bool = False
) -> Verified:
    """Check a study and its page; see `running.verify`."""
    found = verify(directory, given, expect=expect, without_code=without_code)
    path = directory.path / PAGE
    if path.exists():
        with storage_errors(str(path)), open_to_read(path) as stream:
            page = stream.read()
        made = _made_of(page)
        why = _not_comparable(made, found)
        if made is None or why is not None:
            found.not_checked.append(f"{PAGE}: {why}")
        else:
            _compare(page, _again(directory, made), str(path), found)
        found.checked.sort()
        found.not_checked.sort()
    return found


def _not_comparable(made: dict[str, Any] | None, found: Verified) -> str | None:
    """Why the page cannot be compared with another; None if it can."""
    if made is None:
        return "it does not say what it was made of"
    if made.get("affidavit") != __version__:
        return f"another version of Affidavit wrote it ({str(made.get('affidavit'))[:20]})"
    if made.get("masked"):
        return "secrets are masked on it"
    if not found.sealed or found.differing:
        return "the study is not sealed" if not found.sealed else "something else was changed already"
    if made.get("seal_sha256") != found.seal_sha256:
        return "it is of an earlier state of the study: another seal"
    return None


def _compare(page: bytes, again: bytes, where: str, found: Verified) -> None:
    found.checked.append(f"{PAGE}: made again from the records and compared")
    if page == again:
        return
    same_words = _words_of_charts(page) == _words_of_charts(again)
    if same_words and _CHART.sub(_skeleton, page) == _CHART.sub(_skeleton, again):
        found.not_checked.append(f"{PAGE}: {_DRAWN_OTHERWISE}")
    else:
        found.differ(where, "it is not the page of these records; `affidavit report … -o other.html` makes that")


def _skeleton(chart: re.Match[bytes]) -> bytes:
    """A chart without its numbers: nothing can be put into it, or left out of it, that this does not show."""
    return _NUMBER.sub(b"#", chart[0])


def _words_of_charts(page: bytes) -> list[list[bytes]]:
    return [_TAG.sub(b" ", chart).split() for chart in _CHART.findall(page)]


def _made_of(page: bytes) -> dict[str, Any] | None:
    match = _MADE_OF.search(page)
    try:
        made = None if match is None else json.loads(unescape(match[1].decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return None
    return made if isinstance(made, dict) else None


def _again(directory: StudyDirectory, made: dict[str, Any]) -> bytes:
    """The page that the same records make; nothing where what it says of itself cannot be."""
    by, called = made.get("by"), made.get("directory")
    if not isinstance(by, list) or not all(isinstance(name, str) for name in by) or not isinstance(called, str):
        return b""
    try:
        return make_page(directory, by=by, include_self=made.get("include_self") is True, called=called)[1]
    except UsageError:
        return b""
