"""What reads logs, as `audit` and `import` take it: a contract by its name, or a pattern in its place."""

from affidavit.commands.typed_contract import PATTERN
from affidavit.errors import UsageError


def contract_or_pattern(command: str, contract: str | None, pattern: str | None, *, hint: str) -> str:
    """The name of the contract where it is an option: `--contract NAME`, or the one that `--pattern` is of."""
    if contract is None and pattern is None:
        raise UsageError(command, expected="either --contract NAME or --pattern REGEX", found="neither", hint=hint)
    if contract is not None and pattern is not None and contract != PATTERN:
        raise UsageError(command, expected="either --contract NAME or --pattern REGEX", found="both")
    return PATTERN if contract is None else contract
