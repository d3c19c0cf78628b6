"""Files of items as they are published."""

import csv
import io
import json


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def table(*rows, delimiter=","):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return out.getvalue().encode()


GPQA_HEADER = ["Record ID", "Question", "Correct Answer", *(f"Incorrect Answer {n}" for n in (1, 2, 3)), "Writer"]


REDUX_HEADER = ["question", "choices", "answer", "error_type", "source", "correct_answer", "potential_reason"]
