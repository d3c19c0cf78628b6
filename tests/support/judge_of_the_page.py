"""A judge that knows the four outputs of the worked example in docs/judging.md."""

import json

from support.fault_server import Call, FaultServer, says
from support.scripted_judge import Always, evaluation, first_line, judge_prompt

SCORES = {"l-1": (2, 2, 2, 2), "q-1": (1, 0, 1, 0), "l-2": (2, 2, 2, 2), "q-2": (2, 2, 1, 1)}


async def scripted(call: Call) -> None:
    """The scores of the output that it is asked about."""
    prompt = judge_prompt(call.asked.prompt)
    assert prompt is not None
    assert prompt.task
    scores = SCORES[prompt.meta["output_id"]]
    await says(json.dumps(evaluation(prompt.meta, first_line(prompt.output), scores)))(call)


def judge_of_the_page() -> FaultServer:
    """The server of this judge, not yet begun."""
    return FaultServer(Always(scripted))
