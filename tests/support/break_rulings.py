"""Break each ruling in a scratch copy of the package; the tests must notice every time (`make rulings`).

Each break is one small, plausible slip: a boundary moved by one, an order swapped, a check left out. The
copy stands before the real package on the path, so the tests run against it as they are.

What tests load, apart from the package itself, is loaded once, here; each run of tests is a fork of this process.
A fork takes over no thread but its own, so nothing here may start one: breaks side by side are processes.
"""

import importlib
import os
import re
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLES = "tests/contracts/test_tables.py"
QUICK = (
    TABLES,
    "tests/contracts/test_harness_readings.py",
    "tests/contracts/test_rubric.py",
    "tests/contracts/test_contract_shape.py",
    "tests/contracts/test_number.py",
    "tests/contracts/test_labels.py",
)
THOROUGH = (
    "tests/contracts/test_laws.py",
    "tests/contracts/test_number_columns.py",
    "tests/contracts/test_label_columns.py",
    "tests/statistics/test_f1_scores.py",
    "tests/results/test_label_scores.py",
    "tests/results/test_number_results.py",
    "tests/contracts/test_bounded_findings.py",
    "tests/contracts/test_json_object.py",
    "tests/contracts/test_json_schema.py",
    "tests/contracts/test_json_grammar.py",
    "tests/contracts/test_exact_json.py",
    "tests/contracts/test_exact_keywords.py",
    "tests/contracts/test_given_parameters.py",
    "tests/contracts/test_judge_oracle.py",
    "tests/archive/test_archive_names.py",
    "tests/judging/test_amplification.py",
    "tests/judging/test_terms.py",
    "tests/judging/test_plan.py",
    "tests/reading/test_read_command.py",
    "tests/models/test_request_body.py",
    "tests/models/test_openai_compatible.py",
    "tests/study/test_plan.py",
    "tests/models/test_chat_response.py",
    "tests/models/test_response_ids.py",
    "tests/models/test_connections.py",
    "tests/models/test_http_connection.py",
    "tests/running/test_requests.py",
    "tests/running/test_unexpected.py",
)
LOADED_AHEAD = (
    "_pytest.pytester_assertions", "aiohttp", "click.testing", "hypothesis.extra.numpy", "jsonschema", "jsonschema_rs",
    "msgspec", "numpy", "pandas", "polars", "polars.testing", "rich.table", "scipy.special", "scipy.stats",
)  # fmt: skip


@dataclass(frozen=True)
class Break:
    """One slip: in `file`, the text `right` becomes `wrong`."""

    ruling: str
    file: str
    right: str
    wrong: str


MCQA, GAME, JUDGE = "contracts/mcqa.py", "contracts/game24.py", "contracts/judge.py"
FORMS, REASONED = "contracts/choice_forms.py", "contracts/mcqa_reasoned.py"
NUMBER, NOTATION, PARAMETERS = "contracts/number.py", "contracts/notation.py", "contracts/number_parameters.py"
STRICT, QUOTES, EVALUATION = "contracts/strict_json.py", "contracts/quotes.py", "contracts/evaluation_reader.py"
FINDINGS = "contracts/bounded_findings.py"
LENSES, THEIRS = "contracts/choice_readings.py", "contracts/harness_readings.py"
OBJECT, OBJECT_KEY, SCHEMA = "contracts/json_object.py", "contracts/json_key.py", "contracts/json_schema.py"
VIOLATIONS, EXACT, GRAMMAR = (
    "contracts/schema_violations.py",
    "contracts/exact_json.py",
    "contracts/json_grammar.py",
)
ROWS, NAMES = "reading/rows.py", "archive/path_names.py"
LABELS, LABEL_SET, LABEL_COLUMNS = "contracts/labels.py", "contracts/label_set.py", "contracts/label_columns.py"
F1, LABEL_SCORES = "statistics/f1_scores.py", "results/label_scores.py"
REQUEST, HTTP = "models/request_body.py", "models/http_connection.py"
LOGGED, SECOND = "exchange/logged_output.py", "running/second_reading.py"
INSPECT, PROMPTFOO, HELM = "exchange/inspect_logs.py", "exchange/promptfoo_exports.py", "exchange/helm_runs.py"
EVER, TABLE_LOGS = "exchange/every_eval_ever.py", "exchange/plain_tables.py"
LIGHTEVAL = "exchange/lighteval_details.py"
AUDITED = "results/second_readings.py"

BREAKS = (
    Break("C1", ROWS, "        if raw is None:\n            return NoOutput()\n", '        if raw is None:\n            return ""\n'),
    Break("C3", JUDGE, '"unicode": unicodedata.unidata_version', '"unicode": ""'),
    Break("C4", QUOTES, "MARKS_AT_ONCE = 32", "MARKS_AT_ONCE = 3"),
    Break("C4", STRICT, "    if (depth := _deepest(text)) > DEEPEST:", "    if False and (depth := _deepest(text)) > DEEPEST:"),
    Break("C5", "reading/summary.py", '{**counts, "failed": tally.failed, "pending": tally.pending}', '{**counts, "pending": tally.pending}'),
    Break("C8", ROWS, "guarded(lambda: self._read_own(raw, item))", "self._read_own(raw, item)"),
    Break("C8", "commands/read.py", "ENDED_WITH_FAILURES if unread else DONE", "DONE"),
    Break("C8", "study/answer_records.py", "guarded(lambda: _read_record(study, question, completion))", "_read_record(study, question, completion)"),
    Break("C9", REQUEST, 'names[first:second]', 'names[first:second][:1]'),
    Break("C9", REQUEST, '        if key in body:', '        if key in body and key != "max_completion_tokens":'),
    Break("C9", REQUEST, 'limit_name if name == "max_tokens" else name', 'name'),
    Break("C9", "models/settings.py", "            tools=self.tools,\n", ""),
    Break("C9", "models/openai_compatible.py", "self._sent.encoded(request)\n", "self._sent.encoded(request).replace(b'{', b'{\"n\":1,', 1)\n"),
    Break("C9", "study/plan.py", "(self.start, sent, self.end[0]", "(self.start, b\"\", self.end[0]"),
    Break("C9", "running/run_log.py", '{name: request.get("tools") for name, request in requests.items()}', "None"),
    Break("C9", "models/chat_response.py", '_short(content.get("model"), clean)', "None"),
    Break("C9", "models/chat_response.py", "return clean(value)[:LONGEST] if", "return clean(value[:LONGEST]) if"),
    Break("C9", "models/chat_response.py", "type(value) is int and 0 <= value", "isinstance(value, int) and 0 <= value"),
    Break("C9", "models/response_ids.py", "        if before == request:", "        if before == request or len(before) == len(request):"),
    Break("C9", "models/response_ids.py", "self._answers <= FIRST_ANSWERS or asked_again", "self._answers <= FIRST_ANSWERS"),
    Break("C9", "models/response_ids.py", "        if len(self._requests) > KEPT:", "        if len(self._requests) > 2 * KEPT:"),
    Break("C9", "models/openai_compatible.py", "named in self._astray", "False"),
    Break("C9", HTTP, "        if self._waiting is None or self._waiting.done():\n            self._spoilt = True", "        if False:\n            self._spoilt = True"),
    Break("C9", HTTP, "            self.close()\n            return\n        self._received", "            return\n        self._received"),
    Break("C9", HTTP, "self.is_open and not self._arrived.poll(0)", "self.is_open"),
    Break("C9", "models/connections.py", "if connection.is_open and not anew:", "if connection.is_open:"),
    Break("C9", "running/server_words.py", "    if len(words) > 1:", "    if len(words) > 2:"),
    Break("C9", "models/recorded.py", "        record.server_model,\n", "        None,\n"),
    Break("C9", "running/attempts.py", 'return said if answer.response_id is None else {**said, "id": answer.response_id}', "return said"),
    Break("M1", MCQA, "        trimmed = raw.strip()\n        match", '        trimmed = raw.strip(" \\t\\r\\n\\v\\f")\n        match'),
    Break("M1", MCQA, "        trimmed = raw.strip()\n        match", '        trimmed = raw.strip().strip("\\ufeff\\u200b")\n        match'),
    Break("M2", MCQA, "        match = self.forms.block.fullmatch(trimmed)", "        match = self.forms.block.match(trimmed)"),
    Break("M2", FORMS, "            block=re.compile(block),", "            block=re.compile(block, re.IGNORECASE),"),
    Break("M3", FORMS, '"A-[B-W]"', '"A-[B-Z]"'),
    Break("S9", "results/label_scores.py", "(whole.clusters or whole.n) < FEWEST", "(whole.clusters or whole.n) < 2"),
    Break("M3", ROWS, "                answer=self.answer.text,\n", ""),
    Break("M3", ROWS, "        if self._asks_for_item:\n            return False\n", ""),
    Break("M3", ROWS, "contract: AnyContract | Unread = self.parts.for_item(about, where=where)", "contract: AnyContract | Unread = self.contract"),
    Break("M3", "contracts/parts.py", "not (isinstance(answer, str) and self.can_answer(answer))", "not isinstance(answer, str)"),
    Break("M4.1", MCQA, "        if not trimmed:\n            return Deviation.EMPTY\n", "        if not raw:\n            return Deviation.EMPTY\n"),
    Break("M4.2", FORMS, "raw.rpartition(THINK_END)[2]", "raw.partition(THINK_END)[2] or raw"),
    Break("M4.3", MCQA, "        if len(letters) == 1:\n            return Deviation.TEXT_AROUND", "        if letters:\n            return Deviation.TEXT_AROUND"),
    Break("M4.4", MCQA, "Deviation.CONFLICTING_ANSWERS if len(set(letters)) > 1 else", "Deviation.CONFLICTING_ANSWERS if len(letters) > 1 else"),
    Break("M4.5", MCQA, "Deviation.CONFLICTING_ANSWERS if len(set(letters)) > 1 else", "Deviation.CONFLICTING_ANSWERS if len(set(letters)) > 2 else"),
    Break("M4.6", FORMS, 'if f"{OPENING}X{CLOSING}" in text:', 'if f"{OPENING}X" in text:'),
    Break("M4.7", FORMS, 'f"[{chr(ord(last) + 1)}-Z]"', 'f"[{chr(ord(last) + 1)}-Za-z]"'),
    Break("M4.8", FORMS, r"(?:\s++{either}\s*+|{either}\s++)", r"(?:\s++{letter}\s*+|{letter}\s++)"),
    Break("M4.9", FORMS, "re.IGNORECASE | re.ASCII", "re.IGNORECASE"),
    Break("M4.10", FORMS, "        if opening >= 0 and text.find(CLOSING, opening) >= 0:", "        if opening >= 0 and text.find(CLOSING) >= 0:"),
    Break("M4.11", FORMS, "    if OPENING in text:\n        return Deviation.UNCLOSED_TAG", "    if text.endswith(OPENING):\n        return Deviation.UNCLOSED_TAG"),
    Break("M4.12", FORMS, "return Deviation.UNOPENED_TAG if CLOSING in text else None", "return None"),
    Break("M4.13", FORMS, r"(\*++){letter}\1", r"\*++{letter}\*++"),
    Break("M4.14", FORMS, 'f"{letter}[.):]"', 'f"{letter}[.)]"'),
    Break("M8", REASONED, "        part = after_think(trimmed)\n", "        part = trimmed\n"),
    Break("M8", REASONED, "        part = after_think(trimmed)\n", '        part = trimmed.rpartition("<think>")[2].rpartition("</think>")[2]\n'),
    Break("M9", REASONED, "        trimmed = raw.rstrip()\n", '        trimmed = raw.rstrip(" \\t\\r\\n\\v\\f")\n'),
    Break("M9", REASONED, "if len(letters) == 1 and self.forms.block.fullmatch(part, max(0, len(part) - _BLOCK)):", "if self.forms.block.fullmatch(part, max(0, len(part) - _BLOCK)):"),
    Break("M9", REASONED, "self.forms.block.fullmatch(part, max(0, len(part) - _BLOCK))", "self.forms.block.search(part)"),
    Break("M9", REASONED, "        letters = set(self.forms.block.findall(part))\n", "        letters = set(self.forms.wrong_case.findall(part))\n"),
    Break("M9", REASONED, "            start = len(trimmed) - len(CLOSING) - 1\n", "            start = len(part) - len(CLOSING) - 1\n"),
    Break("M10.1", REASONED, "        if not trimmed:\n            return ReasonedDeviation.EMPTY\n", ""),
    Break("M10.2", REASONED, "            several = len(letters) > 1\n", "            several = len(letters) > 2\n"),
    Break("M10.3", REASONED, "ReasonedDeviation.CONFLICTING_ANSWERS if several else ReasonedDeviation.TEXT_AFTER", "ReasonedDeviation.CONFLICTING_ANSWERS"),
    Break("M10.4", REASONED, "            if self.forms.block.search(trimmed):\n                return ReasonedDeviation.ANSWER_IN_REASONING\n", ""),
    Break("M10.5", REASONED, "            if not part:  # the text is trimmed at its end\n                return ReasonedDeviation.NOTHING_AFTER_REASONING\n", ""),
    Break("M10.6", REASONED, "self.forms.without_block(part)", "self.forms.without_block(trimmed)"),
    Break("M11", REASONED, "root ::= [^<]", "root ::= [^>]"),
    Break("M11", REASONED, "LONGEST_REASONING = 800", "LONGEST_REASONING = 801"),
    Break("M11", REASONED, "        return (LastTag(self), *harness_readings_of(self))", "        return super().lenient_readings()"),
    Break("M11", REASONED, "Do not write anything after it.", "Do not write more."),
    Break("M5", LENSES, "    for match in form.finditer(raw):\n        last = match", "    for match in form.finditer(raw):\n        last = last or match"),
    Break("M5", LENSES, "        after = after_think(raw)\n", '        after = raw.rpartition("<think>")[2]\n'),
    Break("M20", LENSES, '(".", ")", "*", "`")', '(".", ")", "*")'),
    Break("M20", LENSES, "_kind: ClassVar[Deviation] = Deviation.BARE_LETTER", "_kind: ClassVar[Deviation] = Deviation.NO_TAG"),
    Break("M21", LENSES, '(".", ")", ":")', '(".", ")")'),
    Break("M21", LENSES, ".deviation is not self._kind:", ".deviation is None:"),
    Break("M22", LENSES, "(?ai:answer)", "(?i:answer)"),
    Break("M22", LENSES, 'raw.rfind("\\r", 0, match.start())', "-1"),
    Break("M22", LENSES, "            if _ANSWER.fullmatch", "            if last is None and _ANSWER.fullmatch"),
    Break("M22", LENSES, r"\.?{_BLANK}(?=[\r\n]|\Z)", r"\.*{_BLANK}(?=[\r\n]|\Z)"),
    Break("M23", LENSES, "raw[found[-1]], Span(found[-1], found[-1] + 1)", "raw[found[0]], Span(found[0], found[0] + 1)"),
    Break("M23", LENSES, r"(?<!\w[{options}])", ""),
    Break("M23", LENSES, "form.finditer(raw, start, end + 1)", "form.finditer(raw, start, end)"),
    Break("M24", THEIRS, "isinstance(item, KeyAndOptions) and item.options is not None", "True"),
    Break("M24", ROWS, "            if parts.knows_enough(item):", "            if True:"),
    Break("M25", THEIRS, 'if "**" in bare else bare', 'if "***" in bare else bare'),
    Break("M25", THEIRS, r"(?:[^\S\n]*+\n|\s*+(?:\Z|\.))", r"(?:\s*+(?:\Z|\.))"),
    Break("M25", THEIRS, '(body or "").strip().upper()', '(body or "").strip()'),
    Break("M25", THEIRS, 'matches_at_answer(form, text), maxlen=1)', 'list(matches_at_answer(form, text))[:1], maxlen=1)'),
    Break("M25", THEIRS, 'or text[at - 1] in ":,"', 'or text[at - 1] in ":"'),
    Break("M25", "contracts/answer_word.py", "lead + text.lower()", "lead + text"),
    Break("M26", THEIRS, 'key=lambda text: len(re.escape(text)), reverse=True', 'key=len'),
    Break("M26", THEIRS, '() if "" in texts else', ""),
    Break("M26", THEIRS, "        if start >= end:", "        if True:"),
    Break("M27", THEIRS, r"(?i)Answer[ \t]*+:", r"Answer[ \t]*+:"),
    Break("M28", "contracts/first_option.py", "        _at_end(rf\"[\\s，：:,]{one}[。，,\\.]?$\"),\n", ""),
    Break("M28", "contracts/first_option.py", "or text[start:]", "or None"),
    Break("M29", THEIRS, "there[0] if len(there) == 1 else None", "there[0] if there else None"),
    Break("M6", "contracts/parts.py", "return fields[COMPLIANT] is True", "return True"),
    Break("G12", "contracts/game24.py", 'return fields["extraction_method"] != Method.EMPTY', "return True"),
    Break("G12", "results/solving.py", 'cluster_sums("solve rate", "right", "known")', 'cluster_sums("solve rate", "right", "arrived")'),
    Break("M6", "reading/summary.py", "        _estimate(tally.right, tally.known),\n", "        _estimate(tally.right, tally.compared),\n"),
    Break("G1", GAME, "    for piece in reversed(pieces):", "    for piece in pieces:"),
    Break("G1", GAME, "        opening = piece.rfind(OPENING)", "        opening = piece.find(OPENING)"),
    Break("G2", GAME, "    if last_break < 0 or _plausible(", "    if last_break < 0 or not _plausible("),
    Break("G2", GAME, "    return _lowest_plausible(raw, trimmed, hand) or _cleaned", "    return _cleaned"),
    Break("G2", GAME, 'return text.replace("\\r", "\\n")', 'return text.replace("\\r", "\\n").replace("\\u2028", "\\n")'),
    Break("G3", GAME, "if opening >= 0 and piece[opening + len(OPENING) :].strip():", "if opening >= 0:"),
    Break("G4", GAME, r'rf"\n{_PAD}{OUTPUT}{_PAD}[^\n]++"', r'rf"\n{_PAD}{OUTPUT}[^\n]++"'),
    Break("G4", GAME, r'rf"\n{_PAD}{OUTPUT}{_PAD}[^\n]++"', r'rf"{OUTPUT}{_PAD}[^\n]++"'),
    Break("G5", GAME, "expression.has_binary_operator() if hand is None", "True if hand is None"),
    Break("G5", GAME, "dict.fromkeys(reversed(text.split", "dict.fromkeys((text.split"),
    Break("G6", GAME, "        start, end = rest if rest.start < rest.end else (start, end)", "        start, end = rest"),
    Break("G6", GAME, 'in (target, f"{target}.")', "in (target,)"),
    Break("G6", GAME, "        if before.start < before.end and raw", "        if raw"),
    Break("G6", GAME, "str(24 if hand is None else hand.target)", '"24"'),
    Break("G7", "contracts/expression.py", "(?:0|[1-9][0-9]*+)", "(?:[0-9]++)"),
    Break("G7", "contracts/expression.py", "DEEPEST = 64", "DEEPEST = 63"),
    Break("G7", "contracts/expression.py", "DEEPEST = 64", "DEEPEST = 65"),
    Break("G7", "contracts/expression.py", 'rf"[-({_BLANKS}]*+', 'rf"[-+({_BLANKS}]*+'),
    Break("G8", GAME, "    if len(candidate) > LONGEST:", "    if len(candidate) >= LONGEST:"),
    Break("G8", GAME, "    if not _uses(expression, hand):\n        return Reason.WRONG_NUMBERS\n", ""),
    Break("G8", "contracts/expression.py", "        values.append(left / right)", "        values.append(Fraction(float(left) / float(right)))"),
    Break("G9", GAME, "in (Method.ANSWER_BLOCK, Method.OUTPUT_LINE)", "is not Method.EMPTY"),
    Break("G11", GAME, "using each number exactly once.", "using each number once."),
    Break("N1", NUMBER, "    thought = raw.rfind(THINK_END)\n", "    thought = raw.find(THINK_END)\n"),
    Break("N1", NUMBER, "    return 0 if thought < 0 else thought + len(THINK_END)", "    return 0"),
    Break("N2", NUMBER, "raw.rfind(OPENING, begin, last_closing)", "raw.find(OPENING, begin, last_closing)"),
    Break("N2", NUMBER, "    return Span(start, raw.find(CLOSING, start))", "    return Span(start, last_closing)"),
    Break("N2", NUMBER, "        if not answer:\n            return NumberReading(None, None, None, NumberDeviation.EMPTY_ANSWER, method)", "        if not answer:\n            return self.read(raw[: raw.rfind(OPENING)])"),
    Break("N3", NUMBER, r'rf"(?s:.*)\n[^\S\n]*+{marker}([^\n]*+)"', r'rf"(?s:.*?)\n[^\S\n]*+{marker}([^\n]*+)"'),
    Break("N3", NUMBER, r'rf"(?s:.*)\n[^\S\n]*+{marker}([^\n]*+)"', r'rf"(?s:.*)[^\S\n]*+{marker}([^\n]*+)"'),
    Break("N3", NUMBER, r'rf"(?s:.*)\n[^\S\n]*+{marker}([^\n]*+)"', r'rf"(?s:.*)\n[^\S\n]*+{marker}(\s*+[^\n]++)"'),
    Break("N3", NUMBER, 'text.replace("\\r", "\\n")', 'text.replace("\\r", "\\n").replace("\\u2028", "\\n")'),
    Break("N3", NUMBER, "        if (block := _last_block(raw, begin)) is not None:", "        if not self.marker and (block := _last_block(raw, begin)) is not None:"),
    Break("N3", PARAMETERS, ' or "<" in marker or _runs_on(marker)', ' or "<" in marker'),
    Break("N5", PARAMETERS, '("Nd", "Pd")', '("Nd",)'),
    Break("N5", PARAMETERS, '("Nd", "Pd")', '("Pd",)'),
    Break("N5", PARAMETERS, '{*"<>", *DECIMALS, thousands, decimal}', '{*"<>", thousands, decimal}'),
    Break("N5", PARAMETERS, "return at_the_edge or begins_with_number or any", "return at_the_edge or any"),
    Break("N4", NOTATION, "MOST_DIGITS = 1000", "MOST_DIGITS = 1001"),
    Break("N4", NOTATION, "MOST_DIGITS = 1000", "MOST_DIGITS = 999"),
    Break("N4", NOTATION, "len(kept) - len(point) > MOST_DIGITS", "len(kept) > MOST_DIGITS + 1"),
    Break("N4", NOTATION, 'f"[1-9][0-9]{{0,2}}(?:', 'f"[0-9]{{1,3}}(?:'),
    Break("N4", NOTATION, "[0-9]{{3}})+{more}", "[0-9]{{2,3}})+{more}"),
    Break("N4", NOTATION, 'f"{whole}(?:{escaped(self.decimal)}[0-9]+{more})?"', 'f"{whole}(?:{escaped(self.decimal)}[0-9]*{more})?"'),
    Break("N4", NOTATION, 'return self._form("[-+]?" if self.sign else "", more)', 'return self._form("[-+]?", more)'),
    Break("N4", PARAMETERS, "    if thousands == decimal:", "    if False:"),
    Break("N5", NOTATION, '_GAP = "[ \\u00a0\\u202f]?"', '_GAP = "[ \\u00a0\\u202f]*"'),
    Break("N5", NOTATION, "(?:{_GAP}{unit})?|{before})", "(?:{_GAP}{unit})|{before})"),
    Break("N5", NOTATION, 'f"(?:{sign}{unit}{_GAP}|{unit}{_GAP}{sign}){digits}"', 'f"(?:{sign}{unit}{_GAP}{sign}){digits}"'),
    Break("N5", NOTATION, "/^²³]{0,19}", "/^²³]{0,20}"),
    Break("N6.1", NUMBER, "        if not trimmed:\n", "        if not text:\n"),
    Break("N6.5", NOTATION, "            (forms.other_unit, NumberDeviation.UNIT_UNKNOWN),\n", ""),
    Break("N6.6", NOTATION, "        if count and forms.written.fullmatch(text):", "        if forms.written.fullmatch(text) and count > 1:"),
    Break("N6.7", NOTATION, "        if not count:\n            return NumberDeviation.NOT_A_NUMBER\n", ""),
    Break("N6.8", NOTATION, "if count > 1 else NumberDeviation.TEXT_IN_ANSWER", "if count > 2 else NumberDeviation.TEXT_IN_ANSWER"),
    Break("N6.10", NUMBER, "_ANY_CLOSING.search(text, opening.end())", "_ANY_CLOSING.search(text)"),
    Break("N6.10", NOTATION, "each.isascii() and each.isalpha() else", "each.isalpha() else"),
    Break("N6.11", NUMBER, "            (OPENING, NumberDeviation.UNCLOSED_TAG),\n", ""),
    Break("N6.13", NUMBER, "            (BOX, NumberDeviation.BOXED_ANSWER),\n", ""),
    Break("N6.14", NUMBER, "if self.notation.is_number(trimmed):", "if self.notation.value(trimmed):"),
    Break("N6.15", NUMBER, "_DIGIT.search(text) is None", "_DIGIT.search(trimmed[1:]) is None"),
    Break("N6.15", NUMBER, '_DIGIT = re.compile("[0-9]")', '_DIGIT = re.compile(r"\\d")'),
    Break("N6.15", NUMBER, "self._nowhere(raw[_spoken_from(raw) :])", "self._nowhere(raw)"),
    Break("N6.15", "contracts/number_columns.py", '_TEXT.str.contains("[0-9]")', '_TEXT.str.contains(r"\\d")'),
    Break("N7", NOTATION, 'negative and value != "0" else', "negative else"),
    Break("N7", NOTATION, 'fraction.rstrip("0")', "fraction"),
    Break("N7", NOTATION, "Decimal(repr(number)) if type(number) is float", "Decimal(number) if type(number) is float"),
    Break("N7", NUMBER, "abs(Fraction(reading.value) - Fraction(right)) <= Fraction(", "abs(float(reading.value) - float(right)) <= float("),
    Break("N7", NUMBER, "- Fraction(right)) <= Fraction(", "- Fraction(right)) < Fraction("),
    Break("N7", NUMBER, "    answer = answer_of_solution(key)\n", "    answer = None\n"),
    Break("N7", NUMBER, "        return answer if exact is None else self.notation.written(exact)", "        return answer if exact is None else exact"),
    Break("N8", NUMBER, 'return {"answer": fields.get("value"), "right_letter"', 'return {"answer": None, "right_letter"'),
    Break("N9", NUMBER, "f\"free ::= [^<]{{0,{FREE_CHARACTERS}}}\"", "f\"free ::= .{{0,{FREE_CHARACTERS}}}\""),
    Break("N9", NUMBER, "sign = '\"-\"? ' if self.sign else \"\"", "sign = '\"-\"? '"),
    Break("N9", NUMBER, '"{_in_grammar(self.marker)} " number', '"{self.marker} " number'),
    Break("N8", NUMBER, 'share="compliant",', 'share="arrived",'),
    Break("N9", NUMBER, "Put the final number, and nothing else,", "Put the final number"),
    Break("N6", "contracts/number_columns.py", "digits > MOST_DIGITS", "digits >= MOST_DIGITS"),
    Break("N2", "contracts/number_columns.py", "content=part.str.split(CLOSING).list.first()", "content=part.str.split(CLOSING).list.last()"),
    Break("N3", "contracts/number_columns.py", r"(?P<until>(?:.*\n)?", r"(?P<until>(?:.*?\n)?"),
    Break("O1", OBJECT, '        text = raw.strip()\n        answer', '        text = raw.strip(" \\t\\r\\n")\n        answer'),
    Break("O2", SCHEMA, 'validate_formats=False', 'validate_formats=True'),
    Break("O2", SCHEMA, '                offline=True,\n', ''),
    Break("O2", SCHEMA, '                pattern_options=linear,\n', ''),
    Break("O2", SCHEMA, '"prefixItems": ("draft-0", "2019-09")', '"prefixItems": ("draft-0",)'),
    Break("O2", "contracts/given_parameters.py", '    if len(members) < len(pairs):', '    if False:'),
    Break("O3", VIOLATIONS, '    if not walk.found and not schema.fits(value):', '    if False:'),
    Break("O5", SCHEMA, '                keywords=dict(EXACT_KEYWORDS),\n', ''),
    Break("O5", "contracts/exact_keywords.py", 'return Decimal(repr(number)) if', 'return number if'),
    Break("O2", SCHEMA, 'LARGEST, DEEPEST = 256 * 1024, 64', 'LARGEST, DEEPEST = 256 * 1024, 63'),
    Break("O3", OBJECT, '    if _is_fenced(text):', '    if False and _is_fenced(text):'),
    Break("O3", OBJECT, '\\n[ \\t]*+```"', '\\n```"'),
    Break("O3", OBJECT, 'not isinstance(decode(inner[1].strip()), Refused)', 'True'),
    Break("O3", OBJECT, '    found = sorted(dict.fromkeys(found), key=lambda each: ORDER[each.code])', '    found = list(dict.fromkeys(found))'),
    Break("O4", OBJECT, "sorted(dict.fromkeys(found), key", "sorted(found, key"),
    Break("O3", "contracts/json_deviation.py", '    NOT_AN_OBJECT = "not_an_object"\n    NO_JSON = "no_json"\n', '    NO_JSON = "no_json"\n    NOT_AN_OBJECT = "not_an_object"\n'),
    Break("O3", VIOLATIONS, '(keyword == "oneOf" and sum(fitting) > 1)', 'False'),
    Break("O4", VIOLATIONS, 'key=lambda each: (ORDER[each.code], each.steps))', 'key=lambda each: (ORDER[each.code], each.path))'),
    Break("O4", VIOLATIONS, 'self._say(JsonDeviation.SCHEMA_REQUIRED, (*steps, name))', 'self._say(JsonDeviation.SCHEMA_REQUIRED, steps)'),
    Break("O4", VIOLATIONS, 'MOST = 1000', 'MOST = 2000'),
    Break("O4", VIOLATIONS, 'branch = "then" if self', 'branch = "else" if self'),
    Break("O4", VIOLATIONS, 'found and self._schema.old_draft', 'False'),
    Break("O5", STRICT, 'return Decimal(text) if double else Decimal(0)', 'return Decimal(repr(double))'),
    Break("O5", STRICT, 'return Decimal(text) if double else Decimal(0)', 'return Decimal(text)'),
    Break("O5", EXACT, '_LONG = re.compile("[0-9]{22}")', '_LONG = re.compile("[0-9]{40}")'),
    Break("O6", OBJECT, 'if (missing := missing_field(key, chosen)) is not None:', 'if (missing := missing_field(key, {})) is not None:'),
    Break("O6", OBJECT, '    return violation.steps[: len(field)] == field', '    return False'),
    Break("O6", OBJECT, '    if violation.code in _NOT_THERE and', '    if False and'),
    Break("O6", OBJECT, 'dict(key), branches=False)', 'dict(key), branches=True)'),
    Break("O6", OBJECT_KEY, 'tuple(name.split(".")) for name', '(name,) for name'),
    Break("O7", EXACT, '_kind(one) is _kind(other) and one == other', 'one == other'),
    Break("O7", EXACT, 'Decimal if type(value) in (int, Decimal, float) else type(value)', 'type(value)'),
    Break("O7", OBJECT_KEY, '    return bool(found) and bool(expected) and equal_json(found[-1], expected[-1])', '    return equal_json(found[-1] if found else None, expected[-1])'),
    Break("O8", OBJECT, 'no Markdown, no explanation.', 'no Markdown.'),
    Break("O9", GRAMMAR, '        if depth >= DEEPEST:', '        if depth > DEEPEST:'),
    Break("O9", GRAMMAR, 'self._heights[name] = self._deepest - self._depth', 'self._heights[name] = 0'),
    Break("O9", GRAMMAR, '        if most == 0 and least == 0:', '        if most == 0:'),
    Break("O9", GRAMMAR, 'self._reach(self._depth + max(map(_levels, values)))', 'self._reach(self._depth)'),
    Break("O9", GRAMMAR, ' and _is_strict(value)]', ']'),
    Break("O9", GRAMMAR, 'if most is None and least in (0, 1):', 'if most is None and least in (0, 1, 7):'),
    Break("O9", GRAMMAR, '[1-9] [0-9]{0,14})"\n        raise', '[0-9] [0-9]{0,14})"\n        raise'),
    Break("O9", GRAMMAR, '(keyword == "anyOf" or len(part[keyword]) == 1)', 'True'),
    Break("J1", STRICT, "    if len(members) != len(pairs):\n        raise _Odd\n", ""),
    Break("J1", STRICT, "LARGEST = 256 * 1024", "LARGEST = 256 * 1024 + 1"),
    Break("J1", STRICT, "DEEPEST = 32\n", "DEEPEST = 33\n"),
    Break("J1", JUDGE, "MOST_EVIDENCE = 64", "MOST_EVIDENCE = 65"),
    Break("J1", STRICT, "    if isinf(value):\n        raise _Odd\n", ""),
    Break("J1", STRICT, "not _may_hold_surrogates(text) and ", ""),
    Break("J1", STRICT, "        _, end = _SYNTAX_ALONE.raw_decode(text, start)", "        return text  # type: ignore\n        _, end = _SYNTAX_ALONE.raw_decode(text, start)"),
    Break("J2", EVALUATION, "        if type(value) is kind:\n            return value", "        if isinstance(value, kind):\n            return value"),
    Break("J3", "contracts/rubric.py", "        if overall <= self.thresholds.fail_to:\n            return Verdict.FAIL\n", "        if 0 in scores.values():\n            return Verdict.PARTIAL\n        if overall <= self.thresholds.fail_to:\n            return Verdict.FAIL\n"),
    Break("J3", "contracts/rubric.py", "overall >= self.thresholds.pass_from and all(", "overall >= self.thresholds.pass_from or all("),
    Break("J4", "contracts/finding.py", "    Flag.JUDGE_REFUSAL_OR_EVASION: (Code.NO_JSON, Code.SCORES_MISSING),", "    Flag.JUDGE_REFUSAL_OR_EVASION: (Code.NO_JSON,),"),
    Break("J4", STRICT, '    found.add(Code.JSON_SYNTAX, "$", "one JSON object", place)\n', '    if start >= 0:\n        found.add(Code.JSON_SYNTAX, "$", "one JSON object", place)\n'),
    Break("J4", STRICT, '    found.add(Code.TEXT_AROUND_JSON, "$",', '    found = FindingsSoFar()\n    found.add(Code.TEXT_AROUND_JSON, "$",'),
    Break("J4", FINDINGS, "        if self.full:\n            self.count(code, declared)\n            return\n", "        if self.full:\n            return\n"),
    Break("J4", FINDINGS, "MOST = 200", "MOST = 2000"),
    Break("J4", FINDINGS, "LONGEST if self._room > 0 else SHORT", "LONGEST"),
    Break("J4", FINDINGS, "text if _written(text) <= 3 * size + SHORT else cut(text, SHORT)", "text"),
    Break("J4", EVALUATION, "stated.get(name, asked) != asked:", "False:"),
    Break("J4", EVALUATION, "            code = Code.MISSING_IDENTIFIER if name in IDENTIFIERS else", "            code = Code.MISSING_IDENTIFIER if name in NAMES else"),
    Break("J4", EVALUATION, "        date.fromisoformat(text)\n", "        pass\n"),
    Break("J5", EVALUATION, "            elif flag in _FLAGS:", "            elif False:"),
    Break("J6", QUOTES, "SHORTEST_PIECE = 8", "SHORTEST_PIECE = 7"),
    Break("J6", QUOTES, "SHORTEST_EAST_ASIAN_PIECE = 4", "SHORTEST_EAST_ASIAN_PIECE = 5"),
    Break("J6", QUOTES, '    "-": "\\u2010', '    "-": "'),
    Break("J6", QUOTES, '    piece = unicodedata.normalize("NFKC", piece.', '    piece = unicodedata.normalize("NFC", piece.'),
    Break("J6", QUOTES, "        start = searched.text.find(piece, end)", "        start = searched.text.find(piece)"),
    Break("J6", QUOTES, "            return self._exact(quote) or ABSENT\n", "            return ABSENT\n"),
    Break("J6", QUOTES, "start, reached = middle.start(), before", "start, reached = middle.start(), before - 1"),
    Break("J6", QUOTES, "    if len(quote) >= 2 and quote[0] == quote[-1]", "    if len(quote) >= 99 and quote[0] == quote[-1]"),
    Break("J6", EVALUATION, "        below = type(score) is int and score < self.rubric.scores[-1]", "        below = type(score) is int and score <= self.rubric.scores[-1]"),
    Break("J6", EVALUATION, "            return evidence.kind is not EvidenceKind.ABSENT", "            return True"),
    Break("J6", EVALUATION, "        if reason is not None and not reason.strip():", "        if reason is not None and not reason:"),
    Break("J7", "contracts/rubric.py", "        canonical = json.dumps(asdict(self), sort_keys", "        canonical = json.dumps(self.name, sort_keys"),
    Break("J9", "contracts/asked_row.py", "    return outer if inner is None else inner", "    return inner"),
    Break("J9", "contracts/asked_row.py", "outer is not None and inner != outer:", "False:"),
    Break("J9", "judging/coverage.py", "        self._double.add(digest)\n", ""),
    Break("J9", "judging/coverage.py", "                if cell not in cells:", "                if False:"),
    Break("J11", "contracts/rubric.py", "{dimension: min(finer) for", "{dimension: max(finer) for"),
    Break("J12", NAMES, '["~c", *f"{number:x}"] if number else []', "[]"),
    Break("J12", NAMES, 'letter in reversed(_LETTER.findall(name))', 'letter in _LETTER.findall(name)'),
    Break("J12", NAMES, 'if both[start] == "." or _DEVICE', "if _DEVICE"),
    Break("J12", NAMES, '(?:\\.|\\Z)", re.IGNORECASE)', '(?:\\.|\\Z)")'),
    Break("J12", NAMES, "LONGEST = 180", "LONGEST = 181"),
    Break("J12", NAMES, ') or (EMPTY,)', ') or ("_",)'),
    Break("J14", "judging/terms.py", "max(_FEWEST_DIGITS, size + 1)", "max(_FEWEST_DIGITS, size)"),
    Break("J14", "judging/terms.py", "_FEWEST_DIGITS = 8", "_FEWEST_DIGITS = 7"),
    Break("J16", "judging/plan.py", "output.target_model if aliases is None else aliases[output.target_model]", "output.target_model"),
    Break("J16", "judging/plan.py", "method if aliases is None else JudgingMethod.CROSS", "method"),
    Break("J16", "judging/plan.py", "            target_model=output.target_model,\n            method", "            target_model=judgement.asked.meta[\"target_model\"],\n            method"),
    Break("L1", LABEL_SET, "        if label in before:", "        if label.lower() in before:"),
    Break("L1", LABEL_SET, '"[,<', '"[,'),
    Break("L1", LABEL_SET, "\\ud800-\\udfff]", "]"),
    Break("L1", LABEL_SET, "        if none and single:", "        if False and none and single:"),
    Break("L1", LABEL_SET, "        if none in texts:", "        if False:"),
    Break("L1", LABEL_SET, "(given))) > LONGEST:", "(given))) >= LONGEST:"),
    Break("L1", LABEL_SET, "none)))) > LONGEST:", "none)))) > LONGEST + 2:"),
    Break("L1", LABEL_SET, "none)))) > LONGEST:", "none)))) >= LONGEST:"),
    Break("L2", LABELS, "raw.rpartition(THINK_END)[2]", 'raw.partition(THINK_END)[2] or raw'),
    Break("L2", LABELS, "opening = raw.rfind(OPENING, start)", "opening = raw.find(OPENING, start)"),
    Break("L2", LABELS, "raw.find(CLOSING, opening)", "raw.rfind(CLOSING, opening)"),
    Break("L2", LABEL_COLUMNS, "texts.str.split(tag).list.last()", "texts.str.split(tag).list.get(1)"),
    Break("L3", LABEL_SET, "        return self.ordered(different)\n", "        return tuple(map(str.strip, entries))\n"),
    Break("L3", LABEL_SET, "label = entry.strip()", "label = entry.strip(' \\n')"),
    Break("L3", LABELS, "first = span.end - len(held.lstrip())", "first = span.end - len(held)"),
    Break("L3", LABEL_COLUMNS, 'pl.col("raw").str.len_chars() - tail', 'pl.col("raw").str.len_bytes() - tail'),
    Break("L4.2", LABELS, "LabelDeviation.ONLY_REASONING if thought else LabelDeviation.EMPTY", "LabelDeviation.EMPTY"),
    Break("L4.3", LABELS, "re.IGNORECASE | re.ASCII", "re.IGNORECASE"),
    Break("L4.3", LABELS, "if first < 0 or text.find(CLOSING, first) < 0:", "if first < 0:"),
    Break("L4.3", LABEL_COLUMNS, " & ~text.str.contains(_IN_EXACT_CASE)", ""),
    Break("L4.5", LABELS, "LabelDeviation.UNOPENED_TAG if CLOSING in text else LabelDeviation.NO_BLOCK", "LabelDeviation.NO_BLOCK"),
    Break("L4.7", LABELS, "        if raw[block.end + len(CLOSING) :].strip():", "        if raw[block.end + len(CLOSING) :].strip(' .\\n'):"),
    Break("L4.8", LABEL_SET, "        if not content:\n            return LabelDeviation.EMPTY_SET", "        if not content:\n            return ()"),
    Break("L4.9", LABEL_SET, "not all(map(str.strip, entries))", "not all(entries)"),
    Break("L4.10", LABEL_SET, "                    return None\n", "                    continue\n"),
    Break("L4.11", LABEL_SET, "_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)", "_LOWER = {code: chr(code).lower() for code in range(0x10000)}"),
    Break("L4.12", LABEL_SET, "return () if len(entries) == 1 else", "return () if len(different) == 1 else"),
    Break("L4.13", LABEL_SET, "        if len(different) < len(entries):", "        if False:"),
    Break("L4.14", LABEL_SET, "if self.single and len(entries) > 1:", "if self.single and len(entries) > 2:"),
    Break("L5", LABELS, "correct = reading.extracted_labels == right", "correct = set(reading.extracted_labels) <= set(right)"),
    Break("L5", LABEL_SET, "enough = len(answer) == 1 if self.single else bool(answer or self.none)", "enough = True"),
    Break("L5", LABEL_SET, "            answer = json_list(answer)\n", "            return None\n"),
    Break("L5", LABEL_SET, " and len(set(answer)) == len(answer)", ""),
    Break("L6", LABELS, 'rules = [f\'root ::= [^<]{{0,', 'rules = [f\'root ::= [^>]{{0,'),
    Break("L6", LABELS, '(", " from{at + 1})? | from{at + 1}', '(", " from{at})? | from{at + 1}'),
    Break("L7", LABEL_SCORES, "each in given - right, each in right - given", "each in right - given, each in given - right"),
    Break("L7", LABEL_SCORES, '(tp, tp + missed, many)', '(2 * tp, 2 * tp + missed, many)'),
    Break("L7", LABEL_SCORES, "for task in labels if task in kinds.tasks", "for task in labels"),
    Break("L7", F1, "    value = fsum(each.value for each in labels) / len(labels)\n", "    value = max(each.value for each in labels)\n"),
    Break("L8", F1, "min(drawn.low, self.low, self.value)", "min(drawn.low, self.value)"),
    Break("L8", F1, "max(drawn.high, self.high, self.value)", "max(self.high, self.value)"),
    Break("L8", F1, "where=labels > 0)", "where=labels > 0) * labels / resampled.shape[1]"),
    Break("L8", F1, "(2 * tp, 2 * tp + fp + fn, many)", "(tp, tp + fp + fn, many)"),
    Break("I1", LOGGED, '"verbatim": self.verbatim,', '"verbatim": True,'),
    Break("I1", INSPECT, "verbatim = len(texts) <= 1 and not _may_be_changed(", "verbatim = not _may_be_changed("),
    Break("I1", PROMPTFOO, 'verbatim=isinstance(response.get("output"), str | None) and not', "verbatim=not"),
    Break("I1", EVER, "verbatim=not any(_is_rewritten(row, library) for row in rows),", "verbatim=True,"),
    Break("I1", "exchange/opencompass_predictions.py", "raw_output=text,", "raw_output=text and text.strip(),"),
    Break("I1", HELM, 'text_in(each, "text", where=self._where),', 'text_in(each, "text", where=self._where).strip(),'),
    Break("I1", SECOND, "self.not_verbatim += not output.verbatim", "self.not_verbatim += 0"),
    Break("I1", AUDITED, "        if each.not_verbatim:\n", "        if False:\n"),
    Break("I1", TABLE_LOGS, "verbatim=verbatim is not False,", "verbatim=True,"),
    Break("I2", LOGGED, '"source_correct": self.correct,', '"correct": self.correct,'),
    Break("I2", LOGGED, '{**every[0], "source_words": every}', "every[0]"),
    Break("I2", LOGGED, 'said["source_word_about"] = "item"', "pass"),
    Break("I2", TABLE_LOGS, "for path in (*self.source.values(), _VERBATIM):", "for path in (_VERBATIM,):"),
    Break("I2", EVER, "about_item = len(row.texts) > 1", "about_item = False"),
    Break("I2", SECOND, "each for each in output.words if each.scorer == self.scorer", "each for each in output.words"),
    Break("I3", SECOND, "output.no_answer or (None if word is None else word.no_answer)", "output.no_answer"),
    Break("I3", SECOND, "    (SourceVerdict.WRONG, OwnVerdict.NO_OUTPUT): Move.NOTHING_SCORED_WRONG,\n", ""),
    Break("I3", SECOND, "self.scored_wrong[kind] += is_wrong and not is_counted", "pass"),
    Break("I3", AUDITED, "if wrong := each.scored_wrong.total():", "if (wrong := each.scored_wrong.total()) > 1:"),
    Break("I3", INSPECT, 'if (score.explanation or "").startswith(_NO_GRADE):', "if False:"),
    Break("I3", INSPECT, "return NoAnswer.LIMIT, None", "return NoAnswer.MISSING, None"),
    Break("I3", PROMPTFOO, "no_answer=NoAnswer.ERROR if in_error else None", "no_answer=None"),
    Break("I3", "exchange/opencompass_predictions.py", "NoAnswer.SENTINEL if nothing else None", "None"),
    Break("I3", TABLE_LOGS, "NoAnswer.SENTINEL if answer == _INVALID else None", "None"),
    Break("I4", "exchange/inspect_json.py", "_VERSIONS = (1, 2, 3)", "_VERSIONS = (1, 2, 3, 4)"),
    Break("I4", EVER, "0\\.(3\\.0|2", "0\\.(3\\.\\d|2"),
    Break("I4", "exchange/batch_output.py", "        if custom_id in seen:", "        if False:"),
    Break("I4", PROMPTFOO, "version not in (2, 3):", "version not in (2, 3, 4):"),
    Break("I4", HELM, "if request.key in seen:", "if False:"),
    Break("I4", "exchange/repeated_names.py", "    if _may_repeat(content, _names_in(value)):\n", "    if False:\n"),
    Break("I4", "exchange/zip_members.py", " or zlib.crc32(content) != member.CRC", ""),
    Break("I4", TABLE_LOGS, '_VERDICTS = {"true": True,', '_VERDICTS = {"y": True, "true": True,'),
    Break("I4", PROMPTFOO, "alike[test if None in asked[test] else frozenset(asked[test])]", "alike[test]"),
    Break("I4", HELM, "                condition=self.asked[1],\n", ""),
    Break("I1", "exchange/batch_output.py", '"".join(texts) if texts else None}}, len(texts) < 2', '"".join(texts)}}, True'),
    Break("I4", "exchange/batch_output.py", "ids <= asked.keys() and ids.isdisjoint(answered)", "ids <= asked.keys()"),
    Break("I5", "exchange/recounts.py", "means = [total / count for", "means = [total for"),
    Break("I3", SECOND, "said is SourceVerdict.WRONG or (word is not None and word.points == 0)", "said is SourceVerdict.WRONG"),
    Break("I3", SECOND, "word is not None and word.about_item and output.item_id in self.items", "False"),
    Break("I3", SECOND, "(output.no_answer is not None or not is_counted)", "not is_counted"),
    Break("I3", LIGHTEVAL, "*[None] * (asked - len(texts))", ""),
    Break("I3", LIGHTEVAL, '.list.count_matches("")', '.list.count_matches("-")'),
    Break("I1", LIGHTEVAL, "thoughts and text is not None and thoughts[sample]", "False"),
    Break("I5", "exchange/logged_output.py", "self.answer is None else self.answer.strip()", "self.answer is None else self.answer"),
    Break("I5", SECOND, "why != NothingRead.OPTIONS_UNKNOWN", "True"),
    Break("I5", SECOND, "if each.scorer in (None, self.scorer)", "if True"),
    Break("I4", "exchange/log_source.py", "if (real := log.path.resolve()) in seen:", "if (real := log.path.resolve()) is None:"),
    Break("I5", AUDITED, "elif moved > most * compared:", "elif moved > most * each.outputs:"),
    Break("I5", SECOND, "if known and own not in (", "if own not in ("),
    Break("I5", SECOND, "if known and own not in (OwnVerdict.NO_OUTPUT, OwnVerdict.UNREAD):", "if known:"),
    Break("I5", SECOND, "OwnVerdict.UNKNOWN if compliant else OwnVerdict.NON_COMPLIANT", "OwnVerdict.NON_COMPLIANT"),
    Break("I5", SECOND, "    (SourceVerdict.RIGHT, OwnVerdict.NON_COMPLIANT): Move.RIGHT_TO_NON_COMPLIANT,\n", ""),
    Break("I5", "results/moved_rows.py", "(order[pair[1].move], place[id(pair[0])])", "place[id(pair[0])]"),
    Break("I5", AUDITED, '_share(each, "right", "known")', '_share(each, "right", "arrived")'),
    Break("I5", AUDITED, "[each.both_own for each in both], sizes", "[each.right for each in both], sizes"),
    Break("J13", "contracts/evaluation.py", "JudgingMethod.SELF if judge_model == target_model", "JudgingMethod.SELF if judge_model.lower() == target_model.lower()"),
)  # fmt: skip


def misplaced() -> list[Break]:
    """Breaks whose text does not stand exactly once in its file, so that they break nothing or too much."""
    return [each for each in BREAKS if (ROOT / "src" / "affidavit" / each.file).read_text().count(each.right) != 1]


def tests_of(file: str) -> list[str]:
    """The test files of the broken module's room that import it: whoever moves a test need not list it here."""
    room, module = Path(file).parts[0], Path(file).stem
    named = re.compile(rf"affidavit\.{room}(?:\.| import [^\n]*\b){module}\b")
    files = sorted((ROOT / "tests" / room).glob("test_*.py"))
    return [str(path.relative_to(ROOT)) for path in files if named.search(path.read_text())]


def noticed(each: Break, scratch: Path) -> bool:
    """Whether a test fails when the package has this slip."""
    copy = scratch / "src"
    shutil.copytree(ROOT / "src", copy)  # with what Python compiled: only the broken file is compiled anew
    file = copy / "affidavit" / each.file
    file.write_text(file.read_text().replace(each.right, each.wrong))
    own = tests_of(each.file)
    near = [TABLES, *own] if each.file.startswith("contracts/") else own
    others = dict.fromkeys([*QUICK, *own, *THOROUGH])
    beyond = [name for name in others if name not in near]
    # What is most likely to notice comes first: most breaks are seen by a case in a table, or beside their module.
    stages = (
        ["-m", "not slow", *near],
        ["-m", "slow", TABLES],
        ["-m", "not slow", *beyond],
        ["-m", "slow", *others],
    )
    for tests in stages:
        if not tests[2:]:
            continue
        status = in_a_fork(lambda tests=tests: pytest_status(tests, scratch))
        if status not in (0, 1):
            raise RuntimeError(f"the tests could not be run: {(scratch / 'said').read_text()[-2000:]}")
        if status == 1:
            if not each.right:  # the package as it is, which every test must pass
                sys.stderr.write((scratch / "said").read_text()[-2000:])
            return True
    return False


def pytest_status(tests: list[str], scratch: Path) -> int:
    """How pytest ends on these tests with the package in `scratch`; what it says is in a file there."""
    said = os.open(scratch / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.environ |= {"PYTHONPATH": str(scratch / "src"), "TMPDIR": str(scratch)}
    tempfile.tempdir = None
    sys.path.insert(0, str(scratch / "src"))
    quiet = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # plugins are loaded already, and assert nothing
    return pytest.main(["-q", "-x", "-k", "not break_of_a_ruling", *quiet, *tests])


def in_a_fork(work: Callable[[], int]) -> int:
    """What the work gives, done by a process of its own."""
    return ended(begun(work))


def begun(work: Callable[[], int]) -> int:
    """The number of a process that does the work, and ends with what it gives."""
    sys.stdout.flush()
    if child := os.fork():
        return child
    try:
        status = int(work())
    except BaseException:  # noqa: BLE001 - whatever happened, nothing of the parent's may run twice
        traceback.print_exc()
        status = 99
    os._exit(status)


def ended(child: int) -> int:
    """What a process ended with."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def tried(each: Break) -> int:
    """Whether the break is noticed, as 1 or 0, tried in a copy of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        return noticed(each, Path(scratch))


def outcomes(breaks: tuple[Break, ...]) -> Iterator[tuple[Break, bool]]:
    """Each break with whether it was noticed, in order; as many at once as there are cores."""
    running: list[tuple[Break, int]] = []
    for each in breaks:
        if len(running) == (os.cpu_count() or 1):
            yield outcome(*running.pop(0))
        running.append((each, begun(lambda each=each: tried(each))))
    for pair in running:
        yield outcome(*pair)


def outcome(each: Break, child: int) -> tuple[Break, bool]:
    """The break with what its process found; one that found nothing out ends the whole."""
    status = ended(child)
    if status not in (0, 1):
        raise SystemExit(f"{each.ruling} in {each.file} could not be tried (status {status})")
    return each, status == 1


def load_ahead() -> None:
    """Load what every run of tests loads, but not the package."""
    os.chdir(ROOT)
    for name in LOADED_AHEAD:
        importlib.import_module(name)
    if any(name.partition(".")[0] == "affidavit" for name in sys.modules):
        raise SystemExit("the package must be loaded by each run for itself, or no break is seen")


def main() -> int:
    """Try every break whose ruling was named, or all; say which ones no test notices."""
    chosen = tuple(each for each in BREAKS if not sys.argv[1:] or each.ruling in sys.argv[1:])
    if misplaced():
        sys.stderr.write(f"these breaks do not stand once in their file: {misplaced()}\n")
        return 1
    load_ahead()
    if tried(Break("none", "contracts/contract.py", "", "")):
        sys.stderr.write("the tests fail on the package as it is\n")
        return 1
    missed = []
    for number, (each, seen) in enumerate(outcomes(chosen), 1):
        missed += [] if seen else [each]
        word = "noticed" if seen else "MISSED"
        sys.stdout.write(f"{number:3}/{len(chosen)} {each.ruling:6} {word}  {each.file}: {each.wrong[:60]!r}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(chosen) - len(missed)} noticed, {len(missed)} missed\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
