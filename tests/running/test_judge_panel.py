"""On which terms a judge is asked: what was wanted, else what was frozen before, else the defaults."""

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import UsageError
from affidavit.running.judge_panel import JudgePanel, WantedTerms, judge_panel
from affidavit.study.models_file import read_models
from support.outputs_elsewhere import write_models


def panel(folder, **wanted: object) -> JudgePanel:
    """The panel of a study that was never judged; nobody is asked."""
    file = read_models(write_models(folder, "http://127.0.0.1:9/v1", j={}, k={}))
    return judge_panel(StudyDirectory(folder), file, WantedTerms(**wanted))


def test_a_first_judging_has_the_defaults_unless_told_otherwise(tmp_path):
    (terms,) = panel(tmp_path, judges=["j", "j"]).judges
    assert (terms.name, terms.conditions, terms.repeats) == ("j", ("free",), 1)
    assert terms.request == {"model": "j", "temperature": 0.0, "max_tokens": 1024}
    (terms,) = panel(tmp_path, judges=["k"], temperature=0.5, max_tokens=9, repeats=2).judges
    assert (terms.request, terms.repeats) == ({"model": "k", "temperature": 0.5, "max_tokens": 9}, 2)


@pytest.mark.parametrize(
    ("wanted", "refused"),
    [
        ({"judges": []}, "^--judge: expected at least one judge, found none"),
        ({"judges": ["jj"]}, "^--judge: expected j, k, found 'jj'\nDid you mean j"),
        ({"judges": ["server"]}, r"found 'server'\nGive the file of models a table \[models.server\]"),
        ({"judges": ["j"], "conditions": ["fre"]}, "^--condition: expected free or schema, found 'fre'"),
        ({"judges": ["j"], "repeats": 0}, "^--repeats: expected a whole number from 1, found 0"),
        ({"judges": ["j"], "max_tokens": -1}, "^--max-tokens: expected a whole number from 1, found -1"),
        ({"judges": ["j"], "temperature": float("nan")}, "^--temperature: expected a finite number from 0"),
    ],
)
def test_what_cannot_be_judged_by_is_refused(tmp_path, wanted, refused):
    with pytest.raises(UsageError, match=refused):
        panel(tmp_path, **wanted)
