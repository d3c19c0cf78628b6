"""The terminal: arguments, one call, a printed result and an exit code."""
