"""Which lines of a statute begin with labels, and which only look so: wrapped text, odd brackets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from chameleon.modules.statutes.labels import LABEL, LEVELS, follows, readings
from chameleon.modules.statutes.tree import Line

MARKERS = re.compile(rf"(?:{LABEL}\s*)+(?:$|(?<=\s)|(?=[\[—–]))")
"""The labels that a line begins with."""

_SECTION = re.compile(
    r"(?:(?:§+\s*|(?i:sec(?:tion|\.))\s+)(?P<label>[0-9]+[A-Za-z]{0,3}(?:[.–-][0-9]+[A-Za-z]{0,2})*))"
    r"(?:[.:]?$|(?:[.:]\s?(?:—|–|--)|[.:—–])\s*(?=\S)|(?<=[0-9A-Za-z])\s+(?:(?:—|–|--?)\s+)?(?=[A-Z\[“\"]))(?P<heading>.*)",
    re.DOTALL,
)
_SPELT = re.compile(
    r"(?i:sec(?:tion|\.))\s+[0-9][\w.–-]*(?<![.])\s+[^\s—–-]"
)  # "Section 5 applies …" is a sentence
_UNIT = re.compile(
    r"(?i:(?:sub)?(?:title|chapter|part)|division|article)\s+(?:[IVXLC]+|[A-Z]|[0-9]+[A-Z]?)"
    r"(?:$|\s*[.:—–-].*)"
)
_ELISION = re.compile(r"(?:\.\s?){3,5}|…|(?:\*\s*){3,7}")
_ONE = re.compile(LABEL)
_ALONE = (
    r"(?:[Tt]his|[Tt]hat|[Ss]uch|[Tt]he|[Aa]n?|[Aa]ny|[Ee]ach|[Ee]very|which|[Tt]hese|[Tt]hose|following"
    r"|preceding|succeeding|same|said)"
)
_LEVEL = rf"(?:{'|'.join(LEVELS)})s?"
_SENDS_ON = re.compile(rf"(?<!\w)(?P<alone>{_ALONE}\s+)?{_LEVEL}(?P<to>(?:\s*{LABEL})+\s+(?:through|to))?$")
_COUNTS_ON = re.compile(rf"(?:{LABEL}\s*)+(?:and|or|through)\s+\(")
_SEVERAL = re.compile(rf"{LABEL}\s*(?:to|through|thru|and|or|[-–—,&/])\s*{LABEL}")
_RUN_IN = re.compile(r"(?:^|[.;:—–-])\s*\((?:a|1|A|i|I)\)\s+(?=[\"“A-Z])")
_RUN_ON = re.compile(r"(?:^|\s)\((?:a|1|A|i|I)\)\s+(?=[\"“A-Z])")  # in a heading, which ends in no period
_BELONGS = re.compile(rf"(?:{LABEL}\s*)+of\s+(?:this|such|sub|section|para)")
_HANGS = re.compile(r"\b(?:in|of|under|by|with|to|from|for|the|an?|such|than|as|on|at|per)$", re.IGNORECASE)
_ENDS = re.compile(r"[.;:!?—–-]$|[,;]\s+(?:and|or)$")
_ODD = re.compile(
    rf"(?:[-*•–—\[]\s*)?(?:{LABEL})+(?=\S)|[-*•–—\[]\s*{LABEL}"
    rf"|(?:&[a-z]{{2,6}};|<[^<>]{{1,40}}>|\[[ x]\]|[^\w\s(]|\s){{1,12}}{LABEL}(?=\W|$)"
    r"|[(\[{<（［｛【](?P<shut>[A-Za-z0-9]{1,4})[)\]}>）］｝】]"
    r"|\((?P<open>[A-Za-z0-9]{1,4})(?:$|[.,:;]|\s(?![^()]*\)))"
    r"|\([^\w\s)]{1,3}\)"
    r"|(?P<half>[A-Za-z0-9]{1,3})[)）]\s"
    r"|(?P<dotted>[0-9]{1,3}[A-Za-z]?|[A-Za-z]|[ivxIVX]{2,4})\.\s+\S"
    r"|[0-9]{1,3}(?:\.[0-9]{1,3})+\.?\s+[A-Z]"
)
_DECORATION = re.compile(r"[*_`]{1,3}")


@dataclass(frozen=True, slots=True)
class Marked:
    """A line that begins with labels.

    `later` is the first label of the next line of the same indentation in what it stands in, "" for none;
    `doubt` tells why it may be no label at all.
    """

    indent: int
    labels: tuple[str, ...]
    later: str = ""
    doubt: str = ""


@dataclass(slots=True)
class Marks:
    """The lines that begin with labels, by number, and the others that look so, with why they are text.

    `wrapped` are those of the latter that go on from the line before.
    """

    marked: dict[int, Marked] = field(default_factory=dict)
    kept: dict[int, str] = field(default_factory=dict)
    wrapped: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Place:
    """How a label fits among those around it, and whether `prose` follows it: a word in lower case.

    `alone`: all labels have the same indentation, so that it tells nothing. `counted`: the label that
    comes before it in number stands somewhere above. `is_later`: one of its level does,
    indented alike.
    """

    deeper: bool
    begins: bool
    is_next: bool
    is_later: bool
    goes_on: bool
    comes_again: bool
    counted: bool
    alone: bool
    prose: bool

    @property
    def begins_series(self) -> bool:
        return self.begins and (self.deeper or (self.alone and (self.goes_on or not self.prose)))

    @property
    def fits(self) -> bool:
        return self.begins_series or self.is_next or (self.alone and self.counted)


@dataclass(slots=True)
class _Around:
    """The labels above a line in its section: those that are `open`, all that was `counted`, and the levels
    that were `met`, with their indentation.
    """

    alone: bool
    open: list[tuple[int, str]] = field(default_factory=list)
    counted: set[tuple[str, int]] = field(default_factory=set)
    met: set[tuple[int, str]] = field(default_factory=set)

    def add(self, indent: int, labels: Sequence[str]) -> None:
        while self.open and self.open[-1][0] >= indent:
            self.open.pop()
        self.open.append((indent, labels[0]))
        for label in labels:
            self.counted |= {(option.level, option.value) for option in readings(label)}

    def meet(self, indent: int, label: str) -> None:
        self.met |= {(indent, option.level) for option in readings(label)}

    def clear(self) -> None:
        self.met.clear()
        self.open.clear()
        self.counted.clear()

    def place(self, line: Line, label: str, later: str) -> _Place:
        before = next((each for each in reversed(self.open) if each[0] <= line.indent), None)
        options = readings(label)
        rest = line.content[MARKERS.match(line.content).end() :]  # type: ignore[union-attr]
        return _Place(
            deeper=not self.open or line.indent > self.open[-1][0],
            begins=any(option[1:] == (1, 0) for option in options),
            is_next=before is not None and before[0] == line.indent and _follows(label, before[1]),
            is_later=any((line.indent, option.level) in self.met for option in options),
            goes_on=bool(later) and _follows(later, label),
            comes_again=later == label,
            counted=any(
                (option.level, option.value - (not option.added)) in self.counted for option in options
            ),
            alone=self.alone,
            prose=rest[:1].islower(),
        )


def section_of(line: Line) -> re.Match[str] | None:
    """The label and heading of a line that begins a section: "§152. Dependent defined"."""
    content = line.content
    found = _SECTION.fullmatch(content)
    return None if found is None or _SPELT.match(content) else found


def is_unit(content: str) -> bool:
    """Whether a line names what sections stand in: "CHAPTER 2. Fees"."""
    return bool(_UNIT.fullmatch(content))


def is_elision(content: str) -> bool:
    """Whether a line says that something is not shown."""
    return bool(_ELISION.fullmatch(content))


def marks_of(lines: Sequence[Line]) -> Marks:
    """Which lines begin with labels.

    A label at the start of a line may be wrapped text: "described in paragraph⏎(2) pays". It is taken for
    that where the line before sends on to it, or cannot end there, and the label begins no series, nor goes
    on with one. What could be either is told: in `doubt`, or in `kept`.
    """
    found = {line.number: given for line in lines if (given := labels_of(line.content))}
    here = [line for line in lines if line.number in found]
    later = _later([(line.number, line.indent, found[line.number][0]) for line in here])
    around = _Around(len({line.indent for line in here}) == 1)
    marks, before = Marks(), ""
    for line in lines:
        content, labels = line.content, found.get(line.number)
        if labels is not None:
            place = around.place(line, labels[0], later[line.number])
            is_label, doubt = _judged(content, before, place)
            doubt = doubt or (_doubt_within(content) if is_label else "")
            if is_label or doubt:
                around.meet(line.indent, labels[0])
            if is_label:
                marks.marked[line.number] = Marked(line.indent, labels, doubt=doubt)
                around.add(line.indent, labels)
            else:
                marks.wrapped.add(line.number)
                marks.kept |= {line.number: doubt} if doubt else {}
        elif section_of(line):
            around.clear()
        elif _is_odd(content) and not (_sends_on(before) and content.startswith("(")):
            marks.kept[line.number] = "it begins like a label, and is kept as text"
        before = "" if is_elision(content) else content
    marks.marked = _with_later(marks.marked)
    return marks


def labels_of(content: str) -> tuple[str, ...]:
    """The labels that a line begins with; none where one of them counts nothing, such as "(and)"."""
    match = MARKERS.match(content)
    labels = tuple(label[1:-1] for label in _ONE.findall(match[0])) if match else ()
    return labels if all(readings(label) for label in labels) else ()


def _later(marked: Sequence[tuple[int, int, str]]) -> dict[int, str]:
    """For numbers, indentations and labels of lines: the label after each with the same indentation."""
    found, after = dict[int, str](), list[tuple[int, str]]()
    for number, indent, label in reversed(marked):
        while after and after[-1][0] > indent:
            after.pop()
        found[number] = after.pop()[1] if after and after[-1][0] == indent else ""
        after.append((indent, label))
    return found


def _with_later(marked: dict[int, Marked]) -> dict[int, Marked]:
    later = _later([(number, each.indent, each.labels[0]) for number, each in marked.items()])
    return {
        number: Marked(each.indent, each.labels, later[number], each.doubt) for number, each in marked.items()
    }


def _follows(second: str, first: str) -> bool:
    return any(follows(after, before) for after in readings(second) for before in readings(first))


def _sends_on(before: str) -> bool:
    """Whether a line ends where a label must follow: "in section", not "in this section"."""
    found = _SENDS_ON.search(before)
    return bool(found and (found["to"] or not found["alone"]))


def _judged(content: str, before: str, place: _Place) -> tuple[bool, str]:
    """Whether a line begins with a label, and what makes that doubtful."""
    wrapped = "it begins like a label, and is taken for the rest of the line before"
    doubt = "it begins with a label, and could be the rest of the line before"
    if not before:
        return True, ""
    if _sends_on(before):
        if place.begins_series:
            return True, "" if place.deeper and place.goes_on else doubt
        follows_on = place.is_next or (place.alone and place.counted)
        if follows_on and not place.comes_again and not (place.alone and place.prose):
            return True, doubt
        return False, wrapped if place.is_later or place.begins or place.alone else ""
    if _COUNTS_ON.match(content) and not _ENDS.search(before):
        return False, wrapped if place.fits or place.is_later else ""
    if _BELONGS.match(content) and not _ENDS.search(before):
        return place.fits, doubt if place.fits else wrapped if place.is_later else ""
    if _HANGS.search(before):
        is_label = place.fits or (place.alone and place.begins)
        is_doubtful = place.alone and place.prose and not place.goes_on
        return is_label, wrapped if not is_label else doubt if is_doubtful else ""
    expected = place.begins or place.is_next or place.counted or _ENDS.search(before)
    return True, doubt if before[-1].islower() and place.prose and not expected else ""


def doubt_in_heading(heading: str) -> str:
    """What makes the heading of a section doubtful: labels run into its line. "" for nothing."""
    return "a label stands in its line, and is kept as its heading" if _RUN_ON.search(heading) else ""


def _doubt_within(content: str) -> str:
    """What makes a label doubtful: another one on its line that is kept as text."""
    if _SEVERAL.match(content):
        return "it names several provisions, and is kept as the first"
    opening = content[MARKERS.match(content).end() :]  # type: ignore[union-attr]
    return "another label stands within it, and is kept as text" if _RUN_IN.search(opening) else ""


def _is_odd(content: str) -> bool:
    """Whether a line that begins with no label looks like an attempt at one."""
    found = _ODD.match(content) or _ODD.match(_DECORATION.sub("", content).lstrip("-+•◦ "))
    if found is None:
        return False
    said = _said(found.groupdict().values(), found[0])
    return not said or all(map(readings, said))


def _said(groups: Iterable[str | None], text: str) -> list[str]:
    return [group for group in groups if group] or [label[1:-1] for label in _ONE.findall(text)]
