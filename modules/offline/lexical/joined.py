"""Statements that make two claims: "x be from leeds while y be from hull"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from chameleon import Table
from chameleon.modules.offline.lexical.conditions import Condition
from chameleon.modules.offline.lexical.reading import Link, Question, Reading

_JOINT = re.compile(r"(?:(?<!\s)\s+)?(?:,\s*)?\b(?:while|and|but|whereas)\b\s*")
_BOTH = 0.9  # two readings may go wrong
_OF_ROWS = frozenset({"fact", "facts", "count", "fact within bounds"})


def joined_readings(
    statement: str, table: Table, best: Callable[[str, Table], Reading | None]
) -> Iterator[Reading]:
    """Readings of a statement in two parts, each of which says something of rows by itself.

    `best` gives the surest reading of a part. Both claims are seen to in one table: that of the rows that
    either is about.
    """
    for joint in _JOINT.finditer(statement):
        parts = [best(part, table) for part in (statement[: joint.start()], statement[joint.end() :])]
        read = [part for part in parts if part is not None and part.kind in _OF_ROWS]
        if len(read) == len(parts):
            questions = tuple(question for part in read for question in part.questions)
            sure = _BOTH * min(part.sure for part in read)
            yield Reading("joined", _chain(questions), questions, sure=sure)


def _chain(questions: tuple[Question, ...]) -> tuple[Link, ...]:
    either = tuple(dict.fromkeys(question.where for question in questions))
    named: tuple[Condition, ...] = tuple(each for q in questions for each in (*q.where, *q.claim))
    columns = dict.fromkeys(condition.column for condition in named)
    return Link("select_row", either=either), Link("select_column", columns=tuple(columns))
