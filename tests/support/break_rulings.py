"""Break each ruling in a scratch copy of the package; the tests must notice every time (`make rulings`).

Each break is one small, plausible slip: a boundary moved by one, an order swapped, a check left out. The
copy stands before the real package on the path, so the tests run against it as they are.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
QUICK = (
    "tests/contracts/test_tables.py",
    "tests/contracts/test_rubric.py",
    "tests/contracts/test_contract_shape.py",
)
THOROUGH = (
    "tests/contracts/test_laws.py",
    "tests/contracts/test_bounded_findings.py",
    "tests/contracts/test_json_object.py",
    "tests/contracts/test_json_schema.py",
    "tests/contracts/test_json_grammar.py",
    "tests/contracts/test_exact_json.py",
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


@dataclass(frozen=True)
class Break:
    """One slip: in `file`, the text `right` becomes `wrong`."""

    ruling: str
    file: str
    right: str
    wrong: str


MCQA, GAME, JUDGE = "contracts/mcqa.py", "contracts/game24.py", "contracts/judge.py"
STRICT, QUOTES, EVALUATION = "contracts/strict_json.py", "contracts/quotes.py", "contracts/evaluation_reader.py"
FINDINGS = "contracts/bounded_findings.py"
OBJECT, OBJECT_KEY, SCHEMA = "contracts/json_object.py", "contracts/json_key.py", "contracts/json_schema.py"
VIOLATIONS, EXACT, GRAMMAR = (
    "contracts/schema_violations.py",
    "contracts/exact_json.py",
    "contracts/json_grammar.py",
)
ROWS, NAMES = "reading/rows.py", "archive/path_names.py"
REQUEST, HTTP = "models/request_body.py", "models/http_connection.py"

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
    Break("C9", "models/openai_compatible.py", "        content = request.encoded\n", "        content = request.encoded and request.encoded.replace(b'{', b'{\"n\":1,', 1)\n"),
    Break("C9", "study/plan.py", "(self.start, sent, self.end[0]", "(self.start, b\"\", self.end[0]"),
    Break("C9", "running/run_log.py", '{model.name: requests[model.name].get("tools") for model in models}', "None"),
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
    Break("C9", "running/attempts.py", "(response_id := attempt.answer.response_id) is not None", "(response_id := None) is not None"),
    Break("M1", MCQA, "        trimmed = raw.strip()\n        match", '        trimmed = raw.strip(" \\t\\r\\n\\v\\f")\n        match'),
    Break("M1", MCQA, "        trimmed = raw.strip()\n        match", '        trimmed = raw.strip().strip("\\ufeff\\u200b")\n        match'),
    Break("M2", MCQA, "        match = self._forms.block.fullmatch(trimmed)", "        match = self._forms.block.match(trimmed)"),
    Break("M2", MCQA, "            block=re.compile(block),", "            block=re.compile(block, re.IGNORECASE),"),
    Break("M3", MCQA, '"A-[B-W]"', '"A-[B-Z]"'),
    Break("M3", "contracts/parts.py", "not (isinstance(answer, str) and self.can_answer(answer))", "not isinstance(answer, str)"),
    Break("M4.1", MCQA, "        if not trimmed:\n            return Deviation.EMPTY\n", "        if not raw:\n            return Deviation.EMPTY\n"),
    Break("M4.2", MCQA, "raw.rpartition(THINK_END)[2]", "raw.partition(THINK_END)[2] or raw"),
    Break("M4.3", MCQA, "        if len(letters) == 1:\n            return Deviation.TEXT_AROUND", "        if letters:\n            return Deviation.TEXT_AROUND"),
    Break("M4.4", MCQA, "Deviation.CONFLICTING_ANSWERS if len(set(letters)) > 1 else", "Deviation.CONFLICTING_ANSWERS if len(letters) > 1 else"),
    Break("M4.5", MCQA, "Deviation.CONFLICTING_ANSWERS if len(set(letters)) > 1 else", "Deviation.CONFLICTING_ANSWERS if len(set(letters)) > 2 else"),
    Break("M4.6", MCQA, 'if f"{OPENING}X{CLOSING}" in raw:', 'if f"{OPENING}X" in raw:'),
    Break("M4.7", MCQA, 'f"[{chr(ord(last) + 1)}-Z]"', 'f"[{chr(ord(last) + 1)}-Za-z]"'),
    Break("M4.8", MCQA, r"(?:\s++{either}\s*+|{either}\s++)", r"(?:\s++{letter}\s*+|{letter}\s++)"),
    Break("M4.9", MCQA, "re.IGNORECASE | re.ASCII", "re.IGNORECASE"),
    Break("M4.10", MCQA, "        if opening >= 0 and raw.find(CLOSING, opening) >= 0:", "        if opening >= 0 and raw.find(CLOSING) >= 0:"),
    Break("M4.11", MCQA, "    if OPENING in raw:\n        return Deviation.UNCLOSED_TAG", "    if raw.endswith(OPENING):\n        return Deviation.UNCLOSED_TAG"),
    Break("M4.12", MCQA, "return Deviation.UNOPENED_TAG if CLOSING in raw else None", "return None"),
    Break("M4.13", MCQA, r"(\*++){letter}\1", r"\*++{letter}\*++"),
    Break("M4.14", MCQA, 'f"{letter}[.):]"', 'f"{letter}[.)]"'),
    Break("M5", MCQA, "            last = match\n        return AnswerReading.nothing() if last", "            last = last or match\n        return AnswerReading.nothing() if last"),
    Break("M5", MCQA, "        after = _after_think(raw)\n        letter", '        after = raw.rpartition("<think>")[2]\n        letter'),
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
    Break("O1", OBJECT, '        text = raw.strip()\n        answer', '        text = raw.strip(" \\t\\r\\n")\n        answer'),
    Break("O2", SCHEMA, 'validate_formats=False', 'validate_formats=True'),
    Break("O2", SCHEMA, 'offline=True, **given', '**given'),
    Break("O2", SCHEMA, 'pattern_options=linear, ', ''),
    Break("O2", SCHEMA, 'LARGEST, DEEPEST = 256 * 1024, 64', 'LARGEST, DEEPEST = 256 * 1024, 63'),
    Break("O3", OBJECT, '    if _is_fenced(text):', '    if False and _is_fenced(text):'),
    Break("O3", OBJECT, '\\n[ \\t]*+```"', '\\n```"'),
    Break("O3", OBJECT, 'not isinstance(decode(inner[1].strip()), Refused)', 'True'),
    Break("O3", OBJECT, '    found.sort(key=lambda each: ORDER[each.code])  #', '    found = found  #'),
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
    Break("O6", OBJECT, 'if any(each.steps[: len(steps)] == steps for steps in chosen.values()):', 'if False:'),
    Break("O6", OBJECT, 'dict(key), branches=False)', 'dict(key), branches=True)'),
    Break("O6", OBJECT_KEY, 'tuple(name.split(".")) for name', '(name,) for name'),
    Break("O7", EXACT, '_kind(one) is _kind(other) and one == other', 'one == other'),
    Break("O7", EXACT, 'Decimal if type(value) in (int, Decimal, float) else type(value)', 'type(value)'),
    Break("O7", OBJECT_KEY, '    return bool(found) and bool(expected) and equal_json(found[-1], expected[-1])', '    return equal_json(found[-1] if found else None, expected[-1])'),
    Break("O8", OBJECT, 'no Markdown, no explanation.', 'no Markdown.'),
    Break("O9", GRAMMAR, '        if depth >= DEEPEST:', '        if depth > DEEPEST:'),
    Break("O9", GRAMMAR, 'self._heights[name] = self._deepest - self._depth', 'self._heights[name] = 0'),
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
    Break("J13", "contracts/evaluation.py", "JudgingMethod.SELF if judge_model == target_model", "JudgingMethod.SELF if judge_model.lower() == target_model.lower()"),
)  # fmt: skip


def misplaced() -> list[Break]:
    """Breaks whose text does not stand exactly once in its file, so that they break nothing or too much."""
    return [each for each in BREAKS if (ROOT / "src" / "affidavit" / each.file).read_text().count(each.right) != 1]


def noticed(each: Break, scratch: Path) -> bool:
    """Whether a test fails when the package has this slip."""
    copy = scratch / "src"
    shutil.copytree(ROOT / "src", copy, dirs_exist_ok=True)
    file = copy / "affidavit" / each.file
    file.write_text(file.read_text().replace(each.right, each.wrong))
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-k", "not break_of_a_ruling"]
    for tests in (["-m", "not slow", *QUICK], ["-m", "not slow", *THOROUGH], ["-m", "slow", *THOROUGH]):
        done = subprocess.run([*command, *tests], cwd=ROOT, env=environment, capture_output=True, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"the tests could not be run: {done.stdout.decode()[-2000:]}")
        if done.returncode == 1:
            return True
    return False


def main() -> int:
    """Try every break; say which ones no test notices."""
    if misplaced():
        sys.stderr.write(f"these breaks do not stand once in their file: {misplaced()}\n")
        return 1
    missed = []
    with tempfile.TemporaryDirectory() as scratch:
        if noticed(Break("none", "contracts/contract.py", "", ""), Path(scratch)):
            sys.stderr.write("the tests fail on the package as it is\n")
            return 1
        for number, each in enumerate(BREAKS, 1):
            seen = noticed(each, Path(scratch))
            missed += [] if seen else [each]
            told = "noticed" if seen else "MISSED"
            sys.stdout.write(
                f"{number:3}/{len(BREAKS)} {each.ruling:6} {told}  {each.file}: {each.wrong[:60]!r}\n"
            )
            sys.stdout.flush()
    sys.stdout.write(f"{len(BREAKS) - len(missed)} noticed, {len(missed)} missed\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
