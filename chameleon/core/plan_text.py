"""Read a plan from a model's reply: all of it, or none.

First each call, list, object and module name is replaced in the text by one private sign. The plan is then
the list, or else the lines of signs. The rest of the reply may contain no other sign, no argument and nothing
that could be part of one, so no step or argument is ever lost silently.
"""

import ast
import json
import re
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from chameleon.core.events import Step
from chameleon.errors import ModuleError, PlanError
from chameleon.text import as_name, nearest
from chameleon.values import freeze, only_once

LONGEST_PLAN_TEXT = 20_000
# Keys that models use for the name of a module and for its arguments, most likely first.
NAMING = ("module", "name", "tool", "function", "action", "tool_name")
ARGUMENTS = ("args", "arguments", "parameters", "input", "action_input", "kwargs", "params")
# Keys of an object whose value is a remark, not an argument.
_NOTES = {"analysis", "comment", "confidence", "description", "explanation", "goal", "id", "index", "note"}
_NOTES |= {"output", "purpose", "question", "rationale", "reason", "reasoning", "status", "step", "task"}
_NOTES |= {"thought", "title", "type", "version", "why"}
_FORM_HINT = 'Write {"module": "name", "args": {…}}.'
_SEVERAL_LISTS = "the reply holds several lists of modules that differ"
_ALONE_HINT = "Reply with one list and nothing else."
_FIRST_SIGN = 0xF0000  # a private plane of Unicode, unused in ordinary text
_SIGN = re.compile("[\U000f0000-\U000ffffd]")
_SPOT = re.compile(  # where a call, a list or an object may begin
    r"(?<!\w)(?P<name>[^\W\d][\w-]{0,200})[`*\"']{0,3}(?:(?P<space>\s?)(?=\()|(?:[ \t]{0,3}(?:(?:[:=]|with\b"
    r"|args:|arguments:)\s{0,2})?|[\s*]{0,5}(?i:action[ _]?input)[\s*]{0,3}:[\s*`]{0,3})(?=\{))|(?=[\[{])"
)
# String literals that mean the same in JSON and in Python.
_TEXT = r"""\"(?:\\.|[^\"\\\n])*\"|'(?:\\["'\\bfnrtuUx]|[^'\\\n])*'"""
_TOKEN = re.compile(
    rf"\s*(?:(?P<text>{_TEXT})|(?P<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.]))"
    r"|(?P<word>\$?[^\W\d][\w.\-]*(?: [\w\-]+)*)|(?P<sign>[\[\]{}()]))"
)
_KEY = re.compile(rf"\s*(?:({_TEXT})\s*:|([^\W\d]\w*)\s*[=:])")  # "amount": or amount= or amount:
_COMMA = re.compile(r"\s*(?:,|(?=[\]})]))")  # a comma, or the closing bracket that needs none
_CLOSING = {"[": "]", "{": "}", "(": ")"}
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None}
_PARSE_ERRORS = (ValueError, SyntaxError, RecursionError)
_PLAIN_LIST = re.compile(r"\[([^\[\]{}()=:|\"'“”„‘’]*)\]")  # [row_lookup, answer_generator] or [as it is]
# Code fences, tags, and the "Observation:" that ends a turn of ReAct.
_NOISE = re.compile(r"^[ \t]*```\w*[ \t]*$|</?\w+>|^[ \t*#]*observation:\s*\Z", re.IGNORECASE | re.MULTILINE)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d*|\d+")  # a word in RowLookup or row_lookup
_ARROW_BREAK = re.compile(r"(?<=[>→]) ?\n|\n ?(?=[-=]>|→)")  # a line break next to an arrow
_BULLET = re.compile(r"\s*(?:(?:step\s+)?(?P<number>\d{1,4})\s?[:.)]|-(?!>)|\*(?=\s)|•)", re.IGNORECASE)
_LABEL = r"[\s*#]*(?:(?:the|final) )?(?:plan|modules?|tools?|steps?|calls?|action|answer)(?: is| are)?[\s*]*:"
_STEP = rf"[\s.*`\"'“”]*{_SIGN.pattern}(?:\(\))?[\s.*`\"'“”]*"
_JOIN = r"(?:[,;]? ?\b(?:and )?then\b|[-=]?>|→|,|;|&|\|)"
# A bullet or a label, then signs and their joiners; a bulleted line may end with a remark.
_LINE = re.compile(
    rf"(?i)(?:(?P<bullet>{_BULLET.pattern})|{_LABEL})?(?P<steps>{_STEP}(?:{_JOIN}{_STEP})*)[,;]?"
    r"(?(bullet)(?P<remark>(?:[:(.,–—]|(?<=\s)-\s).*)?)"
)
_ORDER = r"(?:[\W\d]*\b(?:and|then|next|final|finally|lastly|after|step)\b)+"
# The start of a line that is a step rather than prose.
_LEAD = re.compile(rf"^(?:{_BULLET.pattern}|\W*{_SIGN.pattern}|{_ORDER})", re.IGNORECASE)
# Signs that belong to prose: brackets in pairs but not right after a word, "a) ", "step(s)", ":-)", and "=>".
_PAIRS = re.compile(r"(?<!\w)(?:\([^()\[\]{}=]*\)|\[[^()\[\]{}=]*\])|(?<!\S)\w{1,2}\)|\(e?s\)|[:;]-?\)|=>")


def parse_plan(
    text: str,
    names: Collection[str],
    takes: Mapping[str, Sequence[str]] | None = None,
    aliases: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Step, ...]:
    """Read the steps in a model's reply: a JSON or Python list, calls, arrows, or a numbered list.

    A step is a name or, if the module takes arguments, a call: {"module": …, "args": {…}},
    `name(key=value)`, or `name(key: value)` as traces write it. Case, spaces, hyphens and underscores in
    names do not matter. Prose around the plan is ignored if it cannot be part of it.

    Args:
        names: the modules that a plan may name.
        takes: the names of the arguments, in order, of each module that takes some.
        aliases: modules by other names that they have.

    Raises:
        PlanError: for text with no plan or several, a name or argument that cannot be read, or a module
            named where it could be another step.
    """
    if len(text) > LONGEST_PLAN_TEXT:
        raise PlanError(f"the reply has {len(text):,} characters; a plan has a line or two")
    try:
        steps = _Reply(names, takes or {}, aliases).steps(text)
        return tuple(Step(step.module, freeze(step.args or None, step.module)) for step in steps)
    except ModuleError as problem:
        raise PlanError(problem.what, hint=problem.hint) from None


class _Reply:
    """One reply. `names` are the modules; `takes` has the arguments of each module that takes some."""

    def __init__(
        self, names: Collection[str], takes: Mapping[str, Sequence[str]], aliases: Mapping[str, str]
    ) -> None:
        self.names, self.takes, self.aliases = frozenset(names), takes, aliases
        self.forms = {form: name for name in names if (form := as_name(name))}
        self.read: dict[str, tuple[list[Step], str]] = {}  # by sign: steps and "list", "call" or "name"

    def steps(self, text: str) -> list[Step]:
        """Return the steps. `args` is None for a bare name whose arguments may be missing."""
        if _SIGN.search(text):
            raise PlanError("the reply has characters from a private plane of Unicode")
        rest = _NOISE.sub("\n", self._without_names(self._without_calls(text)))
        groups = [each for each in self.read.values() if each[1] != "name"]
        if is_list := any(kind == "list" for _, kind in groups):
            if any(each != groups[0] for each in groups):
                raise PlanError(_SEVERAL_LISTS, hint=_ALONE_HINT)
            plan, left, after = groups[0][0], rest.splitlines(), _SIGN.split(rest)[-1]
        else:
            plan, left, after = self._lines(rest)
        if plan:
            self._check_left(left, plan, after, is_list=is_list)
            return plan
        if name := re.search(r"\[([^\W\d][\w -]*)\]", rest) or re.search(r"\b([^\W\d][\w-]*)\(", rest):
            self._step(name[1])  # raises
        if line := next(filter(_SIGN.search, left), ""):
            raise PlanError(f"{_SIGN.sub('…', line)[:60]!r} cannot be read as steps", hint=_FORM_HINT)
        form = '[{"module": "NAME", "args": {…}}]' if self.takes else '["name", "name"]'
        raise PlanError("the reply has no list of modules", hint=f"Reply with a list such as {form}.")

    def _without_calls(self, text: str) -> str:
        """Return the text with a sign for each call, list and object. Raises `PlanError` for a broken one."""
        result, place = "", 0
        while (spot := _SPOT.search(text, place)) is not None:
            end, steps, kind = self._call(text, spot) if spot["name"] else self._value(text, spot.end())
            piece = self._sign(steps, kind) if steps else text[spot.start() : end]
            result, place = result + text[place : spot.start()] + piece, end
        return result + text[place:]

    def _without_names(self, text: str) -> str:
        """Return the text with a sign for each name of a module, in any spelling; longer names first."""
        words, result, place, number = list(_WORD.finditer(text)), "", 0, 0
        max_words = 3 + max((form.count("_") for form in self.forms), default=0)
        while number < len(words):
            for last in range(min(number + max_words, len(words)) - 1, number - 1, -1):
                spelling = text[words[number].start() : words[last].end()]
                if re.fullmatch(r"[\w -]+", spelling) and self._module(spelling):
                    result += text[place : words[number].start()] + self._sign([self._step(spelling)], "name")
                    place, number = words[last].end(), last
                    break
            number += 1
        return result + text[place:]

    def _sign(self, steps: list[Step], kind: str) -> str:
        """Return a new sign for these steps."""
        self.read[sign := chr(_FIRST_SIGN + len(self.read))] = steps, kind
        return sign

    def _call(self, text: str, spot: re.Match[str]) -> tuple[int, list[Step], str]:
        """Read `name(amount=3)` or `name {"amount": 3}`; no steps for any other word."""
        module, start = self._module(spot["name"]), spot.end()
        if module is None or (module not in self.takes and spot["space"]):  # prose, such as "now (it helps)"
            return start, [], ""
        try:
            end, args = self._parse(text, start, self.takes.get(module, ()))
        except _PARSE_ERRORS:
            raise PlanError(f"the arguments of {module} cannot be read", hint=_FORM_HINT) from None
        return end, [self._step(module, args)], "call"

    def _value(self, text: str, start: int) -> tuple[int, list[Step], str]:
        """Read a list or an object; no steps for {}, [1] and [as it is]."""
        if plain := _PLAIN_LIST.match(text, start):
            around = text[max(0, start - 2) : start] + text[plain.end() : plain.end() + 2]
            is_word = "," not in plain[1] and re.fullmatch(r"\w  \w", around)  # "No [ocr] is needed."
            if is_word or not any(map(self._module, plain[1].split(","))):
                return plain.end(), [], ""
        try:
            end, value = self._parse(text, start, is_plan=True)
            result = self._in_object(value) if isinstance(value, dict) else (self._steps_in(value), "list")
            return end, *result
        except _PARSE_ERRORS:
            raise PlanError(f"the value {text[start:][:40]!r} cannot be read", hint=_FORM_HINT) from None

    def _parse(
        self, text: str, start: int, takes: Sequence[str] | None = None, *, is_plan: bool = False
    ) -> tuple[int, Any]:
        """Read a JSON or Python value, and return its end with it. Raises `_PARSE_ERRORS`.

        With `is_plan` a list may also hold names and calls; with `takes` it reads arguments in parentheses.
        """
        if (token := _TOKEN.match(text, start)) is None:
            raise ValueError("no value")
        end, word, closing = token.end(), token["word"], _CLOSING.get(token["sign"] or "")
        if token["text"] or token["number"]:
            return end, _text(token["text"]) if token["text"] else json.loads(token["number"])
        if word and is_plan and text[end : end + 1] == "(":  # a call in a list
            end, args = self._parse(text, end, self.takes.get(self._module(word) or "", ()))
            return end, self._step(word, args)
        if word and (is_plan or word.lower() in _CONSTANTS or word[0] == "$"):  # "$" begins a reference
            return end, _CONSTANTS.get(word.lower(), word)
        if closing is None or (closing == ")" and takes is None):
            raise ValueError("no value")
        # Values without keys are given to `names` in order, but not an object: it may hold all arguments.
        items, names = list[tuple[str, Any]](), (takes or ()) if closing == ")" else ()
        while (token := _TOKEN.match(text, end)) is None or token["sign"] != closing:
            key = _KEY.match(text, end) if closing != "]" else None
            end, value = self._parse(text, key.end() if key else end, is_plan=is_plan and closing == "]")
            if key is None and closing != "]" and (len(items) >= len(names) or isinstance(value, Mapping)):
                raise ValueError("a value without a key")
            items.append((_text(key[1] or key[2]) if key else "".join(names[len(items) :][:1]), value))
            if (comma := _COMMA.match(text, end)) is None:
                raise ValueError("no comma")
            end = comma.end()
        return token.end(), [value for _, value in items] if closing == "]" else only_once(items)

    def _module(self, name: str) -> str | None:
        """Return the module that is meant; an exact name wins over a similar spelling."""
        module = self.aliases.get(name) or self.forms.get(as_name(name))
        return name if name in self.names else module

    def _step(self, name: str, args: Any = None) -> Step:
        """Return the step for a name, or for a call if it has `args`."""
        if (module := self._module(name)) is None:
            raise PlanError(f"there is no module {name[:60]!r}", hint=nearest(name[:200], self.names))
        if args and module not in self.takes:
            raise PlanError(f"{module} takes no arguments", hint="Give only its name.")
        return Step(module, args if module in self.takes else {})

    def _steps_in(self, value: Any) -> list[Step]:
        """Return the steps a value names, in order. Raises `PlanError` if part of it names none."""
        if isinstance(value, list):
            parts = [self._steps_in(item) for item in value]
            if any(parts) and not all(parts):
                raise PlanError(f"part {parts.index([]) + 1} of the list names no module")
            return [step for part in parts for step in part]
        if isinstance(value, str) and not _SIGN.search(value):
            sign = self._without_calls(value).strip()  # of a call
            return self.read.pop(sign)[0] if sign in self.read else [self._step(value.removesuffix("()"))]
        if isinstance(value, Mapping):
            return self._in_object(value)[0]
        return [value] if isinstance(value, Step) else []

    def _in_object(self, value: Mapping[str, Any]) -> tuple[list[Step], str]:
        """Return the steps of an object: a call, calls by name ("call"), or a list under a key ("list")."""
        if value and all(self._module(k) in self.takes and isinstance(v, Mapping) for k, v in value.items()):
            return [self._step(name, args) for name, args in value.items()], "call"
        call = value["function"] if isinstance(value.get("function"), Mapping) else value
        naming = next((key for key in NAMING if isinstance(call.get(key), str)), None)
        if naming is None:
            lists = [key for key, each in value.items() if isinstance(each, list | Mapping) and each]
            steps = self._steps_in(value[lists[0]]) if len(lists) == 1 else []
            notes = {key: each for key, each in value.items() if key not in lists}
        else:
            takes = self.takes.get(self._step(call[naming]).module, ())
            notes = {key: each for key, each in value.items() if call is not value and each is not call}
            loose, groups = dict[str, Any](), list[Any]()
            for key, each in call.items():
                # An argument may itself be called "input"; its object then has other keys too.
                is_whole = key not in takes or (isinstance(each, Mapping) and {*each} <= {*takes})
                if key in ARGUMENTS and is_whole:
                    is_text = isinstance(each, str)  # OpenAI writes arguments as JSON text
                    groups.append(json.loads(each or "{}", object_pairs_hook=only_once) if is_text else each)
                elif key != naming:
                    (loose if key in takes else notes)[key] = each
            groups = [args for args in (*groups, loose) if args not in (None, [], {})]
            if len(groups) > 1 or not all(isinstance(args, Mapping) for args in groups):
                what = f"the arguments of {call[naming][:60]} are given twice or are not an object"
                raise PlanError(what, hint=_FORM_HINT)
            steps = [self._step(call[naming], [*groups, {}][0])]
        for key, each in notes.items():
            hits = [self.read[sign][0][0] for sign in _SIGN.findall(self._without_names(str(each)))]
            is_note = key.lower() in _NOTES and not isinstance(each, list | Mapping)
            if steps and not (is_note and {step.module for step in hits} <= {step.module for step in steps}):
                raise PlanError(f"the object of {steps[0].module} has a key {key[:60]!r}", hint=_FORM_HINT)
        return steps, "list" if naming is None else "call"

    def _lines(self, rest: str) -> tuple[list[Step], list[str], str]:
        """Read bulleted lines, names joined by arrows, or one step per line; also return the rest."""
        lines = [line.strip() for line in _ARROW_BREAK.sub(" ", rest).splitlines()]
        hits = {place: match for place, line in enumerate(lines) if (match := _LINE.fullmatch(line))}
        if not hits:
            return [], lines, ""
        bulleted = [match for match in hits.values() if match["bullet"]]
        inside = range(min(hits), max(hits) + 1 + bool(self.takes))  # arguments may follow the last step
        for place, line in enumerate(lines):
            if line and place not in hits and (place in inside or (bulleted and _BULLET.match(line))):
                raise PlanError(f"{_SIGN.sub('…', line)[:60]!r} cannot be read as a step", hint=_FORM_HINT)
        signs = {place: _SIGN.findall(match["steps"]) for place, match in hits.items()}
        if len(hits) > 1 and (0 < len(bulleted) < len(hits) or max(map(len, signs.values())) > 1):
            raise PlanError(_SEVERAL_LISTS, hint=_ALONE_HINT)
        numbers = [int(match["number"]) for match in bulleted if match["number"]]
        if numbers not in ([], [1] * len(numbers), [*range(len(hits))], [*range(1, len(hits) + 1)]):
            raise PlanError("the list is not numbered 1, 2, 3, …")  # nor 0, 1, 2 or, as in Markdown, 1, 1, 1
        plan, after = list[Step](), len(lines)
        for place, match in hits.items():
            steps = [step for sign in signs[place] for step in self.read[sign][0]]
            after = place if after == len(lines) and any(step.args is None for step in steps) else after
            plan += steps
            lines[place] = f": {match['remark'] or ''}"  # the colon marks a remark, not the start of a line
        return plan, lines, "\n".join(lines[after:])

    def _check_left(self, left: Sequence[str], plan: Sequence[Step], after: str, *, is_list: bool) -> None:
        """Raise `PlanError` if the rest may be part of a step; prose may repeat names from a list."""
        if any(step.args is None for step in plan) and (words := re.search(r"\w.*", after)):
            raise PlanError(f"{words[0][:60]!r} may be the arguments of a step", hint=_FORM_HINT)
        planned = {step.module for step in plan if is_list and step.args is not None}
        forms = [form.replace("_", "") for form in self.forms if len(form) > 2]
        for line in dict.fromkeys(left):
            groups = [self.read[sign] for sign in _SIGN.findall(line)]
            is_step = len(line.split()) < 4 or _LEAD.match(line) or any(kind != "name" for _, kind in groups)
            for (step, *_), kind in groups:
                if kind != "list" and (is_step or step.module not in planned):
                    raise PlanError(f"{step.module} is named outside the plan", hint=_ALONE_HINT)
            head, *tail = re.split(r"[:(]|\s-\s", line)
            for piece in (head, *tail, *re.findall(r"\b\w+_\w+", line)):
                word, size = re.sub(r"[\W_]", "", _LEAD.sub("", piece)).lower(), len(piece.split())
                is_near = size < 4 and len(word) < 100 and get_close_matches(word, forms, 1, 0.75)
                # The last word of a reply may be the start of a name that was cut off.
                parts = (one for one in forms if one in word or (line is left[-1] and one.startswith(word)))
                if word and (is_near or (size == 1 and not is_list and piece not in tail and any(parts))):
                    what = f"{piece.strip()[:60]!r} may be a misspelled step"
                    raise PlanError(what, hint=nearest(piece[:60], self.names))
        names = "|".join(re.escape(name) for step in plan for name in self.takes.get(step.module, ())) or "="
        signs = rf"[=()\[\]{{}}]|\b(?:{names})\b\W{{0,3}}:" if self.takes else r"[()\[\]{}]"
        if sign := re.search(signs, _PAIRS.sub("", "\n".join(left))):
            raise PlanError(f"{sign[0]!r} outside the plan may be part of a call", hint=_FORM_HINT)


def _text(token: str) -> str:
    """Return a text without its quotes and escapes; a word as it is. Raises ValueError or SyntaxError."""
    if token[0] == "'":
        return str(ast.literal_eval(token))
    return str(json.loads(token)) if token[0] == '"' else token
