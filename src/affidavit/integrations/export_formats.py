"""Every kind of file that a study's records are written out as.

A new format is a file with an `ExportFormat` in it, and a line in `EXPORT_FORMATS`.
"""

from affidavit.errors import UsageError, did_you_mean
from affidavit.exchange.export_format import ExportFormat
from affidavit.exchange.inspect_scores import INSPECT_SCORES
from affidavit.exchange.plain_exports import CSV, JSON_LINES, PARQUET
from affidavit.integrations.every_eval_ever_files import EVERY_EVAL_EVER

EXPORT_FORMATS: dict[str, ExportFormat] = {
    each.name: each
    for each in (
        PARQUET,
        CSV,
        JSON_LINES,
        INSPECT_SCORES,
        EVERY_EVAL_EVER,
    )
}
"""Every format that is known, by its name."""


def export_format(name: str) -> ExportFormat:
    """The format of a name.

    >>> export_format("csv").ending
    '.csv'
    """
    if name not in EXPORT_FORMATS:
        hint = did_you_mean(name, EXPORT_FORMATS)
        raise UsageError("--format", expected=f"one of {', '.join(EXPORT_FORMATS)}", found=repr(name), hint=hint)
    return EXPORT_FORMATS[name]
