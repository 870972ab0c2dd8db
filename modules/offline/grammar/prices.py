"""Shopping from a list of prices: what it costs, what is left, whether the money is enough."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.answers import yes_or_no
from chameleon.modules.offline.grammar.bounds import show
from chameleon.modules.offline.grammar.lexicon import FRACTION_WORDS
from chameleon.modules.offline.grammar.linking import find_cells, name_stems
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import are_whole, assemble, finish, literal
from chameleon.modules.offline.grammar.shapes import is_headerless, is_money, with_first_line
from chameleon.modules.offline.grammar.words import Word, stem, stem_set, stems
from chameleon.table import Column, Table

_SHOPPING = stem_set(
    """
    money need buy cost spend pay total want store shop market price enough left if and altogether go
    order get each
    """
)
_BUYING = stem_set("buy cost spend pay need price charge")
_PAYING = stem_set("pay spend buy need want owe")
_BESIDE_NAMES = stem_set("does did do if will has have need buy want go spend pay can order get")
_UNITS = stem_set("pound kilogram ounce gram liter litre gallon quart pint meter foot yard")
_HELPINGS = stem_set("order serving helping")


@dataclass(frozen=True)
class Purchase:
    """So much of one item, and the words that say so."""

    item: str
    quantity: Fraction | None
    unit: str
    price: Fraction
    per: str
    places: frozenset[int]

    @property
    def cost(self) -> str:
        return (
            literal(self.price)
            if self.quantity in (None, 1)
            else f"{literal(self.quantity or 1)} * {literal(self.price)}"
        )


# A longer table records what was sold, and its rows are not things to buy.
_LONGEST_LIST = 1_000


def read_shopping(problem: Problem) -> Draft | None:
    """ "How much does she spend on 2 pounds of ham?", "Is $5 enough for a ruler and a pen?"."""
    listed = _price_list(problem.table) if len(problem.table.rows) <= _LONGEST_LIST else None
    if listed is None or not any(word.stem in _BUYING for word in problem.words):
        return None
    purchases = _purchases(problem, *listed)
    if not purchases:
        return None
    read = frozenset().union(*(purchase.places for purchase in purchases)) | _shopping_words(problem)
    owned = [
        i
        for i, word in enumerate(problem.words)
        if word.kind == "number" and is_money(word.value) and i not in read
    ]
    texts = {problem.words[i].text.lower() for i in problem.asked}
    whole = are_whole(part for purchase in purchases for part in (purchase.price, purchase.quantity or 1))
    if "than" in texts and len(purchases) == 2 and not owned:
        return _difference(problem, purchases, read, whole)
    _require_units(purchases)
    total = " + ".join(purchase.cost for purchase in purchases)
    said = " and ".join(
        f"{show(p.quantity or Fraction(1))} {p.unit + ' of ' if p.unit else ''}{p.item}" for p in purchases
    )
    if not owned:
        if "how" not in texts | {"what"} and "what" not in texts:
            return None
        if {"left", "enough", "many"} & texts:
            return None
        lines = finish(total, whole=whole, money=True)
        return Draft(assemble(lines), f"Cost of {said}", read, whole_text=True)
    if len(owned) != 1:
        return None
    money = problem.words[owned[0]].number or Fraction(0)
    read |= {owned[0]}
    if "enough" in texts:
        yes, no = yes_or_no(problem)
        lines = [f"cost = {total}", f"ans = {yes!r} if cost <= {literal(money)} else {no!r}"]
        return Draft(
            assemble(lines), f"Whether {problem.words[owned[0]].text} pays for {said}", read, whole_text=True
        )
    if "left" in texts:
        change = f"{literal(money)} - ({total})"
        lines = finish(change, whole=whole and money.denominator == 1, money=True)
        return Draft(
            assemble(lines), f"{problem.words[owned[0]].text} less the cost of {said}", read, whole_text=True
        )
    return None


def _difference(
    problem: Problem, purchases: list[Purchase], read: frozenset[int], whole: bool
) -> Draft | None:
    words = {problem.words[i].text.lower(): i for i in problem.asked}
    if not {"how", "much"} <= words.keys() or not {"more", "less"} & words.keys():
        return None
    _require_units(purchases)
    first, second = purchases if "more" in words else reversed(purchases)
    cues = {place for text, place in words.items() if text in {"more", "less", "than"}}
    if first.price * (first.quantity or 1) < second.price * (second.quantity or 1):
        raise Declined(f"{first.item} does not cost more than {second.item}")
    lines = finish(f"{first.cost} - {second.cost}", whole=whole, money=True)
    return Draft(
        assemble(lines), f"Price of {first.item} less that of {second.item}", read | cues, whole_text=True
    )


def _require_units(purchases: list[Purchase]) -> None:
    """Raises `Declined` where an amount and a price are in different units."""
    for purchase in purchases:
        if purchase.per and purchase.unit != purchase.per and stem(purchase.per) not in stems(purchase.item):
            raise Declined(
                f"{purchase.item} is sold per {purchase.per}, and the question gives no amount in that unit"
            )
        if purchase.unit and not purchase.per:
            raise Declined(f"the price of {purchase.item} is not per {purchase.unit}")


def _shopping_words(problem: Problem) -> frozenset[int]:
    """The words of shopping, and the name of who shops."""
    words = problem.words
    names = {
        i
        for i, word in enumerate(words)
        if word.is_name and any(words[j].stem in _BESIDE_NAMES for j in (i - 1, i + 1) if 0 <= j < len(words))
    }
    told = {words[i].stem for i in names if i not in problem.asked}
    strangers = {i for i in names if i in problem.asked and told and words[i].stem not in told}
    return frozenset({i for i, word in enumerate(words) if word.stem in _SHOPPING} | names - strangers)


def _price_list(table: Table) -> tuple[Table, Column, Column] | None:
    """The table with its column of items and its column of prices."""
    full = with_first_line(table)
    named = [
        column
        for column in full.columns
        if column.kind == "text" and len(set(column.cells)) == len(column.cells)
    ]
    priced = [
        column for column in full.columns if column.kind == "number" and all(map(is_money, column.values))
    ]
    if len(priced) > 1 or (not priced and not is_headerless(table)):
        priced = [
            c for c in full.columns if c.kind == "number" and {"pric", "cost", "far"} & set(stems(c.name))
        ]
    if not named or len(priced) != 1 or any(value.number is None for value in priced[0].values):
        return None
    is_price = is_headerless(table) or {stem(w) for w in ("price", "cost", "fare", "fee")} & set(
        name_stems(priced[0].name)
    )
    return (full, named[0], priced[0]) if is_price else None


def _purchases(problem: Problem, table: Table, items: Column, prices: Column) -> list[Purchase]:
    names = Table(["name"], [[cell] for cell in items.cells])
    found = []
    for mention in find_cells(names, problem.words, range(len(problem.words))):
        if len(mention.rows) != 1:
            return []
        after = mention.places[-1] + 1
        if after < len(problem.words) and problem.words[after].stem in _PAYING:
            return []
        value = prices.values[mention.rows[0]]
        quantity, unit, places = _amount(problem.words, mention.places[0])
        per = _per(value.unit) or _per(prices.name)
        extra = _joint(problem.words, mention.places[0] - len(places) - 1)
        price = value.number or Fraction(0)
        found.append(
            Purchase(mention.text, quantity, unit, price, per, frozenset({*mention.places, *places, *extra}))
        )
    return found


def _per(text: str) -> str:
    parts = text.split("per ")
    return stem(parts[1].split()[0].strip(")")) if len(parts) == 2 and parts[1].strip() else ""


def _amount(words: tuple[Word, ...], start: int) -> tuple[Fraction | None, str, tuple[int, ...]]:
    """The quantity and unit right before a name: "3/4 of a pound of", "2", "an"."""
    places: list[int] = []
    unit, has_article = "", False
    for place in range(start - 1, max(start - 7, -1), -1):
        word = words[place]
        text = word.text.lower()
        number = word.number if word.number is not None else FRACTION_WORDS.get(text)
        if number is not None and not is_money(word.value):
            return number, unit, (*places, place)
        if word.stem in _UNITS and not unit:
            unit = word.stem
        elif word.stem in _HELPINGS:
            pass
        elif text in {"a", "an"}:
            has_article = True
        elif text not in {"of", "the"}:
            break
        places.append(place)
    if unit and not has_article:
        return None, "", ()
    return (Fraction(1) if has_article else None), unit, tuple(places)


def _joint(words: tuple[Word, ...], place: int) -> tuple[int, ...]:
    return (place,) if place >= 0 and words[place].text.lower() == "and" else ()
