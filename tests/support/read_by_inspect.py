"""What Inspect takes from texts, for whoever runs this with a Python that has it: JSON Lines in, JSON Lines out."""

import json
import sys
from types import SimpleNamespace

from inspect_ai.solver._multiple_choice import parse_answers

for line in sys.stdin:
    asked = json.loads(line)
    output, choices = SimpleNamespace(completion=asked["raw"]), asked["options"]
    found = parse_answers(SimpleNamespace(output=output, choices=choices), multiple_correct=False)
    sys.stdout.write(json.dumps(found.pop() if found else None) + "\n")
