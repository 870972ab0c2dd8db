"""Hostile logs, folders of evaluations, and predictions: each is ours but for what was changed in it."""

from __future__ import annotations

import gzip
import json
from functools import partial
from typing import Any

from tests.e2e.commands import ROOT
from tests.promises.hostile import EVIL, LEAGUE, OFFLINE, QUESTION, Hostile

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
    text = json.dumps({**whole, **{name: f"<{name}>" for name in parts}})
    for name, part in parts.items():
        text = text.replace(f'"<{name}>"', part)
    return text


def _run(
    command: str, code: int, told: str, settings: str = "", result: str = "", events: str = ""
) -> Hostile:
    files: dict[str, str | bytes] = {
        "run/settings.json": settings or json.dumps(_SETTINGS),
        "run/results.jsonl": f"{result or json.dumps(_RESULT | ({'member': 0} if events else {}))}\n",
    }
    if events:
        files["run/events.jsonl.gz"] = gzip.compress(f"{events}\n".encode("utf-8", "surrogatepass"), mtime=0)
    name, *options = command.split()
    return Hostile((name, "run", *options), code, told, files)


def _log(code: int, told: str, *lines: str) -> Hostile:
    arguments = ("ask", QUESTION, *LEAGUE, *OFFLINE, "--trace", "--log", "log.jsonl")
    return Hostile(arguments, code, told, {"log.jsonl": "".join(f"{line}\n" for line in lines)})


_PAGE, _NO_EVENT = "report --html page.html", "is not an event"
_WHOLE = (_SETTINGS, _RESULT, {"id": "1"} | _BEGUN, _BEGUN, _PLAN, _STEP)
_set, _made, _event, _started, _planned, _stepped = (partial(with_json, each) for each in _WHOLE)
_STEERS = json.dumps(EVIL)
_STEERING_PLAN = _made(plan=json.dumps([EVIL, EVIL]))
_ASKED = json.dumps({"question": EVIL})
_BAD_TABLE = '{"question": "a", "table": {"$table": {"header": ["a"], "rows": 5, "caption": []}}}'
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
_BAD_LOGS = {
    "wrong types": (_started(), _planned(by="5", note="[1]")),
    "what goes down": (_started(input=_DEEP),),
    "a step that goes down": (_started(), _planned(), _stepped(output=_DEEP)),
    "seconds of wrong types": (_started(), _planned(), _stepped(seconds='"x"')),
    "one long line": ("{" * 3_000_000,),
    "numbers": ("9" * 5_000,),
}


def _resulted(**parts: str) -> Hostile:
    return _run("report --json", 1, "line 1 is no result", result=_made(**parts))


RUNS: dict[str, Hostile] = {
    "settings that go down": _run("report", 1, "settings", _DEEP),
    "settings that steer": _run("report", 0, "mine", _set(model=_STEERS)),
    **{f"a result whose {name} is {value[:20]}": _resulted(**{name: value}) for name, value in _BAD_RESULTS},
    "a plan that steers": _run("stats", 0, "2J", result=_STEERING_PLAN),
    "events that go down": _run(_PAGE, 1, _NO_EVENT, events=_event(input=_DEEP)),
    "a table that lies in an event": _run(_PAGE, 1, _NO_EVENT, events=_event(input=_BAD_TABLE)),
    "a page that steers": _run(_PAGE, 0, "Page", "", _made(answer=_STEERS), _event(input=_ASKED)),
    "a member that lies elsewhere": _run(_PAGE, 1, "cannot be read", result=_made(member="99")),
    **{f"a log of {what}": _log(1, _NO_EVENT, *lines) for what, lines in _BAD_LOGS.items()},
    "a log of another format": _log(1, "format", _started(format=_STEERS)),
}


def _scored(row: str, code: int, told: str, field: str) -> Hostile:
    arguments = ("score", "tabmwp", DATA, "predictions.jsonl", "--field", field)
    return Hostile(arguments, code, told, {"predictions.jsonl": f"{row}\n"})


_RIGHT, _FILE, _NONE = "[Rr]ight", "predictions.jsonl", "has no field"
_ENDLESS = "ans = 'x'\nwhile True:\n    ans += 'x' * 10**8"
_VALUES: dict[str, tuple[str, str, int, str]] = {
    "5,000 digits": ("prediction", "9" * 5_000, 1, _FILE),
    "no number": ("prediction", "NaN", 0, _RIGHT),
    "a list of lists": ("prediction", '[[1], {"a": null}]', 0, _RIGHT),
    "what goes down": ("prediction", _DEEP, 1, _FILE),
    "a text that steers": ("prediction", _STEERS, 0, _RIGHT),
    "a program of 400 digits": ("program", '"ans = 10**400"', 0, _RIGHT),
    "a program without an end": ("program", json.dumps(_ENDLESS), 0, _RIGHT),
    "a program that is none": ("program", "[1]", 0, "no program"),
}
PREDICTIONS: dict[str, Hostile] = {
    **{
        what: _scored(with_json({"pid": "1"}, **{field: value}), code, told, field)
        for what, (field, value, code, told) in _VALUES.items()
    },
    "a row whose id is a list": _scored('{"pid": [1], "prediction": 5}', 1, "predictions|id", "prediction"),
    "a field that steers": _scored('{"pid": "1", "prediction": 5}', 1, _NONE, f"a{EVIL}.b"),
}
