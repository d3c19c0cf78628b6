"""Where outputs stand: by target, judged or not."""

from affidavit.results.output_places import OutputPlaces
from support.labelled_by_hand import key_of, labelled
from support.record_sets import choice, record_set


def test_outputs_of_a_target_are_found_whether_they_were_judged_or_not():
    judging = labelled(lambda *_: True, lambda *_: True, valid=lambda _target, at: at > 5)
    found = judging.places.of_targets(judging.figures, ("target", "variant"))
    assert {names: len(keys) for names, keys in found.items()} == {("able", "v"): 60, ("weak", "v"): 60}
    assert key_of("able", 0) in found["able", "v"]


def test_the_records_of_a_study_say_where_its_outputs_stand():
    (place,) = OutputPlaces.in_records(record_set([choice("q1", "A")])).of.values()
    assert place.cluster == (place.task, "q1")
