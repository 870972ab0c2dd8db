"""Read a plan in a model's reply: whole, or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

from chameleon.errors import PlanError
from chameleon.plan_beside import BRACKET, BULLET, WORD, Span, check_beside
from chameleon.plan_calls import ARGUMENTS, NAMING, Calls, NoModule, is_note
from chameleon.state import Step
from chameleon.text import as_name, nearest
from chameleon.values import only_once

LONGEST_PLAN_TEXT = 20_000
_MOST_COLONS = 4
_SEPARATOR = re.compile(r"[-=]?>|→|,|;|\band then\b|\bthen\b|\|", re.IGNORECASE)
_REMARK = re.compile(r"[:(.,–—]| - ")
_NAME = re.compile(r"[^\W\d][\w \-]{0,60}")
_CODED = re.compile(r"[\"'{]")
_WORDS = re.compile(r"[\w-]+")
_QUOTED = re.compile(r"""["']([^"'\n]{1,80})["']""")
_QUOTES = str.maketrans("“”„‘’", '"""\'\'')
_JOINED = re.compile(r"\s*(?:,|;|->|=>|→|(?:and )?then\b)", re.IGNORECASE)
_JOINS = re.compile(r"(?:[\w\]}]\s*(?:,|;)|->|=>|→|\bthen)\s*\Z", re.IGNORECASE)
_CALLED = re.compile(r"\w\(\Z")
_FIRST_CALL = re.compile(r"[\s`*]*(?:(?:python|tool_code|json)\s+)?([^\W\d][\w-]{0,60})\(\s*\w+\s*=")
_ABOUT = frozenset(
    ["analysis", "confidence", "goal", "question", "rationale", "status", "task", "title", "version"]
)
_EMPTY: tuple[Any, ...] = (None, "", [], {})
Placed = tuple[int, int, str]  # from where to where a step stands, and what it is called
Listed = tuple[int, int, list[str]]  # from where to where a list stands, and what it names
_MOST_GROUPS = 200
_AROUND_NAMES = " \t.*`\"'[]()"


def parse_plan(
    text: str, names: Collection[str], takes: Mapping[str, Sequence[str]] | None = None
) -> tuple[Step, ...]:
    """Read the steps in a model's reply: a JSON or Python list, arrows, or a numbered list.

    A step is a name or, of a module that `takes` arguments, a call of it: {"module": …, "args": {…}}, or
    `name(key=value)`. Prose around the list is ignored; case, spaces, hyphens and underscores in names do not
    matter. A list that ends its line counts more than one within a sentence. Raises `PlanError` for text
    without a list, for several that differ, for a name that the inventory does not have, with the nearest
    one, for a list of which a part or an argument cannot be read, and for a module that stands beside the
    plan where a step could stand: nothing is ever lost.
    """
    if len(text) > LONGEST_PLAN_TEXT:
        raise PlanError(f"the reply has {len(text):,} characters; a plan has a line or two")
    calls = Calls(names, takes or {})
    text = calls.set_aside(text).translate(_QUOTES)
    try:
        written, spans, is_list = _found(text, calls)
        steps = []
        for name in written:
            if (step := calls.step(name)) is None:
                raise NoModule(name.partition("(")[0].strip())
            steps.append(step)
        calls.check(steps, text)
        check_beside(text, spans, written, calls, is_list=is_list)
    except NoModule as called:
        if calls.misfit is not None:
            raise calls.misfit from None
        what = f"there is no module {called.what[:60]!r}"
        raise PlanError(what, hint=nearest(called.what, names)) from None
    except PlanError as problem:
        raise PlanError(calls.plainly(problem.what), hint=problem.hint) from None
    return tuple(steps)


def _found(text: str, calls: Calls) -> tuple[list[str], list[Span], bool]:
    """Return the names of the plan as they are written, where it stands, and whether it is in brackets."""
    known = calls.by_form
    lists = _lists(text, known)
    in_brackets = [(start, end) for start, end, _ in lists]
    if found := _ending_a_line(text, lists, known):
        return found, in_brackets, True
    rest = text
    for start, end in in_brackets:  # a list is read whole, never line by line
        rest = rest[:start] + " " * (end - start) + rest[end:]
    if steps := _lines(rest, calls) or _separated(rest, known):
        return [name for _, _, name in steps], [(start, end) for start, end, _ in steps], False
    if not (found := _within_a_line(text, lists, known)):
        if calls.misfit is not None:
            raise calls.misfit
        if (call := _FIRST_CALL.match(text)) and as_name(call[1]) not in known:
            raise NoModule(call[1])
        calls_in = '[{"module": "NAME", "args": {…}}]' if calls.takes else '["name", "name"]'
        hint = f"Reply with a list such as {calls_in}."
        raise PlanError("the reply holds no list of modules", hint=hint)
    return found, in_brackets, True


def _ending_a_line(text: str, found: Sequence[Listed], known: Container[str]) -> list[str]:
    """Find the list or object that names modules and ends its line; objects of one call each are one list."""
    lists = [each for each in found if not WORD.search(text[each[1] :].partition("\n")[0])]
    if lists and all(text[start] == "{" for start, *_ in found) and len(lists) < len(found):
        raise PlanError("an object of the list stands within a line")
    if len(lists) > 1 and all(text[start] == "{" and len(names) == 1 for start, _, names in lists):
        lists = [(lists[0][0], lists[-1][1], [names[0] for _, _, names in lists])]
    if not lists:
        joined = [text[end:] for _, end, _ in found if _JOINED.match(text[end:])]
        if any(as_name(word) in known for rest in joined for word in _WORDS.findall(rest.partition("\n")[0])):
            raise PlanError("the list goes on behind its end")
        return []
    if any(names != lists[-1][2] for _, _, names in lists):
        raise PlanError("the reply holds several lists of modules that differ")
    start, _, names = lists[-1]
    if _JOINS.search(text[:start]):
        raise PlanError("the list begins before its bracket")
    return names


def _within_a_line(text: str, lists: Sequence[Listed], known: Container[str]) -> list[str]:
    """Find the last list or object that names modules anywhere; else the last that names others."""
    if len(lists) > 1 and any(text[start] == "{" for start, *_ in lists):
        raise PlanError("an object of the list stands within a line")
    if any(names != lists[-1][2] for _, _, names in lists):
        raise PlanError("the reply holds several lists of modules that differ")
    return lists[-1][2] if lists else next(filter(None, (_names_in(b, known) for b in _bodies(text))), [])


def _bodies(text: str) -> list[str]:
    groups, aside, _ = _groups(text)
    return [text[start:end] for start, end in reversed([*aside, *groups])]


def _lists(text: str, known: Container[str]) -> list[Listed]:
    """Return where lists and objects stand that name modules, with the names; those aside if no others."""
    groups, aside, is_paired = _groups(text)
    for places in (groups, aside):
        read = [(start, end, _names_in(text[start:end], known)) for start, end in places]
        if found := [each for each in read if any(as_name(name) in known for name in each[2])]:
            if not is_paired:
                raise PlanError("the brackets of the list do not pair")
            if places is aside and any(
                _CALLED.search(text[: text.rfind("(", 0, start) + 1]) for start, *_ in found
            ):
                raise PlanError("a list stands in the parenthesis of a call that cannot be read")
            return _calls(text, read) if all(text[start] == "{" for start, *_ in found) else found
    if not is_paired and any(as_name(name) in known for name in _QUOTED.findall(text)):
        raise PlanError("the brackets of the list do not pair")
    return []


def _calls(text: str, read: Sequence[Listed]) -> list[Listed]:
    """Return the objects of calls, which are one list together: also one that names what there is not."""
    objects = [each for each in read if text[each[0]] == "{"]
    if any(not names and _CODED.search(text[start + 1 : end]) for start, end, names in objects):
        raise PlanError("an object of the list cannot be read")
    return [each for each in objects if each[2]]


def _groups(text: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]], bool]:
    """Return where outermost [...] and {...} stand, those in parentheses apart, and whether all pair."""
    opened: list[int] = []
    groups: list[tuple[int, int]] = []
    aside: list[tuple[int, int]] = []
    strays = 0
    for sign in BRACKET.finditer(text):
        if sign[0] in "[{(":
            opened.append(sign.start())
        elif opened and text[opened[-1]] + sign[0] in ("[]", "{}", "()"):
            start = opened.pop()
            if sign[0] != ")" and all(text[place] == "(" for place in opened):
                (aside if opened else groups).append((start, sign.end()))
        else:
            strays += sign[0] != ")"
    if len(groups) + len(aside) > _MOST_GROUPS:
        raise PlanError(f"the reply has more than {_MOST_GROUPS} lists and objects")
    return groups, aside, not strays and all(text[place] == "(" for place in opened)


def _names_in(body: str, known: Container[str]) -> list[str]:
    """Read ["row_lookup"], ['row_lookup'], [row_lookup] or [{"module": "row_lookup"}], as models write."""
    for written in (body, body.replace("'", '"')):
        try:
            given = json.loads(re.sub(r",\s*([\]}])", r"\1", written), object_pairs_hook=only_once)
        except (ValueError, RecursionError):
            continue
        return _named(given, known)
    if _CODED.search(body) and any(as_name(word) in known for word in _WORDS.findall(body)):
        raise PlanError("the list of modules cannot be read")
    items = [item.strip(" \t\n`").removesuffix("()") for item in body.strip("[]").rstrip(" \t\n,").split(",")]
    return items if all(map(_NAME.fullmatch, items)) else []


def _named(given: Any, known: Container[str]) -> list[str]:
    """Return the modules that JSON names, in order. Raises `PlanError` where some of it names none."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, Mapping):
        return _of_object(given, known)
    if not isinstance(given, list):
        return []
    parts = [_named(item, known) for item in given]
    found = [name for part in parts for name in part]
    if not all(parts) and any(as_name(name) in known for name in found):
        raise PlanError(f"part {parts.index([]) + 1} of the list names no module")
    return found if all(parts) else []


def _of_object(given: Mapping[str, Any], known: Container[str]) -> list[str]:
    """Read one call, such as {"module": …}, or an object that holds the list."""
    inner = given.get("function")
    call: Mapping[str, Any] = inner if isinstance(inner, Mapping) else given
    if (naming := next((key for key in NAMING if isinstance(call.get(key), str)), None)) is not None:
        name, others = str(call[naming]), [value for key, value in call.items() if key != naming]
        if any(call.get(key) for key in ARGUMENTS) and as_name(name) not in known:
            raise NoModule(name)
        if any(as_name(each) in known for value in others for each in _named(value, known)):
            raise PlanError(f"the object of {name[:60]!r} names more than one module")
        given_to = [key for key in call if key != naming and not is_note(key, call[key])]
        if as_name(name) in known and any(call[key] not in (*_EMPTY, "{}") for key in given_to):
            raise PlanError(f"the arguments of {name[:60]} cannot be read")
        return [name]
    if given and all(key.isdigit() for key in given):
        given = dict(sorted(given.items(), key=lambda pair: int(pair[0])))
    named = {key: _named(value, known) for key, value in given.items() if isinstance(value, list | dict)}
    lists = [key for key, names in named.items() if any(as_name(name) in known for name in names)]
    texts = {key: value for key, value in given.items() if isinstance(value, str)}
    if more := [key for key in named if given[key] and key not in lists]:
        raise PlanError(f"{more[0][:60]!r} stands beside a name or a list of modules, and cannot be read")
    if not lists:
        return [*texts.values()]
    beside = [value for key, value in texts.items() if not is_note(key, value)]
    words = [*texts.values(), *(word for value in beside for word in _WORDS.findall(value))]
    if len(lists) > 1 or any(as_name(word) in known for word in words):
        raise PlanError("the object holds more than one list of modules")
    for key, value in given.items():
        is_known = key in lists or is_note(key, value) or key.lower() in _ABOUT
        if not is_known and value not in _EMPTY:
            raise PlanError(f"{key[:60]!r} stands beside the list of modules, and is no part of a plan")
    return named[lists[0]]


def _lines(text: str, calls: Calls) -> list[Placed]:
    """Read a numbered or bulleted list: each line begins with a name.

    Remarks may follow that of a module without arguments, or a call: else they might be its arguments.
    """
    found, numbers = list[Placed](), list[int]()
    for place, line in _by_line(text):
        if bullet := BULLET.match(line):
            start, head = bullet.end(), _REMARK.split(line[bullet.end() :], maxsplit=1)[0]
            found.append((place + start, place + start + len(head), head.strip(_AROUND_NAMES)))
            numbers += [int(bullet[1] or bullet[2])] if bullet[1] or bullet[2] else []
    if not any(as_name(head) in calls.by_form for _, _, head in found):
        return []
    are_alike = len(set(numbers)) < 2 and numbers[:1] in ([], [0], [1])
    if not are_alike and numbers not in ([*range(len(found))], [*range(1, len(found) + 1)]):
        raise PlanError("the numbers of the list do not follow each other from 1")
    for start, _, head in found:
        rest = text[start:].splitlines()[0].strip(_AROUND_NAMES) if head else ""
        if (name := calls.by_form.get(as_name(head))) in calls.takes and rest != head:
            raise PlanError(f"what follows {name} cannot be read", hint="Write its arguments as JSON.")
    return found


def _by_line(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text, each with where it begins."""
    place = 0
    for line in text.splitlines(keepends=True):
        yield place, line.rstrip("\r\n")
        place += len(line)


def _separated(text: str, known: Container[str]) -> list[Placed]:
    """Read names joined by arrows, commas or "then", or one a line: the last that the text holds."""
    found: list[Placed] = []
    below = ""
    for place, line in reversed([*_by_line(text)]):
        if not line.strip():
            continue
        parts = [(place + start, place + end, name) for start, end, name in _in_line(line, known)]
        if found and not (parts and _continued(line, below)):
            break
        if parts:
            found, below = parts + found, line
    return found


def _in_line(line: str, known: Container[str]) -> list[Placed]:
    """Return what a line joins, which begins with a name: "Plan: row_lookup -> answer_generator"."""
    if "[" in line:
        return []
    colons = islice(re.finditer(":", line), _MOST_COLONS)
    for start in (0, *(colon.end() for colon in colons)):
        signs = [sign.span() for sign in _SEPARATOR.finditer(line, start)]
        bounds = pairwise([(start, start), *signs, (len(line), len(line))])
        pieces = [(begin, end, line[begin:end].strip(_AROUND_NAMES)) for (_, begin), (end, _) in bounds]
        parts = [piece for piece in pieces if piece[2]]
        if parts and as_name(parts[0][2]) in known:
            return parts
    return []


def _continued(line: str, below: str) -> bool:
    """Return whether two lines are one list: an arrow or comma joins them, or each holds one name."""
    above_end, below_start = _SEPARATOR.split(line)[-1], _SEPARATOR.split(below)[0]
    return not (above_end.strip() and below_start.strip()) or (above_end == line and below_start == below)
