"""Programs in replies, however they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import StepRejected
from chameleon.modules.reports.program_reader import finqa_program_in, plain
from chameleon.modules.reports.program_writer import as_text


def read(text: str) -> str:
    return as_text(finqa_program_in(text))


@pytest.mark.parametrize(
    ("reply", "program"),
    [
        ("subtract(1250, 900), divide(#0, 900)", "subtract(1250, 900), divide(#0, 900)"),
        ("Program: divide(1,250, 900)", "divide(1250, 900)"),
        ("```\nadd(1, 2)\n```", "add(1, 2)"),
        ("**Program:** `Divide( $ 1,250 , 900 )`.", "divide(1250, 900)"),
        ("1. subtract(1250, 900)\n2. divide(#0, 900)", "subtract(1250, 900), divide(#0, 900)"),
        ("#0 = subtract(1250, 900)\n#1 = divide(#0, 900)", "subtract(1250, 900), divide(#0, 900)"),
        ("subtract(1250, 900) then divide(#1, 900)", "subtract(1250, 900), divide(#0, 900)"),  # from 1
        (
            "Step 1: add(1, 2); Step 2: add(#1, 3); Step 3: divide(#2, 2)",
            "add(1, 2), add(#0, 3), divide(#1, 2)",
        ),
        ("divide(subtract(1250, 900), 900)", "subtract(1250, 900), divide(#0, 900)"),
        ("add(divide(1, 2), divide(3, 4))", "divide(1, 2), divide(3, 4), add(#0, #1)"),
        ("add(1, 2), divide(subtract(#0, 1), 4)", "add(1, 2), subtract(#0, 1), divide(#1, 4)"),
        ("We use add(1, 1) first. No, the other way.\nProgram: add(2, 2)", "add(2, 2)"),
        ("add(1, 1) is wrong, so it is add(2, 2) EOF", "add(2, 2)"),
        ("minus(5, 3), times(#0, const_100)", "subtract(5, 3), multiply(#0, const_100)"),
        ("table_average(net sales, none)", "table_average(net sales, none)"),
        ("table_max(visa inc. ( 1 ), none)", "table_max(visa inc. ( 1 ), none)"),
        ('table_sum("dues , net")', "table_sum(dues , net, none)"),
        ("table_max(max (net), none)", "table_max(max (net), none)"),
        ("subtract(5.1% ( 5.1 % ), (32))", "subtract(5.1%, -32)"),
        ("greater(5 percent, −3)", "greater(5%, -3)"),
        ("subtract(1250,900), divide(#0,900)", "subtract(1250, 900), divide(#0, 900)"),
        ("divide(350,125)", "divide(350, 125)"),  # one argument would be too few
        ("divide(350,125, 2)", "divide(350125, 2)"),
        ("add(1,250,3)", "add(1250, 3)"),
        ("multiply(const_100,900), exp(1.5,250)", "multiply(const_100, 900), exp(1.5, 250)"),
        ("add(subtract(5,3),200)", "subtract(5, 3), add(#0, 200)"),
        ("table_average(dues, 2010, none)", "table_average(dues, 2010, none)"),
        ("CONST_100 is not read, but multiply(2, CONST_100) is", "multiply(2, const_100)"),
    ],
)
def test_replies(reply: str, program: str) -> None:
    assert read(reply) == program


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ("", "holds no program"),
        ("The answer is 38.9%.", "holds no program"),
        ("__import__('os').system('true')", "holds no program"),
        ("add(1, 2", "is not closed"),
        ("add(1)", "takes two arguments, and is given 1"),
        ("add(1, 2, 3)", "takes two arguments, and is given 3"),
        ("add(1, )", "takes two arguments"),
        ("subtract(1,250,900)", "not clear where the arguments"),
        ("add(#3, 1)", "#3 is no earlier step"),
        ("add(1, 2), add(#1, #2), add(#0, 1)", "is no earlier step"),
        ("table_sum(, none), add(table_sum(a, none), 1" + ")" * 0, "is not closed"),
        ("add(" * 40 + "1" + ", 2)" * 40, "nested too deeply"),
        (", ".join(["add(1, 2)"] * 70), "more than 64 steps"),
    ],
)
def test_replies_that_will_not_do(reply: str, told: str) -> None:
    with pytest.raises(StepRejected) as caught:
        read(reply)
    assert told in caught.value.what


@given(st.text("adtble_sumx(),#0123 .%$const\n", max_size=80))
def test_any_reply_is_read_or_rejected(reply: str) -> None:
    try:
        program = read(reply)
    except StepRejected:
        return
    assert read(program) == program or "table_" in program


@given(st.text(max_size=30))
def test_any_argument_is_plain_once(text: str) -> None:
    assert plain(plain(text)) == plain(text) or "(" in text
