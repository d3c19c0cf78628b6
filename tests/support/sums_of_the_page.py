"""A model that knows the three sums of the worked example in docs/contracts.md, if not how to give each answer."""

from support.fault_server import Call, FaultServer, says
from support.scripted_judge import Always

ANSWERS = {"7 + 5": "12", "19 + 8": "28", "6 + 7": "It is 13."}
"""One right, one wrong, one that is not the number alone."""


async def scripted(call: Call) -> None:
    """The answer to the sum that it is asked for."""
    await says(next(answer for asked, answer in ANSWERS.items() if asked in call.asked.prompt))(call)


def sums_of_the_page() -> FaultServer:
    """The server of this model, not yet begun."""
    return FaultServer(Always(scripted))
