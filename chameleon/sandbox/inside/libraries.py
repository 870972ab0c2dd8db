"""The libraries that programs may import: a broad stdlib, and the heavy libraries on demand.

Nothing can be read from disk after the seal, so everything a program may need is loaded before it.
"""

import importlib
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from typing import Any

STDLIB = """
abc argparse array ast base64 binascii bisect calendar cmath codecs collections collections.abc
colorsys contextlib contextvars copy csv dataclasses datetime decimal difflib enum fractions
functools gc graphlib hashlib heapq html inspect io ipaddress itertools json keyword locale logging
math numbers operator os pathlib pickle pprint queue random re reprlib secrets shlex statistics
string struct sys textwrap threading time timeit traceback types typing unicodedata urllib.parse
uuid warnings weakref zlib
""".split()  # noqa: SIM905
CODECS = """
ascii cp1252 idna latin_1 punycode raw_unicode_escape unicode_escape utf_16 utf_32 utf_8_sig
""".split()  # noqa: SIM905

Work = Callable[[dict[str, Any], Sequence[str]], str]
"""Turns a request, and the paths that no message may show, into a frame."""


def load_stdlib() -> None:
    """Import the stdlib modules that programs may want, including what they import lazily."""
    for name in (*STDLIB, "_strptime", *(f"encodings.{codec}" for codec in CODECS)):
        importlib.import_module(name)
    import datetime
    import time

    time.strptime("1 January 2000", "%d %B %Y")
    f"{datetime.datetime(2000, 1, 1):%A %d %B %Y}".encode("latin-1")
    "ß".encode("idna")


def installed(names: Sequence[str]) -> list[str]:
    """Return the installed libraries among these, without importing them."""
    return [name for name in names if find_spec(name) is not None]


def load(names: Sequence[str]) -> None:
    """Import the libraries and run a little of each, so that their lazy imports are loaded too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            importlib.import_module(name)
        for name in names:
            if name in _WARM_UPS:
                _WARM_UPS[name]()


def work_of(file: str) -> Work:
    """Load a trusted file (see `Sandbox.call`), warm it up, and return its `run`."""
    spec = spec_from_file_location("work_of_file", file)
    assert spec is not None and spec.loader is not None, "a path that ends in .py"
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.warm_up()
    run: Work = module.run
    return run


def _warm_numpy() -> None:
    import numpy

    for part in ("linalg", "random", "fft", "polynomial", "ma"):
        importlib.import_module(f"numpy.{part}")
    numpy.random.seed(0)
    str(numpy.linalg.solve(numpy.eye(2), numpy.ones(2)))


def _warm_pandas() -> None:
    import io

    import pandas

    frame = pandas.DataFrame({"name": ["a", "b", "a"], "n": [1, 2, 3], "x": [0.5, 1.5, None]})
    frame.query("n > 1 and `name` == 'a'")
    frame.eval("n + x")
    frame.groupby("name").agg({"n": "sum", "x": ["mean", "count"]})
    frame.describe(include="all")
    frame.pivot_table(index="name", values="n", aggfunc="sum")
    frame.melt(id_vars="name")
    frame.merge(frame, on="name").sort_values("n_x").rank(numeric_only=True)
    frame["n"].rolling(2).mean().interpolate().corr(frame["n"])
    frame["name"].str.extract("(a)").fillna("")
    frame.to_string(), frame.to_csv(), frame.to_json(), frame.to_html(), repr(frame)
    pandas.read_csv(io.StringIO(frame.to_csv()))
    pandas.crosstab(frame["name"], frame["n"])
    pandas.cut(frame["n"], 2).value_counts()
    days = pandas.to_datetime(pandas.Series(["2020-01-31", "2020-03-01", "2021-05-05"]))
    days.dt.strftime("%Y").astype(int), days.dt.day_name()
    frame.set_index(days).resample("YE")["n"].sum()
    pandas.to_datetime("3 May 2020"), pandas.to_numeric(pandas.Series(["1", "2"]))
    pandas.date_range("2020-01-01", periods=3, freq="MS")


def _warm_sympy() -> None:
    import sympy

    x, y = sympy.symbols("x y", positive=True)
    n = sympy.Symbol("n")
    sympy.solve([x + y - 3, x - y - 1], [x, y], dict=True)
    sympy.solve(n**3 - 2 * n + 1, n), sympy.solve(sympy.Eq(sympy.exp(n), 3), n)
    sympy.solve(x**2 - 2 > 0, x), sympy.solveset(n**2 - 1, n, sympy.S.Reals)
    sympy.simplify((n**2 - 1) / (n - 1)), sympy.factor(n**2 - 1), sympy.expand((n + 1) ** 3)
    sympy.integrate(n**2 * sympy.exp(n), (n, 0, 1)), sympy.diff(sympy.sin(n), n)
    sympy.limit(sympy.sin(n) / n, n, 0), sympy.series(sympy.exp(n), n, 0, 4)
    sympy.summation(n, (n, 1, 10)), sympy.Sum(n, (n, 1, 10)).doit()
    sympy.Matrix([[1, 2], [3, 4]]).inv(), sympy.N(sympy.pi, 20), sympy.nsimplify(0.25)
    sympy.nsolve(n**2 - 2, n, 1), sympy.factorint(360), sympy.binomial(5, 2), sympy.isprime(97)
    sympy.sympify("x + 1/3"), sympy.latex(x / y), sympy.lambdify(n, n**2)(3), str(x), sympy.pretty(x)
    sympy.rsolve(sympy.Function("f")(n + 1) - 2 * sympy.Function("f")(n), sympy.Function("f")(n))
    sympy.linsolve([x + y - 3, x - y - 1], x, y), sympy.nonlinsolve([x * y - 1, x - y], x, y)


_WARM_UPS: dict[str, Callable[[], None]] = {
    "numpy": _warm_numpy,
    "pandas": _warm_pandas,
    "sympy": _warm_sympy,
}
