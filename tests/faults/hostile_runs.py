"""Hostile logs, folders of evaluations, and predictions: each is ours but for what was changed in it."""

from __future__ import annotations

import gzip
import json
from functools import partial
from typing import Any

from tests.e2e.commands import ROOT
from tests.faults.hostile import EVIL, LEAGUE, OFFLINE, QUESTION, Hostile

DATA = str(ROOT / "demos" / "data" / "problems.jsonl")
_SETTINGS = {"benchmark": "tabmwp", "scorer": "chameleon", "inventory": "mine", "model": None, "problems": 3}
_USAGE: dict[str, Any] = {"calls": 1, "cost": 0.5}
_USAGE |= {f"{kind}_tokens": 5 for kind in ("input", "output", "cached", "reasoning")}
_RESULT: dict[str, Any] = {"id": "1", "answer": "12", "gold": "12", "declined": False, "correct": True}
_RESULT |= {"plan": ["table_reader", "final_answer"], "columns": ["FREE", "INT", "G1-6"]}
_RESULT |= {"seconds": 0.5, "usage": _USAGE, "error": None}
_DEEP = "[" * 100_000 + "]" * 100_000
_HUGE = "9" * 400
_TABLE = {"$table": {"header": ["a", "b"], "rows": [["1"]] * 3, "caption": ""}}
_BEGUN: dict[str, Any] = {"event": "run_started", "format": "chameleon-log-1", "settings": {}}
_BEGUN |= {"inventory": "tables_offline", "input": {"question": QUESTION, "table": _TABLE}}
_PLAN: dict[str, Any] = {"event": "plan", "by": "fixed", "note": "", "kind": "proposed", "refused": ""}
_PLAN |= {"steps": [{"module": "table_reader"}, {"module": "final_answer"}], "seconds": 0.1}
_STEP = {"event": "step", "module": "table_reader", "output": "x", "input": {}, "cache": {}, "seconds": 0.1}


def with_json(whole: dict[str, Any], **parts: str) -> str:
    """Write an object, some values of which are given as JSON."""
    text = json.dumps({**whole, **{name: f"<{name}>" for name in parts}})
    for name, part in parts.items():
        text = text.replace(f'"<{name}>"', part)
    return text


def _run(
    command: tuple[str, ...], code: int, told: str, settings: str = "", result: str = "", events: str = ""
) -> Hostile:
    files: dict[str, str | bytes] = {
        "run/settings.json": settings or json.dumps(_SETTINGS),
        "run/results.jsonl": f"{result or json.dumps(_RESULT | ({'member': 0} if events else {}))}\n",
    }
    if events:
        files["run/events.jsonl.gz"] = gzip.compress(f"{events}\n".encode("utf-8", "surrogatepass"), mtime=0)
    return Hostile((command[0], "run", *command[1:]), code, told, files)


def _log(code: int, told: str, *lines: str) -> Hostile:
    arguments = ("ask", QUESTION, *LEAGUE, *OFFLINE, "--trace", "--log", "log.jsonl")
    return Hostile(arguments, code, told, {"log.jsonl": "".join(f"{line}\n" for line in lines)})


_PAGE = ("report", "--html", "page.html")
_BAD_RESULT, _BAD_EVENT = "line 1 is no result", "is not an event"
_EVENT = partial(with_json, {"id": "1", **_BEGUN})

_STEERING_PLAN = with_json(_RESULT, plan=json.dumps([EVIL, EVIL]))
_STEERING_PAGE = (with_json(_RESULT, answer=json.dumps(EVIL)), _EVENT(input=json.dumps({"question": EVIL})))
_BAD_RESULTS = [
    ("answer", _DEEP),
    *(("seconds", value) for value in ("9" * 5_000, "NaN", "1e999", _HUGE)),
    ("plan", "[1, {}, null]"),
    ("usage", '{"calls": "x"}'),
    ("usage", with_json(_USAGE, cost="NaN")),
    ("columns", "[[1]]"),
    ("member", _HUGE),
    ("member", "[1]"),
]
_BAD_TABLE = '{"question": "a", "table": {"$table": {"header": ["a"], "rows": 5, "caption": []}}}'
_STARTED, _PLANNED = json.dumps(_BEGUN), json.dumps(_PLAN)
_BAD_LOGS = {
    "wrong types": (_STARTED, with_json(_PLAN, by="5", note="[1]")),
    "what goes down": (with_json(_BEGUN, input=_DEEP),),
    "a step that goes down": (_STARTED, _PLANNED, with_json(_STEP, output=_DEEP)),
    "steps of wrong types": (_STARTED, with_json(_PLAN, steps="[5, null]")),
    "seconds of wrong types": (_STARTED, _PLANNED, with_json(_STEP, seconds='"x"')),
    "NUL": ("\0" * 1_000,),
    "one long line": ("{" * 3_000_000,),
    "numbers": ("9" * 5_000,),
}

RUNS: dict[str, Hostile] = {
    "settings that go down": _run(("report",), 1, "settings", settings=_DEEP),
    "settings of wrong types": _run(
        ("report",), 1, "settings|benchmark", settings='{"benchmark": [1], "inventory": 5}'
    ),
    "settings that steer": _run(("report",), 0, "mine", with_json(_SETTINGS, model=json.dumps(EVIL))),
    "problems that are none": _run(
        ("stats",), 1, "settings|problems", settings=with_json(_SETTINGS, problems='"many"')
    ),
    **{
        f"a result whose {name} is {value[:20]}": _run(
            ("report", "--json"), 1, _BAD_RESULT, result=with_json(_RESULT, **{name: value})
        )
        for name, value in _BAD_RESULTS
    },
    "a plan that steers": _run(("stats",), 0, "2J", result=_STEERING_PLAN),
    "a plan that steers, as JSON": _run(("stats", "--json"), 0, "2J", result=_STEERING_PLAN),
    "events that go down": _run(_PAGE, 1, _BAD_EVENT, events=_EVENT(input=_DEEP)),
    "a table that lies in an event": _run(_PAGE, 1, _BAD_EVENT, events=_EVENT(input=_BAD_TABLE)),
    "a page that steers": _run(_PAGE, 0, "Page", "", *_STEERING_PAGE),
    "a member that lies elsewhere": _run(_PAGE, 1, "cannot be read", result=with_json(_RESULT, member="99")),
    **{f"a log of {what}": _log(1, _BAD_EVENT, *lines) for what, lines in _BAD_LOGS.items()},
    "a log of another format": _log(1, "format", with_json(_BEGUN, format=json.dumps(EVIL))),
}


def _scored(row: str, code: int, told: str, *options: str) -> Hostile:
    arguments = ("score", "tabmwp", DATA, "predictions.jsonl", *options)
    return Hostile(arguments, code, told, {"predictions.jsonl": f"{row}\n"})


def _prediction(value: Any, code: int, told: str, field: str = "prediction", raw: str = "") -> Hostile:
    row = with_json({"pid": "1"}, **{field: raw or json.dumps(value)})
    return _scored(row, code, told, "--field", field)


_SCORED = "[Rr]ight"

PREDICTIONS: dict[str, Hostile] = {
    "400 digits": _prediction(int(_HUGE), 0, _SCORED),
    "5,000 digits": _prediction(None, 1, "predictions.jsonl", raw="9" * 5_000),
    "no number": _prediction(None, 0, _SCORED, raw="NaN"),
    "no end": _prediction(None, 0, _SCORED, raw="-Infinity"),
    "a list of lists": _prediction([[1], {"a": None}], 0, _SCORED),
    "what goes down": _prediction(None, 1, "predictions.jsonl", raw=_DEEP),
    "half a surrogate": _prediction("\ud800", 0, _SCORED),
    "a text that steers": _prediction(EVIL, 0, _SCORED),
    "brackets": _prediction("(" * 10_000, 0, _SCORED),
    "an output of a sentence without an end": _prediction("The answer is " * 20_000, 0, _SCORED, "output"),
    "an output that is a number": _prediction(5, 1, "not a text", "output"),
    "a program of 400 digits": _prediction("ans = 10**400", 0, _SCORED, "program"),
    "a program without an end": _prediction(
        "ans = 'x'\nwhile True:\n    ans += 'x' * 10**8", 0, _SCORED, "program"
    ),
    "a program that is none": _prediction([1], 0, "no program", "program"),
    "a row that is a list": _scored("[1]", 1, "predictions.jsonl"),
    "a row whose id is a list": _scored('{"pid": [1], "prediction": 5}', 1, "predictions|id"),
    "a field that steers": _scored(
        '{"pid": "1", "prediction": 5}', 1, "has no field", "--field", f"a{EVIL}.b"
    ),
    "a field of dots": _scored('{"pid": "1", "prediction": 5}', 1, "has no field", "--field", "." * 10_000),
}
