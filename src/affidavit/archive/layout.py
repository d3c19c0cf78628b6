"""What a study's directory holds, by name.

    study.json               the plan as it was frozen, or a description of the outputs that came from elsewhere
    items.jsonl              the items as used, one checked line each
    revisions/000002.json …  what was added to the plan since, a file for each growth (see `revisions`)
    judging.json             the terms of a judging, once there is one
    labels.json              what was drawn for people to label, once something was
    records/000001.jsonl     the journal (see `journal`)
    attempts.jsonl           when each attempt was made, and what came of it
    run_log.jsonl            for each run: models, settings, time
    used_prompt_manifest.md  every prompt that was used
    valid_evaluations/ …     the judgements, a file each: a projection of the journal
    seal.json                the digests of all of it
    report.html              the page

`lock` names whoever writes now. Whatever else lies there is nobody's, and is never opened.
"""

STUDY, ITEMS, JUDGING, SEAL = "study.json", "items.jsonl", "judging.json", "seal.json"
ATTEMPTS, RUN_LOG, MANIFEST, PAGE = "attempts.jsonl", "run_log.jsonl", "used_prompt_manifest.md", "report.html"
LOCK = "lock"
LABELS = "labels.json"
RECORDS, VALID, INVALID = "records", "valid_evaluations", "invalid_evaluations"
REVISIONS = "revisions"

FILES = (STUDY, ITEMS, JUDGING, LABELS, SEAL, ATTEMPTS, RUN_LOG, MANIFEST, PAGE, LOCK)
FOLDERS = (RECORDS, VALID, INVALID, REVISIONS)
GROWING = (ATTEMPTS, RUN_LOG)
"""Files that every run appends to: what was sealed of them is their beginning."""
