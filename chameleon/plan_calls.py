"""Calls with arguments in a model's reply: each is set aside for a name that stands for it.

What is left is a plan of names, which `plan_text` reads. No argument is ever lost or guessed: what looks like
one and cannot be read refuses the plan.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from chameleon.errors import ModuleError, PlanError
from chameleon.state import Step
from chameleon.text import as_name, nearest
from chameleon.values import freeze, only_once

NAMING = ("module", "name", "tool", "function", "action", "tool_name")
ARGUMENTS = ("args", "arguments", "parameters", "input", "action_input", "kwargs", "params")
_NOTES = {"comment", "description", "explanation", "id", "index", "note", "output", "purpose", "reason"}
_NOTES |= {"reasoning", "step", "thought", "type", "why"}
_HINT = 'Write {"module": "name", "args": {…}}.'
_MOST_ENDS = _MOST_UNREAD = 200
_SPOT = re.compile(
    r"(?<![^\W\d])(?P<name>[^\W\d][\w-]{0,200})[`*\"']{0,3}\s{0,2}"
    r"(?:(?P<call>\()|(?:[:=]|:?\s*(?:with|args|arguments|(?i:action.input))\b\s*[:=]?)?\s{0,2}(?P<object>\{))"
    r"|(?P<json>[\[{])"
)
_COMMA_AT_END = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[\]}])')
_BARE_REFERENCE = re.compile(r"(?<=[=(,\[:])\s*(\$\w[\w.]*(?:\[\d+\])?)(?=\s*[,)\]}])")
_ARGUMENT = re.compile(r"(?<!\w)\w+[`*\"']{0,3}=[-\"'$\[{\d]\S*")
_ESCAPES = r"""\\[\\"'bfnrtuUx\n]"""
_TEXT = re.compile(rf"""\"(?:{_ESCAPES}|[^"\\])*\"|'(?:{_ESCAPES}|[^'\\])*'""")
_RUNS_TOGETHER = re.compile(r"""[\w\0]\s*\0|["'\\#]|(?<![\w.])\d[\d_.]*(?![eE][-+]?\d)[^\W\d_]""")
_INPUT = re.compile(
    r"(?:\w{0,9}action.?|^[^\w\n]*(?P<rest>\w{0,9}[^\w\n]{0,3}))input\b(.*)(?:\n(.*))?",
    re.IGNORECASE | re.MULTILINE,
)
_ACTION_LINE = re.compile(
    r"^[^\w\n\"'{]*(?:(?:action|module|tool)[^\S\n]*:[^\S\n]*|action[^\S\n]*(?=\bi))(\S.*)",
    re.IGNORECASE | re.MULTILINE,
)
_ACTION = re.compile(r"^[^\w\n]*action\b", re.IGNORECASE | re.MULTILINE)
_NOTHING = ("", "none", "null", "na")
_KEY = re.compile(r"\s*(?:[-*•]\s*)?([^\W\d][^:=\n]{0,30})[:=]")
_NO_KEYS = _NOTES | {"observation", "answer", "final answer"}
_WORDS = re.compile(r"[\w-]+")
_CUT_CALL = re.compile(r"[^\W\d]\w{0,60}\([^)\n]{0,60}=.*")
_WORDS_OF_JSON = {"true": True, "false": False, "null": None, "none": None}
_GIVEN = re.compile(r"[`*\"']{0,3}\((?!\s*\))")
_Unread = (ValueError, SyntaxError, RecursionError, MemoryError)
_decoder = json.JSONDecoder(object_pairs_hook=only_once)


class NoModule(PlanError):
    """A call with arguments of a module that there is not: `what` is its name."""


class Calls:
    """The calls of one reply. `names` are the modules; `takes` has the arguments of those that take some."""

    def __init__(self, names: Collection[str], takes: Mapping[str, Sequence[str]]) -> None:
        self.names, self.takes = frozenset(names), takes
        self.by_form = {as_name(name): name for name in names}
        self._steps: dict[str, Step] = {}
        self._unread: set[str] = set()
        self.misfit: PlanError | None = None  # of an object behind a name, where no plan is found

    def set_aside(self, text: str) -> str:
        """Return the text with a name for each call with arguments."""
        made, place, unread = list[str](), 0, 0
        while (spot := _SPOT.search(text, place)) is not None:
            found = self._json(text, spot.start()) if spot["json"] else self._after_name(text, spot)
            end = spot.end() if found is None else found[0]
            if (unread := unread + (found is None)) > _MOST_UNREAD:
                raise PlanError(f"the reply has more than {_MOST_UNREAD} brackets that hold no JSON")
            made += [text[place : spot.start()], text[spot.start() : end] if found is None else found[1]]
            place = end
            if found is not None and text[end : end + 1].isalnum():
                made.append(" ")
        return "".join([*made, text[place:]])

    def step(self, written: str) -> Step | None:
        """Return the step that a name stands for; None for one that no module has."""
        name = self._module(written)
        return None if name is None else self._steps.get(name) or Step(name)

    def _module(self, written: str) -> str | None:
        """Return the name that is meant; one as it is written wins over one that is spelt alike."""
        return written if written in self.names else self.by_form.get(as_name(written))

    def check(self, steps: Sequence[Step], rest: str) -> None:
        """Raise `PlanError` where a call is not in the plan, or the text has more arguments than the plan."""
        listed = list(steps)
        for step in self._steps.values():
            if step not in listed:
                raise PlanError(f"a call of {step.module} stands beside the plan, and not in it")
        if (more := _ARGUMENT.search(rest) or _CUT_CALL.search(rest)) is not None:
            raise PlanError(f"{more[0].strip()[:60]!r} stands beside the plan, and not in it", hint=_HINT)
        for found in _INPUT.finditer(rest):
            if found["rest"] is not None and not _ACTION.search(rest):
                continue
            behind, below = (re.sub(r"\W", "", each or "").lower() for each in found.groups()[1:])
            if behind not in _NOTHING or (below not in _NOTHING and not _KEY.match(found[3])):
                raise PlanError(
                    f"{found[0].strip()[:60]!r} stands beside the plan, and not in it", hint=_HINT
                )
        for label in _ACTION_LINE.finditer(rest):
            said = f"_{as_name(label[1])}_"
            if not label[1].lower().startswith("input") and not any(
                f"_{form}_" in said for form in self.by_form
            ):
                raise PlanError(f"{label[0].strip()[:60]!r} names no module", hint=_HINT)
        bare = {step.module for step in steps if not step.args}
        planned = {step.module for step in steps}
        for module in self.takes:
            is_unread = module in bare and module in self._unread
            has_more = self._has_more(module, rest, is_planned=module in planned)
            if is_unread or has_more or (module in bare and self._has_keys_below(module, rest)):
                raise PlanError(f"the arguments of {module} cannot be read", hint=_HINT)

    def plainly(self, told: str) -> str:
        """Return a sentence with the names of modules in the place of those that stand for calls."""
        for name, step in self._steps.items():
            told = told.replace(name, step.module)
        return told

    def _has_more(self, module: str, rest: str, *, is_planned: bool) -> bool:
        """Return whether what is left of a text has an argument of a module, or what begins as its call."""
        name, named = re.escape(module), "|".join(map(re.escape, self.takes[module]))
        signs = [rf"\b(?:{named})[\"'`*]{{0,3}}\s*[:=>]", rf"\b{name}[\"'`*]{{0,3}}(?:\(|\s?[\[{{])"]
        signs += [] if is_planned else [rf"(?m)^[^\S\n]*(?:\d+[.)]|[-*•])\W*{name}\b"]
        return any(re.search(sign, rest) for sign in signs)

    def _has_keys_below(self, module: str, rest: str) -> bool:
        """Return whether the line below a name has a key of something, or one is indented below it."""
        named = re.compile(rf"\b{re.escape(module)}\b", re.IGNORECASE)
        level, is_next = -1, False
        for line in filter(str.strip, rest.splitlines()):
            indent = len(line) - len(line.lstrip())
            if any(as_name(word) in self.by_form for word in _WORDS.findall(line)):
                level, is_next = indent if named.search(line) else -1, named.search(line) is not None
            elif is_next or 0 <= level < indent:
                is_next, key = False, _KEY.match(line)
                if key[1].strip().lower() not in _NO_KEYS if key else 0 <= level < indent:
                    return True
            else:
                level = -1
        return False

    def _name_of(self, written: str, args: Mapping[str, Any]) -> str:
        """Return the name that stands for a call; that of the module where there are no arguments."""
        module = self._module(written) or written
        if module in self._steps:  # it stands for a call already
            raise PlanError(f"{self._steps[module].module} is given arguments twice")
        if not args:
            return module
        if module not in self.takes:
            raise PlanError(f"{module} is given arguments, and takes none", hint="Give its name alone.")
        try:
            step = Step(module, freeze(args, f"the argument of {module}"))
        except ModuleError as problem:
            raise PlanError(problem.what, hint=problem.hint) from problem
        for name, known in self._steps.items():
            if known == step:
                return name
        number = len(self._steps) + 1
        while as_name(name := f"{module}_call_{number}") in self.by_form:
            number += 1
        self._steps[name] = step
        self.by_form[as_name(name)] = name
        return name

    def _json(self, text: str, start: int) -> tuple[int, str] | None:
        """Read the JSON that begins there; return its end, and what is to stand in its place."""
        if (read := _decoded(text, start)) is None:
            return None
        end, value = read
        before = len(self._steps)
        named = self._named(value)
        return end, json.dumps(named) if len(self._steps) > before or named != value else text[start:end]

    def _named(self, value: Any) -> Any:
        """Return what JSON holds, calls by name."""
        if isinstance(value, str):
            return self._called(value)
        if isinstance(value, list):
            return [self._named(each) for each in value]
        if not isinstance(value, Mapping):
            return value
        inner = value.get("function")
        call: Mapping[str, Any] = inner if isinstance(inner, Mapping) else value
        key = next((key for key in NAMING if isinstance(call.get(key), str)), None)
        if key is not None and as_name(call[key]) in self.by_form:
            beside = value.items() if call is inner else ()
            if more := [name for name, each in beside if name != "function" and not is_note(name, each)]:
                raise PlanError(f"the call of {call[key]} has a key {more[0][:60]!r}")
            return {"module": self._name_of(call[key], self._given(call, key))}
        keys = [self._module(each) for each in value]
        if keys and all(
            each in self.takes and isinstance(value[k], Mapping) for k, each in zip(value, keys, strict=True)
        ):
            return [self._name_of(name, args) for name, args in value.items()]  # {"convert": {"amount": 3}}
        nested = {
            k: self._named(v) if isinstance(v, list | Mapping) or k == key else v for k, v in value.items()
        }
        return nested

    def _given(self, call: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        """Return the arguments of one call as JSON, which stand in an object or beside the name."""
        module = self._module(call[key]) or ""
        takes = self.takes.get(module, ())
        others = {name: value for name, value in call.items() if name != key}
        beside = {name: value for name, value in others.items() if name in takes}
        found = list[Mapping[str, Any]]()
        for name in [each for each in ARGUMENTS if each in others]:
            value = others.pop(name)
            if isinstance(value, str) and name not in takes:
                value = _of_text(value, module)
            if isinstance(value, Mapping) and (name not in takes or set(value) <= set(takes)):
                beside.pop(name, None)
                found += [value] if value else []
            elif name not in takes and value not in (None, [], ""):
                raise PlanError(f"the arguments of {module} are no object", hint=_HINT)
        if beside:
            found.append(beside)
        if len(found) > 1:
            raise PlanError(f"{module} is given arguments twice", hint=_HINT)
        for name, value in others.items():
            if name not in beside and not is_note(name, value):
                hint = nearest(name, takes) if takes else "Give its name alone."
                raise PlanError(f"the call of {module} has a key {name[:60]!r}", hint=hint)
        inner = [name for value in others.values() for name in _texts(value) if name not in beside.values()]
        if any(as_name(each) in self.by_form for each in inner):
            raise PlanError(f"the object of {module} names more than one module")
        return found[0] if found else {}

    def _called(self, text: str) -> str:
        """Return the name for a text that is a call: `convert(amount=3)`."""
        spot = _SPOT.match(text.strip())
        if spot is None or spot["json"]:
            return text
        found = self._after_name(text.strip(), spot)
        return found[1] if found is not None and found[0] == len(text.strip()) else text

    def _after_name(self, text: str, spot: re.Match[str]) -> tuple[int, str] | None:
        """Read what follows a name: (amount=3), or an object of arguments."""
        if (module := self._module(spot["name"])) is None:
            return None if spot["call"] else self._json_behind(text, spot)
        if module not in self.takes:
            return self._behind_bare(text, spot, module)
        if spot["object"]:
            read = _decoded(text, spot.start("object"))
            if read is not None and isinstance(read[1], Mapping) and set(read[1]) <= set(self.takes[module]):
                return read[0], self._name_of(module, read[1])
            self._unread.add(module)
            if read is not None and isinstance(read[1], Mapping):
                self._note_misfit(module, read[1])
            return self._json_behind(text, spot)
        for end in _ends(text, spot.end()):
            if (args := _arguments(text[spot.start("call") : end], self.takes[module])) is not None:
                return end, self._name_of(module, args)
        self._unread.add(module)
        return None

    def _note_misfit(self, module: str, given: Mapping[str, Any]) -> None:
        """Keep what is wrong with an object behind a name that is no plan itself."""
        odd = next(name for name in given if name not in self.takes[module])
        if not any(name in NAMING or isinstance(value, list | Mapping) for name, value in given.items()):
            hint = nearest(odd[:60], self.takes[module])
            self.misfit = PlanError(f"{module} takes no argument {odd[:60]!r}", hint=hint)

    def _behind_bare(self, text: str, spot: re.Match[str], module: str) -> tuple[int, str] | None:
        """Read what follows a module without arguments: a further call, and nothing that might be one."""
        if spot["call"]:
            if _GIVEN.match(text, spot.end("name")):
                raise PlanError(f"{module} is given arguments, and takes none", hint="Give its name alone.")
            return None
        read = _decoded(text, spot.start("object"))
        if read is not None and isinstance(read[1], Mapping) and read[1] == self._named(read[1]):
            return read[0], self._name_of(module, read[1])
        return self._json_behind(text, spot)

    def _json_behind(self, text: str, spot: re.Match[str]) -> tuple[int, str] | None:
        """Read the object behind a word that it does not belong to: `Plan: {"steps": …}`."""
        start = spot.start("object")
        found = self._json(text, start)
        return None if found is None else (found[0], text[spot.start() : start] + found[1])


def is_note(key: str, value: Any) -> bool:
    """Return whether something in the object of a call tells nothing that is to be done."""
    return key.lower() in _NOTES and not isinstance(value, Mapping | list)


def _of_text(text: str, module: str) -> Any:
    """Read arguments that are written as the text of an object, as OpenAI has them."""
    try:
        return (
            json.loads(text, object_pairs_hook=only_once, parse_constant=_no_number) if text.strip() else {}
        )
    except (ValueError, RecursionError):
        raise PlanError(f"the arguments of {module} are no JSON", hint=_HINT) from None


def _no_number(written: str) -> Any:
    raise ValueError(f"{written} is no number of JSON")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)


def _decoded(text: str, start: int) -> tuple[int, Any] | None:
    """Read JSON, or what Python writes for it, that begins there; return its end with it."""
    try:
        value, end = _decoder.raw_decode(text, start)
        return end, value
    except (ValueError, RecursionError):
        pass
    if (close := _closing(text, start)) is None:
        return None
    end, body = close, text[start:close]
    for written in (body, _COMMA_AT_END.sub(lambda found: found[1] or "", body), *_straight(body)):
        try:
            return end, json.loads(written, object_pairs_hook=only_once)
        except (ValueError, RecursionError):
            pass
    try:
        return end, _literal(_parsed(body))
    except _Unread:
        return None


def _straight(body: str) -> tuple[str, ...]:
    """Return JSON that is written with typographic quotes; none where straight ones stand in it as well."""
    return () if '"' in body else (body.translate(str.maketrans("“”„", '"""')),)


def _closing(text: str, start: int) -> int | None:
    """Return where the bracket that opens there is closed, quotes of both kinds minded; None if nowhere."""
    depth, quote, place = 0, "", start
    while place < len(text):
        sign = text[place]
        if quote:
            place += sign == "\\"
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "[{(":
            depth += 1
        elif sign in ")}]":
            depth -= 1
            if not depth:
                return place + 1
        place += 1
    return None


def _ends(text: str, start: int) -> Iterator[int]:
    """Yield the ends of what a parenthesis may hold, the nearest first."""
    for found, end in enumerate(re.finditer(r"\)", text[start:])):
        if found == _MOST_ENDS:
            return
        yield start + end.end()


def _arguments(written: str, names: Sequence[str]) -> Mapping[str, Any] | None:
    """Read the parenthesis of a call, by name or by place; None for what is none."""
    for text in dict.fromkeys((written, _BARE_REFERENCE.sub(lambda found: json.dumps(found[1]), written))):
        try:
            call = _parsed(f"call{text}")
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            placed = [_literal(each) for each in call.args]
            named = {str(each.arg): _literal(each.value) for each in call.keywords if each.arg is not None}
        except _Unread:
            continue
        if len(named) < len(call.keywords) or len(placed) > len(names):
            return None
        if len(placed) == 1 and not named and isinstance(placed[0], dict) and set(placed[0]) <= set(names):
            return placed[0]
        by_place = dict(zip(names, placed, strict=False))
        return None if set(by_place) & set(named) else {**by_place, **named}
    return None


def _parsed(source: str) -> ast.expr:
    """Return the tree of an expression. Raises ValueError where Python would join texts, or leave one out."""
    if _RUNS_TOGETHER.search(_TEXT.sub("\0", source)):
        raise ValueError("a text runs into another, a comment, or has an escape that JSON does not know")
    return ast.parse(source, mode="eval").body


def _literal(node: ast.AST) -> Any:
    """Return the value of a literal of Python or JSON; nothing is evaluated. Raises ValueError for others."""
    match node:
        case ast.Constant(value=str() | int() | float() | None):
            return node.value
        case ast.Name(id=name) if name.lower() in _WORDS_OF_JSON:
            return _WORDS_OF_JSON[name.lower()]
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_literal(item) for item in items]
        case ast.Dict(keys=keys, values=items):
            pairs = [(_key(key), _literal(item)) for key, item in zip(keys, items, strict=True)]
            return only_once(pairs)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)) if (
            not isinstance(number, bool)
        ):
            return -number
    raise ValueError("no literal")


def _key(node: ast.AST | None) -> str:
    match node:
        case ast.Constant(value=str(text)) | ast.Name(id=text):
            return text
    raise ValueError("a key is no text")
