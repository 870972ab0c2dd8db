"""Pay stubs and yearly finances: all the taxes, and what is left of the earnings after them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import are_whole, assemble, finish, listing
from chameleon.modules.offline.grammar.shapes import is_money, is_total_label, with_first_line
from chameleon.modules.offline.grammar.words import stem_set, stems
from chameleon.table import Table, read_value

_EARNED = stem_set("earnings income wages salary tips pay bonus")
_TAXES = stem_set("tax taxes")
_UNCLEAR = stem_set("after refund return credit deduction rate net gross")
_TAXED = word_set("tax taxes payroll")
_MADE = word_set("make made earn earned get got take home net after taxes")


@dataclass(frozen=True)
class Payslip:
    """What was earned and what was taken off as taxes."""

    earned: tuple[Fraction, ...]
    taxes: tuple[Fraction, ...]


def read_payslip(problem: Problem) -> Draft | None:
    """ "How much payroll tax did Ann pay in total?", "How much did Ann make after taxes?"."""
    slip = _payslip(problem.table)
    texts = {i: problem.words[i].text.lower() for i in problem.asked}
    if slip is None:
        return None
    whole = are_whole((*slip.earned, *slip.taxes))
    names = {i for i in problem.asked if problem.words[i].stem in problem.topic and problem.words[i].is_name}
    if _follow(texts, "in", "total") and "tax" in texts.values() and "pay" in texts.values():
        read = names | {i for i, text in texts.items() if text in _TAXED | {"pay", "total"}}
        lines = [f"taxes = {listing(slip.taxes)}", *finish("sum(taxes)", whole=whole, money=True)]
        return Draft(assemble(lines), "Sum of the taxes", frozenset(read))
    if not _follow(texts, "after", "taxes") and not _follow(texts, "net", "income"):
        return None
    read = names | {i for i, text in texts.items() if text in _MADE | {"income"}}
    lines = [f"earned, taxes = {listing(slip.earned)}, {listing(slip.taxes)}"]
    lines += finish("sum(earned) - sum(taxes)", whole=whole, money=True)
    return Draft(assemble(lines), "Earnings less taxes", frozenset(read))


def _follow(texts: dict[int, str], first: str, second: str) -> bool:
    return any(text == first and texts.get(i + 1) == second for i, text in texts.items())


def _payslip(table: Table) -> Payslip | None:
    """The amounts of a table whose rows are earnings and taxes, totals of taxes aside; None for others.

    "Bonus before taxes" is earned. A row of any other amount, such as a deduction or what is left
    after taxes, makes it unclear what to take from what.
    """
    earned: list[Fraction] = []
    taxes: list[Fraction] = []
    for row in with_first_line(table).rows:
        amounts = [value for value in map(read_value, row[1:]) if is_money(value)]
        words = set(stems(row[0].lower().split(" before ")[0]))
        if not amounts or not words:
            continue
        number = amounts[0].number
        if len(amounts) != 1 or number is None or words & _UNCLEAR:
            return None
        if words & _TAXES:
            taxes += [] if is_total_label(row[0]) else [number]
        elif words & _EARNED:
            earned.append(number)
        else:
            return None
    has_one_total = len(earned) == 1 or not any(is_total_label(row[0]) for row in table.rows)
    return Payslip(tuple(earned), tuple(taxes)) if earned and taxes and has_one_total else None
