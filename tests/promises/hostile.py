"""Hostile replies, inventories, command lines, logs, folders of evaluations, and predictions."""

import gzip
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.e2e.commands import ROOT
from tests.loopback import Answer, Fault

EVIL = "\x1b]8;;http://x\x07\x1b[2J\x9b31m\u202e\u2066\u200b\ue000"
LEAGUE = ("--table", str(ROOT / "demos" / "data" / "league.csv"))
QUESTION = "How many more points does Kingsmere Town have than Northgate United?"
OFFLINE = ("--inventory", "tables_offline")
ASK = ("ask", QUESTION, *LEAGUE)
ASK_OFFLINE = (*ASK, *OFFLINE)
_AS_JSON = (*LEAGUE, *OFFLINE, "--json")
CAUTIOUS = "name: cautious\nextends: {}\nllm: {{retries: 0, timeout: 10}}\n"


@dataclass(frozen=True)
class Hostile:
    """A command, the files that it finds in its folder, and how it ends.

    `told` is a pattern for what it says; `make` lays what is no plain file; the model gives `reply`.
    """

    arguments: tuple[str, ...]
    code: int
    told: str
    files: Mapping[str, str | bytes | Callable[[], str | bytes]] = field(default_factory=dict)
    make: Callable[[Path], object] = lambda folder: None
    reply: Answer | None = None
    changes: Mapping[str, str] = field(default_factory=dict)

    def lay(self, folder: Path) -> None:
        for name, content in self.files.items():
            data = content() if callable(content) else content
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
        self.make(folder)


def replied(reply: Answer, code: int, told: str, *options: str, extends: str = "tabmwp_cot") -> Hostile:
    named = (*ASK, "-i", "cautious.yaml", "-m", "openai:local", "--store", "off")
    return Hostile((*named, *options), code, told, {"cautious.yaml": CAUTIOUS.format(extends)}, reply=reply)


def body(message: Any = "The answer is 12.", **parts: Any) -> Fault:
    """A reply of which some parts are given as JSON of their own, which need not be right."""
    choice = {"index": 0, "message": {"role": "assistant", "content": message}, "finish_reason": "stop"}
    whole: dict[str, Any] = {"id": "x", "object": "chat.completion", "created": 1, "model": "local"}
    whole |= {"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}}
    text = json.dumps({**whole, **{name: f"<{name}>" for name in parts}})
    for name, part in parts.items():
        text = text.replace(f'"<{name}>"', part if isinstance(part, str) else json.dumps(part))
    return Fault(200, text)


def usage(tokens: str, cost: str = "0.5") -> Fault:
    told = f'{{"prompt_tokens": {tokens}, "completion_tokens": {tokens}, "total_tokens": 7, "cost": {cost}}}'
    return body(usage=told)


_LOG = ("--log", "log.jsonl")
_NO_ANSWER, _CUT, _THOUGHTS = "does not say", "was cut off", "wrote thoughts but no answer"
_ANSWERED, _NAMED = r"\A12\n|\"answer\": \"12\"", "openai:local"

_FUNCTION = {"name": EVIL, "arguments": "{" * 100_000}
_CALLS = [{"id": "1", "type": "function", "function": _FUNCTION}]
_CALL = {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": _CALLS}}
_STRANGE_ERROR = {"message": f"{EVIL}\n\nno\n" * 1000, "code": EVIL}
_STRANGE_PLAN = json.dumps(["os:system", "__class__", EVIL, "../../x", 5, None])
_PROGRAMS = "```python\nans = 1\n```\n" * 10_000
_STEERS = f"{EVIL} The answer is 12{EVIL}"

REPLIES: dict[str, Hostile] = {
    "a sentence without an end": replied("The answer is " * 72_000, 1, _CUT),
    "JSON that goes down": replied('{"a":' * 10_000, 1, _NO_ANSWER, extends="tabmwp"),
    "programs without an end": replied(_PROGRAMS, 0, r"\A1\n", extends="tabmwp_pot"),
    "a reply that steers": replied(_STEERS, 0, r"\A12", "--trace"),
    "tags that nobody sees": replied("The answer is 12\U000e0041\u00ad\0", 0, r"\A12"),
    "half a character in a program": replied("ans = 'x\ud800'", 1, "does not work", extends="tabmwp_pot"),
    "only blanks": replied(" " * 900_000, 1, "empty reply"),
    "a thought that never ends": replied("<think>" + "hm " * 300_000, 1, _THOUGHTS),
    "a plan of 10,000 steps": replied(json.dumps(["x"] * 10_000), 1, _NO_ANSWER, extends="tabmwp"),
    "a plan of hostile names": replied(_STRANGE_PLAN, 1, _NO_ANSWER, "--trace", extends="tabmwp"),
    "a call of a tool": replied(body(choices=[_CALL]), 1, "solution_generator"),
    "tokens that are no number": replied(usage("NaN", "NaN"), 0, _ANSWERED),
    "tokens below nothing": replied(usage("-5", "-0.5"), 0, _ANSWERED, *_LOG),
    "figures of 400 digits": replied(usage("9" * 400, "9" * 400), 0, _ANSWERED, *_LOG),
    "tokens of 5,000 digits": replied(usage("9" * 5_000), 1, "one line|openai:local"),
    "no choices": replied(body(choices=[]), 1, _NAMED),
    "a message that is a number": replied(body(choices=[{"message": 5}]), 1, _NAMED),
    "a body that goes down": replied(Fault(200, "[" * 100_000), 1, _NAMED),
    "an error that steers": replied(Fault(400, {"error": _STRANGE_ERROR}), 1, _NAMED),
}


def checked(text: str | bytes, code: int, told: str) -> Hostile:
    return Hostile(("check", "mine.yaml"), code, told, {"mine.yaml": text})


def laughing(first: str, next_level: str, levels: int = 30) -> str:
    lines = [f"a0: &a0 {first}"]
    for level in range(1, levels):
        below = ", ".join(next_level.format(n=n, name=f"*a{level - 1}") for n in range(9))
        lines.append(f"a{level}: &a{level} {first[0]}{below}{first[-1]}")
    return "\n".join(lines)


_BASE = "name: mine\nplanner: {use: fixed, plan: [query_generator]}\nmodules: {query_generator: {}}\n"
_PROMPT = "name: mine\nextends: tabmwp_cot\nmodules:\n  solution_generator:\n    prompt: mine.md\n"
_COMMAND = "about: !!python/object/apply:os.system ['touch made']\n"


def prompted(template: str) -> Hostile:
    arguments = (*ASK, "-i", "mine.yaml", "-m", "openai:local", "--store", "off")
    files = {"mine.yaml": _PROMPT, "mine.md": template}
    return Hostile(arguments, 1, r"mine\.md", files, reply="The answer is 12")


def grid(text: str) -> Hostile:
    return Hostile(("grid", "grid.yaml", "--no-model"), 1, r"grid\.yaml", {"grid.yaml": text})


_TEMPLATES = (
    "{{ 'x' * 9999999999 }}",
    "{% for a in range(10**9) %}x{% endfor %}",
    "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "{{ 9 ** 9 ** 9 }}",
    "{{ '%9999999999d' % 1 }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{% include '/etc/passwd' %}",
)
_MERGES = "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 30))
_STEERING = 'extends: tables_offline\nname: "\\e[2J\\x9b31m\\u202e\\n"\nabout: "\\e]8;;x\\a"\n'
_REFUSED = {
    "laughs in lists": (laughing("[x]", "{name}"), r"mine\.yaml"),
    "laughs in merges": (f"a0: &a0 {{x: 1}}\n{_MERGES}", r"mine\.yaml"),
    "a list of itself": ("about: &a [*a]\n", r"mine\.yaml"),
    "binary": ("about: !!binary '####'\n", r"mine\.yaml"),
    "lists that go down": ("about: " + "[" * 100_000, "nested too deeply"),
    "a number of 5,000 digits": (f"budget: {{calls: {'9' * 5_000}}}\n", r"mine\.yaml"),
    "NUL": ("about: a\0b\n", r"mine\.yaml"),
    "laughs in a key": ("? &k [&j [x, x], *j, *j]\n: 1\n", "a key must be a name"),
    "a command as a tag": (_COMMAND, "could not determine|python"),
    "a truth that is none": ("about: !!bool x\n", "not a valid bool"),
}

INVENTORIES: dict[str, Hostile] = {
    **{what: checked(_BASE + text, 1, told) for what, (text, told) in _REFUSED.items()},
    "a large number": checked(_BASE + "budget: {calls: 1" + "0" * 400 + "}\n", 0, "is fine"),
    "a name that steers": checked(_STEERING, 0, "is fine"),
    "UTF-16": checked(_BASE.encode("utf-16"), 1, r"mine\.yaml"),
    "a grid of laughs": grid(laughing("[x]", "{name}")),
    **{f"a prompt of {template}": prompted(template) for template in _TEMPLATES},
}

_NAME_WITH_BREAK = "a\n\x1b[2Jb.csv"
_OUTSIDE = os.fsdecode(b"caf\xe9\xff.csv")  # bytes that are no UTF-8
_EVAL = ("eval", "tables_offline", str(ROOT / "demos" / "data" / "problems.jsonl"))
_SCRIPTED, _DOCTOR = (*ASK, "-m", "scripted:x"), ("doctor",)
_SUM = ("ask", "What is the sum of the points?", "--table", _NAME_WITH_BREAK, *OFFLINE)
_WHO, _OURS = ("ask", "Who?", "--table"), "chameleon: "
_TEXT = ("ask", "Who?", "--text", str(ROOT / "LICENSE"))
_NUMBERS = (
    *(("--limit", value) for value in ("9" * 20, "9" * 5_000, "-1")),
    *(("--workers", value) for value in ("0", "-1", "1000000000", "1e9")),
    ("--max-cost", "nan"),
)
_LINES: dict[str, tuple[tuple[str, ...], int, str]] = {
    **{f"{option} {value[:20]}": ((*_EVAL, option, value), 2, option) for option, value in _NUMBERS},
    "an index with a break in its name": (("ask", "Who?", "--index", "a\nb"), 1, "a b"),
    "a question that steers": (("ask", f"How{EVIL} many?", *_AS_JSON), 3, '"answer": null'),
    "a table whose name is no UTF-8": ((*_WHO, _OUTSIDE), 1, "no such file|caf"),
    "a model that steers": ((*ASK, "-m", f"{EVIL}:x"), 1, _OURS),
    "a database that is none": ((*_WHO, f"postgresql://u:geheim@{EVIL}/x"), 1, "(?s)^(?!.*geheim)"),
    "a log without room": ((*ASK_OFFLINE, "--log", "/dev/full"), 1, "log|/dev/full"),
}
_VARIABLES: tuple[tuple[str, str, tuple[str, ...], int, str], ...] = (
    ("CHAMELEON_MAX_TABLE_MB", "1e300", ASK_OFFLINE, 0, r"\A12"),
    *(
        ("CHAMELEON_MAX_TABLE_MB", value, ASK_OFFLINE, 1, "CHAMELEON_MAX_TABLE_MB")
        for value in ("nan", "inf", "-1", f"abc{EVIL}", "9" * 5_000)
    ),
    ("CHAMELEON_MODEL", f"{EVIL}\n:::", ASK, 1, _OURS),
    ("CHAMELEON_STORE", ".", _SCRIPTED, 1, _OURS),
    ("CHAMELEON_STORE", "s" * 5_000, _SCRIPTED, 1, _OURS),
    ("CHAMELEON_DOCUMENTS", f"/dev/null/{EVIL}", _TEXT, 3, "are not cached"),
    ("CHAMELEON_WEB_CACHE", "\n", _DOCTOR, 0, ""),
    ("CHAMELEON_WEB_PRIVATE", EVIL, _DOCTOR, 0, ""),
    ("CHAMELEON_USER_AGENT", f"a\r\nb{EVIL}", _DOCTOR, 0, ""),
    ("OPENAI_BASE_URL", f"http://a b{EVIL}", _DOCTOR, 0, ""),
)

COMMAND_LINES: dict[str, Hostile] = {
    **{what: Hostile(*case) for what, case in _LINES.items()},
    "a name with a break": Hostile(_SUM, 0, r"\A8\n", {_NAME_WITH_BREAK: "Team,Points\nA,5\nB,3\n"}),
    **{
        f"{name}: {value[:20]!a}": Hostile(asked, code, told, changes={name: value})
        for name, value, asked, code, told in _VARIABLES
    },
}


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
_WHOLE = (_RESULT, {"id": "1"} | _BEGUN, _BEGUN, _PLAN, _STEP)
_made, _event, _started, _planned, _stepped = (partial(with_json, each) for each in _WHOLE)
_STEERING_JSON = json.dumps(EVIL)
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
    return _run("report --json", 1, "line 1 is not a result", result=_made(**parts))


RUNS: dict[str, Hostile] = {
    "settings that go down": _run("report", 1, "settings", _DEEP),
    **{f"a result whose {name} is {value[:20]}": _resulted(**{name: value}) for name, value in _BAD_RESULTS},
    "a plan that steers": _run("stats", 0, "2J", result=_STEERING_PLAN),
    "a table that lies in an event": _run(_PAGE, 1, _NO_EVENT, events=_event(input=_BAD_TABLE)),
    "a page that steers": _run(_PAGE, 0, "Page", "", _made(answer=_STEERING_JSON), _event(input=_ASKED)),
    "a member that lies elsewhere": _run(_PAGE, 1, "cannot be read", result=_made(member="99")),
    **{f"a log of {what}": _log(1, _NO_EVENT, *lines) for what, lines in _BAD_LOGS.items()},
    "a log of another format": _log(1, "format", _started(format=_STEERING_JSON)),
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
    "a text that steers": ("prediction", _STEERING_JSON, 0, _RIGHT),
    "a program of 400 digits": ("program", '"ans = 10**400"', 0, _RIGHT),
    "a program without an end": ("program", json.dumps(_ENDLESS), 0, _RIGHT),
    "a program that is none": ("program", "[1]", 0, "no program"),
}
PREDICTIONS: dict[str, Hostile] = {
    **{
        what: _scored(with_json({"pid": "1"}, **{field: value}), code, told, field)
        for what, (field, value, code, told) in _VALUES.items()
    },
    "a field that steers": _scored('{"pid": "1", "prediction": 5}', 1, _NONE, f"a{EVIL}.b"),
}
