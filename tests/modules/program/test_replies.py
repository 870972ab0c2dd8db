"""What models write around programs and answers, from recorded replies of small and large ones."""

from __future__ import annotations

import pytest

from chameleon import StepRejected
from chameleon.modules.program.programs import ProgramGenerator, naming_choices, program_in
from chameleon.modules.table_ops.table_query import items_in, sentence_in
from chameleon.text import unwrapped


@pytest.mark.parametrize(
    ("reply", "program"),
    [
        ('```python title="a.py"\nans = 1\n```', "ans = 1"),
        ("```python\r\nans = 1\r\n```", "ans = 1"),
        ("~~~py\nans = 1\n~~~", "ans = 1"),
        ("```python\nans = 35\n```\nOutput:\n```\n35\n```", "ans = 35"),
        ("Do not write\n```\nans = 0/0\n```\nbut\n```\nans = 2\n```", "ans = 2"),
        ("x = [1]\nans = x[0]\n```\nProgram:", "x = [1]\nans = x[0]"),
        ("Here it is:\n```\nans = 3", "ans = 3"),
    ],
)
def test_the_program_is_what_sets_ans(reply: str, program: str) -> None:
    assert program_in(reply) == program


def test_a_pair_that_is_meant_as_a_number_is_refused() -> None:
    generator = ProgramGenerator()
    sums = ("ans = 4,200 + 2,900 + 3,100", "x = 1\rans = (4,200 + 2,900)")
    for reply in ("ans = 2,900", "ans: int = 4,200", *sums):
        with pytest.raises(StepRejected, match=r"several numbers.*Write \d{4}"):
            generator.parse(reply)
    texts = ('ans = "2,900"', 'ans = "4,200", "Lisbon"', "ans = 1, 2 # 1,000")
    for fine in (*texts, "ans = (2, 900)", "a, b = 1,200\nans = a", "ans = round(12345.6789,100), 3"):
        assert generator.parse(fine) == fine


def test_choices_without_quotes_are_texts() -> None:
    choices = ["shortage", "surplus", "Lara", "table", "math"]
    assert naming_choices("ans = surplus", choices) == "ans = 'surplus'"
    assert naming_choices("lara.", choices) == "ans = 'Lara'"
    given = "import math\nans = math.ceil(table['rows'][0][1])"
    assert naming_choices(given, choices) == given
    assert naming_choices("surplus = 3\nans = surplus", choices) == "surplus = 3\nans = surplus"
    assert naming_choices('é = "é" + surplus', choices) == "é = \"é\" + 'surplus'"


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        ("The answer is: Paris - Lyon", ["Paris - Lyon"]), ("The answer is: Vol. 2. Home", ["Vol. 2. Home"]),
        ("**Answer:** North", ["North"]), ("The answer is:\nLyon.", ["Lyon"]), ("```\nNorth\n```", ["North"]),
        ('```json\n{"answer": ["North", 3]}\n```', ["North", "3"]), ("<answer>North</answer>", ["North"]),
        (r"\boxed{12}", ["12"]), ('"North"', ["North"]), ("- North\n- South", ["North", "South"]),
    ],
)  # fmt: skip
def test_an_answer_is_what_is_wrapped(reply: str, items: list[str]) -> None:
    assert items_in(reply) == items


def test_a_label_alone_is_no_answer() -> None:
    with pytest.raises(StepRejected, match="no answer"):
        items_in("The answer is:")
    assert sentence_in("**Answer:** North had 30.") == "North had 30."
    assert unwrapped('say "a", "b"') == 'say "a", "b"'
