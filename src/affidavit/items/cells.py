"""A list in the cell of a table, as JSON or Python writes it; what could be read in two ways stays a text."""

import ast
import json
import re

# A Python text as `repr` writes it. Two of them side by side, as numpy prints lists, would be one to Python.
_ESCAPE = r"\\(?:[\\'\"nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U00(?:0[0-9a-f]|10)[0-9a-f]{4})"
_PLAIN = r"\\\0\n\r\ud800-\udfff"
_LITERAL = f"(?:'(?:[^'{_PLAIN}]|{_ESCAPE})*+'|\"(?:[^\"{_PLAIN}]|{_ESCAPE})*+\")"
_PYTHON_LIST = re.compile(rf"\s*+\[[ \n]*+{_LITERAL}(?:[ \n]*+,[ \n]*+{_LITERAL})*+[ \n]*+\]\s*+")


def list_in_cell(text: str) -> object:
    """What the cell says if it is JSON, or a Python list of texts; else the text itself.

    >>> list_in_cell('["a", "b"]'), list_in_cell("['a', 'b']"), list_in_cell("['a' 'b']")
    (['a', 'b'], ['a', 'b'], "['a' 'b']")
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return ast.literal_eval(text.strip()) if _PYTHON_LIST.fullmatch(text) else text
