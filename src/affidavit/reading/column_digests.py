"""SHA-256 of the texts of a column, as the standard library's `hexdigest` writes it.

A digest that Python takes of each text costs twice what the digest itself does, and while it is taken no other
thread goes on. With the extra `bulk` they are taken where the column is: by polars-hash, in Rust, beside whatever
else is done. Both ways give the same, and one is always there.

>>> pl.DataFrame({"text": ["a", None]}).select(sha256_of("text")).to_series().to_list()
['ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb', None]
"""

from hashlib import sha256
from importlib.util import find_spec

import polars as pl

_IN_RUST = find_spec("polars_hash") is not None


def sha256_of(texts: pl.Expr | str) -> pl.Expr:
    """The digest of each text in UTF-8; null where there is none."""
    column = pl.col(texts) if isinstance(texts, str) else texts
    return in_rust(column) if _IN_RUST else in_python(column)


def in_rust(column: pl.Expr) -> pl.Expr:
    """The digests by polars-hash."""
    from polars_hash import CryptographicHashingNameSpace  # noqa: PLC0415 - an extra

    return CryptographicHashingNameSpace(column).sha2_256()


def in_python(column: pl.Expr) -> pl.Expr:
    """The digests by the standard library."""
    return column.map_batches(_one_by_one, return_dtype=pl.String, is_elementwise=True)


def _one_by_one(texts: pl.Series) -> pl.Series:
    found = texts.cast(pl.Binary).to_list()
    return pl.Series([None if text is None else sha256(text).hexdigest() for text in found], dtype=pl.String)
