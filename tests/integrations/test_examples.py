"""The tasks that the page shows are those of the folder of examples."""

import ast
import re

import pytest

from affidavit.integrations.figures import FIGURES
from support.pages import ROOT

PAGE = (ROOT / "docs" / "inside-other-harnesses.md").read_text()
FOLDER = ROOT / "examples" / "inside_harnesses"


@pytest.mark.parametrize("name", ["inspect_quiz.py", "quiz_contract.py"])
def test_the_code_on_the_page_is_in_an_example(name):
    code = (FOLDER / name).read_text()
    shown = [block for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S) if ">>>" not in block]
    assert len([block for block in shown if all(line in code for line in block.splitlines())]) == 1
    ast.parse(code)


def test_the_task_on_the_page_is_in_the_example():
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.M | re.S)
    task = (FOLDER / "quiz.yaml").read_text()
    assert [line for line in block.splitlines() if line not in task.splitlines()] == []
    assert re.findall(r"^  - metric: (\w+)$", task, re.M) == list(FIGURES)


def test_the_contract_of_the_task_is_made_as_the_task_is_loaded():
    names: dict[str, object] = {}
    exec((FOLDER / "quiz_contract.py").read_text(), names)  # noqa: S102 - it is ours
    called = re.findall(r"!function quiz_contract\.(\w+)", (FOLDER / "quiz.yaml").read_text())
    assert sorted(called) == ["figures", "prompt", "read"]
    assert all(callable(names[each]) for each in called)
