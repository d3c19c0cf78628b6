"""How a command ended, for programs."""

DONE = 0
WRONG = 2
"""The command or a file is wrong."""
NOT_MET = 3
"""A gate that is not met."""
ENDED_WITH_FAILURES = 4
"""Some samples failed, are pending, or could not be read."""
STORAGE = 5
"""The disk refused, or what it holds is broken."""
NOT_SEALED = 7
"""`verify` of a study that is not sealed."""
INTERRUPTED, TERMINATED = 130, 143
