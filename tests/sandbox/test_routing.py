"""Programs start where only the stdlib is loaded, and move on when they use a heavy library."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chameleon.sandbox import Limits, ProgramExecutor, make_executor
from chameleon.sandbox.zygote import why_unusable
from tests.sandbox.processes import own_children

pytestmark = pytest.mark.skipif(bool(why_unusable()), reason=why_unusable() or "it can run")

TABLE = {"columns": ["n"], "rows": [[1], [2]]}


@pytest.fixture
def executor() -> Iterator[ProgramExecutor]:
    with make_executor("sealed", limits=Limits(wall_s=1.5)) as fresh:
        yield fresh


@pytest.mark.parametrize(
    "code",
    [
        "import numpy as np\nimport pandas as pd, sympy\nans = 1",
        "try:\n    import numpy\nexcept ImportError:\n    pass\nans = 1",
        "ans = len(table['rows']) - 1",
    ],
)
def test_an_import_without_use_stays_with_the_stdlib(executor: ProgramExecutor, code: str) -> None:
    assert executor.run(code, {"table": TABLE}).value == 1
    assert len(own_children()) == 1


@pytest.mark.parametrize(
    "code",
    [
        "import numpy\nans = float(numpy.pi) > 3",
        "from numpy import pi\nans = float(pi) > 3",
        "import numpy.linalg as la\nans = float(la.norm([3, 4])) == 5",
        "import numpy\ntry:\n    x = numpy.pi\nexcept BaseException:\n    x = 0\nans = float(x) > 3",
        "np = __import__('num' + 'py')\nans = float(np.pi) > 3",
        "import mpmath\nans = float(mpmath.pi) > 3",
        "ans = int(df['n'].sum()) == 3",
        "ans = 0\nfor n in range(3 * 10**6):\n    ans += n\nimport numpy\nans = float(numpy.pi) > 3",
    ],
)
def test_use_moves_the_program_on(executor: ProgramExecutor, code: str) -> None:
    assert executor.run(code, {"table": TABLE}).value is True
    assert len(own_children()) == 2


def test_time_spent_before_the_move_is_bounded(executor: ProgramExecutor) -> None:
    assert executor.run("import numpy\nans = numpy.pi").ok
    outcome = executor.run("import numpy\nwhile True:\n    pass")
    assert outcome.status == "timeout"
    assert outcome.wall_ms < 1500 + 300
    hidden = "np = __import__('num' + 'py')\nimport time\ntime.sleep(1.4)\nnp.pi\ntime.sleep(99)"
    assert executor.run(hidden).wall_ms < 1500 + 300


def test_a_library_that_is_not_installed() -> None:
    libraries = ("numpy", "no_such_library")
    with make_executor("sealed", libraries=libraries) as executor:
        assert executor.run("import no_such_library\nans = 1").value == 1
        for code in (
            "import no_such_library as x\nx.y",
            "import numpy as np\nnp.pi\nfrom no_such_library import y",
        ):
            outcome = executor.run(code)
            assert (outcome.status, outcome.error_type) == ("error", "ModuleNotFoundError")
            assert "pip install numpy pandas sympy" in outcome.message


def test_a_library_that_is_not_wanted() -> None:
    with make_executor("sealed", libraries=()) as executor:
        outcome = executor.run("import numpy\nans = numpy.pi")
        assert (outcome.status, outcome.error_type) == ("error", "ModuleNotFoundError")
        assert len(own_children()) == 1
