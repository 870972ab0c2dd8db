"""What each shipped prompt says to a model, to the letter.

After a change that is meant, record anew with `--update-golden` and read the diff.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from chameleon.inventory import Card
from chameleon.prompt import Prompt, slots_of
from chameleon.state import State
from chameleon.table import Table

PROMPTS = Path(__file__).resolve().parents[2] / "prompts"
GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(str(path.relative_to(PROMPTS).with_suffix("")) for path in PROMPTS.rglob("*.md"))

TABLE = Table(["Dish <br>", "Price"], [["soup & bread", "$4"], ["{{ pie }}", "$9"]], caption="Menu $1")
OVER_TABLES = {
    "free": {"question": "How much is it all {together}?", "table": TABLE, "unit": "$"},
    "choice": {"question": "Which is cheaper?", "table": TABLE, "choices": ("soup & bread", "{{ pie }}")},
}
OVER_PICTURES = {
    "text": {"question": "Why {is} it so?", "choices": ("<b> & c", "{{ d }}"), "text": "A menu costs $9."},
    "picture": {
        "question": "What is it?",
        "choices": ("a dish", "a price", "a cook"),
        "image": "menu.png",
        "metadata": {"grade": 4, "subject": "social science", "skill": "Read a menu"},
    },
}
CASES = [
    (name, kind, given)
    for name in NAMES
    for kind, given in (OVER_TABLES if name.startswith(("tabmwp/", "tables/")) else OVER_PICTURES).items()
]


@pytest.mark.parametrize(
    ("name", "kind", "given"), CASES, ids=lambda part: part if isinstance(part, str) else ""
)
def test_prompt_is_as_recorded(
    name: str, kind: str, given: dict[str, object], request: pytest.FixtureRequest
) -> None:
    state = State(input=given, cache={"knowledge": "A menu lists dishes."})
    cards = [Card("lookup", "Looks things up.", "Use it for prices."), Card("answer", "Answers.")]
    messages = Prompt.load(name).render(slots_of(state) | {"modules": cards})
    said = "".join(f"[{role}]\n{text}\n\n" for role, text in messages)
    file = GOLDEN / f"{name.replace('/', '.')}.{kind}.txt"
    if request.config.getoption("--update-golden"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(said, "utf-8")
    assert said == file.read_text("utf-8")


def test_nothing_recorded_is_left_over() -> None:
    expected = {f"{name.replace('/', '.')}.{kind}.txt" for name, kind, _ in CASES}
    assert {file.name for file in GOLDEN.iterdir()} == expected
