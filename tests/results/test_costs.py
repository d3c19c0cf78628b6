"""What answers cost is what servers counted at the prices that runs knew of, and nothing where either is missing."""

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.results.page.costs import TokenSums, cost_in_words
from affidavit.results.page.overview import Fact
from affidavit.results.page.study_page import content
from support.command import affidavit
from support.fault_server import FaultServer
from support.studies import fine, write_study

PRICE = {"input": 2, "output": 10}
MUCH = TokenSums(1_000_000, 100_000, 5, 5)


@pytest.mark.parametrize(
    ("sums", "prices", "said"),
    [
        ([("a", MUCH)], {"a": PRICE}, "3.00"),
        ([("a", MUCH), ("b", MUCH)], {"a": PRICE, "b": {"input": 0, "output": 0.5}}, "3.05"),
        ([("a", MUCH), ("b", MUCH)], {"a": PRICE}, "3.00, without that of 1 model, which has no price"),
        ([("a", MUCH), ("b", MUCH), ("c", MUCH)], {"a": PRICE}, "3.00, without that of 2 models, which have no price"),
        ([("a", MUCH), ("b", TokenSums(0, 0, 0, 7))], {"a": PRICE}, "3.00"),
        ([("a", TokenSums(3, 1, 1, 1))], {"a": PRICE}, "less than 0.01"),
        ([("a", MUCH)], {"a": {"input": 0, "output": 0}}, "0.00"),
        ([("a", MUCH)], {"a": {"input": "2", "output": 10}}, ""),
        ([("a", MUCH)], {"a": {"input": -1, "output": 10}}, ""),
        ([("a", MUCH)], {}, ""),
        ([], {"a": PRICE}, ""),
    ],
)  # fmt: skip
def test_costs_are_tokens_at_their_prices(sums, prices, said):
    assert cost_in_words(sums, prices) == said


@pytest.mark.slow
@pytest.mark.parametrize("price", [None, {"input": 500.0, "output": 2000.0}])
def test_the_page_says_what_a_run_cost(tmp_path, price):
    with FaultServer() as server:
        study = write_study(tmp_path, server.url, count=4, changed={"models": {"m": {"price": price}}})
        assert fine(affidavit("run", study, "--out", tmp_path / "out"), 0)
    found = content(StudyDirectory(tmp_path / "out")).overview
    costs = [fact for fact in found if fact.name == "cost"]
    if price is None:
        assert costs == []
        return
    ((said,),) = (fact.lines for fact in found if fact.name == "tokens")
    sent, answered = (int(part.split()[0].replace(",", "")) for part in said.split(", ")[:2])
    assert costs == [Fact("cost", [f"{(sent * 500 + answered * 2000) / 1e6:,.2f}"])]
