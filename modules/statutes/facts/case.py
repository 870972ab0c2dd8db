"""The facts of a case: people, what they earn, whom they are married to, and where they live."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction

UNNAMED = "_"
FUND = "fund"


@dataclass(frozen=True, slots=True)
class Span:
    """The days that a fact holds for; `kind` is how they are told.

    Kinds: "day" ("on May 4th, 2015"), "year" ("in 2015"), "from" ("from … to …"), "since", and "" where
    nothing tells them.
    """

    begin: date = date.min
    end: date = date.max
    kind: str = ""

    @classmethod
    def of_year(cls, year: int) -> Span:
        return cls(date(year, 1, 1), date(year, 12, 31), "year")

    @property
    def year(self) -> int | None:
        """The only calendar year that it lies in."""
        return self.begin.year if self.kind and self.begin.year == self.end.year else None

    @property
    def is_of_whole_years(self) -> bool:
        """Whether no year is touched for a part only; true where nothing is told."""
        begins, ends = (
            (self.begin.month, self.begin.day) == (1, 1),
            (self.end.month, self.end.day) == (12, 31),
        )
        return begins and ends

    def touches(self, year: int) -> bool:
        return self.begin.year <= year <= self.end.year


@dataclass(frozen=True, slots=True)
class Income:
    """What people earn together; the whole income of a year where `is_whole`, else a payment from `source`.

    `is_more`: told as coming on top of what was told before. `is_yearly`: the same in each year of the span.
    """

    people: tuple[str, ...]
    amount: Fraction
    span: Span
    is_whole: bool = True
    source: str = ""
    is_more: bool = False
    is_yearly: bool = False


@dataclass(frozen=True, slots=True)
class Deduction:
    """What a person may deduct, itemized, and for what ("" where it is all)."""

    person: str
    amount: Fraction
    span: Span
    source: str = ""
    is_more: bool = False


@dataclass(frozen=True, slots=True)
class Payment:
    """What one person has paid another for work.

    `kind` is "work", "domestic", "home" (domestic, in a private home) or "agricultural", or "fund" for what
    went into a fund on their behalf.
    """

    payer: str
    payee: str
    amount: Fraction
    span: Span
    kind: str
    is_more: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """Something that is told of people for some time, as a joint return or a status (`what`)."""

    people: tuple[str, ...]
    span: Span
    what: str = ""


@dataclass(frozen=True, slots=True)
class Marriage:
    """A marriage, the day of its beginning (None where it is not told), and of its end, if it has one."""

    one: str
    other: str
    begin: date | None
    end: date | None = None

    def spouse(self, person: str) -> str:
        return self.other if person == self.one else self.one


@dataclass(frozen=True, slots=True)
class Kin:
    """A parent and a child (`what` is "parent"), or two siblings, since a day (None where it always holds).

    "step" and "half" stand for step-parents and half-siblings, "stepsibling" for stepbrothers and -sisters.
    """

    what: str
    one: str
    other: str
    since: date | None = None


@dataclass(frozen=True, slots=True)
class Home:
    """People who live in one home for some time, and who maintains it ("" where nothing tells)."""

    people: frozenset[str]
    span: Span
    maintained_by: str = ""


@dataclass(slots=True)
class Facts:
    """What is known; `unread` are the sentences that no rule reads.

    `births` are the first and the last day on which someone may have been born. `mentions` are those who
    were told as a relative of someone, without a name: whose, the kin word, and whom it was taken for.
    `unnamed` are those of them who are nobody else so far, `names` who they are known to be. `several` are
    whose relatives of which kind one was told as the oldest of, or the like.
    """

    people: set[str] = field(default_factory=set)
    incomes: list[Income] = field(default_factory=list)
    taxable: list[Income] = field(default_factory=list)
    itemized: list[Deduction] = field(default_factory=list)
    payments: list[Payment] = field(default_factory=list)
    standard: list[Told] = field(default_factory=list)
    joint: list[Told] = field(default_factory=list)
    separate: list[Told] = field(default_factory=list)
    statuses: list[Told] = field(default_factory=list)
    blind: list[Told] = field(default_factory=list)
    aliens: list[Told] = field(default_factory=list)
    applicable_amounts: list[Fraction] = field(default_factory=list)
    marriages: list[Marriage] = field(default_factory=list)
    separations: list[tuple[str, str, date]] = field(default_factory=list)
    kin: list[Kin] = field(default_factory=list)
    births: dict[str, tuple[date, date]] = field(default_factory=dict)
    deaths: dict[str, date] = field(default_factory=dict)
    homes: list[Home] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    genders: dict[str, set[str]] = field(default_factory=dict)
    mentions: list[tuple[str, str, str]] = field(default_factory=list)
    unnamed: set[str] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)
    several: set[tuple[str, str]] = field(default_factory=set)

    def person(self, name: str) -> str:
        """Someone who is known from now on."""
        self.people.add(name)
        return name

    def relative(self, of: str, kin: str, name: str, known: str = "") -> str:
        """A relative who is told without a name: by `name`, or who that is known to be."""
        found = self.names.get(name, known or name)
        self.mentions.append((of, kin, found))
        if found == name:
            self.unnamed.add(name)
        return self.person(found)

    def spouses(self, person: str) -> set[str]:
        """Those whom a person is told to be or to have been married to."""
        return {each.spouse(person) for each in self.marriages if person in (each.one, each.other)}

    def born(self, person: str, first: date, last: date) -> None:
        """Narrow down the day of a birth; what does not fit is a conflict."""
        known_first, known_last = self.births.get(person, (date.min, date.max))
        self.births[person] = found = max(first, known_first), min(last, known_last)
        if found[0] > found[1]:
            self.conflicts.append(f"the facts tell several days of birth of {person}")

    def died(self, person: str, day: date) -> None:
        if self.deaths.setdefault(person, day) != day:
            self.conflicts.append(f"the facts tell several days of death of {person}")
