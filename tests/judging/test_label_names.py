"""What outputs are called on sheets: by their texts, and by nothing that names could tell."""

from msgspec.structs import replace

from affidavit.json_values import digest
from affidavit.judging.label_draws import Drawable, LabelDraw, Stratum
from affidavit.judging.label_names import is_name_on_sheet, keys_by_name, list_sha256, name_on_sheet, text_sha256

OUTPUTS = [Drawable(digest(at), "t", "m", "c") for at in range(20)]
TEXTS = {each.key: text_sha256(f"text {at}") for at, each in enumerate(OUTPUTS)}
KEYS = tuple(TEXTS)


def a_draw(texts=TEXTS) -> LabelDraw:
    stratum = Stratum((), 20, KEYS[:10])
    listed = list_sha256(OUTPUTS, texts)
    return LabelDraw("verdict", None, ("t",), (), 10, 1, 10, "2026-01-31", 20, listed, 20, (stratum,))


def test_every_drawn_output_is_found_by_its_name():
    found = keys_by_name([a_draw()], TEXTS)
    assert tuple(found.values()) == KEYS[:10]
    assert all(map(is_name_on_sheet, found))
    assert not any(map(is_name_on_sheet, KEYS))


def test_another_text_is_another_name_and_so_is_one_text_elsewhere_in_the_list():
    """Who knows a text and guesses its key still lacks the others."""
    name = name_on_sheet(a_draw(), KEYS[0], TEXTS[KEYS[0]])
    for changed in (KEYS[0], KEYS[19]):
        texts = {**TEXTS, changed: text_sha256("else")}
        assert name_on_sheet(a_draw(texts), KEYS[0], texts[KEYS[0]]) != name


def test_a_larger_draw_calls_outputs_by_the_same_names_and_another_question_by_others():
    larger = replace(a_draw(), n=12, strata=(Stratum((), 20, KEYS[:12]),))
    assert keys_by_name([a_draw()], TEXTS).items() <= keys_by_name([larger], TEXTS).items()
    assert keys_by_name([replace(larger, about="correct")], TEXTS).keys().isdisjoint(keys_by_name([larger], TEXTS))


def test_the_order_of_a_list_decides_nothing():
    assert list_sha256(OUTPUTS[::-1], TEXTS) == list_sha256(OUTPUTS, TEXTS)
