"""Digests of columns are those of the standard library, whoever takes them."""

from hashlib import sha256

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.reading.column_digests import in_python, in_rust, sha256_of

texts = st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"])), min_size=1)


@pytest.mark.slow
@pytest.mark.parametrize("way", [in_rust, in_python, sha256_of])
@given(found=texts)
def test_every_text_has_its_digest(way, found):
    column = pl.DataFrame({"text": pl.Series(found, dtype=pl.String)})
    expected = [None if text is None else sha256(text.encode()).hexdigest() for text in found]
    assert column.select(way(pl.col("text"))).to_series().to_list() == expected


@pytest.mark.parametrize("way", [in_rust, in_python])
def test_long_texts_and_none_at_all(way):
    for found in ([], ["é" * 100_000], [None]):
        column = pl.DataFrame({"text": pl.Series(found, dtype=pl.String)}).select(way(pl.col("text")))
        assert column.to_series().to_list() == [text and sha256(text.encode()).hexdigest() for text in found]
        assert column.schema == {"text": pl.String}
