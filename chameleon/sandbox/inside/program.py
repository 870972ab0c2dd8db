"""Run one program in this process and describe the outcome as plain data: its frame."""

import builtins
import io
import json
import sys
from collections.abc import Mapping, Sequence
from types import CodeType, ModuleType
from typing import Any

from .encode import Encoder, TooLarge, Unsupported, kind_of

# The host sends length, JSON and a nonce; the child answers with the nonce, length and JSON.
LENGTH, NONCE = 4, 16
# Exit codes of a child that could not send a frame.
BROKEN, UNSEALED, EXHAUSTED = 1, 97, 98

FILENAME = "<program>"
missing: set[str] = set()
"""Heavy libraries that programs may import but that are not installed."""
_MAX_MESSAGE_CHARS = 500
_RESERVE_BYTES = 4 << 20
_to_json = json.JSONEncoder(ensure_ascii=True).encode
_set_digits = sys.set_int_max_str_digits  # these are kept, because a program may replace them
_set_recursion = sys.setrecursionlimit
_set_trace, _set_profile = sys.settrace, sys.setprofile
_builtins_in_use = vars(builtins)
_builtins = dict(_builtins_in_use)


class Printed(io.TextIOBase):
    """A stdout in memory that keeps only the first `limit` characters."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._left = limit
        self._parts: list[str] = []
        self.truncated = False

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if len(text) > self._left:
            self.truncated = True
        if self._left:
            self._parts.append(str(text[: self._left]))
            self._left -= len(self._parts[-1])
        return len(text)

    def text(self) -> str:
        return "".join(self._parts)


def run(request: Mapping[str, Any], hidden: Sequence[str] = ()) -> str:
    """Run `request["code"]` and return a JSON object: s(tatus), v(alue), its k(ind), and other fields.

    Statuses are ok, no_answer, error, memory and too_large. `hidden` are paths of this machine that no
    message may show.
    """
    limits = request["limits"]
    printed = Printed(limits["stdout_bytes"])
    sys.stdout, sys.stderr, sys.stdin = printed, Printed(0), io.StringIO("")
    # Costs no memory while untouched; freed, it lets a process without memory report that.
    reserve = bytearray(_RESERVE_BYTES)
    try:
        frame = _answer(request)
    except BaseException as error:
        reserve.clear()
        _restore_interpreter()
        frame = _failure(error, hidden)
    frame["out"], frame["cut"] = printed.text(), printed.truncated
    return _to_json(frame)


def _answer(request: Mapping[str, Any]) -> dict[str, Any]:
    inputs = request["inputs"]
    code = compile(request["code"], FILENAME, "exec", dont_inherit=True)
    main = ModuleType("__main__")
    namespace = main.__dict__
    namespace["__builtins__"] = builtins
    namespace.update(inputs)
    sys.modules["__main__"] = main
    table = inputs.get("table")
    if isinstance(table, dict) and {"columns", "rows"} <= table.keys():
        for name in ("df", "pd", "np"):
            if name not in inputs and _names(code, name):
                namespace[name] = _made_of(table, name)
    if isinstance(tables := inputs.get("tables"), dict) and "pandas" in sys.modules:
        namespace["tables"] = {name: _made_of(each, "df") for name, each in tables.items()}
    exec(code, namespace)  # noqa: S102
    _restore_interpreter()
    if (name := request["result"]) not in namespace:
        return {"s": "no_answer", "m": f"the program ended without setting '{name}'"}
    return encoded(namespace[name], request)


def encoded(value: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the frame for an answer."""
    name, limits = request["result"], request["limits"]
    encoder = Encoder(limits["result_bytes"], limits["depth"], limits["int_digits"])
    try:
        return {"s": "ok", "v": encoder.encode(value), "k": kind_of(value)}
    except Unsupported as error:
        message = f"'{name}' is {error}; an answer must be a number, text, date, list, dict or table"
        return {"s": "error", "t": "UnsupportedAnswer", "m": message}
    except TooLarge as error:
        return {"s": "too_large", "t": "AnswerTooLarge", "m": f"'{name}' is too large: {error}"}


def _made_of(table: Mapping[str, Any], name: str) -> Any:
    """Return a global that comes with a table: the frame `df`, or its libraries `pd` and `np`."""
    if name == "np":
        import numpy

        return numpy
    import pandas

    if name == "pd":
        return pandas
    df = pandas.DataFrame(table["rows"], columns=table["columns"])
    for index in table.get("dates", ()):
        df.isetitem(index, pandas.to_datetime(df.iloc[:, index]))
    return df


def _names(code: CodeType, name: str) -> bool:
    return name in code.co_names or any(
        _names(const, name) for const in code.co_consts if isinstance(const, CodeType)
    )


def _restore_interpreter() -> None:
    """Undo a program's changes to the interpreter, so that its answer is reported correctly."""
    _set_trace(None)
    _set_profile(None)
    _builtins_in_use.update(_builtins)
    _set_digits(4300)
    _set_recursion(1000)


def _failure(error: BaseException, hidden: Sequence[str]) -> dict[str, Any]:
    kind = "memory" if isinstance(error, MemoryError) else "error"
    try:
        message = str(error.msg if isinstance(error, SyntaxError) else error)[: 4 * _MAX_MESSAGE_CHARS]
    except BaseException as second:
        message = f"its message cannot be read: {type(second).__name__}"
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == FILENAME else _line(error)
    if isinstance(error, ModuleNotFoundError) and error.name in missing:
        message += "; pip install numpy pandas sympy provides it"
    for path in hidden:
        message = message.replace(path, "<python>")
    return {"s": kind, "t": type(error).__name__[:100], "m": message[:_MAX_MESSAGE_CHARS], "line": line}


def _line(error: BaseException) -> int | None:
    """Return the program's innermost line in the error's traceback."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
