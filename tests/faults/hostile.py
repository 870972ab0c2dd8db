"""What a hostile input is, and those that are replies of models, inventories and command lines."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
        """Write the files."""
        for name, content in self.files.items():
            data = content() if callable(content) else content
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
        self.make(folder)


def replied(reply: Answer, code: int, told: str, *options: str, extends: str = "tabmwp_cot") -> Hostile:
    """Ask a model that gives this reply to all that it is asked."""
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
    """A reply that says so many tokens and so much cost."""
    told = f'{{"prompt_tokens": {tokens}, "completion_tokens": {tokens}, "total_tokens": 7, "cost": {cost}}}'
    return body(usage=told)


_LOG = ("--log", "log.jsonl")
_NO_ANSWER, _CUT, _THOUGHTS = "does not say", "was cut off", "wrote thoughts but no answer"
_ANSWERED, _NAMED = r"\A12\n|\"answer\": \"12\"", "openai:local"

_FUNCTION = {"name": EVIL, "arguments": "{" * 100_000}
_CALLS = [{"id": "1", "type": "function", "function": _FUNCTION}]
_CALL = {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": _CALLS}}
_LISTED = {"message": {"role": "assistant", "content": [5, None]}}
_STRANGE_ERROR = {"message": f"{EVIL}\n\nno\n" * 1000, "code": EVIL}
_STRANGE_PLAN = json.dumps(["os:system", "__class__", EVIL, "../../x", 5, None])
_PROGRAMS = "```python\nans = 1\n```\n" * 10_000
_ACCENTS = "The answer is a" + "\u0301" * 100_000
_STEERS = f"{EVIL} The answer is 12{EVIL}"

REPLIES: dict[str, Hostile] = {
    "a sentence without an end": replied("The answer is " * 72_000, 1, _CUT),
    "JSON that goes down": replied('{"a":' * 10_000, 1, _NO_ANSWER, extends="tabmwp"),
    "brackets that close": replied("[" * 10_000 + "]" * 10_000, 1, _NO_ANSWER, extends="tabmwp"),
    "programs without an end": replied(_PROGRAMS, 0, r"\A1\n", extends="tabmwp_pot"),
    "a reply that steers": replied(_STEERS, 0, r"\A12", "--trace"),
    "a reply that steers, as JSON": replied(_STEERS, 0, r"\\u001b", "--json"),
    "tags that nobody sees": replied("The answer is 12\U000e0041\u00ad\0", 0, r"\A12"),
    "half surrogates": replied("The answer is \ud800 12 \udfff", 0, r"\\ud800 12 \\udfff", "--json"),
    "a hundred thousand accents": replied(_ACCENTS, 0, '"answer": "a\u0301|"answer": "\u00e1', "--json"),
    "only blanks": replied(" " * 900_000, 1, "empty reply"),
    "blanks, then a word": replied(" " * 100_000 + "x", 1, _NO_ANSWER),
    "a thought that never ends": replied("<think>" + "hm " * 300_000, 1, _THOUGHTS),
    "thoughts in thoughts": replied("<think>" * 120_000, 1, _THOUGHTS),
    "a thought's end alone": replied("</think>" * 10_000, 1, _THOUGHTS),
    "a number of 100,000 digits": replied("The answer is " + "9" * 100_000, 0, r"\A9+"),
    "a plan of 10,000 steps": replied(json.dumps(["x"] * 10_000), 1, _NO_ANSWER, extends="tabmwp"),
    "a plan of hostile names": replied(_STRANGE_PLAN, 1, _NO_ANSWER, "--trace", extends="tabmwp"),
    "a call of a tool": replied(body(choices=[_CALL]), 1, "solution_generator"),
    "tokens that are no number": replied(usage("NaN", "NaN"), 0, _ANSWERED),
    "endless tokens": replied(usage("Infinity", "Infinity"), 0, _ANSWERED, "--json"),
    "tokens below nothing": replied(usage("-5", "-0.5"), 0, _ANSWERED, *_LOG),
    "endless cost with a log": replied(usage("1", "1e999"), 0, _ANSWERED, *_LOG),
    "texts for numbers": replied(usage('"many"', '"dear"'), 0, _ANSWERED),
    "figures of 400 digits": replied(usage("9" * 400, "9" * 400), 0, _ANSWERED, *_LOG),
    "tokens of 5,000 digits": replied(usage("9" * 5_000), 1, "one line|openai:local"),
    "no choices": replied(body(choices=[]), 1, _NAMED),
    "choices of nothing": replied(body(choices="null"), 1, _NAMED),
    "a list for a text": replied(body(choices=[_LISTED]), 1, ""),
    "a message that is a number": replied(body(choices=[{"message": 5}]), 1, _NAMED),
    "a model that steers": replied(body(model=json.dumps(EVIL)), 0, _ANSWERED, "--json"),
    "a body that is a list": replied(Fault(200, "[1]"), 1, _NAMED),
    "a body that goes down": replied(Fault(200, "[" * 100_000), 1, _NAMED),
    "an error that steers": replied(Fault(400, {"error": _STRANGE_ERROR}), 1, _NAMED),
    "a page for an error": replied(Fault(401, "<html>" + EVIL * 10_000), 1, "refused the key"),
}


def checked(text: str | bytes, code: int, told: str) -> Hostile:
    """Check an inventory."""
    return Hostile(("check", "mine.yaml"), code, told, {"mine.yaml": text})


def laughing(first: str, next_level: str, levels: int = 30) -> str:
    """Aliases of which each holds the one before nine times."""
    lines = [f"a0: &a0 {first}"]
    for level in range(1, levels):
        below = ", ".join(next_level.format(n=n, name=f"*a{level - 1}") for n in range(9))
        lines.append(f"a{level}: &a{level} {first[0]}{below}{first[-1]}")
    return "\n".join(lines)


_BASE = "name: mine\nplanner: {use: fixed, plan: [query_generator]}\nmodules: {query_generator: {}}\n"
_PROMPT = "name: mine\nextends: tabmwp_cot\nmodules:\n  solution_generator:\n    prompt: mine.md\n"
_COMMAND = "about: !!python/object/apply:os.system ['touch made']\n"


def prompted(template: str) -> Hostile:
    """Ask with a prompt that holds this template, which is refused."""
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
    "laughs in values": (laughing("{x: 1}", "b{n}: {name}"), r"mine\.yaml"),
    "laughs in merges": (f"a0: &a0 {{x: 1}}\n{_MERGES}", r"mine\.yaml"),
    "a merge of itself": ("a: &a\n  <<: *a\n", r"mine\.yaml"),
    "a list of itself": ("about: &a [*a]\n", r"mine\.yaml"),
    "a set": ("about: !!set {a, b}\n", r"mine\.yaml"),
    "binary": ("about: !!binary '####'\n", r"mine\.yaml"),
    "blocks that go down": (f"about: {'- ' * 50_000}x", r"mine\.yaml"),
    "lists that go down": ("about: " + "[" * 100_000, "nested too deeply"),
    "a number of 5,000 digits": (f"budget: {{calls: {'9' * 5_000}}}\n", r"mine\.yaml"),
    "no number": ("budget: {cost: .nan}\n", r"mine\.yaml"),
    "dates and numbers as names": ("2020-01-01: 1\n5: 2\nnull: 3\n", r"mine\.yaml"),
    "NUL": ("about: a\0b\n", r"mine\.yaml"),
    "laughs in a key": ("? &k [&j [x, x], *j, *j]\n: 1\n", "a key must be a name"),
    "a command as a tag": (_COMMAND, "could not determine|python"),
    "a timestamp that is none": ("about: !!timestamp x\n", "not a valid timestamp"),
    "a truth that is none": ("about: !!bool x\n", "not a valid bool"),
}

INVENTORIES: dict[str, Hostile] = {
    **{what: checked(_BASE + text, 1, told) for what, (text, told) in _REFUSED.items()},
    "a large number": checked(_BASE + "budget: {calls: 1" + "0" * 400 + "}\n", 0, "is fine"),
    "a name that steers": checked(_STEERING, 0, "is fine"),
    "UTF-16": checked(_BASE.encode("utf-16"), 1, r"mine\.yaml"),
    "itself as its base": checked("name: mine\nextends: mine.yaml\n", 1, r"mine\.yaml"),
    "a grid of laughs": grid(laughing("[x]", "{name}")),
    "a grid of wrong types": grid("name: 5\ninventory: [1]\narms: {a: !!set {b}, 2020-01-01: .nan}\n"),
    "a parameter that laughs": Hostile((*ASK, "-p", "stop=" + "[" * 5_000), 2, "cannot be read"),
    **{f"a prompt of {template}": prompted(template) for template in _TEMPLATES},
}

_LONG_NAME, _NAME_WITH_BREAK = "n" * 5_000, "a\n\x1b[2Jb.csv"
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
    "a confidence that is no number": ((*ASK_OFFLINE, "--at-least", "nan"), 2, "--at-least"),
    "an index of nobody": (("ask", "Who?", "--index", "~nosuchuser/x"), 1, "nosuchuser"),
    "an index with a break in its name": (("ask", "Who?", "--index", "a\nb"), 1, "a b"),
    "a question of 100 kB": (("ask", "why " * 25_000, *LEAGUE, *OFFLINE), 3, "Declined|too long"),
    "a question of numbers": (("ask", "1 " * 50_000, *LEAGUE, *OFFLINE), 3, "Declined|too long"),
    "a question that steers": (("ask", f"How{EVIL} many?", *_AS_JSON), 3, '"answer": null'),
    "a question that is no UTF-8": (("ask", f"{_OUTSIDE}?", *_AS_JSON, *_LOG), 3, '"answer": null'),
    "a table whose name is no UTF-8": ((*_WHO, _OUTSIDE), 1, "no such file|caf"),
    "a unit that steers": ((*ASK_OFFLINE, "--unit", EVIL), 0, "12"),
    "choices of bars": ((*ASK_OFFLINE, "--choices", ";" * 10_000), 2, "--choices"),
    "a name of 255 bytes": ((*_WHO, "n" * 255), 1, "no such file|n+"),
    "a name of 5,000 bytes": ((*_WHO, _LONG_NAME), 1, "name too long|n+|cannot"),
    "an inventory of 5,000 bytes": ((*ASK, "-i", _LONG_NAME), 1, "n+"),
    "an inventory that is a folder": (("check", "."), 1, r"\."),
    "a model that steers": ((*ASK, "-m", f"{EVIL}:x"), 1, _OURS),
    "a model without a name": ((*ASK, "-m", ":"), 1, _OURS),
    "a database that is none": ((*_WHO, f"postgresql://u:geheim@{EVIL}/x"), 1, "(?s)^(?!.*geheim)"),
    "a device for a table": ((*_WHO, "/dev/zero"), 1, "/dev/zero"),
    "a log in a folder": ((*ASK_OFFLINE, "--log", "."), 1, "log"),
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
    ("CHAMELEON_DOCUMENTS", f"/dev/null/{EVIL}", _TEXT, 3, "is not kept"),
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
