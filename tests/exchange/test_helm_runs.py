"""HELM's requests become outputs, what its metrics gave their words; what holds no text, or does not fit, is refused."""

import json
from copy import deepcopy
from pathlib import Path

import pytest

from affidavit.errors import InputError
from affidavit.exchange.helm_runs import HELM
from affidavit.exchange.log import Grader, Log
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer
from support.log_mutations import mutations, read_or_refused

JOINT = "multiple_choice_joint"
SHAKEN = {"name": "misspelling", "robustness": True, "fairness": False, "computed_on": "perturbed", "prob": 0.1}


def request(
    item: str, texts: list[str] | None, *, trial: int = 0, perturbation: dict | None = None, **more
) -> dict:
    instance = {
        "input": {"text": f"Which is {item}?"},
        "references": [
            {"output": {"text": "rain"}, "tags": []},
            {"output": {"text": "snow"}, "tags": ["correct"]},
        ],
        "split": "test",
        "id": item,
    }
    if perturbation is not None:
        instance["perturbation"] = perturbation
    completions = [{"text": text, "logprob": -1.0, "tokens": []} for text in texts or ()]
    return {
        "instance": instance,
        "train_trial_index": trial,
        "output_mapping": {"A": "rain", "B": "snow"},
        "request": {"prompt": f"Question: {item}\nAnswer:", "embedding": False, "echo_prompt": False},
        "result": {"success": True, "completions": completions, "cached": False},
        **more,
    }


def stat(name: str, value: float, **context) -> dict:
    return {"name": {"name": name, "split": "test", **context}, "count": 1, "sum": value, "mean": value}


def given(item: str, *values: float, trial: int = 0, perturbation: dict | None = None) -> dict:
    context = {} if perturbation is None else {"perturbation": perturbation}
    names = ("exact_match", "rouge_l")
    stats = [stat(name, value, **context) for name, value in zip(names, values, strict=False)]
    row = {"instance_id": item, "train_trial_index": trial, "stats": [*stats, stat("num_bytes", 2, **context)]}
    return row if perturbation is None else row | {"perturbation": perturbation}


def spec(method: str = JOINT, **more) -> dict:
    return {
        "name": f"weather:of=day,method={method},model=lab_tiny",
        "adapter_spec": {"method": method, "model": "lab/tiny"},
        **more,
    }


REQUESTS = [request("id1", [" B"]), request("id2", [" A"])]
STATS = [given("id1", 1.0, 0.5), given("id2", 0.0, 0.0)]


def written(folder: Path, requests: object, stats: object, run: object = None, printed: object = None) -> Path:
    run = spec() if run is None else run
    adapter = run.get("adapter_spec") if isinstance(run, dict) else run
    (folder / "run_spec.json").write_text(json.dumps(run))
    (folder / "scenario_state.json").write_text(json.dumps({"adapter_spec": adapter, "request_states": requests}))
    (folder / "per_instance_stats.json").write_text(json.dumps(stats))
    if printed is not None:
        (folder / "stats.json").write_text(json.dumps(printed))
    return folder


def outputs(folder: Path) -> list[LoggedOutput]:
    return list(HELM.opened(folder).outputs())


def recounted(log: Log) -> dict[str, tuple[float, float | None]]:
    found = {}
    for printed in log.printed:
        again = None if printed.recount is None else printed.recount()
        for output in log.outputs() if again else ():
            again.add(output)
        found[f"{printed.scorer} {printed.metric}"] = printed.value, again.value() if again else None
    return found


def test_a_run_is_a_directory(tmp_path):
    written(tmp_path, REQUESTS, STATS)
    log = HELM.opened(tmp_path)
    assert HELM.directories(tmp_path)
    assert (log.path, log.task, log.printed) == (tmp_path, "weather:of=day,method=multiple_choice_joint", ())
    state = tmp_path / "scenario_state.json"
    assert HELM.recognises(state.read_bytes(), state)
    assert HELM.opened(state).path == tmp_path
    assert not HELM.recognises(state.read_bytes(), tmp_path / "other.json")
    (tmp_path / "run_spec.json").unlink()
    assert not HELM.directories(tmp_path)
    with pytest.raises(InputError, match=r"expected run_spec\.json of a HELM run, found no such file"):
        HELM.opened(tmp_path)


def test_requests_become_outputs_and_metrics_words(tmp_path):
    first, second = outputs(written(tmp_path, REQUESTS, STATS))
    assert (first.item_id, first.model, first.raw_output, first.verbatim, first.sample) == (
        "id1",
        "lab/tiny",
        " B",
        True,
        0,
    )
    assert (first.prompt, first.question) == ("Question: id1\nAnswer:", "Which is id1?")
    assert (first.options, first.answer, first.no_answer) == (["rain", "snow"], "B", None)
    assert [(word.scorer, word.correct, word.points, word.about_item) for word in first.words] == [
        ("exact_match", True, 1.0, False),
        ("rouge_l", None, 0.5, False),
    ]
    assert [(word.scorer, word.correct, word.points) for word in second.words] == [
        ("exact_match", False, 0.0),
        ("rouge_l", None, 0.0),
    ]
    assert second.more == {"train_trial_index": 0, "split": "test"}


def test_generation_has_the_text_for_an_answer_and_no_options(tmp_path):
    row = request("id1", ["snow, I think"])
    row["output_mapping"] = None
    (found,) = outputs(written(tmp_path, [row], [], spec("generation")))
    assert (found.options, found.answer, found.words) == (None, "snow", ())
    row["instance"]["references"][0]["tags"] = ["correct"]
    (found,) = outputs(written(tmp_path, [row], [], spec("generation")))
    assert (found.answer, found.more["correct_references"]) == (None, ["rain", "snow"])


def test_several_completions_are_samples_without_a_verdict(tmp_path):
    found = outputs(written(tmp_path, [request("id1", ["B", "A"])], STATS[:1]))
    assert [(each.item_id, each.sample, each.raw_output) for each in found] == [("id1", 0, "B"), ("id1", 1, "A")]
    assert {(word.about_item, word.correct) for each in found for word in each.words} == {(True, None)}
    assert len({each.place for each in found}) == 2


def test_trials_are_samples_and_perturbations_conditions(tmp_path):
    rows = [
        request("id1", ["B"]),
        request("id1", ["A"], perturbation=SHAKEN),
        request("id1", ["C"], trial=1),
        request("id1", ["D"], trial=1, perturbation=SHAKEN),
    ]
    stats = [given("id1", 1.0), given("id1", 0.0, perturbation=SHAKEN)]
    found = outputs(written(tmp_path, rows, stats))
    shaken = "misspelling, prob=0.1"
    assert {each.item_id for each in found} == {"id1"}
    assert [(each.condition, each.sample) for each in found] == [(None, 0), (shaken, 0), (None, 1), (shaken, 1)]
    assert [each.more.get("perturbation") for each in found] == [None, SHAKEN, None, SHAKEN]
    assert [[word.points for word in each.words] for each in found] == [[1.0], [0.0], [], []]


def test_printed_means_are_made_again(tmp_path):
    rows = [
        *REQUESTS,
        request("id1", ["A"], trial=1),
        request("id2", ["A", "B"], trial=1),
        request("id1", ["A"], perturbation=SHAKEN),
    ]
    stats = [
        *STATS,
        given("id1", 0.0, 0.25, trial=1),
        given("id2", 1.0, 0.75, trial=1),
        given("id1", 0.0, perturbation=SHAKEN),
    ]
    worst = SHAKEN | {"computed_on": "worst"}
    printed = [
        stat("exact_match", 0.5),
        stat("rouge_l", 0.375),
        stat("num_bytes", 2.0),
        stat("exact_match", 0.0, perturbation=SHAKEN),
        stat("exact_match", 0.25, perturbation=worst),
        {"name": {"name": "bleu_1"}, "count": 0, "sum": 0},
    ]
    assert recounted(HELM.opened(written(tmp_path, rows, stats, printed=printed))) == {
        "exact_match mean (test)": (0.5, 0.5),
        "rouge_l mean (test)": (0.375, 0.375),
        "exact_match mean (test, misspelling, prob=0.1)": (0.0, 0.0),
        'exact_match mean (test, misspelling, computed_on="worst", prob=0.1)': (0.25, None),
    }


def test_a_stat_of_several_values_counts_each_of_them(tmp_path):
    stats = deepcopy(STATS)
    stats[0]["stats"][1] |= {"count": 3, "sum": 1.5}
    log = HELM.opened(written(tmp_path, REQUESTS, stats, printed=[stat("rouge_l", 0.375)]))
    assert recounted(log) == {"rouge_l mean (test)": (0.375, 0.375)}


@pytest.mark.parametrize(
    ("result", "raw", "no_answer", "error"),
    [
        (None, None, NoAnswer.MISSING, None),
        ({"success": True, "completions": []}, None, NoAnswer.MISSING, None),
        ({"success": False, "completions": [], "error": "429"}, None, NoAnswer.ERROR, "429"),
        ({"success": False, "completions": []}, None, NoAnswer.ERROR, None),
        ({"success": False, "completions": [{"text": "B"}], "error": "late"}, None, NoAnswer.ERROR, "late"),
        ({"success": True, "completions": [{"text": ""}]}, "", None, None),
    ],
)
def test_what_is_no_answer_is_told_by_kind(tmp_path, result, raw, no_answer, error):
    (found,) = outputs(written(tmp_path, [request("id1", None, result=result)], STATS[:1]))
    assert (found.raw_output, found.no_answer, found.error) == (raw, no_answer, error)
    kinds = {word.no_answer for word in found.words}
    assert kinds == {NoAnswer.ERROR if error else no_answer}


def test_reasons_thoughts_and_annotations_are_kept(tmp_path):
    row = request("id1", ["B"], annotations={"safety": {"score": 1}})
    row["result"]["completions"][0] |= {"finish_reason": {"reason": "length"}, "thinking": {"text": "Hm."}}
    folder = written(
        tmp_path, [row], [], spec(annotators=[{"class_name": "helm.benchmark.annotation.SafetyAnnotator"}])
    )
    (found,) = outputs(folder)
    assert (found.finish_reason, found.reasoning, found.more["annotations"]) == (
        "length",
        "Hm.",
        {"safety": {"score": 1}},
    )
    assert HELM.opened(folder).graders == (Grader("SafetyAnnotator"),)


def test_equal_options_are_told_by_their_places(tmp_path):
    row = request("id1", ["B"], output_mapping={"A": "snow", "B": "snow"})
    row["instance"]["references"][0]["output"]["text"] = "snow"
    (found,) = outputs(written(tmp_path, [row], []))
    assert found.answer == "B"


def test_rows_of_several_metrics_are_brought_together(tmp_path):
    other = {**STATS[0], "stats": [stat("bleu_1", 0.25), stat("exact_match", 1.0)]}
    (found,) = outputs(written(tmp_path, REQUESTS[:1], [STATS[0], other]))
    assert [word.scorer for word in found.words] == ["exact_match", "rouge_l", "bleu_1"]


@pytest.mark.parametrize(
    "method",
    [
        "multiple_choice_separate_original",
        "multiple_choice_separate_calibrated",
        "language_modeling",
        "ranking_binary",
    ],
)
def test_log_likelihoods_are_refused_with_the_reason(tmp_path, method):
    with pytest.raises(InputError, match=f"found {method}, which compares log-likelihoods of given answers"):
        HELM.opened(written(tmp_path, REQUESTS, STATS, spec(method)))


@pytest.mark.parametrize(
    ("requests", "stats", "file", "said"),
    [
        ([*REQUESTS, REQUESTS[0]], STATS, "scenario_state.json: request_states[2]", "no other request of its trial"),
        ([request("id1", ["B"], reference_index=1)], [], "scenario_state.json: request_states[0]", "'reference_index'"),
        ([request("id1", ["B"], request_mode="original")], [], "scenario_state.json: request_states[0]", "'request_mode'"),
        ([request("id1", ["B"], output_mapping={"A": "fog"})], [], "scenario_state.json: request_states[0]", "one letter"),
        ([request("id1", ["B"], output_mapping=["A"])], [], "scenario_state.json: request_states[0]", "texts by letters"),
        ([request("id1", ["B"]) | {"request": {"echo_prompt": True}}], [], "scenario_state.json: request_states[0]", "'echo_prompt'"),
        (REQUESTS[:1], STATS, "per_instance_stats.json", 'that are in scenario_state.json, found "id2"'),
        (REQUESTS, [STATS[0], given("id1", 0.0), STATS[1]], "per_instance_stats.json: [1]", "one value of exact_match"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_its_place(tmp_path, requests, stats, file, said):
    folder = written(tmp_path, requests, stats)
    with pytest.raises(InputError) as refused:
        outputs(folder)
    assert refused.value.where == f"{folder}/{file}"
    assert said in str(refused.value)


def test_files_of_two_runs_are_refused(tmp_path):
    folder = written(tmp_path, REQUESTS, STATS)
    (folder / "run_spec.json").write_text(
        json.dumps(spec() | {"adapter_spec": {"method": JOINT, "model": "lab/big"}})
    )
    with pytest.raises(InputError, match=r'the model of run_spec\.json, "lab/big", found "lab/tiny"'):
        outputs(folder)
    with pytest.raises(InputError, match="expected a method among chat, generation"):
        HELM.opened(written(tmp_path, REQUESTS, STATS, spec("new")))


FILES = ("scenario_state.json", "per_instance_stats.json", "run_spec.json", "stats.json")


@pytest.mark.parametrize("name", FILES)
def test_a_cut_file_is_refused_with_its_place(tmp_path, name):
    folder = written(tmp_path, REQUESTS, STATS, printed=[stat("exact_match", 0.5)])
    whole = (folder / name).read_bytes()
    for size in range(0, len(whole), 97):
        (folder / name).write_bytes(whole[:size])
        with pytest.raises(InputError) as refused:
            outputs(folder)
        assert refused.value.where.startswith(str(folder / name))


@pytest.mark.parametrize("name", FILES)
def test_nesting_without_end_is_refused(tmp_path, name):
    folder = written(tmp_path, REQUESTS, STATS, printed=[])
    (folder / name).write_text("[" * 1_000_000)
    with pytest.raises(InputError, match="nested too deeply"):
        outputs(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    "other", [None, 5, -1.5, True, "text", [1], {"x": 1}, float("nan"), 10**400], ids=lambda value: str(value)[:8]
)
def test_wrong_types_anywhere_are_read_soundly_or_refused(tmp_path, other):
    rows = [request("id1", ["B"], perturbation=SHAKEN, annotations={})]
    parts = [rows, [given("id1", 1.0, perturbation=SHAKEN)], spec(annotators=[{"class_name": "x.Y"}])]
    parts.append([stat("exact_match", 0.5), stat("rouge_l", 1.0, perturbation=SHAKEN, sub_split="x")])
    state = {"adapter_spec": parts[2]["adapter_spec"], "request_states": rows}
    written(tmp_path, *parts)
    for name, part in zip(FILES, [state, parts[1], parts[2], parts[3]], strict=True):
        for changed in mutations(part, other):
            (tmp_path / name).write_text(json.dumps(changed))
            read_or_refused(HELM.opened, tmp_path)
        (tmp_path / name).write_text(json.dumps(part))


def test_real_runs(public_data):
    runs = sorted((public_data / "logs" / "helm").iterdir())
    assert all(HELM.directories(folder) for folder in runs)
    logs = [HELM.opened(folder) for folder in runs]
    assert [log.task for log in logs] == [
        "commonsense:dataset=hellaswag,method=multiple_choice_joint",
        "mmlu:subject=philosophy,method=multiple_choice_joint",
    ]
    found = [list(log.outputs()) for log in logs]
    assert [{each.model for each in part} for part in found] == [{"eleutherai/pythia-1b-v0"}, {"openai/gpt2"}]
    assert [len(part) for part in found] == [10, 10]
    assert [[each.raw_output for each in part] for part in found] == [
        [" B", " B", " B", " D", " D", " D", " B", " A", " D", " B"],
        [" D"] * 10,
    ]
    exact = [[word for each in part for word in each.words if word.scorer == "exact_match"] for part in found]
    assert [sum(word.points or 0 for word in part) for part in exact] == [3.0, 1.0]
    for part in found:
        for each in part:  # HELM compares what its letter stands for; so the letters agree with its verdict
            assert each.words[0].correct is ((each.raw_output or "").strip() == each.answer)
    names = [word.scorer for word in found[0][0].words]
    assert names == [
        f"{name}{at}"
        for name in ("exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match")
        for at in ("", "@5")
    ]
