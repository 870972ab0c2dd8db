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
_LIMIT = 4300  # digits, above which Python makes no integer of a text


@dataclass(frozen=True)
class Hostile:
    """A command, the files that it finds in its folder, and how it ends.

    `told` is a regular expression for what it says on either stream; `make` lays what is no plain file, and
    `reply` is what the model's server answers. `files` may be functions, called when they are needed.
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
    named = ("--inventory", "cautious.yaml", "--model", "openai:local", "--store", "off")
    files = {"cautious.yaml": CAUTIOUS.format(extends)}
    arguments = (*ASK, *named, *options)
    return Hostile(arguments, code, told, files, reply=reply)


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


_NO_ANSWER, _CUT = "does not say", "was cut off"
_ANSWERED = r"\A12\n|\"answer\": \"12\""

_FUNCTION = {"name": EVIL, "arguments": "{" * 100_000}
_CALLS = [{"id": "1", "type": "function", "function": _FUNCTION}]
_CALL = {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": _CALLS}}
_LISTED = {"message": {"role": "assistant", "content": [5, None]}}
_STRANGE_ERROR = {"message": f"{EVIL}\n\nno\n" * 1000, "code": EVIL}
_LONG_PLAN = json.dumps(["solution_generator"] * 10_000)
_STRANGE_PLAN = json.dumps(["os:system", "__class__", EVIL, "../../x", 5, None])

REPLIES: dict[str, Hostile] = {
    "a sentence without an end": replied("The answer is " * 72_000, 1, _CUT),
    "JSON that goes down": replied('{"a":' * 10_000, 1, _NO_ANSWER, extends="tabmwp"),
    "brackets that close": replied("[" * 10_000 + "]" * 10_000, 1, _NO_ANSWER, extends="tabmwp"),
    "programs without an end": replied(
        "```python\nans = 1\n```\n" * 10_000, 0, r"\A1\n", extends="tabmwp_pot"
    ),
    "a reply that steers": replied(f"{EVIL} The answer is 12{EVIL}", 0, r"\A12", "--trace"),
    "a reply that steers, as JSON": replied(f"{EVIL} The answer is 12{EVIL}", 0, r"\\u001b", "--json"),
    "tags that nobody sees": replied("The answer is 12\U000e0041\u00ad", 0, r"\A12"),
    "NUL": replied("The answer is 12\0", 0, r"\A12"),
    "half surrogates": replied("The answer is \ud800 12 \udfff", 0, r"\\ud800 12 \\udfff", "--json"),
    "a hundred thousand accents": replied(
        "The answer is a" + "\u0301" * 100_000, 0, '"answer": "a\u0301|"answer": "\u00e1', "--json"
    ),
    "nothing": replied("", 1, "empty reply"),
    "only blanks": replied(" " * 900_000, 1, "empty reply"),
    "blanks, then a word": replied(" " * 100_000 + "x", 1, _NO_ANSWER),
    "a thought that never ends": replied("<think>" + "hm " * 300_000, 1, "wrote thoughts and no answer"),
    "thoughts in thoughts": replied("<think>" * 120_000, 1, "wrote thoughts and no answer"),
    "a thought's end alone": replied("</think>" * 10_000, 1, "wrote thoughts and no answer"),
    "a number of 100,000 digits": replied("The answer is " + "9" * 100_000, 0, r"\A9+"),
    "a plan of 10,000 steps": replied(_LONG_PLAN, 1, _NO_ANSWER, extends="tabmwp"),
    "a plan of hostile names": replied(_STRANGE_PLAN, 1, _NO_ANSWER, "--trace", extends="tabmwp"),
    "a call of a tool": replied(body(choices=[_CALL]), 1, "solution_generator"),
    "tokens that are no number": replied(usage("NaN", "NaN"), 0, _ANSWERED),
    "endless tokens": replied(usage("Infinity", "Infinity"), 0, _ANSWERED, "--json"),
    "tokens below nothing": replied(usage("-5", "-0.5"), 0, _ANSWERED, "--log", "log.jsonl"),
    "endless cost with a log": replied(usage("1", "1e999"), 0, _ANSWERED, "--log", "log.jsonl"),
    "texts for numbers": replied(usage('"many"', '"dear"'), 0, _ANSWERED),
    "a cost of 400 digits": replied(usage("1", "9" * 400), 0, _ANSWERED),
    "tokens of 400 digits": replied(usage("9" * 400), 0, _ANSWERED, "--log", "log.jsonl"),
    "tokens of 5,000 digits": replied(usage("9" * (_LIMIT + 700)), 1, "one line|openai:local"),
    "no choices": replied(body(choices=[]), 1, "openai:local"),
    "choices of nothing": replied(body(choices="null"), 1, "openai:local"),
    "a list for a text": replied(body(choices=[_LISTED]), 1, ""),
    "a message that is a number": replied(body(choices=[{"message": 5}]), 1, "openai:local"),
    "a model that steers": replied(body(model=json.dumps(EVIL)), 0, _ANSWERED, "--json"),
    "a body that is a list": replied(Fault(200, "[1]"), 1, "openai:local"),
    "a body that goes down": replied(Fault(200, "[" * 100_000), 1, "openai:local"),
    "an error that steers": replied(Fault(400, {"error": _STRANGE_ERROR}), 1, "openai:local"),
    "a page for an error": replied(Fault(401, "<html>" + EVIL * 10_000), 1, "refused the key"),
}


def checked(text: str, code: int, told: str) -> Hostile:
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


def prompted(template: str) -> Hostile:
    """Ask with a prompt that holds this template, which is refused."""
    arguments = (*ASK, "-i", "mine.yaml", "-m", "openai:local", "--store", "off")
    files = {"mine.yaml": _PROMPT, "mine.md": template}
    return Hostile(arguments, 1, r"mine\.md", files, reply="The answer is 12")


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
_GRID = "name: 5\ninventory: [1]\narms: {a: !!set {b}, 2020-01-01: .nan}\n"
_REFUSED = {
    "laughs in lists": laughing("[x]", "{name}"),
    "laughs in values": laughing("{x: 1}", "b{n}: {name}"),
    "laughs in merges": f"a0: &a0 {{x: 1}}\n{_MERGES}",
    "a merge of itself": "a: &a\n  <<: *a\n",
    "a list of itself": "about: &a [*a]\n",
    "a set": "about: !!set {a, b}\n",
    "binary": "about: !!binary '####'\n",
    "blocks that go down": f"about: {'- ' * 50_000}x",
    "tabs": "about:\n\t- x\n",
    "a number of 5,000 digits": f"budget: {{calls: {'9' * 5_000}}}\n",
    "no number": "budget: {cost: .nan}\n",
    "dates and numbers as names": "2020-01-01: 1\n5: 2\nnull: 3\n",
    "NUL": "about: a\0b\n",
}

INVENTORIES: dict[str, Hostile] = {
    **{what: checked(_BASE + text, 1, r"mine\.yaml") for what, text in _REFUSED.items()},
    "laughs in a key": checked(_BASE + "? &k [&j [x, x], *j, *j]\n: 1\n", 1, "a key is a name"),
    "a command as a tag": checked(
        _BASE + "about: !!python/object/apply:os.system ['touch made']\n", 1, "could not determine|python"
    ),
    "a timestamp that is none": checked(_BASE + "about: !!timestamp x\n", 1, "this is no timestamp"),
    "a truth that is none": checked(_BASE + "about: !!bool x\n", 1, "this is no bool"),
    "lists that go down": checked(_BASE + "about: " + "[" * 100_000, 1, "nested too deeply"),
    "a large number": checked(_BASE + "budget: {calls: 1" + "0" * 400 + "}\n", 0, "is fine"),
    "a name that steers": checked(
        'extends: tables_offline\nname: "\\e[2J\\x9b31m\\u202e\\n"\nabout: "\\e]8;;x\\a"\n', 0, "is fine"
    ),
    "UTF-16": Hostile(("check", "mine.yaml"), 1, r"mine\.yaml", {"mine.yaml": _BASE.encode("utf-16")}),
    "itself as its base": checked("name: mine\nextends: mine.yaml\n", 1, r"mine\.yaml"),
    **{
        f"a grid of {what}": Hostile(
            ("grid", "grid.yaml", "--no-model"), 1, r"grid\.yaml", {"grid.yaml": text}
        )
        for what, text in {"laughs": laughing("[x]", "{name}"), "wrong types": _GRID}.items()
    },
    "a parameter that laughs": Hostile((*ASK, "-p", "stop=" + "[" * 5_000), 2, "cannot be read"),
    **{f"a prompt of {template}": prompted(template) for template in _TEMPLATES},
}


def _variable(name: str, value: str, code: int, told: str, *arguments: str) -> Hostile:
    asked = arguments or ASK_OFFLINE
    return Hostile(asked, code, told, changes={name: value})


_SETTING = "CHAMELEON_MAX_TABLE_MB"
_LICENSE = str(ROOT / "LICENSE")
_OUTSIDE = os.fsdecode(b"caf\xe9\xff.csv")  # bytes that are no UTF-8
_EVAL = ("eval", "tables_offline", str(ROOT / "demos" / "data" / "problems.jsonl"))

_NUMBERS = (
    *(("--limit", value) for value in ("9" * 20, "9" * 5_000, "-1")),
    *(("--workers", value) for value in ("0", "-1", "1000000000", "1e9")),
    ("--max-cost", "nan"),
)
_SCRIPTED = (*ASK, "-m", "scripted:x")

COMMAND_LINES: dict[str, Hostile] = {
    **{f"{option} {value[:20]}": Hostile((*_EVAL, option, value), 2, option) for option, value in _NUMBERS},
    "a confidence that is no number": Hostile((*ASK_OFFLINE, "--at-least", "nan"), 2, "--at-least"),
    "an index of nobody": Hostile(("ask", "Who?", "--index", "~nosuchuser/x"), 1, "nosuchuser"),
    "an index with a break in its name": Hostile(("ask", "Who?", "--index", "a\nb"), 1, "a b"),
    "a question of 100 kB": Hostile(("ask", "why " * 25_000, *LEAGUE, *OFFLINE), 3, "Declined|too long"),
    "a question of numbers": Hostile(("ask", "1 " * 50_000, *LEAGUE, *OFFLINE), 3, "Declined|too long"),
    "a question that steers": Hostile(("ask", f"How{EVIL} many?", *_AS_JSON), 3, '"answer": null'),
    "a question that is no UTF-8": Hostile(("ask", f"{_OUTSIDE}?", *_AS_JSON), 3, '"answer": null'),
    "a question that is no UTF-8, with a log": Hostile(
        ("ask", f"{_OUTSIDE}?", *LEAGUE, *OFFLINE, "--log", "log.jsonl"), 3, "Declined"
    ),
    "a table whose name is no UTF-8": Hostile(("ask", "Who?", "--table", _OUTSIDE), 1, "no such file|caf"),
    "a unit that steers": Hostile((*ASK_OFFLINE, "--unit", EVIL), 0, "12"),
    "choices of bars": Hostile((*ASK_OFFLINE, "--choices", ";" * 10_000), 2, "--choices"),
    "a name of 255 bytes": Hostile(("ask", "Who?", "--table", "n" * 255), 1, "no such file|n+"),
    "a name of 5,000 bytes": Hostile(("ask", "Who?", "--table", "n" * 5_000), 1, "name too long|n+|cannot"),
    "a name with a break": Hostile(
        ("ask", "What is the sum of the points?", "--table", "a\n\x1b[2Jb.csv", *OFFLINE),
        0,
        r"\A8\n",
        {"a\n\x1b[2Jb.csv": "Team,Points\nA,5\nB,3\n"},
    ),
    "an inventory of 5,000 bytes": Hostile((*ASK, "-i", "n" * 5_000), 1, "n+"),
    "an inventory that is a folder": Hostile(("check", "."), 1, r"\."),
    "a model that steers": Hostile((*ASK, "-m", f"{EVIL}:x"), 1, "chameleon: "),
    "a model without a name": Hostile((*ASK, "-m", ":"), 1, "chameleon: "),
    "a database that is none": Hostile(
        ("ask", "Who?", "--table", f"postgresql://u:geheim@{EVIL}/x"), 1, "(?s)^(?!.*geheim)"
    ),
    "a log in a folder": Hostile((*ASK_OFFLINE, "--log", "."), 1, "log"),
    "a log without room": Hostile((*ASK_OFFLINE, "--log", "/dev/full"), 1, "log|/dev/full"),
    "megabytes: 1e300": _variable(_SETTING, "1e300", 0, r"\A12"),
    **{
        f"megabytes: {value[:20]}": _variable(_SETTING, value, 1, _SETTING)
        for value in ("nan", "inf", "-1", f"abc{EVIL}", "9" * 5_000)
    },
    "a model in the environment": _variable("CHAMELEON_MODEL", f"{EVIL}\n:::", 1, "chameleon: ", *ASK),
    "a store that is a folder": _variable("CHAMELEON_STORE", ".", 1, "chameleon: ", *_SCRIPTED),
    "a store of 5,000 bytes": _variable("CHAMELEON_STORE", "s" * 5_000, 1, "chameleon: ", *_SCRIPTED),
    "documents at no place": _variable(
        "CHAMELEON_DOCUMENTS", f"/dev/null/{EVIL}", 3, "is not kept", "ask", "Who?", "--text", _LICENSE
    ),
    **{
        f"{name}, for doctor": _variable(name, value, 0, "", "doctor")
        for name, value in {
            "CHAMELEON_WEB_CACHE": "\n",
            "CHAMELEON_WEB_PRIVATE": EVIL,
            "CHAMELEON_USER_AGENT": f"a\r\nb{EVIL}",
            "OPENAI_BASE_URL": f"http://a b{EVIL}",
        }.items()
    },
}
