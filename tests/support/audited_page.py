"""The page of an audit of logs with long names, in which every column has something."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from affidavit.contracts.mcqa import mcqa
from affidavit.contracts.read_by import ReadBy
from affidavit.exchange.log import Log, PrintedScore
from affidavit.exchange.log_source import sources_of
from affidavit.exchange.logged_output import LoggedOutput, SourceWord
from affidavit.exchange.recounts import mean_of_items
from affidavit.results.page.audit_page import MadeOf, audit_page
from affidavit.results.second_readings import audit_report
from affidavit.running.second_reading import audit_terms, second_readings

LONG = "replicate:replicate/llama70b-v2-chat:e951f18578850b652510200860fc4ea62b3b16fac280f83ff32282f87bbd2e48"
"""The name of a model, in which nothing can be broken for sixty characters."""


def audited_page() -> str:
    """Two logs of a hundred outputs, of which the source takes all and the contract some."""
    logs = [_log("samples_of_a_task_with_a_long_name_2025-10-14T14-44-39.372006", LONG), _log("other", "small")]
    readings = [each for source in sources_of(logs) for each in second_readings(source, audit_terms(mcqa))]
    made_of = MadeOf(["logs/of/a/month"], datetime(2026, 3, 1, 12, tzinfo=UTC))
    return audit_page(audit_report(readings, ReadBy.of(mcqa)), readings, made_of)


def _log(name: str, model: str) -> Log:
    printed = [PrintedScore(scorer="match", metric="accuracy", value=1.0, recount=mean_of_items("match"))]
    path = Path(f"{name}.jsonl")
    return Log(path=path, format="made up", task="quiz", outputs=lambda: _outputs(model), printed=printed)


def _outputs(model: str) -> Iterator[LoggedOutput]:
    word = SourceWord(scorer="match", answer="B", correct=True, points=1.0)
    for number in range(100):
        text = ("<answer>B</answer>", "It is B. Sure.", "<answer>C</answer>")[number % 3]
        item = f"q{number}"
        yield LoggedOutput(
            place=f"line {number}", item_id=item, model=model, raw_output=text, answer="B", words=[word]
        )
