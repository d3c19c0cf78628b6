"""The page of a study that is verified: made again from the records, and compared with the one there."""

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
from affidavit.results.page.chosen_outputs import MOST_SAMPLES, PER_KIND
from affidavit.results.page.content import PageOptions
from affidavit.results.page.study_page import make_page
from affidavit.running.verify import Verified, verify

_MADE_OF = re.compile(rb'<meta name="affidavit" content="([^"]{0,4000})">')


def verify_study(
    directory: StudyDirectory,
    given: GivenContracts,
    *,
    expect: str | None = None,
    without_code: bool = False,
    workers: int = 1,
) -> Verified:
    """Check a study and its page; see `running.verify`."""
    found = verify(directory, given, expect=expect, without_code=without_code, workers=workers)
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
    if page != again:
        found.differ(where, "it is not the page of these records; `affidavit report … -o other.html` makes that")


def _made_of(page: bytes) -> dict[str, Any] | None:
    match = _MADE_OF.search(page)
    try:
        made = None if match is None else json.loads(unescape(match[1].decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return None
    return made if isinstance(made, dict) else None


def _again(directory: StudyDirectory, made: dict[str, Any]) -> bytes:
    """The page that the same records make; nothing where what it says of itself cannot be."""
    by, called, cluster = made.get("by"), made.get("directory"), made.get("cluster")
    if not isinstance(by, list) or not all(isinstance(name, str) for name in by) or not isinstance(called, str):
        return b""
    if not isinstance(cluster, str | None):
        return b""
    samples, own = made.get("samples", PER_KIND), made.get("include_self") is True
    if not isinstance(samples, int) or not 0 <= samples <= MOST_SAMPLES:
        return b""
    every = made.get("every") is True
    options = PageOptions(by=by, cluster=cluster, include_self=own, samples=samples, every=every)
    try:
        return make_page(directory, options, called=called)[1]
    except UsageError:
        return b""
