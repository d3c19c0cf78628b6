"""The registry of what a study's records are written out as."""

import pytest

from affidavit.errors import UsageError
from affidavit.integrations.export_formats import EXPORT_FORMATS, export_format


def test_every_format_has_its_own_name():
    assert list(EXPORT_FORMATS) == ["parquet", "csv", "jsonl", "inspect-scores", "eee"]
    assert {export_format(name).name for name in EXPORT_FORMATS} == set(EXPORT_FORMATS)


@pytest.mark.parametrize(("name", "hint"), [("jsnl", "Did you mean jsonl?"), ("xlsx", ""), ("", "")])
def test_another_is_refused_with_those_that_there_are(name, hint):
    with pytest.raises(UsageError, match="one of parquet, csv, jsonl, inspect-scores, eee") as refused:
        export_format(name)
    assert refused.value.hint == hint
