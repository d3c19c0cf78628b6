"""The contracts as Polars expressions: importing this module gives every expression a namespace `affidavit`.

    >>> import polars as pl
    >>> import affidavit.reading.polars_namespace
    >>> outputs = pl.DataFrame({"raw_output": ["<answer>B</answer>", "B. Paris"]})
    >>> outputs.select(pl.col("raw_output").affidavit.mcqa().struct.field("deviation")).to_series().to_list()
    [None, 'option_text']

Each gives a struct of the contract's columns; `.struct.unnest()` spreads it. They work row by row, so that
lazy and streaming queries can cut the data wherever they like.
"""

from collections.abc import Sequence

import polars as pl

from affidavit.contracts.judge import Judge
from affidavit.contracts.label_columns import SCHEMA as LABEL_SCHEMA
from affidavit.contracts.labels import LabelSet
from affidavit.contracts.number import Number
from affidavit.contracts.pattern import Pattern
from affidavit.reading import columns

IntoExpr = pl.Expr | str


@pl.api.register_expr_namespace("affidavit")
class ContractExpressions:
    """`pl.col("raw_output").affidavit`."""

    def __init__(self, raw: pl.Expr) -> None:
        self._raw = raw

    def mcqa(self, *, options: str = "A-D", deviations: bool = True) -> pl.Expr:
        """Multiple choice: protocol_compliant, extracted_answer, deviation."""

        def read(given: Sequence[pl.Series]) -> pl.Series:
            return columns.mcqa(given[0], options=options, deviations=deviations).to_struct(given[0].name)

        return self._over([], read, columns.choice_schema(deviations=deviations))

    def mcqa_reasoned(self, *, options: str = "A-D") -> pl.Expr:
        """Multiple choice after reasoning: the same, and the place of the answer."""

        def read(given: Sequence[pl.Series]) -> pl.Series:
            return columns.mcqa_reasoned(given[0], options=options).to_struct(given[0].name)

        return self._over([], read, columns.REASONED_SCHEMA)

    def game24(self, numbers: IntoExpr | None = None, target: IntoExpr | int | None = None) -> pl.Expr:
        """Game of 24: the candidate, its place, and whether it solves the hand in `numbers`."""
        targets = target if isinstance(target, pl.Expr | str) else pl.lit(target, dtype=pl.Int64)

        def read(given: Sequence[pl.Series]) -> pl.Series:
            return columns.game24(*given).to_struct(given[0].name)

        hands = pl.lit(None) if numbers is None else numbers
        return self._over([hands, targets], read, columns.GAME_SCHEMA)

    def judge(
        self,
        judged_output: IntoExpr | None = None,
        asked: IntoExpr | None = None,
        *,
        contract: Judge | None = None,
    ) -> pl.Expr:
        """Evaluations: what they say, and everything that speaks against them."""
        reader = contract or Judge()

        def read(given: Sequence[pl.Series]) -> pl.Series:
            return columns.judge(*given, contract=reader).to_struct(given[0].name)

        others = [pl.lit(None) if other is None else other for other in (judged_output, asked)]
        return self._over(others, read, columns.judge_schema(reader))

    def number(self, contract: Number | None = None) -> pl.Expr:
        """Numbers: the answer as it is written, its place, its value, its deviation and where it was found."""
        reader = contract or Number()

        def read(given: Sequence[pl.Series]) -> pl.Series:
            return columns.number(given[0], reader).to_struct(given[0].name)

        return self._over([], read, columns.NUMBER_SCHEMA)

    def labels(self, contract: LabelSet) -> pl.Expr:
        """Sets of known labels: compliance, the set as a text and as a list, its place, deviation."""

        def read(given: Sequence[pl.Series]) -> pl.Series:
            return columns.labels(given[0], contract).to_struct(given[0].name)

        return self._over([], read, LABEL_SCHEMA)

    def pattern(self, contract: Pattern) -> pl.Expr:
        """A contract from one regular expression: protocol_compliant, extracted_answer."""

        def read(given: Sequence[pl.Series]) -> pl.Series:
            return columns.pattern(given[0], contract).to_struct(given[0].name)

        return self._over([], read, columns.PATTERN_SCHEMA)

    def text(self) -> pl.Expr:
        """Open text: protocol_compliant."""

        def read(given: Sequence[pl.Series]) -> pl.Series:
            return columns.text(given[0]).to_struct(given[0].name)

        return self._over([], read, pl.Schema({"protocol_compliant": pl.Boolean()}))

    def _over(self, others: Sequence[IntoExpr], read: columns.Read, schema: pl.Schema) -> pl.Expr:
        def whole(given: Sequence[pl.Series]) -> pl.Series:
            # A literal comes as a column of one.
            height = max(map(len, given))
            return read([each if len(each) == height else each.new_from_index(0, height) for each in given])

        return pl.map_batches([self._raw, *others], whole, return_dtype=pl.Struct(schema), is_elementwise=True)
