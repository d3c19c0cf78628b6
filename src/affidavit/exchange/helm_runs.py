"""HELM: a run is a directory with `run_spec.json`, `scenario_state.json` and `per_instance_stats.json`.

The first says what was run, the second has each request with what came back, the third what each metric gave for
each instance; `stats.json` has the printed means, where it is kept. An instance that was asked in several trials
is one item with several samples. One that was perturbed is the same item under another condition, called by the
perturbation: it is no question of its own. A metric says one thing of all completions of a request, so of several
it is a verdict on none. Methods that score given answers by their log-likelihood hold no answer of the model and
are refused.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from affidavit.errors import InputError
from affidavit.exchange.json_documents import (
    document,
    list_in,
    number_in_words,
    object_in,
    refuse,
    text_in,
)
from affidavit.exchange.log import HEAD, Grader, Log, LogFormat, PrintedScore
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer, SourceWord
from affidavit.exchange.repeated_names import refuse_repeated_names
from affidavit.json_values import Fields, canonical, kept_as_shown, shown
from affidavit.reading.row_lines import DECODER
from affidavit.reading.source import LONGEST_ROW, reading_on
from affidavit.reading.utf8 import decoded_whole

_STATE, _STATS, _SPEC, _PRINTED = "scenario_state.json", "per_instance_stats.json", "run_spec.json", "stats.json"
_STATE_BEGINS = re.compile(rb'\s*\{\s*"adapter_spec"\s*:')
_CHOICE_METHODS = frozenset(
    ("multiple_choice_joint", "multiple_choice_joint_chain_of_thought", "multiple_choice_joint_multimodal")
)
_TEXT_METHODS = _CHOICE_METHODS | {"generation", "generation_multimodal", "chat"}
_LIKELIHOOD = re.compile(
    r"multiple_choice_separate_.*|multiple_choice_calibrated|language_modeling|ranking_binary"
)
_NO_SCORE = re.compile(
    r"num_\w+|training_\w+|inference_\w+|batch_size|finish_reason_\w+|prompt_truncated|max_prob|predicted_index"
    r"|logprob|logprob_per_byte|bits_per_byte|perplexity"
)
"""Stats that tell of a request and judge nothing."""
_VERDICT = re.compile(r"exact_match|exact_set_match|math_equiv|code_eval_acc|math_result_match")
"""Metrics whose 0 and 1 are wrong and right; those of others are the ends of a scale."""
_DERIVED = ("robustness", "fairness")
_CONTEXT = ("split", "sub_split", "perturbation")
_Key = tuple[str, int, bytes]
"""An instance in one trial under one perturbation."""


class _Stat(NamedTuple):
    """What a metric gave for one instance."""

    name: str
    mean: float
    score: object


def _is_run(folder: Path) -> bool:
    if not all((folder / name).is_file() for name in (_STATE, _STATS, _SPEC)):
        return False
    with reading_on(str(folder)), (folder / _STATE).open("rb") as stream:
        return _recognises(stream.read(HEAD), folder / _STATE)


def _recognises(head: bytes, path: Path) -> bool:
    """Whether it is the file of a run that has its outputs: then the run is meant."""
    return path.name == _STATE and _STATE_BEGINS.match(head) is not None


def _opened(path: Path) -> Log:
    folder = path if path.is_dir() else path.parent
    for name in (_SPEC, _STATE, _STATS):
        if not (folder / name).is_file():
            raise InputError(str(folder), expected=f"{name} of a HELM run", found="no such file")
    where = str(folder / _SPEC)
    spec = document(folder / _SPEC, what="the run_spec of a HELM run")
    adapter = object_in(spec, "adapter_spec", where=where)
    method = _method(adapter, where)
    name, model = text_in(spec, "name", where=where), text_in(adapter, "model", where=where)
    if not model.strip():
        refuse(where, expected="the name of a model in 'model'", found=model)
    return Log(
        path=folder,
        format=HELM.name,
        task=_task(name) or folder.name,
        outputs=partial(_outputs, folder, model, method),
        printed=_printed(folder / _PRINTED),
        graders=_graders(spec, where),
        facts={"run": name, "method": method},
    )


def _method(adapter: Fields, where: str) -> str:
    method = text_in(adapter, "method", where=where)
    if _LIKELIHOOD.fullmatch(method):
        raise InputError(
            where,
            expected="a method that asks the model for a text",
            found=f"{method}, which compares log-likelihoods of given answers",
            hint="Such a run asks for no output: there is nothing for a contract to read.",
        )
    if method not in _TEXT_METHODS:
        refuse(where, expected=f"a method among {', '.join(sorted(_TEXT_METHODS))}", found=method)
    return method


def _task(run: str) -> str:
    """The name of a run without its model, so that runs of several models are of one task.

    >>> _task("mmlu:subject=art,method=multiple_choice_joint,model=openai_gpt2")
    'mmlu:subject=art,method=multiple_choice_joint'
    """
    scenario, _, arguments = run.partition(":")
    models = ("model=", "model_deployment=")
    kept = ",".join(each for each in arguments.split(",") if not each.startswith(models))
    return f"{scenario}:{kept}" if kept else scenario


def _graders(spec: Fields, where: str) -> tuple[Grader, ...]:
    """The annotators of a run, by the names of their classes: HELM does not say which models they ask."""
    annotators = [] if spec.get("annotators") is None else list_in(spec, "annotators", where=where)
    names = []
    for each in annotators:
        if not isinstance(each, dict):
            refuse(where, expected="objects in 'annotators'", found=each)
        names.append(Grader(text_in(each, "class_name", where=where).rpartition(".")[2]))
    return tuple(names)


# --- what was printed ---


def _printed(path: Path) -> tuple[PrintedScore, ...]:
    """The means of a run's metrics, each of one split and perturbation."""
    found = []
    for place, stat in enumerate(_list_of(path, what="the stats of a HELM run") if path.is_file() else ()):
        where = f"{path}: [{place}]"
        if (mean := _stat(stat, where)) is None:
            continue
        name = object_in(_object(stat, where), "name", where=where)
        split, sub_split = (_optional_text(name.get(each), each, where) for each in ("split", "sub_split"))
        perturbation = _perturbation(name.get("perturbation"), where)
        context = {"split": split, "sub_split": sub_split, "perturbation": perturbation}
        labels = [each for each in (split, sub_split, _perturbed(perturbation)) if each]
        found.append(
            PrintedScore(
                scorer=mean.name,
                metric="mean" + (f" ({', '.join(labels)})" if labels else ""),
                value=mean.mean,
                recount=partial(_MeanOfTrials, mean.name, context) if _has_rows(perturbation) else None,
            )
        )
    return tuple(found)


def _has_rows(perturbation: Fields | None) -> bool:
    """Whether a mean is over rows as they are, and not over the worst of several for each instance."""
    if perturbation is None:
        return True
    return perturbation.get("computed_on") in (None, "perturbed") and perturbation["name"] not in _DERIVED


class _MeanOfTrials:
    """The mean over trials of the mean over instances, added up in the order of the log as HELM does."""

    def __init__(self, scorer: str, context: Mapping[str, object]) -> None:
        self._scorer = scorer
        self._context = context
        self._trials: dict[object, tuple[float, float]] = {}
        self._seen: set[tuple[str, object]] = set()

    def add(self, output: LoggedOutput) -> None:
        """One output more; of several completions of a request, the first has its word."""
        if any(output.more.get(name) != value for name, value in self._context.items()):
            return
        trial = output.more.get("train_trial_index")
        for word in output.words:
            if (
                word.scorer == self._scorer
                and word.points is not None
                and (output.item_id, trial) not in self._seen
            ):
                self._seen.add((output.item_id, trial))
                total, count = self._trials.get(trial, (0.0, 0.0))
                more, by = _sum_and_count(word.score, word.points)
                self._trials[trial] = total + more, count + by

    def value(self) -> float | None:
        """The mean; None if no output has the word."""
        means = [total / count for total, count in self._trials.values()]
        return sum(means) / len(means) if means else None


def _sum_and_count(score: object, mean: float) -> tuple[float, float]:
    if isinstance(score, dict):
        return score["sum"], score["count"]
    return mean, 1.0


# --- what each metric gave ---


def _stats_by_instance(path: Path) -> dict[_Key, dict[str, _Stat]]:
    """What the metrics gave for each instance; each class of metrics has a row of its own for it."""
    found: dict[_Key, dict[str, _Stat]] = {}
    for place, row in enumerate(_list_of(path, what="the per-instance stats of a HELM run")):
        where = f"{path}: [{place}]"
        fields = _object(row, where)
        perturbation = _perturbation(fields.get("perturbation"), where)
        key = text_in(fields, "instance_id", where=where), _trial(fields, where), canonical(perturbation)
        stats = found.setdefault(key, {})
        for each in list_in(fields, "stats", where=where):
            stat = _stat(each, where)
            if stat is not None and stats.setdefault(stat.name, stat) != stat:
                refuse(where, expected=f"one value of {stat.name} for the instance", found=stat.score)
    return found


def _stat(value: object, where: str) -> _Stat | None:
    """A stat that judges an output; None for one of another kind, or of nothing."""
    fields = _object(value, where)
    name = text_in(object_in(fields, "name", where=where), "name", where=where)
    count = fields.get("count")
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count < 2**53:
        refuse(where, expected=f"a number of values in 'count' of {name}", found=count)
    if _NO_SCORE.fullmatch(name) or not count:
        return None
    mean = _number(fields.get("mean"), "mean", where)
    if not math.isfinite(mean):
        return None
    if count == 1:
        return _Stat(name, float(mean), fields.get("mean"))
    total = _number(fields.get("sum"), "sum", where)
    return _Stat(name, float(mean), {"mean": mean, "sum": total, "count": count})


def _words(stats: Mapping[str, _Stat], completions: int, *, failed: bool) -> tuple[SourceWord, ...]:
    alone = completions <= 1
    return tuple(
        SourceWord(
            scorer=stat.name,
            correct=bool(stat.mean) if alone and stat.mean in (0.0, 1.0) and _VERDICT.search(stat.name) else None,
            points=stat.mean,
            score=stat.score,
            no_answer=NoAnswer.ERROR if failed else None if completions else NoAnswer.MISSING,
            about_item=not alone,
        )
        for stat in stats.values()
    )


# --- requests ---


def _outputs(folder: Path, model: str, method: str) -> Iterator[LoggedOutput]:
    path = folder / _STATE
    state = document(path, what="the scenario_state of a HELM run")
    adapter = object_in(state, "adapter_spec", where=str(path))
    for name, expected in (("model", model), ("method", method)):
        if adapter.get(name) != expected:
            refuse(str(path), expected=f"the {name} of {_SPEC}, {shown(expected)}", found=adapter.get(name))
    stats = _stats_by_instance(folder / _STATS)
    seen: set[_Key] = set()
    samples: Counter[tuple[str, str | None]] = Counter()
    for place, row in enumerate(list_in(state, "request_states", where=str(path))):
        where = f"{path}: request_states[{place}]"
        request = _Request(_object(row, where), where, method)
        if request.key in seen:
            refuse(where, expected="an instance that no other request of its trial has", found=request.key[0])
        seen.add(request.key)
        for output in request.outputs(
            f"request_states[{place}]", model, stats.get(request.key, {}), first=samples[request.asked]
        ):
            samples[request.asked] += 1
            yield output
    if unknown := stats.keys() - seen:
        first = min(unknown)[0]
        refuse(str(folder / _STATS), expected=f"stats of instances that are in {_STATE}", found=first)


class _Request:
    """One request and what came back, checked."""

    def __init__(self, row: Fields, where: str, method: str) -> None:
        self._where, self._row, self._method = where, row, method
        self._refuse_given_answers()
        self._instance = object_in(row, "instance", where=where)
        self._trial = _trial(row, where)
        self._perturbation = _perturbation(self._instance.get("perturbation"), where)
        self._id = text_in(self._instance, "id", where=where)
        self.key: _Key = (self._id, self._trial, canonical(self._perturbation))
        self.asked = self._id, _perturbed(self._perturbation)
        """The item, and under which condition."""

    def _refuse_given_answers(self) -> None:
        request = object_in(self._row, "request", where=self._where)
        for name, fields in (
            ("reference_index", self._row),
            ("request_mode", self._row),
            ("embedding", request),
            ("echo_prompt", request),
        ):
            if fields.get(name) not in (None, False):
                refuse(self._where, expected=f"a request for a text, without {name!r}", found=fields[name])

    def outputs(self, place: str, model: str, stats: Mapping[str, _Stat], *, first: int) -> Iterator[LoggedOutput]:
        """Each completion, or what is known where there is none; samples are counted from `first` on."""
        error, no_answer, completions = self._result()
        options, answer, more = self._content()
        prompt = object_in(self._row, "request", where=self._where).get("prompt")
        for number, each in enumerate(completions or [None]):
            yield LoggedOutput(
                place=f"{place}.result.completions[{number}]" if len(completions) > 1 else place,
                item_id=self.asked[0],
                condition=self.asked[1],
                model=model,
                raw_output=None if each is None else text_in(each, "text", where=self._where),
                sample=first + number,
                prompt=prompt if isinstance(prompt, str) and prompt else None,
                question=_text_of(self._instance.get("input"), "instance.input", self._where),
                options=options,
                answer=answer,
                error=error,
                no_answer=no_answer if each is None else None,
                finish_reason=_inner_text(each, "finish_reason", "reason"),
                reasoning=_inner_text(each, "thinking", "text"),
                words=_words(stats, len(completions), failed=no_answer is NoAnswer.ERROR or error is not None),
                more=more,
            )

    def _result(self) -> tuple[str | None, NoAnswer | None, list[Fields]]:
        """What went wrong, why there is no completion, and the completions."""
        if self._row.get("result") is None:
            return None, NoAnswer.MISSING, []
        result = object_in(self._row, "result", where=self._where)
        success, error = result.get("success"), result.get("error")
        if not isinstance(success, bool):
            refuse(self._where, expected="true or false in 'result.success'", found=success)
        completions = []
        for each in list_in(result, "completions", where=self._where):
            if not isinstance(each, dict):
                refuse(self._where, expected="objects in 'result.completions'", found=each)
            completions.append(each)
        if success:
            return None, None if completions else NoAnswer.MISSING, completions
        # What stands in the place of a text is no output: asking for it failed (ruling C1).
        return error if isinstance(error, str | None) else kept_as_shown(error), NoAnswer.ERROR, []

    def _content(self) -> tuple[list[str] | None, str | None, dict[str, object]]:
        """The options as they were shown, the right answer, and what else is known of the item."""
        references = [
            (_reference_text(each, self._where), _is_correct(each, self._where))
            for each in list_in(self._instance, "references", where=self._where)
        ]
        options = self._options()
        right = [place for place, (_, correct) in enumerate(references) if correct]
        texts = [text for text, _ in references]
        answers = [texts[place] for place in right]
        if self._method in _CHOICE_METHODS:
            answers = [self._letter(texts, place, options or {}) for place in right]
        more: dict[str, object] = {"train_trial_index": self._trial}
        more |= {
            name: self._instance[name] for name in ("split", "sub_split") if self._instance.get(name) is not None
        }
        if self._perturbation is not None:
            more["perturbation"] = self._perturbation
        if len(answers) > 1:
            more["correct_references"] = answers
        if self._row.get("annotations") is not None:
            more["annotations"] = self._row["annotations"]
        shown_options = list(options.values()) if options else None
        return shown_options, answers[0] if len(answers) == 1 else None, more

    def _options(self) -> dict[str, str] | None:
        mapping = self._row.get("output_mapping")
        if mapping is None:
            return None
        if not isinstance(mapping, dict) or not all(isinstance(each, str) for each in mapping.values()):
            refuse(self._where, expected="texts by letters in 'output_mapping'", found=mapping)
        return mapping

    def _letter(self, texts: Sequence[str], place: int, options: Mapping[str, str]) -> str:
        """The letter that stands for a reference; of equal texts, the one at its place."""
        letters = [letter for letter, text in options.items() if text == texts[place]]
        if len(letters) > 1 and list(options.values()) == list(texts):
            return list(options)[place]
        if len(letters) != 1:
            refuse(self._where, expected="one letter for the correct reference in 'output_mapping'", found=letters)
        return letters[0]


# --- values ---


def _list_of(path: Path, *, what: str) -> list[object]:
    """The list that a file is."""
    with reading_on(str(path)), path.open("rb") as stream:
        content = stream.read(LONGEST_ROW + 1)
    if len(content) > LONGEST_ROW:
        raise InputError(str(path), expected=f"{what} of at most {LONGEST_ROW:,} bytes", found="more")
    text = decoded_whole(content, name=str(path))
    try:
        value = DECODER.decode(text)
    except json.JSONDecodeError as error:
        found = f"no JSON at column {error.colno}: {error.msg}"
        raise InputError(f"{path}:{error.lineno}", expected=what, found=found) from error
    except RecursionError as error:
        raise InputError(str(path), expected=what, found="JSON nested too deeply") from error
    refuse_repeated_names(text, value, where=str(path))
    return value if isinstance(value, list) else refuse(str(path), expected=f"{what}, a list", found=value)


def _object(value: object, where: str) -> Fields:
    return value if isinstance(value, dict) else refuse(where, expected="an object", found=value)


def _trial(fields: Fields, where: str) -> int:
    trial = fields.get("train_trial_index")
    if not isinstance(trial, int) or isinstance(trial, bool):
        refuse(where, expected="a number in 'train_trial_index'", found=trial)
    return trial


def _number(value: object, name: str, where: str) -> float:
    """A number; one that is no finite one of this machine is none."""
    value = number_in_words(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        refuse(where, expected=f"a number in {name!r}", found=value)
    return value if isinstance(value, float) or abs(value) < 2**53 else math.nan


def _optional_text(value: object, name: str, where: str) -> str | None:
    if value is not None and not isinstance(value, str):
        refuse(where, expected=f"a text in {name!r}", found=value)
    return value


def _perturbation(value: object, where: str) -> Fields | None:
    """A perturbation, which has a name and may have parameters: plain values, or plain values by names."""
    if value is None:
        return None
    fields = _object(value, where)
    text_in(fields, "name", where=where)
    for each in fields.values():
        inner = list(each.values()) if isinstance(each, dict) else each if isinstance(each, list) else [each]
        if not all(_is_plain(one) for one in inner):
            refuse(where, expected="plain parameters of a perturbation", found=each)
    return fields


def _is_plain(value: object) -> bool:
    return not isinstance(value, dict | list) and not (isinstance(value, float) and not math.isfinite(value))


def _perturbed(perturbation: Fields | None) -> str | None:
    """A perturbation in short: its name, and the parameters by which two of one name may differ.

    >>> _perturbed({"name": "misspelling", "robustness": True, "prob": 0.1})
    'misspelling, prob=0.1'
    """
    if perturbation is None:
        return None
    kinds = ("name", "robustness", "fairness")
    plain = [("computed_on", "perturbed")]
    others = [
        f"{name}={kept_as_shown(value)}" for name, value in perturbation.items()
        if name not in kinds and (name, value) not in plain
    ]  # fmt: skip
    return ", ".join([str(perturbation["name"]), *others])


def _text_of(value: object, name: str, where: str) -> str:
    """A text, or the text of an object: `input` and `output` were texts once, and are objects now."""
    return value if isinstance(value, str) else text_in({name: _inner(value, "text")}, name, where=where)


def _reference_text(reference: object, where: str) -> str:
    return _text_of(_object(reference, where).get("output"), "references.output", where)


def _is_correct(reference: object, where: str) -> bool:
    return "correct" in list_in(_object(reference, where), "tags", where=where)


def _inner(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _inner_text(fields: Fields | None, outer: str, name: str) -> str | None:
    found = _inner(_inner(fields, outer), name)
    return found if isinstance(found, str) else None


HELM = LogFormat("HELM run", _recognises, _opened, directories=_is_run)
