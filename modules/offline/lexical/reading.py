"""What a statement is understood to claim: a chain of operations, and a test of the table they leave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from chameleon.modules.offline.lexical.conditions import Condition

Sign = Literal["=", "<", ">", "<=", ">=", "!="]
Operation = Literal["select_row", "select_column", "group_by", "sort_by", "add_column"]


@dataclass(frozen=True)
class Link:
    """One operation of the chain, told by what it is to do: its arguments depend on the table as it stands.

    - select_row: keeps the rows that meet `where`, or any of `either`.
    - select_column: keeps `columns`. group_by, sort_by: by `columns[0]`; `descending` for the largest first.
    """

    operation: Operation
    where: tuple[Condition, ...] = ()
    either: tuple[tuple[Condition, ...], ...] = ()
    columns: tuple[str, ...] = ()
    descending: bool = False
    datatype: str = "number"

    def to_json(self) -> dict[str, Any]:
        return _told(
            {
                "operation": self.operation,
                "where": [condition.to_json() for condition in self.where],
                "either": [[condition.to_json() for condition in each] for each in self.either],
                "columns": list(self.columns),
                "descending": self.descending,
                "datatype": self.datatype if self.operation == "sort_by" else "",
            }
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Link:
        return cls(
            data["operation"],
            tuple(Condition.from_json(each) for each in data.get("where", ())),
            tuple(tuple(Condition.from_json(one) for one in each) for each in data.get("either", ())),
            tuple(data.get("columns", ())),
            data.get("descending", False),
            data.get("datatype", "number"),
        )


def chain_for(where: Sequence[Condition], columns: Iterable[str], *after: Link) -> tuple[Link, ...]:
    """Keep the rows that are meant, then the columns that they are chosen by and the further ones."""
    rows = (Link("select_row", where=tuple(where)),) if where else ()
    kept = tuple(dict.fromkeys([*(condition.column for condition in where), *columns]))
    return (*rows, Link("select_column", columns=kept), *after) if kept else (*rows, *after)


@dataclass(frozen=True)
class Question:
    """What is asked of the last table.

    - `ask`: of a claim (see `verdict.py`): "any", "all", "none": do rows meet `claim`? "count": how many
      are there? "top": does the row at `place` by `column`, or one tied with it, meet `claim`? "compare":
      how does `column` in the rows of `where` stand to that of `against`? "outnumber":
      are they more? "sum", "average", "distinct": of `column`.
      Questions that are no claims: "cells", "first", "end", "beside", "number", "different", "total", "mean",
      "greater", "apart": see `answers.py`; `by` is the column that orders the rows.
    - `where`: the rows it is about; `sign` and `number`: what the figure is compared with.
    """

    ask: str
    where: tuple[Condition, ...] = ()
    claim: tuple[Condition, ...] = ()
    against: tuple[Condition, ...] = ()
    column: str = ""
    by: str = ""
    datatype: str = "number"
    sign: Sign = "="
    number: str = ""
    place: int = 1

    def to_json(self) -> dict[str, Any]:
        listed = {name: [each.to_json() for each in getattr(self, name)] for name in _LISTED}
        plain = ("column", "by", "datatype", "sign", "number", "place")
        return _told({"ask": self.ask} | listed | {name: getattr(self, name) for name in plain})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Question:
        listed = {name: tuple(Condition.from_json(each) for each in data.get(name, ())) for name in _LISTED}
        return cls(**{**data, **listed})


CLAIMS = frozenset(
    ("any", "all", "none", "count", "distinct", "top", "compare", "outnumber", "sum", "average")
)
"""What may be asked of a claim; the other questions have answers of their own."""
_LISTED = ("where", "claim", "against")


def _told(values: Mapping[str, Any]) -> dict[str, Any]:
    """What there is to tell: empty lists and texts, and what is not so, are left out."""
    return {name: value for name, value in values.items() if value not in ([], "", False)}


@dataclass(frozen=True)
class Reading:
    """A chain of operations and the questions that its last table answers; all must hold.

    `kind` names the pattern; `used` are the places of the words it rests on; `sure` is how often such
    readings were right on statements whose truth is known.
    """

    kind: str
    chain: tuple[Link, ...]
    questions: tuple[Question, ...]
    used: frozenset[int] = field(default_factory=frozenset)
    sure: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "chain": [link.to_json() for link in self.chain],
            "questions": [question.to_json() for question in self.questions],
            "sure": self.sure,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Reading:
        chain = tuple(Link.from_json(link) for link in data["chain"])
        questions = tuple(Question.from_json(question) for question in data["questions"])
        return cls(data["kind"], chain, questions, sure=data["sure"])
