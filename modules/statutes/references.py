"""References in questions and statutes: "section 152(d)(2)(A) through (G)", "this paragraph", and lists."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from chameleon.modules.statutes.acts import act_after, act_before, act_beside
from chameleon.modules.statutes.atoms import LEAD, LEADS, OF, SHORT, Atom, atom_at, spelt_at, with_lower
from chameleon.modules.statutes.labels import LABEL, readings

Relation = Literal["", "this", "such", "before", "after"]

_DEEPEST = 8  # of "clause (i) of paragraph (1) of …"
_BARELY = rf"(?<![\w$.,§])(?P<number>[0-9]{{1,5}}[A-Z]?)(?P<labels>(?:{LABEL})+)"
_ABOVES = r"\bthis\s{1,9}(?P<unit>(?:sub)?(?:title|chapter|part)|act|code|division)\b"
_BARE = re.compile(_BARELY)
_ABOVE = re.compile(_ABOVES, re.IGNORECASE)
_START = re.compile(f"{LEADS}|{_BARELY}|{_ABOVES}", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_NEXT = re.compile(
    r"\s{0,9}(?P<through>through|thru|to(?=\s{0,9}\()|–|-(?=\s?[(0-9]))\s{0,9}"
    r"|\s{0,9},?\s{0,9}(?:and/or|and|or|nor|as\s{1,9}well\s{1,9}as)\s{1,9}(?:of\s{1,9})?"
    r"|\s{0,9}[&/]\s{0,9}(?=[(0-9])"
    r"|\s{0,9},\s{0,9}(?=[(0-9])",
    re.IGNORECASE,
)
_THIS = re.compile(r"\s{1,9}(?:of|in|under)\s{1,9}this\b", re.IGNORECASE)
_ALSO = re.compile(r",?\s{1,9}(?:and|or)\s{1,9}", re.IGNORECASE)
_PLAIN_AFTER = re.compile(
    r"\s{0,9}(?:$|[.,;:)\]?!]|(?:of|and|or|applies|apply|for|is|are|does|do|to|in|as|by|with|the|shall"
    r"|prescribes|was|were|has|have|who|which|that|if|unless|when|but|from|at|on|so|may)\b)"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """One provision that a text names, where `text[start:end]` is the phrase that names it.

    `section` is its section where one is named, `level` the word before its labels ("paragraph" in
    "paragraph (2)(A)"), `through` the last label of a range that begins with it. `relation` is "this",
    "such", "before" or "after" for "this paragraph", "such paragraph", "the preceding paragraph" and "the
    succeeding paragraphs"; `of` is what it stands in, where the text says that; `act` the law that it is of,
    where the text names one. `capitals`: it is written in capitals, as its labels may be
    for that reason alone.
    """

    text: str
    start: int
    end: int
    section: str = ""
    level: str = ""
    labels: tuple[str, ...] = ()
    through: str = ""
    relation: Relation = ""
    of: Mention | None = None
    act: str = ""
    capitals: bool = False


def mentions_in(text: str, is_question: bool = False) -> list[Mention]:
    """All provisions that a text names, in order; lists are several mentions, a range is one.

    A list goes on from the labels before it: "section 63(c)(2)(A), (B)" names 63(c)(2)(A) and 63(c)(2)(B),
    "section 151(c) or (d)(1)" names 151(c) and 151(d)(1). "This title" and the like, above the sections, are
    mentions of the level "title". In a question "section 63, subsection (c)" is 63(c); in a statute, where a
    sentence may go on with "for purposes of section 63, subsection (c) shall apply", it is two mentions.
    """
    found, at = list[Mention](), 0
    while (start := _START.search(text, at)) is not None:
        group, at = _group(text, start.start(), is_question=is_question)
        if group and group[0].section and not group[0].act and not _THIS.match(text, at):
            act = act_before(text, start.start())
            group = [replace(each, act=act) for each in group]
        found += group
    return found


def _group(text: str, start: int, depth: int = 0, is_question: bool = False) -> tuple[list[Mention], int]:
    """The mentions of one phrase that begins there, and where it ends; at least one character on."""
    if above := _ABOVE.match(text, start):
        unit = above["unit"].lower()
        return [Mention(above[0], start, above.end(), level=unit, relation="this")], above.end()
    if bare := _BARE.match(text, start):
        labels = _labels_of(bare["labels"])
        whole = with_lower(text, Atom(bare["number"], labels, start, bare.end()), "section", is_question)
        first = Mention(text[start : whole.end], start, whole.end, bare["number"], "section", whole.labels)
        return _closed(text, _listed(text, [first], whole.end), depth)
    lead = LEAD.match(text, start)
    if lead is None:
        return [], start + 1
    word = (lead["word"] or lead["short"]).lower().rstrip(".")
    word = "§" if word.startswith("§") else word
    many = word.endswith("s") or lead[0].count("§") > 1
    word = word.rstrip("s") if word != "§" else word
    level = SHORT.get(word, word)
    if lead["relation"] and (relation := _relation(lead["relation"])):
        end = start + len(lead[0].rstrip())
        if atom_at(text, end) is None:
            return _closed(
                text, [Mention(text[start:end], start, end, level=level, relation=relation)], depth
            )
    atom = atom_at(text, lead.end(), level == "section") or spelt_at(text, lead.end(), level)
    if atom is None:
        return [], lead.end()
    atom = with_lower(text, atom, level, is_question)
    section = atom.number.replace("–", "-")
    if many and "-" in section and section.count("-") == 1:
        return _closed(text, _listed(text, _number_range(text, start, atom, section), atom.end), depth)
    capitals = bool(lead["word"]) and lead["word"].isupper()
    first = Mention(text[start : atom.end], start, atom.end, section, level, atom.labels, capitals=capitals)
    return _closed(text, _listed(text, [first], atom.end, many), depth)


def _number_range(text: str, start: int, atom: Atom, section: str) -> list[Mention]:
    """ "sections 1-4": from one section to another."""
    first, last = section.split("-")
    return [Mention(text[start : atom.end], start, atom.end, first, "section", through=last)]


def _listed(text: str, found: list[Mention], at: int, many: bool = True) -> list[Mention]:
    """The mention with those that a list adds to it."""
    while (step := _NEXT.match(text, at)) is not None:
        last = found[-1]
        labels = atom_at(text, step.end())
        if labels is not None and (last.labels or not last.section):
            atom, mention = labels, _going_on(last, labels.labels)
        elif (
            last.section
            and (number := atom_at(text, step.end(), numbered=True))
            and _is_section(text, number, many or _is_pair(step[0], number))
        ):
            atom = number
            mention = replace(last, section=number.number, labels=number.labels, through="")
        else:
            break
        at = atom.end
        if step["through"]:
            reached = mention.labels[-1] if mention.labels else mention.section
            found[-1] = replace(last, through=reached, end=at, text=text[last.start : at])
        else:
            found.append(replace(mention, text=text[atom.start : at], start=atom.start, end=at))
    return found


def _is_section(text: str, number: Atom, many: bool) -> bool:
    """Whether a number after "and" is a section: it has labels, or none but words of law follow it."""
    return bool(number.labels) or (many and bool(_PLAIN_AFTER.match(text, number.end)))


def _is_pair(step: str, number: Atom) -> bool:
    """Whether a number may be the second of "section 1 or 2": no year, and no comma before it."""
    return step.strip().lower() in ("and", "or", "and/or") and not _YEAR.fullmatch(number.number)


def _going_on(last: Mention, labels: tuple[str, ...]) -> Mention:
    """What a label in a list means: it takes the place of the last label before it of its kind."""
    kinds = {reading.level for reading in readings(labels[0])}
    place = next(
        (
            index
            for index in range(len(last.labels) - 1, -1, -1)
            if kinds & {reading.level for reading in readings(last.labels[index])}
        ),
        max(len(last.labels) - 1, 0),
    )
    return replace(last, labels=(*last.labels[:place], *labels), through="")


def _closed(text: str, found: list[Mention], depth: int) -> tuple[list[Mention], int]:
    """The mentions with what they stand in: "of paragraph (2)", "of this section", "of the Trade Act"."""
    end = found[-1].end
    if found[0].section and (act := act_beside(text, end)):
        return [replace(each, act=act[0]) for each in found], act[1]
    step = OF.match(text, end)
    if step is None:
        return _shared(text, found, depth)
    if act := act_after(text, step.end(), step[0].strip(", \t\n")):
        return [replace(each, act=act[0]) for each in found], act[1]
    if found[0].section or depth == _DEEPEST:
        return found, end
    lead = LEAD.match(text, step.end())
    if lead is None:
        return found, end
    outer, after = _group(text, step.end(), depth + 1)
    if not outer:
        return found, end
    return [replace(each, of=outer[0]) for each in found] + outer[1:], after


def _shared(text: str, found: list[Mention], depth: int) -> tuple[list[Mention], int]:
    """The mentions with those after "and" that share what they stand in.

    "Subsection (d), and subsection (c), of section 152" are both of section 152, as the last comma says.
    """
    end = found[-1].end
    also = _ALSO.match(text, end)
    if also is None or found[0].section or not found[0].labels or depth == _DEEPEST:
        return found, end
    lead = LEAD.match(text, also.end())
    if lead is None or lead["relation"]:
        return found, end
    others, after = _group(text, also.end(), depth + 1)
    with_outer = [each for each in others if each.of is not None and text[each.end : each.end + 1] == ","]
    if not with_outer:
        return found, end
    return [replace(each, of=with_outer[0].of) for each in found] + others, after


def _relation(word: str) -> Relation:
    last = word.lower().split()[-1]
    if last in ("this", "such"):
        return "this" if last == "this" else "such"
    return "before" if last in ("preceding", "foregoing") else "after"


def _labels_of(text: str) -> tuple[str, ...]:
    return tuple(label[1:-1] for label in re.findall(LABEL, text))
