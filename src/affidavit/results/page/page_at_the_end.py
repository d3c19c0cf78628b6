"""The page that a command writes at its end, where that is a matter of seconds; else it says what to type."""

from affidavit.archive.layout import PAGE
from affidavit.archive.study_directory import StudyDirectory
from affidavit.results.page.text import brief

CHEAP = 20_000
"""Records; the page of so many is a matter of seconds, and a command writes it at its end."""


def is_cheap(directory: StudyDirectory) -> bool:
    """Whether the page of a sealed study is a matter of seconds."""
    seal = directory.seal()
    return seal is not None and seal.records < CHEAP


def page_at_the_end(directory: StudyDirectory, *, anew: bool) -> str:
    """Write the page when a command ends, if that is a matter of seconds; where it is, or what to type.

    Whatever goes wrong with a page costs nothing but the page: what it is made of is sealed already. Unless it
    has to be made `anew`, one that is there stays.
    """
    again = f"affidavit report {directory}"
    try:
        if not is_cheap(directory):
            return again
        if anew or not (directory.path / PAGE).exists():
            from affidavit.results.page.study_page import write_page  # noqa: PLC0415 - it brings Polars

            write_page(directory)
    except Exception as error:  # noqa: BLE001
        return f"{again}, as no page could be written: {brief(str(error) or type(error).__name__, 200)}"
    return str(directory.path / PAGE)
