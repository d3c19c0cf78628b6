"""Items through the real library `datasets`, from directories and from its cache; nothing here needs the network."""

import json
import sys
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

from affidavit.contracts.mcqa import LETTERS, MultipleChoice
from affidavit.errors import InputError, UsageError
from affidavit.items.hub import HubSource, hub_rows, hub_source
from affidavit.items.item import items_of

COMMIT, OTHER = "0123456789abcdef" * 2 + "01234567", "f" * 40
SKY, COLOURS = "Colour of the sky?", ["red", "blue", "green", "grey"]


def item(item_id, answer="B", options=COLOURS, **metadata):
    return {
        "id": item_id, "question": SKY, "options": list(options), "answer": answer, "metadata": metadata
    }  # fmt: skip


# --- what a source is called ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hf:cais/mmlu", HubSource("cais/mmlu", None, "test", None)),
        ("hf:cais/mmlu:abstract_algebra", HubSource("cais/mmlu", "abstract_algebra", "test", None)),
        ("hf:cais/mmlu:all@validation", HubSource("cais/mmlu", "all", "validation", None)),
        ("hf:cais/mmlu@dev", HubSource("cais/mmlu", None, "dev", None)),
        (f"hf:cais/mmlu#{COMMIT}", HubSource("cais/mmlu", None, "test", COMMIT)),
        (f"hf:a/b:c d-e.f@train.v_1#{COMMIT}", HubSource("a/b", "c d-e.f", "train.v_1", COMMIT)),
        ("hf:edinburgh-dawg/mmlu-redux-2.0", HubSource("edinburgh-dawg/mmlu-redux-2.0", None, "test", None)),
        ("hf:./folder", HubSource("./folder", None, "test", None)),
        ("hf:../some folder:one@train", HubSource("../some folder", "one", "train", None)),
        ("hf:/data/cais/mmlu", HubSource("/data/cais/mmlu", None, "test", None)),
        ("hf:~/mmlu", HubSource("~/mmlu", None, "test", None)),
        ("hf:.", HubSource(".", None, "test", None)),
    ],
)
def test_a_source_is_read_and_written(text, expected):
    assert hub_source(text) == expected
    assert hub_source(str(expected)) == expected
    assert (expected.directory is not None) == (expected.name[0] in "./~")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cais/mmlu", 'items: expected hf:NAME[:CONFIGURATION][@SPLIT][#COMMIT], as in hf:cais/mmlu:all@test, found "cais/mmlu"'),
        ("", 'found ""'),
        ("hf:", 'found "hf:"'),
        ("HF:cais/mmlu", 'found "HF:cais/mmlu"'),
        ("hf:cais/mmlu:", 'found "hf:cais/mmlu:"\nA split is a word'),
        ("hf:cais/mmlu@", "A split is a word"),
        ("hf:cais/mmlu: all", "A split is a word"),
        ("hf: cais/mmlu", "A split is a word"),
        ("hf:cais/mmlu:a:b", "A split is a word"),
        ("hf:cais/mmlu@test[:10]", "A split is a word"),
        ("hf:cais/mmlu@test+train", "A split is a word"),
        ("hf:cais/mmlu@test@train", "A split is a word"),
        ("hf:cais/mmlu#main", "a commit has 40 hexadecimal digits"),
        ("hf:cais/mmlu#0123456", "a commit has 40 hexadecimal digits"),
        (f"hf:cais/mmlu#{COMMIT}@test", "a commit has 40 hexadecimal digits"),
        ("hf:./C#folder", "a path has no ':', '@' or '#'"),
        ("hf:json", "hf:json: expected owner/name, as in hf:cais/mmlu, found \"json\"\nA path begins with './'"),
        ("hf:datasets/cais/mmlu", 'found "datasets/cais/mmlu"'),
        ("hf:cais/mm lu", 'found "cais/mm lu"'),
        ("hf:.hidden", 'found ".hidden"'),
        ("hf:~nobody/x", 'found "~nobody/x"'),
        (f"hf:./folder#{COMMIT}", f"expected a directory without a revision, found #{COMMIT}"),
    ],
)  # fmt: skip
def test_what_names_no_source_is_refused(text, message):
    with pytest.raises(UsageError) as caught:
        hub_source(text)
    assert message in str(caught.value)


# --- without the library ---


def test_without_the_library_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(UsageError) as caught:
        next(hub_rows(hub_source("hf:cais/mmlu")))
    assert caught.value.hint == "run: pip install 'affidavit[hf]'"


@pytest.mark.parametrize("version", [None, "3.6.0"])
def test_a_library_that_could_run_code_is_refused(monkeypatch, version):
    other = ModuleType("datasets")
    if version is not None:
        other.__version__ = version
    monkeypatch.setitem(sys.modules, "datasets", other)
    with pytest.raises(UsageError, match="expected the library datasets, version 4 or newer, found") as caught:
        next(hub_rows(hub_source("hf:cais/mmlu")))
    assert caught.value.hint == "run: pip install 'affidavit[hf]'"


# --- with it ---


@pytest.fixture
def library(tmp_path, monkeypatch):
    """The library `datasets`, with a cache of its own and no network."""
    for name, value in (("HF_HOME", tmp_path / "hf"), ("HF_DATASETS_CACHE", tmp_path / "cache")):
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    datasets = pytest.importorskip("datasets")
    constants = pytest.importorskip("huggingface_hub.constants")
    # Another test may have imported it with another environment.
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return datasets


@pytest.fixture
def folder(tmp_path):
    """Makes a directory of files, each a list of rows."""

    def made(name="sky", **files):
        directory = tmp_path / name
        directory.mkdir(exist_ok=True)
        for file, rows in files.items():
            write(directory, file, rows)
        return directory

    return made


def write(directory, file, rows):
    stem, _, ending = file.partition("_")
    path = directory / f"{stem}.{ending or 'jsonl'}"
    if ending == "csv":
        pl.DataFrame(rows).write_csv(path)
    elif ending == "parquet":
        pl.DataFrame(rows).write_parquet(path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def rows_in(directory, rest=""):
    return list(hub_rows(hub_source(f"hf:{directory}{rest}")))


MMLU = {"question": SKY, "subject": "air", "choices": COLOURS, "answer": 1}
PRO = {
    "question_id": 70, "question": SKY, "options": COLOURS, "answer": "B", "answer_index": 1,
    "cot_content": "", "category": "air", "src": "sky.org",
}  # fmt: skip
PRO_REST = {"answer_index": 1, "cot_content": "", "category": "air", "src": "sky.org"}
ARC = {"id": "sky_1", "question": SKY, "choices": {"text": COLOURS, "label": list("ABCD")}, "answerKey": "B"}
NUMBERED = ARC | {"id": "sky_2", "choices": {"text": COLOURS, "label": list("1234")}, "answerKey": "2"}
CSQA = {
    "id": "1af", "question": SKY, "question_concept": "sky",
    "choices": {"label": list("ABCDE"), "text": [*COLOURS, "pink"]}, "answerKey": "B",
}  # fmt: skip
AQUA = {
    "question": SKY, "options": [f"{a}){b}" for a, b in zip("ABCD", COLOURS, strict=True)],
    "rationale": "Look up.", "correct": "B",
}  # fmt: skip
GPQA = {
    "Pre-Revision Question": "Sky?", "Question": SKY, "Correct Answer": "blue", "Incorrect Answer 1": "red",
    "Incorrect Answer 2": "green", "Incorrect Answer 3": "grey", "Subdomain": "air", "Record ID": "rec1",
}  # fmt: skip
REDUX = MMLU | {"error_type": "ok", "source": "", "correct_answer": None, "potential_reason": None}
del REDUX["subject"]
REDUX_REST = {"error_type": "ok", "source": "", "correct_answer": None, "potential_reason": None}
FLAWED = REDUX | {"choices": ["blue", "blue", "", "x"], "error_type": "bad_options_clarity", "correct_answer": "0"}


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([MMLU, MMLU], [item("sky-test-1", subject="air"), item("sky-test-2", subject="air")]),
        ([PRO], [item("70", **PRO_REST)]),
        (
            [PRO, PRO | {"question_id": 71, "options": [*COLOURS, *["N/A"] * 6]}],
            [item("70", **PRO_REST), item("71", **PRO_REST, fillers_removed=6)],
        ),
        ([ARC, NUMBERED], [item("sky_1"), item("sky_2", labels=list("1234"))]),
        ([CSQA], [item("1af", options=[*COLOURS, "pink"], question_concept="sky")]),
        ([CSQA | {"answerKey": ""}], [item("1af", None, [*COLOURS, "pink"], question_concept="sky")]),
        ([AQUA], [item("sky-test-1", rationale="Look up.")]),
        (
            [REDUX, FLAWED],
            [
                item("sky-test-1", **REDUX_REST),
                item(
                    "sky-test-2", options=FLAWED["choices"],
                    **REDUX_REST | {"error_type": "bad_options_clarity", "correct_answer": "0"},
                    flawed=True, duplicate_options=[["A", "B"]],
                ),
            ],
        ),
    ],
    ids=["mmlu", "mmlu-pro", "mmlu-pro-filled", "arc", "commonsense_qa", "no-answers", "aqua_rat", "mmlu-redux"],
)  # fmt: skip
def test_what_the_hub_publishes_becomes_our_rows(library, folder, ending, rows, expected):
    directory = folder(**{f"test_{ending}": rows})
    found = rows_in(directory)
    assert [where for where, _ in found] == [f"hf:{directory}@test:row {n}" for n in range(1, len(rows) + 1)]
    assert [row for _, row in found] == expected
    options = len(expected[0]["options"])
    assert len(list(items_of(found, MultipleChoice(f"A-{LETTERS[options - 1]}")))) == len(rows)


@pytest.mark.slow
def test_gpqa_is_a_table_and_has_one_split(library, folder):
    directory = folder("gpqa", gpqadiamond_csv=[GPQA])
    with pytest.raises(UsageError, match='expected one of its splits: train, found "test"'):
        rows_in(directory)
    ((where, row),) = rows_in(directory, "@train")
    assert (where, row["id"]) == (f"hf:{directory}@train:row 1", "rec1")
    assert sorted(row["options"]) == sorted(COLOURS)
    assert row["options"][LETTERS.index(row["answer"])] == "blue"
    assert row["metadata"]["Pre-Revision Question"] == "Sky?"


@pytest.mark.slow
def test_types_that_a_data_set_declares_are_read(library, folder):
    """As the Hub stores them: labels are numbers with names, and a list of pairs is a pair of lists."""
    features = library.Features(
        {
            "question": library.Value("string"),
            "choices": library.Sequence({"label": library.Value("string"), "text": library.Value("string")}),
            "answerKey": library.Value("string"),
        }
    )
    directory = folder("arc")
    rows = {"question": [SKY], "choices": [ARC["choices"]], "answerKey": ["B"]}
    library.Dataset.from_dict(rows, features=features).to_parquet(directory / "test.parquet")
    assert [row for _, row in rows_in(directory)] == [item("arc-test-1")]
    directory = folder("mmlu")
    features = library.Features(
        {
            "question": library.Value("string"),
            "choices": library.Sequence(library.Value("string")),
            "answer": library.ClassLabel(names=list("ABCD")),
        }
    )
    rows = {"question": [SKY], "choices": [COLOURS], "answer": [1]}
    library.Dataset.from_dict(rows, features=features).to_parquet(directory / "test.parquet")
    assert [row for _, row in rows_in(directory)] == [item("mmlu-test-1")]


@pytest.mark.slow
def test_fields_that_differ_from_row_to_row_keep_their_values(library, folder):
    own = {"question": SKY, "options": COLOURS, "answer": "B"}
    directory = folder(test=[own | {"id": "a", "metadata": {"x": 1}}, own | {"id": 2, "metadata": {"y": "z"}}])
    first, second = (row for _, row in rows_in(directory))
    assert (first["id"], second["id"]) == ("a", "2")
    assert first["metadata"]["x"] == 1
    assert second["metadata"]["y"] == "z"


PICTURES = """
dataset_info:
  features:
  - {name: question, dtype: string}
  - {name: subject, dtype: string}
  - {name: choices, sequence: string}
  - {name: answer, dtype: int64}
  - {name: picture, dtype: image}
---
"""
CARD = """---
configs:
- config_name: one
  data_files: [{split: test, path: one.jsonl}]
- config_name: two
  data_files: [{split: test, path: two.jsonl}, {split: dev, path: one.jsonl}]
---
"""


@pytest.mark.slow
def test_configurations_are_chosen_by_name(library, folder):
    directory = folder(one=[MMLU], two=[MMLU | {"answer": 2}])
    (directory / "README.md").write_text(CARD)
    assert [row for _, row in rows_in(directory, ":one")] == [item("sky-one-test-1", subject="air")]
    assert [row for _, row in rows_in(directory, ":two")] == [item("sky-two-test-1", "C", subject="air")]
    assert [row for _, row in rows_in(directory, ":two@dev")] == [item("sky-two-dev-1", subject="air")]
    for rest, found in (("", "none"), (":three", '"three"')):
        with pytest.raises(UsageError, match=f"expected one of its configurations: one, two, found {found}"):
            rows_in(directory, rest)
    with pytest.raises(UsageError, match='expected one of its splits: test, found "all"'):
        rows_in(directory, ":one@all")
    (directory / "README.md").write_text(CARD.replace("name: two\n", "name: two\n  default: true\n"))
    assert [row["answer"] for _, row in rows_in(directory)] == ["C"]


@pytest.mark.slow
def test_a_directory_that_has_changed_is_read_again(library, folder, tmp_path):
    """The library itself takes the copy in its cache if the card alone is the same."""
    directory = folder(one=[MMLU], two=[MMLU])
    (directory / "README.md").write_text(CARD)
    assert [row["answer"] for _, row in rows_in(directory, ":one")] == ["B"]
    folder(one=[MMLU | {"answer": 3}])
    assert [row["answer"] for _, row in rows_in(directory, ":one")] == ["D"]
    assert not (tmp_path / "cache").exists()


# --- what cannot be read ---


@pytest.mark.slow
def test_code_of_a_data_set_is_never_run(library, folder, tmp_path):
    directory = folder(test=[MMLU])
    (directory / "sky.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(
        UsageError, match="expected a data set that can be read, found RuntimeError: Dataset scripts"
    ):
        rows_in(directory)
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "error", "message"),
    [
        ({}, UsageError, "expected a data set, found EmptyDatasetError"),
        ({"test.jsonl": '{"question'}, UsageError, "expected a data set that can be read, found ArrowInvalid: JSON"),
        ({"test.jsonl": ""}, UsageError, "expected a data set that can be read, found"),
        ({"test.parquet": "PAR1"}, UsageError, "expected a data set that can be read, found ArrowInvalid"),
        ({"test.csv": "a,b\n1,2\n", "train.csv": "c\n1\n"}, UsageError, "expected a data set that can be read, found"),
        ({"test.jsonl": "{}", "train.csv": "c\n1\n"}, UsageError, "found ValueError: Couldn't infer the same data file"),
        ({"state.json": "{}"}, UsageError, "expected files of items, found what save_to_disk writes"),
        ({"test.jsonl": '{"prompt": "?"}\n'}, InputError, ':row 1: expected items of a known format, found the fields ["prompt"]'),
        ({"test.csv": "question,A,B,answer\n?,x,NA,A\n"}, InputError, ":row 1: expected a text that is not blank as option B, found null"),
        ({"test.csv": "question,A,B,answer\n?,1,2,A\n"}, InputError, ":row 1: expected a text that is not blank as option A, found 1"),
        ({"test.jsonl": 2 * (json.dumps(ARC) + "\n")}, InputError, ':row 2: expected an id that no other row has, found "sky_1"'),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_one_error_with_its_place(library, folder, files, error, message):
    directory = folder()
    for name, content in files.items():
        (directory / name).write_text(content)
    with pytest.raises(error) as caught:
        rows_in(directory)
    assert str(caught.value).startswith(f"hf:{directory}@test")
    assert message in str(caught.value)


@pytest.mark.slow
def test_pictures_are_refused(library, folder):
    directory = folder(test_parquet=[MMLU | {"picture": {"bytes": b"PNG", "path": "a.png"}}])
    card = "---\nconfigs: [{config_name: default, data_files: [{split: test, path: test.parquet}]}]\n" + PICTURES
    (directory / "README.md").write_text(card)
    with pytest.raises(
        InputError, match="expected texts, numbers and lists of them, found a field of the type Image"
    ):
        rows_in(directory)


@pytest.mark.slow
def test_a_path_must_be_a_directory(library, folder, tmp_path):
    with pytest.raises(UsageError, match="expected a directory, found nothing there"):
        rows_in(tmp_path / "nowhere")
    with pytest.raises(UsageError, match=r"expected a directory, found a file\nGive the path of a file without"):
        rows_in(folder(test=[MMLU]) / "test.jsonl")


@pytest.mark.slow
def test_a_name_of_the_hub_is_not_taken_for_a_directory(library, folder, tmp_path, monkeypatch):
    folder("cais")
    folder("cais/mmlu", test=[MMLU])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        UsageError, match="expected one thing of that name, found a directory here as well"
    ) as caught:
        list(hub_rows(hub_source("hf:cais/mmlu")))
    assert "hf:./cais/mmlu" in caught.value.hint
    assert [row["id"] for _, row in rows_in("./cais/mmlu")] == ["mmlu-test-1"]


# --- the Hub, as far as one comes without the network ---


@pytest.mark.slow
def test_without_the_network_it_is_said_so(library):
    with pytest.raises(UsageError) as caught:
        list(hub_rows(hub_source("hf:cais/mmlu:all")))
    assert "hf:cais/mmlu:all@test: expected an answer of the Hub, found ConnectionError: Couldn't reach" in str(
        caught.value
    )
    assert "hf:./folder" in caught.value.hint


@pytest.fixture
def cached(library, folder, tmp_path):
    """The cache after `sky/blue`, configuration `light`, was downloaded at COMMIT."""
    directory = folder("blue", test=[MMLU])
    (directory / "README.md").write_text(
        "---\nconfigs: [{config_name: light, data_files: [{split: test, path: test.jsonl}]}]\n---\n"
    )
    builder = library.load_dataset_builder(str(directory), "light", cache_dir=str(tmp_path / "made"))
    builder.download_and_prepare()
    place = tmp_path / "cache" / "sky___blue" / "light" / "0.0.0" / COMMIT
    place.parent.mkdir(parents=True)
    Path(builder.cache_dir).rename(place)
    return place


@pytest.mark.slow
@pytest.mark.parametrize("text", ["hf:sky/blue:light", f"hf:sky/blue:light@test#{COMMIT}"])
def test_what_is_in_the_cache_needs_no_network(cached, text):
    assert [row for _, row in hub_rows(hub_source(text))] == [item("blue-light-test-1", subject="air")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rest", "message"),
    [
        (f":light#{OTHER}", f"expected the commit {OTHER}, found only {COMMIT} in the cache"),
        ("", 'expected the configuration by its name, found "light" in the cache'),
        (":dark", "found ValueError: Couldn't find cache for sky/blue for config 'dark' Available configs in the cache: ['light']"),
        (":light@train", 'expected one of its splits: test, found "train"'),
    ],
)  # fmt: skip
def test_the_cache_is_not_taken_for_what_was_not_asked(cached, rest, message):
    with pytest.raises(UsageError) as caught:
        list(hub_rows(hub_source(f"hf:sky/blue{rest}")))
    assert message in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("raised", "message", "hint"),
    [
        (FileNotFoundError("Dataset 'a/b' doesn't exist on the Hub"), "expected a data set, found FileNotFoundError: Dataset 'a/b' doesn't", "hf auth login"),
        (TimeoutError(), "expected a data set that can be read, found TimeoutError", ""),
        (RuntimeError("x" * 5000), "found RuntimeError: " + "x" * 400, ""),
    ],
)  # fmt: skip
def test_what_the_library_raises_is_told_in_a_line(library, monkeypatch, raised, message, hint):
    def failing(*_arguments, **_options):
        raise raised

    monkeypatch.setattr(library, "load_dataset_builder", failing)
    with pytest.raises(UsageError) as caught:
        list(hub_rows(hub_source("hf:a/b")))
    first, *_ = str(caught.value).splitlines()
    assert message in first
    assert len(first) < 500
    assert hint in caught.value.hint
