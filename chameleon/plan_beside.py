"""What stands beside the plan in a model's reply: prose, or a step that would be lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from difflib import get_close_matches
from itertools import islice, pairwise

from chameleon.errors import PlanError
from chameleon.plan_calls import Calls, NoModule
from chameleon.text import as_name

BULLET = re.compile(r"^\s*(?:(\d{1,4})[.)]|-(?!>)|\*(?=\s)|•|step\s+(\d{1,4})\s*[:.)])\s*", re.IGNORECASE)
WORD = re.compile(r"\w")
_START = re.compile(r"^[\W\d]+")
_LETTER = re.compile(r"^[a-z][.)]\s*", re.IGNORECASE)
BRACKET = re.compile(r"[\[\](){}]")
_GOES_ON = re.compile(r"(?:and|then|next|finally|lastly|after)\b", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d]")
_WORD_BEFORE = re.compile(r"(?<!\w)(?!\w*(?:then|action)\b)[^\W\d]\w*[`*\"']*\s+[`*\"'\[]*\Z", re.IGNORECASE)
_WORD_BEHIND = re.compile(r"[\s`*\"'\]]+\(?(?!then\b)\w", re.IGNORECASE)
_LEADS_ON = re.compile(r"(?:(?:and|then|next|finally|lastly)\b\W*)+", re.IGNORECASE)
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]*[a-z0-9]+|[A-Z]+")  # as names fall into words
_CODE = re.compile(r"[{\[:,]\s*[\"']\Z")
_LEFT = re.compile(r"[\[{]\s*[\"'].*")
_ENUMERATED = re.compile(r"(?:(?<=\s)|^)\w{1,2}\)|[:;]-?\)", re.MULTILINE)
_READ = "\0"  # stands for what was read
_NEAR = 60  # characters on both sides of a name
_GLUED_NUMBER = re.compile(r"(?<!\w)\d{1,4}(?=[^\W\d])")
_MOST_PIECES = 200
_LONGEST_NAME = 80
_LONG_ENOUGH = 4  # letters of a name within a word
_BROKEN_CALL = re.compile(r"[^\W\d]\w{0,60}\((?!e?s\))[^)\s\0].*")
_PIECE = re.compile(r"[:(]| - ")
_SIGNS = re.compile(r"[\W_]")
_SIGN_ALONE = re.compile(r"\s[^\w\s]+\s")
Span = tuple[int, int]


def check_beside(
    text: str, spans: Sequence[Span], names: Sequence[str], calls: Calls, *, is_list: bool
) -> None:
    """Raise `PlanError` for a module that stands beside the plan where a step could stand.

    Beside lines of steps a name is prose only between two words. Beside a list it is behind one word, and
    each of its modules may be explained once.
    """
    is_run = not is_list or sum(text[start] == "{" for start, _ in spans) > 1
    for start, end in sorted(spans, reverse=True):
        text = f"{text[:start]}{_READ}{text[end:]}"
    forms = Counter(map(as_name, names))
    unexplained = forms.copy() if is_list else Counter[str]()
    longest = max((form.count("_") for form in calls.by_form), default=0) + 1
    for line in text.splitlines():
        goes_on = _GOES_ON.match(_bare(line)) is not None
        for start, end, form in _mentions(line, calls.by_form, longest):
            before, behind = line[max(0, start - _NEAR) : start], line[end : end + _NEAR]
            is_prose = _WORD_BEFORE.search(before) and (is_list or _WORD_BEHIND.match(behind))
            is_remark = not is_list and _READ in line and form not in forms
            is_bullet = not is_list and _READ not in line and BULLET.match(line) and len(before.split()) < 3
            is_step = goes_on or is_bullet
            if is_prose and not (is_step or is_remark):
                continue
            unexplained[form] -= 1
            rest = _LEADS_ON.sub("", _bare(line[:start] + line[end:]))
            if (
                goes_on
                or is_bullet
                or unexplained[form] < 0
                or _CODE.search(before)
                or not _LETTERS.search(rest)
            ):
                raise PlanError(f"{line[start:end]!r} stands beside the plan, and not in it")
    if not is_list and (left := _LEFT.search(text)):
        raise PlanError(f"what begins with {left[0][:60]!r} cannot be read")
    if (cut := _left_open(text)) is not None:
        raise PlanError(f"what ends with {cut[-60:]!r} cannot be read")
    if is_run:
        _check_pieces(text, calls)


def _check_pieces(text: str, calls: Calls) -> None:
    """Raise `PlanError` for what is left of a step: a name that is misspelt, a broken call."""
    if (call := _BROKEN_CALL.search(text)) is not None:
        raise PlanError(f"what begins with {call[0][:60]!r} cannot be read")
    forms = {form.replace("_", ""): form for form in calls.by_form}
    said = (each.strip() for line in text.splitlines() for each in _PIECE.split(_bare(line)))
    for piece in islice(filter(WORD.search, dict.fromkeys(said)), _MOST_PIECES):
        squeezed = _SIGNS.sub("", piece[:_LONGEST_NAME]).lower()
        is_alone = len(piece.split()) < 2 or _SIGN_ALONE.search(piece)
        is_within = is_alone and any(len(name) >= _LONG_ENOUGH and name in squeezed for name in forms)
        is_close = is_alone and get_close_matches(squeezed, forms, n=1, cutoff=0.75)
        if squeezed in forms or is_within or is_close:
            raise NoModule(piece)  # a step that is misspelt
    lowered = text.lower()
    for form in (each for each in calls.by_form if "_" in each and each in lowered):
        if re.search(rf"[^\W_]{re.escape(form)}", lowered):
            raise PlanError(f"a word runs into {form!r} beside the plan")


def _left_open(text: str) -> str | None:
    """Return the line up to a bracket that closes nothing, which is what is left of a broken step."""
    text, opened = _ENUMERATED.sub("", text), ""
    for sign in BRACKET.finditer(text):
        if sign[0] in "[{(":
            opened += sign[0]
        elif opened[-1:] + sign[0] not in ("[]", "{}", "()"):
            return text[: sign.end()].rpartition("\n")[2].strip()
        else:
            opened = opened[:-1]
    return None


def _mentions(line: str, known: Container[str], longest: int) -> Iterator[tuple[int, int, str]]:
    """Yield where names of modules stand in a line, as they are known; they have at most so many words."""
    line = _GLUED_NUMBER.sub(lambda number: " " * len(number[0]), line)
    words = list(_PARTS.finditer(line))
    forms = [word[0].lower() for word in words]
    gaps = [not line[one.end() : two.start()].strip(" \t_-") for one, two in pairwise(words)]
    place = 0
    while place < len(words):
        last = place
        while last < min(len(gaps), place + longest - 1) and gaps[last]:
            last += 1
        while last > place and "_".join(forms[place : last + 1]) not in known:
            last -= 1
        if (form := "_".join(forms[place : last + 1])) in known:
            yield words[place].start(), words[last].end(), form
        place = last + 1


def _bare(line: str) -> str:
    """Return what a line says behind its bullet."""
    return _LETTER.sub("", BULLET.sub("", _START.sub("", BULLET.sub("", line))))
