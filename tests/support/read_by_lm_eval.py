"""What the LM evaluation harness takes from texts, for whoever runs this with a Python that has it.

JSON Lines in, JSON Lines out. The filter is set up by the task's own file, and an answer is the letter that the
task's metric would call right.
"""

import json
import sys
from pathlib import Path

TASK = "tasks/mmlu/flan_cot_zeroshot/_mmlu_flan_cot_zeroshot_template_yaml"


def main() -> None:
    # None of them is in the environment of tests.
    import lm_eval  # noqa: PLC0415
    import yaml  # noqa: PLC0415
    from lm_eval.api.metrics import exact_match_hf_evaluate as exact_match  # noqa: PLC0415
    from lm_eval.filters.extraction import MultiChoiceRegexFilter  # noqa: PLC0415

    task = yaml.safe_load((Path(lm_eval.__file__).parent / TASK).read_text())
    (flexible,) = (each for each in task["filter_list"] if each["name"] == "flexible-extract")
    settings = {name: value for name, value in flexible["filter"][0].items() if name != "function"}
    metric = {name: task["metric_list"][0][name] for name in ("ignore_case", "ignore_punctuation")}
    asked = [json.loads(line) for line in sys.stdin]
    given = [[each["raw"]] for each in asked], [{"choices": each["options"]} for each in asked]
    for each, (found,) in zip(asked, MultiChoiceRegexFilter(**settings).apply(*given), strict=True):
        letters = [chr(ord("A") + place) for place in range(len(each["options"]))]
        right = [
            letter
            for letter in letters
            if exact_match(predictions=[found], references=[f"({letter})"], **metric)["exact_match"]
        ]
        sys.stdout.write(json.dumps(right[0] if right else None) + "\n")


if __name__ == "__main__":
    main()
