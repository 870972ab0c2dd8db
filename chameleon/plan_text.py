"""Read a plan in a model's reply: whole, or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Container, Mapping, Sequence
from itertools import islice
from typing import Any

from chameleon.errors import PlanError
from chameleon.plan_calls import ARGUMENTS, NAMING, Calls
from chameleon.state import Step
from chameleon.text import as_name, nearest
from chameleon.values import only_once

LONGEST_PLAN_TEXT = 20_000
_MOST_COLONS = 4
_BULLET = re.compile(r"^\s*(?:(\d{1,4})[.)]|-(?!>)|\*(?=\s)|•|step\s+(\d{1,4})\s*[:.)])\s*", re.IGNORECASE)
_SEPARATOR = re.compile(r"[-=]?>|→|,|;|\band then\b|\bthen\b|\|", re.IGNORECASE)
_REMARK = re.compile(r"[:(.,–—]| - ")
_NAME = re.compile(r"[^\W\d][\w \-]{0,60}")
_WORD = re.compile(r"\w")
_START = re.compile(r"^[\W\d]+")
_LETTER = re.compile(r"^[a-z][.)]\s*", re.IGNORECASE)
_CODED = re.compile(r"[\"'{]")
_WORDS = re.compile(r"[\w-]+")
_QUOTED = re.compile(r"""["']([^"'\n]{1,80})["']""")
_BRACKET = re.compile(r"[\[\](){}]")
_QUOTES = str.maketrans("“”„‘’", '"""\'\'')
_JOINED = re.compile(r"\s*(?:,|;|->|=>|→|(?:and )?then\b)", re.IGNORECASE)
_JOINS = re.compile(r"(?:[\w\]}]\s*(?:,|;)|->|=>|→|\bthen)\s*\Z", re.IGNORECASE)
_GOES_ON = re.compile(r"(?:and|then|next|finally|lastly|after)\b", re.IGNORECASE)
Listed = tuple[int, int, list[str]]  # from where to where a list stands, and what it names
_MOST_GROUPS = 200
_AROUND_NAMES = " \t.*`\"'[]()"


class _NoModule(PlanError):
    """A call with arguments of a module that there is not: `what` is its name."""


def parse_plan(
    text: str, names: Collection[str], takes: Mapping[str, Sequence[str]] | None = None
) -> tuple[Step, ...]:
    """Read the steps in a model's reply: a JSON or Python list, arrows, or a numbered list.

    A step is a name or, of a module that `takes` arguments, a call of it: {"module": …, "args": {…}}, or
    `name(key=value)`. Prose around the list is ignored; case, spaces, hyphens and underscores in names do not
    matter. A list that ends its line counts more than one within a sentence. Raises `PlanError` for text
    without a list, for several that differ, for a name that the inventory does not have, with the nearest
    one, and for a list of which a part or an argument cannot be read, or stands beside it: nothing is ever
    lost.
    """
    if len(text) > LONGEST_PLAN_TEXT:
        raise PlanError(f"the reply has {len(text):,} characters; a plan has a line or two")
    calls = Calls(names, takes or {})
    text = calls.set_aside(text).translate(_QUOTES)
    try:
        found = _found(text, calls)
    except _NoModule as called:
        what = f"there is no module {called.what[:60]!r}"
        raise PlanError(what, hint=nearest(called.what, names)) from None
    except PlanError as problem:
        raise PlanError(calls.plainly(problem.what), hint=problem.hint) from None
    steps = []
    for written in found:
        if (step := calls.step(written)) is None:
            raise PlanError(f"there is no module {written[:60]!r}", hint=nearest(written, names))
        steps.append(step)
    calls.check(steps, text)
    return tuple(steps)


def _found(text: str, calls: Calls) -> list[str]:
    """Return the names of the plan, as they are written."""
    known = calls.by_form
    lists = _lists(text, known)
    found = _ending_a_line(text, lists, known) or _lines(text, calls) or _separated(text, known)
    if not (found := found or _within_a_line(text, lists, known)):
        calls_in = '[{"module": "NAME", "args": {…}}]' if calls.takes else '["name", "name"]'
        hint = f"Reply with a list such as {calls_in}."
        raise PlanError("the reply holds no list of modules", hint=hint)
    return found


def _ending_a_line(text: str, found: Sequence[Listed], known: Container[str]) -> list[str]:
    """Find the list or object that names modules and ends its line; objects of one call each are one list."""
    lists = [each for each in found if not _WORD.search(text[each[1] :].partition("\n")[0])]
    if lists and all(text[start] == "{" for start, *_ in found):
        if len(lists) < len(found):
            raise PlanError("an object of the list stands within a line")
        _check_between(text, lists, known)
    if len(lists) > 1 and all(text[start] == "{" and len(names) == 1 for start, _, names in lists):
        lists = [(lists[0][0], lists[-1][1], [names[0] for _, _, names in lists])]
    if not lists:
        joined = [text[end:] for _, end, _ in found if _JOINED.match(text[end:])]
        if any(as_name(word) in known for rest in joined for word in _WORDS.findall(rest.partition("\n")[0])):
            raise PlanError("the list goes on behind its end")
        return []
    if any(names != lists[-1][2] for _, _, names in lists):
        raise PlanError("the reply holds several lists of modules that differ")
    start, end, names = lists[-1]
    if _JOINS.search(text[:start]):
        raise PlanError("the list begins before its bracket")
    _check_lines(text[end:].splitlines()[1:], names, known)
    return names


def _within_a_line(text: str, lists: Sequence[Listed], known: Container[str]) -> list[str]:
    """Find the last list or object that names modules anywhere; else the last that names others."""
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


def _check_between(text: str, objects: Sequence[Listed], known: Container[str]) -> None:
    """Raise `PlanError` for a line that is a name between objects, or in the numbered list that they are."""
    for start, end, _ in objects:
        text = text[:start] + re.sub(r"\S", " ", text[start:end]) + text[end:]
    first = text.count("\n", 0, objects[0][0])
    last = text.count("\n", 0, objects[-1][1])
    lines = text.split("\n")
    are_numbered = _BULLET.match(lines[first]) is not None
    for place, line in enumerate(lines):
        is_beside = first - 1 <= place <= last + 1 or (are_numbered and _BULLET.match(line))
        if is_beside and as_name(name := _alone(line)) in known:
            raise PlanError(f"{name!r} stands beside the objects of the list")


def _check_lines(lines: Sequence[str], names: Sequence[str], known: Container[str]) -> None:
    """Raise `PlanError` for a line that begins with a module which the list does not have."""
    listed = set(map(as_name, names))
    for line in lines:
        start = _LETTER.sub("", _BULLET.sub("", _START.sub("", line)))
        begins = [_head(start), *(_WORDS.findall(line) if _GOES_ON.match(start) else _in_line(line, known))]
        if left := [name for name in begins if as_name(name) in known and as_name(name) not in listed]:
            raise PlanError(f"{left[0]!r} stands beside the list of modules, and not in it")


def _groups(text: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]], bool]:
    """Return where outermost [...] and {...} stand, those in parentheses apart, and whether all pair."""
    opened: list[int] = []
    groups: list[tuple[int, int]] = []
    aside: list[tuple[int, int]] = []
    strays = 0
    for sign in _BRACKET.finditer(text):
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
    naming = next((key for key in NAMING if isinstance(call.get(key), str)), None)
    if naming is not None:
        name, others = str(call[naming]), {key: value for key, value in call.items() if key != naming}
        if any(call.get(key) not in (None, {}, [], "", "{}") for key in ARGUMENTS):
            if as_name(name) not in known:
                raise _NoModule(name)
            raise PlanError(f"{name[:60]!r} is given arguments, and a plan names modules alone")
        if any(as_name(each) in known for value in others.values() for each in _named(value, known)):
            raise PlanError(f"the object of {name[:60]!r} names more than one module")
        return [name]
    if given and all(key.isdigit() for key in given):
        given = dict(sorted(given.items(), key=lambda pair: int(pair[0])))
    lists = [_named(value, known) for value in given.values() if isinstance(value, list | dict)]
    lists = [names for names in lists if any(as_name(name) in known for name in names)]
    texts = [value for value in given.values() if isinstance(value, str)]
    if len(lists) > 1 or (lists and any(as_name(value) in known for value in texts)):
        raise PlanError("the object holds more than one list of modules")
    return lists[0] if lists else texts


def _lines(text: str, calls: Calls) -> list[str]:
    """Read a numbered or bulleted list: each line begins with a name.

    Remarks may follow that of a module without arguments, or a call: else they might be its arguments.
    """
    lines, known = text.splitlines(), calls.by_form
    bullets = {place: bullet for place, line in enumerate(lines) if (bullet := _BULLET.match(line))}
    heads = [_head(lines[place][bullet.end() :]) for place, bullet in bullets.items()]
    if not any(as_name(head) in known for head in heads):
        return []
    numbers = [int(bullet[1] or bullet[2]) for bullet in bullets.values() if bullet[1] or bullet[2]]
    are_alike = len(set(numbers)) < 2 and numbers[:1] in ([], [0], [1])
    if not are_alike and numbers not in ([*range(len(bullets))], [*range(1, len(bullets) + 1)]):
        raise PlanError("the numbers of the list do not follow each other from 1")
    listed = set(map(as_name, heads))
    for place, head in zip(bullets, heads, strict=True):
        rest = lines[place][bullets[place].end() :].strip(_AROUND_NAMES)
        if (name := known.get(as_name(head))) in calls.takes and rest != head:
            raise PlanError(f"what follows {name} cannot be read", hint="Write its arguments as JSON.")
    for place, line in enumerate(lines):
        if place in bullets:
            remarks = _REMARK.split(line[bullets[place].end() :])[1:]
            alone = [_alone(part) for remark in remarks for part in _SEPARATOR.split(remark)]
            for word in [*_WORDS.findall(line), *alone]:
                if as_name(word) in known and (as_name(word) not in listed or word in alone):
                    raise PlanError(f"{word!r} stands within the list of modules, and not as a step")
    others = [line for place, line in enumerate(lines) if place not in bullets]
    if left := [name for name in map(_alone, others) if as_name(name) in known]:
        raise PlanError(f"{left[0]!r} stands within the list of modules, and not as a step")
    _check_lines(others, heads, known)
    return heads


def _alone(line: str) -> str:
    """Return what a line says, without what may stand around a name."""
    return _BULLET.sub("", _START.sub("", _BULLET.sub("", line))).strip(_AROUND_NAMES)


def _head(line: str) -> str:
    return _REMARK.split(line, maxsplit=1)[0].strip(_AROUND_NAMES)


def _separated(text: str, known: Container[str]) -> list[str]:
    """Read names joined by arrows, commas or "then", or one a line: the last that the text holds."""
    found: list[str] = []
    below = ""
    for line in filter(str.strip, reversed(text.splitlines())):
        parts = _in_line(line, known)
        if found and not (parts and _continued(line, below)):
            break
        if parts:
            found, below = parts + found, line
    if found:
        _check_lines(text.splitlines(), found, known)
    return found


def _in_line(line: str, known: Container[str]) -> list[str]:
    """Return what a line joins, which begins with a name: "Plan: row_lookup -> answer_generator"."""
    if "[" in line:
        return []
    colons = islice(re.finditer(":", line), _MOST_COLONS)
    for place in (0, *(colon.end() for colon in colons)):
        parts = [part.strip(_AROUND_NAMES) for part in _SEPARATOR.split(line[place:])]
        parts = [part for part in parts if part]
        if parts and as_name(parts[0]) in known:
            before = any(as_name(name) in known for name in _WORDS.findall(line[:place]))
            return [] if before else parts
    return []


def _continued(line: str, below: str) -> bool:
    """Return whether two lines are one list: an arrow or comma joins them, or each holds one name."""
    above_end, below_start = _SEPARATOR.split(line)[-1], _SEPARATOR.split(below)[0]
    return not (above_end.strip() and below_start.strip()) or (above_end == line and below_start == below)
