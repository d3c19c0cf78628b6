"""What Inspect takes from texts, for whoever runs this with a Python that has it: JSON Lines in, JSON Lines out."""

import json
import sys
from types import SimpleNamespace


def main() -> None:
    from inspect_ai.solver._multiple_choice import parse_answers  # noqa: PLC0415 - not in the environment of tests

    for line in sys.stdin:
        asked = json.loads(line)
        output, choices = SimpleNamespace(completion=asked["raw"]), asked["options"]
        found = parse_answers(SimpleNamespace(output=output, choices=choices), multiple_correct=False)
        sys.stdout.write(json.dumps(found.pop() if found else None) + "\n")


if __name__ == "__main__":
    main()
