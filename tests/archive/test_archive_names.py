"""Names as paths (ruling J12): reversible, below the root, no two alike on any disk."""

import re
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.archive.path_names import decode, encode

names = st.one_of(
    st.text(st.characters()),
    st.sampled_from(["", ".", "..", "../x", "/etc/passwd", "CON", "con", "con.txt", "Aux", "nul", "com1", "lpt9.log",
                     "a/b", "a\\b", "\0", "~", "~+", "A", "a", "é", "e\u0301", "ﬁ", "x." , ".x", "a:b", "x " ]),
    st.sampled_from("aA.~é").flatmap(lambda letter: st.integers(170, 400).map(lambda size: letter * size)),
    st.integers(170, 190).map(lambda size: "x" * size + "con"),
    st.integers(170, 190).map(lambda size: "X" * size + "CON"),
    st.text(st.sampled_from("aAbBcC0~.é\u03a9\u0161/ "), max_size=12),
)  # fmt: skip


@given(names)
def test_every_name_comes_back(name):
    assert decode(encode(name)) == [name]


@pytest.mark.slow
@given(st.lists(names, min_size=1, max_size=6))
def test_a_path_of_names_comes_back(path):
    assert decode(part for name in path for part in encode(name)) == path


@given(names)
def test_every_component_is_plain_and_stays_below_the_root(name):
    for part in encode(name):
        assert re.fullmatch(r"(?:[A-Za-z0-9_.-]|~[0-9a-f]{2})*(?:~c[0-9a-f]*)?(?:~\+)?|~", part)
        assert not part.startswith(".")
        assert not part.endswith(".")
        assert len(part) <= 182
        assert not re.match(r"(?i)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)", part)
    assert ".." not in PurePosixPath(*encode(name)).parts


@given(names)
def test_a_name_comes_back_from_a_disk_that_forgets_case_too(name):
    """So no two names are one where case is ignored: this is the same path for both."""
    assert decode(part.lower() for part in encode(name)) == [name]


@pytest.mark.slow
@given(names, names)
def test_no_two_names_collide_even_where_case_is_ignored(one, other):
    if one != other:
        assert [part.lower() for part in encode(one)] != [part.lower() for part in encode(other)]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("", ("~",)),
        ("gpt-4o", ("gpt-4o",)),
        ("Q3", ("Q3~c1",)),
        ("A", ("A~c1",)),
        ("gPT-4O", ("gPT-4O~ce",)),
        ("Qwen/2.5 7B", ("Qwen~2f2.5~207B~c11",)),
        ("con", ("~63on",)),
        ("CON", ("~43ON~c7",)),
        ("Con.txt", ("~43on.txt~c1",)),
        ("console", ("console",)),
        ("coné", ("con~c3~a9",)),
        ("A.", ("A~2e~c1",)),
        ("X" + "x" * 179, ("X" + "x" * 179 + "~+", "~c1")),
        ("v1.5", ("v1.5",)),
        (".hidden", ("~2ehidden",)),
        ("é", ("~c3~a9",)),
        ("\ud800", ("~ed~a0~80",)),
        ("x" * 180, ("x" * 180,)),
        ("x" * 181, ("x" * 180 + "~+", "x")),
    ],
)
def test_how_names_look(name, parts):
    assert encode(name) == parts
