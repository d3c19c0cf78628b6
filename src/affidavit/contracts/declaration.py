"""What of a user's contract is data and is needed without its code: tables, marks, which field says what failed.

A study freezes it, so that reports and pages never have to run code that came with a directory.
"""

from typing import Any

from affidavit.contracts.contract import AnyContract
from affidavit.contracts.count_table import CountTable
from affidavit.contracts.parts import Parts, are_mark_fields, parts_of
from affidavit.json_values import Fields


def declaration_of(contract: AnyContract) -> Fields:
    """The declared parts of a contract as JSON values; what is as by default is left out."""
    parts, declared = parts_of(contract), dict[str, object]()
    if tables := [table.declared() for table in parts.tables if isinstance(table, CountTable)]:
        declared["tables"] = tables
    if parts.mark_fields != Parts.mark_fields:
        declared["mark_fields"] = [list(pair) for pair in parts.mark_fields]
    if parts.failing_field != Parts.failing_field:
        declared["failing_field"] = parts.failing_field
    return declared


class DeclaredParts(Parts):
    """The parts of a contract of which only the frozen declaration is at hand.

    A declaration that no contract could have made is a ValueError or a TypeError.
    """

    def __init__(self, declaration: object) -> None:
        if not isinstance(declaration, dict) or declaration.keys() - {"tables", "mark_fields", "failing_field"}:
            raise ValueError("a declaration has tables, mark_fields and failing_field, and nothing else")
        tables: Any = declaration.get("tables", [])
        marks: Any = declaration.get("mark_fields", Parts.mark_fields)
        failing: Any = declaration.get("failing_field", Parts.failing_field)
        if not isinstance(tables, list) or not are_mark_fields(marks) or not isinstance(failing, str):
            raise TypeError("a declaration has CountTables, pairs of field names and a field name")
        self.tables = tuple(map(CountTable.of, tables))  # type: ignore[misc]
        self.mark_fields = tuple((first, last) for first, last in marks)  # type: ignore[misc]
        self.failing_field = failing  # type: ignore[misc]
