"""What outputs show that their contract was not told: counted, and said in a note for each parameter.

>>> advice_notes(Counter({Advice("end with a sum", "places", "2"): 1200}))
['1,200 outputs end with a sum: --param places=2']
"""

import shlex
from collections import Counter

from affidavit.contracts.parts import Advice


def advice_notes(counted: Counter[Advice]) -> list[str]:
    """A note for each parameter that outputs call for, the most frequent first."""
    return [
        f"{count:,} outputs {advice.seen}: --param {advice.parameter}={shlex.quote(advice.value)}"
        for advice, count in counted.most_common()
    ]
