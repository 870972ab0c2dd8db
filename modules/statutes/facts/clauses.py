"""Sentences taken apart into clauses that some form reads: by relative clauses, and by "and" and its like."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chameleon.modules.statutes.facts.case import Facts, Span
from chameleon.modules.statutes.facts.forms import ABOUT, MONEY, NAME, NAMES, YEAR, Clause, Reader, reader_of
from chameleon.modules.statutes.facts.naming import People, resolved
from chameleon.modules.statutes.facts.times import DATE_IN_YEAR, taken_out

_SENTENCE = re.compile(r"(?<=[.])\s+(?=[A-Z])")
_COMMA_IN_DATE = re.compile(rf"({DATE_IN_YEAR}), (?={YEAR}\b)")
_LONGEST = 500
_DEEPEST = 6
_MOST_JOINTS = 7
_MORE = re.compile(r"^(?:In addition|Additionally|Moreover|Also|Furthermore|Besides),? ")
_IDLE = re.compile(r"^(?:However|Meanwhile|Then|Now|Still),? ")
_ALSO = re.compile(r"(?<=\w) (?:also|another|an additional|additionally)(?= )")
_EACH = re.compile(
    r"(?<=\w)(?<! is)(?<! was)(?<! are)(?<! were) (?:both|each|all|together)(?= (?!to\b|of\b)\w)"
    r"|\b[Bb]oth (?=[A-Z])"
)
_JOINT = re.compile(r",? and |,? while |,? but |,? whereas |; |, ")
_PEOPLE = {"who", "of", "one", "other", "payer", "payee", "more"}
_SUBJECT = re.compile(rf".*?\b(?P<who>{NAMES})\b")
_MEDIAL = re.compile(rf"(?P<who>{NAME}), (?P<link>whose\b|who\b|(?=born ))(?P<said>.+?), ")
_FINAL = re.compile(rf"(?P<who>{NAME}),? (?P<link>whose\b|who\b|(?=born ))(?P<said>.+)$")
_KIN_BORN = re.compile(rf"(?P<main>(?P<who>{NAME}) is {NAME}'s [a-z]+), (?P<said>born .+)")
_IN_YEAR = rf"{MONEY} (?:in|for) {YEAR}"
_TWO_YEARS = re.compile(rf"(?P<head>.+ )(?P<one>{_IN_YEAR}),? and (?P<other>{_IN_YEAR})")
_LEADING = re.compile(r"(?:ever )?(?:in|from|for|during|throughout|since|on|at|by)\b", re.I)
_ONSET = re.compile(r"\b(?:became|went|turned)\b")
_VERB = re.compile(
    r"\b(?:(?P<now>is|are|has|have|do|does|lives?|files?|resides?|shares?|maintains?|itemizes?|claims?|takes?"
    r"|makes?|earns?|pays?|receives?|uses?|chooses?|elects?|furnishes|bears?|covers?)"
    r"|was|were|had|did|made|took|got|bore|kept|chose|paid|[a-z]+ed)\b"
)

Read = list[tuple[Reader, Clause]]


def read_into(facts: Facts, text: str) -> None:
    """Read a text sentence by sentence; what no form reads is kept in `facts.unread`."""
    text = re.sub(r"\s+", " ", text.replace("\u2019", "'").strip())
    text = re.sub(r"\b(and|the|a|of|in|to) \1\b", r"\1", text)
    text = _COMMA_IN_DATE.sub(r"\1 ", text)
    people, last = People.of(text, facts), Span()
    for written in _SENTENCE.split(text):
        sentence = written.strip().rstrip(".;")
        if not sentence:
            continue
        if len(sentence) > _LONGEST:
            facts.unread.append(sentence)
            continue
        named, clauses = resolved(sentence, people)
        found = [read for each in clauses if (read := _one(each, Span(), False)) is not None]
        main = _read(named, last, 0)
        if main is None or len(found) != len(clauses):
            facts.unread.append(sentence)
            continue
        for reader, clause in [*(each for read in found for each in read), *main]:
            if reader(facts, clause) is False:
                facts.unread.append(sentence)
                break
            last = clause.span if clause.span.kind else last
            for group in _PEOPLE & set(clause.found.groupdict()):
                facts.people.update(clause.names(group))


def _read(text: str, last: Span, depth: int) -> Read | None:
    """What a sentence comes to; None where a part of it is of no known form."""
    is_more = bool(_MORE.match(text))
    text = _IDLE.sub("", _MORE.sub("", text))
    if (whole := _one(text, last, is_more)) is not None:
        return whole
    if depth == _DEEPEST:
        return None
    if len(_JOINT.findall(text)) > _MOST_JOINTS:
        return None
    for one, other in _halves(text):
        first = _read(one, last, depth + 1)
        if first is None:
            continue
        span = first[-1][1].span
        second = _read(other, span if span.kind else last, depth + 1)
        shared = second and _inherit(second, first, bool(_LEADING.match(one)))
        if shared:
            return [*_more(first, is_more), *shared]
    return None


def _one(text: str, last: Span, is_more: bool) -> Read | None:
    """What a single clause comes to."""
    timed = taken_out(text, last)
    if timed is None:
        return None
    core, span, is_yearly = timed
    plain = _ALSO.sub("", core)
    is_more = is_more or plain != core
    for form in (plain, _EACH.sub("", plain)):
        if read := reader_of(form):
            return [(read[0], Clause(read[1], span, is_more, is_yearly))]
    return None


def _halves(text: str) -> Iterator[tuple[str, str]]:
    """Ways to take a sentence apart in two: relative clauses first, then what is joined."""
    for pattern in (_MEDIAL, _FINAL):
        for found in pattern.finditer(text):
            said = found["said"].strip()
            relative = {
                "who": f"{found['who']} {said}",
                "whose": f"{found['who']}'s {said}",
                "": f"{found['who']} was {said}",
            }[found["link"]]
            is_one = not found["link"] or re.match(r"(?:is|was|has) ", said)
            if re.search(r" and $", text[: found.start()]) and not is_one:
                continue
            rest = text[found.end() :]
            before = text[: found.start()] + found["who"]
            if rest and re.match(r"(?:and|but|while) ", rest):
                yield f"{before}, {rest}", relative
            elif rest:
                yield f"{before} {rest}", relative
            else:
                yield before, relative
    if born := _KIN_BORN.fullmatch(text):
        yield born["main"], f"{born['who']} was {born['said']}"
    if years := _TWO_YEARS.fullmatch(text):
        yield f"{years['head']}{years['one']}", f"{years['head']}{years['other']}"
    for found in _JOINT.finditer(text):
        one, other = text[: found.start()], text[found.end() :]
        other = re.sub(r"^(?:and|but|while) ", "", other)
        if other and other[0].islower():
            subject = re.match(
                rf"(?P<time>(?:[A-Z][^A-Z]* )??(?:[^,]*, )??)(?P<who>{NAMES})\b", _timeless(one)
            )
            if subject is None:
                continue
            other = f"{subject['who']} {other}"
        yield one, other


def _timeless(text: str) -> str:
    timed = taken_out(text, Span(kind="day"))
    return timed[0] if timed else text


def _more(first: Read, is_more: bool) -> Read:
    if not is_more:
        return first
    return [(reader, Clause(each.found, each.span, True, each.is_yearly)) for reader, each in first]


def _inherit(second: Read, first: Read, leads: bool) -> Read | None:
    """Clauses without a time of their own, with the time that they share; None where that is in doubt.

    A time before the first clause (`leads`) is that of all, but that of an event is no one else's but other
    events'. A time within a clause is shared by amounts, and by what is told in the past as well, but
    not by the present after the past.
    """
    timed = first[0] if leads else next((each for each in reversed(first) if each[1].span.kind), None)
    if timed is None or not timed[1].span.kind:
        return second
    span, is_event = timed[1].span, ABOUT[timed[0]] == "event" or _ONSET.search(timed[1].found[0])
    was_past = _is_past(timed[1].found[0])
    found: Read = []
    for reader, each in second:
        about, is_past = ABOUT[reader], _is_past(each.found[0])
        shares = not is_event or about == "event" if leads else not is_event and span.kind == "year"
        if each.span.kind or about == "kin":
            found.append((reader, each))
        elif shares and not leads and was_past and not is_past:
            return None
        elif shares and (leads or is_past or about == "amount"):
            found.append((reader, Clause(each.found, span, each.is_more, each.is_yearly)))
        elif leads or (is_past and (span.kind != "day" or is_event)) or about == "event":
            return None
        else:
            found.append((reader, each))
    return found


def _is_past(core: str) -> bool:
    """Whether a clause is told in the past, by its first verb."""
    verb = _VERB.search(core)
    return verb is None or verb["now"] is None
