"""The facts of a case: people, what they earn, whom they are married to, and where they live."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction

Years = tuple[int, int]
"""The first and the last calendar year for which something holds."""

ALWAYS: Years = (1, 9999)
FUND = "fund"
_UNNAMED = "'s spouse"


@dataclass(frozen=True, slots=True)
class Marriage:
    """A marriage and the days of its beginning and end, None where there is none that is known."""

    one: str
    other: str
    begin: date | None
    end: date | None = None

    def spouse(self, person: str) -> str:
        return self.other if person == self.one else self.one


@dataclass(frozen=True, slots=True)
class Home:
    """People who live in one home between two days, and who maintains it ("" where nothing tells)."""

    people: frozenset[str]
    begin: date
    end: date
    maintained_by: str = ""


@dataclass(frozen=True, slots=True)
class Payment:
    """What one person has paid another for work in those years.

    `kind` is "work", "domestic" or "agricultural", or "fund" for what went into a fund on their behalf.
    """

    payer: str
    payee: str
    amount: Fraction
    years: Years
    kind: str


@dataclass(slots=True)
class Facts:
    """What is known; `unread` are the sentences that no rule reads.

    `incomes` and `taxable` belong to one or several people together; `parents` are pairs of parent and child.
    """

    people: set[str] = field(default_factory=set)
    incomes: list[tuple[tuple[str, ...], Fraction, Years]] = field(default_factory=list)
    taxable: list[tuple[tuple[str, ...], Fraction, Years]] = field(default_factory=list)
    itemized: dict[str, Fraction] = field(default_factory=dict)
    standard: list[tuple[str, Years]] = field(default_factory=list)
    payments: list[Payment] = field(default_factory=list)
    applicable_amount: Fraction | None = None
    marriages: list[Marriage] = field(default_factory=list)
    separations: list[tuple[str, str, date]] = field(default_factory=list)
    joint: list[tuple[str, str, Years]] = field(default_factory=list)
    separate: list[tuple[str, Years]] = field(default_factory=list)
    statuses: list[tuple[str, str, Years]] = field(default_factory=list)
    parents: set[tuple[str, str]] = field(default_factory=set)
    siblings: set[frozenset[str]] = field(default_factory=set)
    births: dict[str, date] = field(default_factory=dict)
    deaths: dict[str, date] = field(default_factory=dict)
    ages: list[tuple[str, int, int]] = field(default_factory=list)
    blind: dict[str, date] = field(default_factory=dict)
    aliens: list[tuple[str, date, date]] = field(default_factory=list)
    homes: list[Home] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    subject: str = ""

    def spouse_of(self, person: str) -> str:
        """Who is called the spouse of a person: the one that is named, else nobody in particular."""
        for marriage in self.marriages:
            if person in (marriage.one, marriage.other):
                return marriage.spouse(person)
        return person + _UNNAMED

    def who(self, name: str) -> str:
        """The person that a name or pronoun means, who is known from now on."""
        person = self.subject if name.lower() in ("she", "he", "her", "his", "they") else name
        if person:
            self.people.add(person)
        return person


def within(year: int, years: Years) -> bool:
    """Whether a year is among those."""
    return years[0] <= year <= years[1]
