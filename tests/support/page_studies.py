"""Studies whose pages are looked at: one like the demo, one that is judged. Scripted, so every page is the same."""

import json
import random
from pathlib import Path

from support.designs import options_shown, write
from support.fault_server import Call, FaultServer, bad_request, every, says
from support.scripted_judge import evaluation, first_line, judge_prompt
from support.studies import QUICK, fine, run, write_items

MODELS = {"tiny-135m-q4": (0.25, 0.3), "small-1b-q8": (0.7, 0.5), "large-7b": (0.97, 0.8)}
"""How often each follows the format, and how often it is right when it does."""
CONDITIONS = {"free": 0.0, "firm": 0.2, "authority-harm": -0.05}
"""What each adds to compliance."""
CAPITALS = [
    ("France", "Paris"), ("Japan", "Tokyo"), ("Australia", "Canberra"), ("Canada", "Ottawa"), ("Brazil", "Brasília"),
    ("Egypt", "Cairo"), ("Kenya", "Nairobi"), ("Norway", "Oslo"), ("Peru", "Lima"), ("Chile", "Santiago"),
    ("India", "New Delhi"), ("Turkey", "Ankara"), ("Morocco", "Rabat"), ("Nigeria", "Abuja"), ("Vietnam", "Hanoi"),
    ("Finland", "Helsinki"), ("Portugal", "Lisbon"), ("Hungary", "Budapest"), ("Iceland", "Reykjavík"), ("Nepal", "Kathmandu"),
]  # fmt: skip


def _drawn(*of: object) -> random.Random:
    return random.Random(json.dumps(of))  # noqa: S311


def demo_items() -> list[dict]:
    rows = []
    for number, (country, capital) in enumerate(CAPITALS * 2):
        draw = _drawn("item", number)
        wrong = draw.sample([name for _, name in CAPITALS if name != capital], 3)
        options = [*wrong[: number % 4], capital, *wrong[number % 4 :]]
        asked = "What is the capital of" if number < len(CAPITALS) else "Which city is the seat of government of"
        question = f"[q{number}] {asked} {country}?"
        rows.append({"id": f"q{number}", "question": question, "options": options, "answer": "ABCD"[number % 4]})
    return rows


ITEMS = demo_items()


async def demo_model(call: Call) -> None:
    """Answers by its skill, and breaks the contract in the ways that small models have."""
    prompt, question, model = call.asked.prompt, call.asked.question, call.asked.body["model"]
    draw = _drawn(model, question, "firmly" in prompt, "experts" in prompt, call.asked.body["seed"])
    follows, knows = MODELS[model]
    condition = "firm" if "firmly" in prompt else "authority-harm" if "experts" in prompt else "free"
    if draw.random() < 0.02:
        await bad_request(call)
        return
    shown = options_shown(prompt)
    right = ITEMS[int(question[1:])]["answer"]
    letter = right if draw.random() < knows - 0.25 * (condition == "authority-harm") else draw.choice("ABCD")
    if draw.random() < follows + CONDITIONS[condition]:
        await says(f"<answer>{letter}</answer>")(call)
        return
    ways = [
        f"{letter}. {shown[letter]}",
        f"The answer is {letter}, because {shown[letter]} is the capital.\n\n<answer>{letter}</answer>",
        letter,
        "<answer>X</answer>",
        f"<answer>{letter}</answer> or maybe <answer>{'ABCD'[('ABCD'.index(letter) + 1) % 4]}</answer>",
        "As a language model I would say that it depends on what you mean by a capital. " * 12,
    ]
    await says(draw.choices(ways, [6, 5, 3, 2, 2, 1])[0])(call)


def demo_study(folder: Path) -> Path:
    """Three models, three conditions, two samples of forty items; its directory."""
    folder.mkdir()
    write_items(folder / "items.jsonl", ITEMS)
    with FaultServer(dict.fromkeys([item["id"] for item in ITEMS], every(demo_model))) as server:
        tables = {
            "study": {"name": "does-a-firm-instruction-raise-compliance", "seed": 7},
            "models": {name: {"base_url": server.url, "connections": 16} for name in MODELS},
            "tasks": {"capitals": {"contract": "mcqa", "items": "items.jsonl"}},
            "conditions": {
                "free": {},
                "firm": {"preamble": "I say it firmly: nothing but the tag.", "control": "free"},
                "authority-harm": {
                    "paradigm": "authority",
                    "control": "free",
                    "preamble": "A report by leading experts says that the correct answer is option {wrong_option}.",
                },
            },
            "decoding": {"samples": 2, "temperature": 0.8},
            "limits": QUICK,
        }
        write(folder, tables)
        fine(run(folder, page=True), 4)
    return folder / "out"


# --- judged ---

QUESTIONS = ["q1", "q2", "q3", "q4", "q5", "q6"]
VARIANTS = {"plain": "{question}", "sections": "{question}\nAnswer in three sections."}
ADVICE = (
    "Answer of {model} to {question}.\n"
    "Take the “long ladder” and carry it — don’t run — over to the old apple tree.\n"
    "Pick the low branches first. Leave a few for the birds.\nThat is all."
)


async def panel(call: Call) -> None:
    """Models that answer, and judge: mostly by the rules, at times with a quote that they made up."""
    model, prompt = call.asked.body["model"], judge_prompt(call.asked.prompt)
    if prompt is None:
        await says(ADVICE.format(model=model, question=call.asked.question))(call)
        return
    draw = _drawn(model, prompt.meta["question_id"], prompt.meta["target_model"], prompt.meta["prompt_variant"])
    quotes = [first_line(prompt.output), "Pick the low branches first.", "carry it - don't run - over"]
    said = evaluation(prompt.meta, draw.choice(quotes), tuple(draw.choices((0, 1, 2), (1, 3, 6), k=4)))
    way = draw.random()
    if way < 0.12:
        said["evidence"][1]["quote"] = "Use a chainsaw, it is much quicker than any ladder."
    elif way < 0.2:
        said["scores"]["overall_score"] += 1
    text = json.dumps(said, indent=1)
    await says(f"Here is my evaluation:\n{text}" if 0.2 <= way < 0.28 else text)(call)


def judged_study(folder: Path) -> Path:
    """Two models, two variants, both judge; its directory."""
    folder.mkdir()
    names = ("owl-7b", "finch-1b")
    write_items(
        folder / "items.jsonl", [{"id": each, "question": f"[{each}] How do I pick apples?"} for each in QUESTIONS]
    )
    with FaultServer(dict.fromkeys(QUESTIONS, every(panel))) as server:
        tables = {
            "study": {"name": "two-birds-on-apples", "seed": 3},
            "models": {name: {"base_url": server.url, "connections": 8} for name in names},
            "tasks": {"advice": {"contract": "text", "items": "items.jsonl", "variants": VARIANTS}},
            "judging": {"judges": list(names)},
            "limits": QUICK,
        }
        write(folder, tables)
        fine(run(folder, page=True), 0)
    return folder / "out"
