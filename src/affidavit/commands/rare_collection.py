"""How often a command that reads rows by the hundred thousand looks for garbage: rarely."""

import gc


def look_for_garbage_rarely() -> None:
    """Rows are no garbage, and nothing that reads them makes cycles: looking costs a tenth of the time."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
