"""Random programs of FinQA's language against a plain evaluation of what their steps say."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chameleon.modules.reports.finqa_program import calculated, tokens_of

ROWS = {"dues": [1250.0, 900.0, -32.0], "rate": [0.125, 0.2, 0.05], "fees": [1.5, 0.0, 3.0]}
LINES = [
    ["( in thousands )", "2011", "2010", "2009"],
    ["dues", "$ 1,250", "900", "-32 ( 32 )"],
    ["rate", "12.5% ( 12.5 % )", "20%", "5%"],
    ["fees", "1.5", "$ 0", "3"],
]


@dataclass(frozen=True)
class Number:
    """A number as a program writes it, and what it is."""

    text: str
    value: float


@dataclass(frozen=True)
class Earlier:
    """The value of an earlier step."""

    step: int


Step = tuple[str, Any, Any]

_decimals = st.decimals(-9999, 9999, places=3).map(lambda number: Number(str(number), float(number)))
_numbers = st.one_of(
    _decimals,
    st.integers(0, 99).map(lambda number: Number(f"{number}%", number / 100)),
    st.sampled_from([1, 2, 10, 100, 1000]).map(lambda number: Number(f"const_{number}", float(number))),
    st.just(Number("const_m1", -1.0)),
)
_exponents = st.integers(-3, 4).map(lambda number: Number(str(number), float(number)))


@st.composite
def programs(draw: st.DrawFn) -> list[Step]:
    """One to six steps; references are to earlier steps, and sometimes to one that is not there."""
    steps: list[Step] = []
    for place in range(draw(st.integers(1, 6))):
        earlier = st.integers(0, place if draw(st.integers(0, 9)) == 0 else max(place - 1, 0)).map(Earlier)
        arguments = st.one_of(_numbers, earlier) if place else _numbers
        kind = draw(st.sampled_from(["add", "subtract", "multiply", "divide", "exp", "greater", "table"]))
        if kind == "table":
            name = draw(st.sampled_from(["table_max", "table_min", "table_sum", "table_average"]))
            steps.append((name, draw(st.sampled_from(sorted(ROWS))), None))
        else:
            second = _exponents if kind == "exp" else arguments
            steps.append((kind, draw(arguments), draw(second)))
    return steps


def as_text(steps: list[Step]) -> str:
    def said(argument: Any) -> str:
        if isinstance(argument, Number):
            return argument.text
        return f"#{argument.step}" if isinstance(argument, Earlier) else argument or "none"

    return ", ".join(f"{operation}({said(first)}, {said(second)})" for operation, first, second in steps)


def plainly(steps: list[Step]) -> Any:
    """The value of the last step, by recursion over all of them; None where any has none."""
    values: list[Any] = []

    def of(argument: Any) -> Any:
        return argument.value if isinstance(argument, Number) else values[argument.step]

    try:
        for operation, first, second in steps:
            match operation:
                case "table_max":
                    values.append(sorted(ROWS[first])[-1])
                case "table_min":
                    values.append(sorted(ROWS[first])[0])
                case "table_sum":
                    values.append(math.fsum(ROWS[first]))
                case "table_average":
                    values.append(math.fsum(ROWS[first]) / 3)
                case "greater":
                    values.append("yes" if float(of(first)) > float(of(second)) else "no")
                case "add":
                    values.append(float(of(first)) + float(of(second)))
                case "subtract":
                    values.append(float(of(first)) + -float(of(second)))
                case "multiply":
                    values.append(float(of(first)) * float(of(second)))
                case "divide":
                    values.append(float(of(first)) / float(of(second)))
                case "exp":
                    values.append(math.pow(float(of(first)), float(of(second))))
    except (ValueError, IndexError, ArithmeticError):
        return None
    return values[-1]


def compares_verdicts(steps: list[Step]) -> bool:
    """Whether a step takes the verdict of another: the evaluator compares them as texts."""
    verdicts = {place for place, (operation, *_) in enumerate(steps) if operation == "greater"}
    taken = {each.step for _, *given in steps for each in given if isinstance(each, Earlier)}
    return bool(verdicts & taken)


@given(programs())
def test_a_program_comes_to_what_its_steps_say(steps: list[Step]) -> None:
    if compares_verdicts(steps):
        return
    value, fault = calculated(tokens_of(as_text(steps)), LINES)
    expected = plainly(steps)
    if expected is None:
        assert fault
    elif isinstance(expected, str):
        assert (value, fault) == (expected, "")
    elif math.isnan(expected):
        assert math.isnan(value)
    else:
        assert not fault and math.isclose(value, expected, rel_tol=1e-9, abs_tol=1.1e-5)
