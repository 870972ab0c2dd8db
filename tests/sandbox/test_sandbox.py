"""How programs end in the sealed sandbox, what callers learn, and that they mean what they mean in Python."""

from __future__ import annotations

import pytest

from chameleon.errors import InputError
from chameleon.sandbox import Limits, Sandbox
from tests.sandbox.conftest import LIMITS, each_program, in_plain_python

TABLE = {"columns": ["city", "people"], "rows": [["Bern", 134], ["Chur", 38], ["Bern", 6]]}


@pytest.mark.parametrize(
    ("code", "value", "kind"),
    [
        ("ans = 6 * 7", 42, "int"),
        ("ans = None", None, "none"),
        ("ans = 1 / 3", 1 / 3, "float"),
        ("ans = [1, 'a', (2, 3)]", [1, "a", [2, 3]], "list"),
        ("ans = 'a\\ud800'", "a?", "str"),
        ("from fractions import Fraction\nans = Fraction(2, 6)", "1/3", "fraction"),
        ("def solve():\n    return sum(range(5))\nans = solve()", 10, "int"),
        ("if __name__ == '__main__':\n    ans = 'main'", "main", "str"),
        ("import numpy as np\nans = np.arange(4).reshape(2, 2)", [[0, 1], [2, 3]], "list"),
        ("import numpy as np\nans = (np.float32(0.5), np.bool_(True), np.int8(3))", [0.5, True, 3], "tuple"),
        ("import numpy as np\nans = np.longdouble(0.5)", 0.5, "float"),
        ("import sympy\nx = sympy.Symbol('x')\nans = sympy.solve(x**2 - 2, x)[1]", "sqrt(2)", "sympy"),
        (
            "import sympy\nans = [sympy.Integer(4), sympy.Float(0.5), sympy.Rational(1, 3)]",
            [4, 0.5, "1/3"],
            "list",
        ),
        (
            "import pandas as pd\nans = pd.DataFrame({'a': [1, 2.5], 'b': ['x', None]})",
            {"columns": ["a", "b"], "rows": [[1, "x"], [2.5, None]]},
            "dataframe",
        ),
        (
            "import pandas as pd\nans = pd.DataFrame({'a': [1, None]}, index=['p', 'q'])",
            {"columns": ["a"], "rows": [[1], [None]], "index": ["p", "q"]},
            "dataframe",
        ),
        ("import pandas as pd\nans = pd.Series({'a': 1.5})", {"a": 1.5}, "series"),
        ("import pandas as pd\nans = pd.Series([1, 2])", [1, 2], "series"),
        ("import pandas as pd\nans = pd.Series([1, 2], index=['p', 'p'])", [1, 2], "series"),
        (
            "from pandas import *\nans = [Timestamp('2020-01-02'), NaT, Index([1]), Timedelta('1min')]",
            ["2020-01-02T00:00:00", None, [1], 60.0],
            "list",
        ),
    ],
)
def test_answers(sealed: Sandbox, code: str, value: object, kind: str) -> None:
    outcome = sealed.run(code)
    assert (outcome.status, outcome.value, outcome.value_type) == ("ok", value, kind)
    assert outcome.ok
    assert outcome.wall_ms > 0


@each_program("harmless")
def test_same_answer_as_plain_python(sealed: Sandbox, code: str) -> None:
    outcome = sealed.run(code)
    assert outcome.status == "ok", outcome
    assert outcome.value == in_plain_python(code)


@pytest.mark.parametrize(
    ("code", "status", "error", "line"),
    [
        ("x = 1\nans = x / 0", "error", "ZeroDivisionError", 2),
        ("def f():\n    return 1 + 'a'\n\nans = f()", "error", "TypeError", 2),
        ("ans = 1\nans = = 2", "error", "SyntaxError", 2),
        ("if True:\n\tx = 1\n        y = 2", "error", "TabError", 3),
        ("ans = 1\x00", "error", None, None),
        ("x = 5", "no_answer", "", None),
        ("", "no_answer", "", None),
        ("raise SystemExit(0)", "error", "SystemExit", 1),
        ("import sys\nans = 1\nsys.exit()", "error", "SystemExit", 3),
        ("ans = print", "error", "UnsupportedAnswer", None),
        ("ans = 10 ** 5000", "too_large", "AnswerTooLarge", None),
        ("ans = []\nans.append(ans)", "too_large", "AnswerTooLarge", None),
        ("ans = bytearray(1 << 32)", "memory", "MemoryError", 1),
        ("x = []\nwhile True:\n    x.extend(x or [0] * 9999)", "memory", "MemoryError", 3),
        ("while True:\n    pass", "timeout", "Timeout", None),
        ("import os\nos._exit(0)", "crashed", "Exit", None),
        ("import os\nos._exit(97)", "refused", "Unsealed", None),
        ("import no_such_thing", "error", "ModuleNotFoundError", 1),
        ("class E(Exception):\n    def __str__(self):\n        raise KeyError\nraise E()", "error", "E", 4),
        pytest.param("#" * (LIMITS.source_kb * 1024 + 1), "too_large", "SourceTooLarge", None, id="long"),
    ],
)
def test_ends(sealed: Sandbox, code: str, status: str, error: str | None, line: int | None) -> None:
    outcome = sealed.run(code, timeout=0.2 if status == "timeout" else None)
    assert outcome.status == status, outcome
    assert outcome.error_type == error or error is None
    assert outcome.line == line or line is None
    assert outcome.value is None and len(outcome.message) <= 500
    assert status != "timeout" or 150 < outcome.wall_ms < 1000, "it takes the place of the limits"


def test_messages_are_short_and_show_no_path_of_this_machine(sealed: Sandbox) -> None:
    assert len(sealed.run("raise ValueError('x' * 10**6)").message) == 500
    message = sealed.run("from os import no_such_name").message
    assert "<python>" in message
    assert "no_such_name" in message


def test_output_is_kept_up_to_the_limit(sealed: Sandbox) -> None:
    short = sealed.run("print('a', 1)\nimport sys\nsys.stderr.write('no')\nans = 1")
    assert (short.stdout, short.stdout_truncated) == ("a 1\n", False)
    long = sealed.run(
        "while len('x'):\n    print('x' * 10**5)\n    n = globals().get('n', 0) + 1\n    assert n < 99"
    )
    assert (len(long.stdout), long.stdout_truncated) == (LIMITS.stdout_kb * 1024, True)
    assert sealed.run("input()").error_type == "EOFError"


def test_inputs_are_globals_however_large(sealed: Sandbox) -> None:
    inputs = {"numbers": [1, 2], "text": "x" * 5_000_000}
    assert sealed.run("total = sum(numbers) + len(text)", inputs, result="total").value == 5_000_003


def test_a_table_is_also_a_data_frame(sealed: Sandbox) -> None:
    summed = sealed.run("ans = df.groupby('city')['people'].sum().to_dict()", {"table": TABLE})
    assert summed.value == {"Bern": 140, "Chur": 38}
    assert sealed.run("ans = len(table['rows'])", {"table": TABLE}).value == 3
    assert sealed.run("ans = df", {"table": TABLE, "df": 5}).value == 5
    named = "ans = int(np.sum(pd.to_numeric(df['people'])))"
    assert sealed.run(named, {"table": TABLE}).value == 178
    assert sealed.run("ans = pd.NA", {"numbers": [1]}).error_type == "NameError", "only beside a table"


@pytest.mark.parametrize("inputs", [{"1a": 1}, {"class": 1}, {"x": object()}, {"x": {1, 2}}])
def test_inputs_that_no_program_can_use(sealed: Sandbox, inputs: dict[str, object]) -> None:
    with pytest.raises(InputError):
        sealed.run("ans = 1", inputs)


def test_equal_programs_have_equal_answers(sealed: Sandbox) -> None:
    code = "import random\nans = (random.random(), list({'ab', 'cd', 'ef', 'gh'}), hash('x'))"
    assert sealed.run(code).value == sealed.run(code).value


@pytest.mark.parametrize("wrong", [{"wall_s": 0}, {"memory_mb": -1}, {"int_digits": 10**6}])
def test_limits_that_make_no_sense(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError):
        Limits(**wrong)  # type: ignore[arg-type]
