"""The worked example of docs/people-and-judges.md on real scores: one judge, four policies, an oracle's labels."""

import json
from pathlib import Path

import pytest

from affidavit.statistics import Estimate, corrected_mean, people_alone
from affidavit.statistics.means import mean_by_cluster

PAGE = (Path(__file__).parents[2] / "docs" / "people-and-judges.md").read_text(encoding="utf-8")


def shown(estimate: Estimate) -> str:
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


@pytest.mark.slow
def test_the_table_of_the_arena_is_what_its_scores_give(public_data):
    rows = [json.loads(line) for line in (public_data / "judge_oracle_arena.jsonl").read_text().splitlines()]
    for policy in sorted({row["policy"] for row in rows}):
        own = [row for row in rows if row["policy"] == policy]
        judged, labels, ids = ([row[name] for row in own] for name in ("judge_score", "oracle_label", "id"))
        found, alone = (each(judged, labels, clusters=ids) for each in (corrected_mean, people_alone))
        figures = map(shown, (mean_by_cluster(zip(ids, judged, strict=True)), found.estimate, alone.estimate))
        line = f"| {policy} | {len(own):,} | {found.labelled} | {' | '.join(figures)} | {found.weight:.0%} |"
        assert line in PAGE
