"""Read one cell as a measure: a figure with its sign, scale and unit, as people and programs write them."""

import re
from collections.abc import Collection, Iterable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from chameleon.text import one_line

Number = int | Decimal | Fraction
"""An exact number; a fraction if its decimals would not end."""

# One line per kind: a unit, its size in the first unit of the line, and its other names.
_MEASURES = (
    "m 1 metre meter; km 1000 kilometre kilometer kms; cm 0.01 centimetre centimeter; mm 0.001 millimetre"
    " millimeter; mi 1609.344 mile; ft 0.3048 foot feet; in 0.0254 inch inches; yd 0.9144 yard; nmi 1852",
    "kg 1 kilogram kilo kgs; g 0.001 gram gramme; mg 0.000001 milligram; t 1000 tonne; lb 0.45359237 pound"
    " lbs; oz 0.028349523125 ounce",
    "s 1 second sec secs; ms 0.001 millisecond; μs 0.000001 µs us microsecond; min 60 minute mins;"
    " h 3600 hour hr hrs; day 86400; week 604800; month 2629800; year 31557600 yr yrs",  # 365.25 days
    "km² 1 km2 sqkm square_kilometre square_kilometer; mi² 2.589988110336 sqmi sq_mi square_mile; ha 0.01"
    " hectare; acre 0.0040468564224; m² 0.000001 m2 sqm square_metre square_meter",
    "l 1 litre liter; ml 0.001 millilitre milliliter; gal 3.785411784 gallon",
    "km/h 1 kph kmh; mph 1.609344; m/s 3.6; knot 1.852 kn kt",
    "byte 1; kb 1000; mb 1000000; gb 1000000000; tb 1000000000000",
    "% 1 percent pct",
    "°c 1 celsius degree",
    "°f 1 fahrenheit",
    "hp 1 horsepower; kw 1.34102209 kilowatt; mw 1341.02209 megawatt",
)
_MONIES = (
    "$ 1 usd dollar buck us$; ¢ 0.01 cent",
    *("€ 1 eur euro", "£ 1 gbp", "¥ 1 yen jpy", "₹ 1 inr rupee", "₩ 1 krw", "₽ 1 rub", "₺ 1", "chf 1"),
    *("a$ 1 aud au$", "c$ 1 cad ca$", "hk$ 1 hkd", "nz$ 1 nzd", "s$ 1 sgd", "r$ 1 brl", "cny 1 rmb", "mxn 1"),
    *("sek 1", "nok 1", "dkk 1", "kr 1", "pln 1 zł", "czk 1 kč", "huf 1", "zar 1", "aed 1", "thb 1"),
)
CURRENCIES = frozenset(line.split()[0] for line in _MONIES)
"""The base currencies of all kinds of money."""


def _units_by_name() -> dict[str, tuple[str, Fraction]]:
    units: dict[str, tuple[str, Fraction]] = {}
    for line in (*_MEASURES, *_MONIES):
        base = line.split()[0]
        for entry in line.split(";"):
            name, factor, *aliases = entry.split()
            for alias in (name, *aliases):
                units.setdefault(alias.replace("_", " "), (base, Fraction(factor)))
    return {f"{name}s": unit for name, unit in units.items() if len(name) > 1} | units  # not "ms" for m


UNITS = _units_by_name()
"""The base and the factor of each unit, by its names in lower case, singular or plural."""

_MAX_CHARS = 80
_ONE = Fraction(1)
_PLAIN_SIGNS = str.maketrans(
    {"½": " 1/2", "¼": " 1/4", "¾": " 3/4", "−": "-", "–": "-", "’": "'", "\u00a0": " ", "\u2007": " "}
    | {"\u2009": " ", "\u202f": " ", "٫": ".", "٬": ","}
)
_SWAPPED_MARKS = str.maketrans(".,", ",.")
_MONEY = r"(?:US|AU|CA|HK|NZ|[ACRS])?\$|[€£¥₹₩₽₺]"
_CODE = r"USD|EUR|GBP|JPY|INR|CHF|AUD|CAD|HKD|NZD|SGD|BRL|CNY|RMB|MXN|SEK|NOK|DKK|PLN|CZK|HUF|ZAR|AED|THB|KRW"
# Thousands: 1,234,567; 12,34,567 as in India; 1'234'567 as in Switzerland; 1 234 567.
_GROUPS = r"\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3}|\d{1,3}(?:'\d{3})+|\d{1,3}(?: \d{3})+"
_FIGURE = rf"(?:{_GROUPS}|\d+)(?:\.\d+)?|\.\d+"
_AMOUNT = re.compile(
    rf"(?P<sign>[-+]?) ?(?P<money>{_MONEY}|(?:{_CODE})(?= ?\d))? ?(?P<minus>-?)"
    rf"(?P<figure>{_FIGURE})(?![.,']?\d)(?P<power>[eE][-+]?\d{{1,3}}(?!\w))?\.?(?P<rest>(?!\d).*)"
)
_REST = re.compile(
    r" ?(?P<scale>(?:[KMBk]|bn|mn)(?![^\W_])"
    r"|(?:dozen|thousand|million|billion|trillion|lakh|crore)s?\b)?"
    rf" ?(?P<unit>{_MONEY}|%|°\s?[CFcf]?|[^\W\d_]+[²³]?(?:/[^\W\d_]+[²³]?)?)?(?P<more>[^\d<>+()]*)"
)
_SCALES = {
    "dozen": 12, "k": 10**3, "thousand": 10**3, "lakh": 10**5, "m": 10**6, "mn": 10**6, "million": 10**6,
    "crore": 10**7, "b": 10**9, "bn": 10**9, "billion": 10**9, "trillion": 10**12,
}  # fmt: skip
# "2 1/2", or a bare "1/2" with one digit over one or two: 12/2015 is not a fraction.
_FRACTION = re.compile(r"(-?)(?:(\d{1,9}) |(?=\d/\d\d?(?!\d)))(\d{1,4})/([1-9]\d{0,3})(?!\d)(.*)")
_IN_BRACKETS = re.compile(r"(?P<before>[-+]?(?:[^\d()]*))\((?P<inside>[^()]*)\)(?P<after>\D{0,12})")
_CONVERTED = re.compile(r"(?P<figure>.*\S) ?[(\[](?P<inside>[^()\[\]]*)[)\]]")  # 12 m (39 ft)
_BOOKED = re.compile(r"(?P<figure>.*\d) ?(?P<side>CR|DR)\.?")  # credit and debit: 120 CR, 120 DR
_ORDINAL = re.compile(r"(\d{1,9})(?:st|nd|rd|th)\.?")
_COMPOUND_PART = re.compile(r"(\d+(?:\.\d+)?) ?([a-z]+|['\"])\.?,? ?")  # a part of 6 ft, 11 in
_SHORT_UNITS = {"'": "ft", '"': "in", "m": "min"}
_NO_UNITS = frozenset(("mW", "Mb", "Gb", "Kb", "kb", "mb", "Tb"))  # milliwatts and bits are not measured here
_SIGNS = frozenset("$€£¥₹₩₽₺")
_MAX_UNIT_WORDS, _MAX_POWER = 3, 300  # words; a power of ten that a float can still hold
_AM_PM = frozenset(("bc", "bce", "ad", "ce", "a", "p", "am", "pm"))

_SURE = {  # patterns that only one decimal mark allows: 2,50 and 0,125 and 1.310,125 and 1.310.000
    mark: re.compile(
        rf"(?<![\d.,])(?:(?:0|\d{{4,}})[{mark}]\d+|\d+[{mark}](?!\d{{3}}(?!\d))\d+"
        rf"|\d{{1,3}}(?:(?:[{other}]\d{{3}})+[{mark}]\d+|(?:[{other}]\d{{3}}){{2,}}))(?![.,]?\d)"
    )
    for mark, other in (",.", ".,")
}
EITHER = re.compile(r"(?<![\d.,])\d{1,3}[.,]\d{3}(?![.,]?\d)")
"""A figure such as 12.500 or 7,125, which has two possible readings."""
_COMMA_MONEY = re.compile(r"€|\b(?:EUR|kr|SEK|NOK|DKK|PLN|CZK|BRL|CHF)\b|R\$|zł")


class Amount(NamedTuple):
    """A number in the unit it is written with, and how many of the `base` of its kind that unit is."""

    number: Number
    unit: str = ""
    base: str = ""
    factor: Fraction = _ONE

    @property
    def of_base(self) -> Number:
        """Return the number converted to the base unit."""
        return self.number if self.factor == 1 else Fraction(self.number) * self.factor

    def per(self, factor: Fraction) -> Number:
        """Return the number in a unit of the same kind that equals `factor` base units."""
        return self.number if self.factor == factor else exact(Fraction(self.of_base) / factor)


def plain_signs(text: str) -> str:
    """Return a text with plain spaces, dashes and quotes, and vulgar fractions written out."""
    return text if text.isascii() else text.translate(_PLAIN_SIGNS)


@lru_cache(maxsize=65_536)
def read_amount(text: str, mark: str = ".") -> Amount | None:
    """Read a cell as an amount: "-$1,250.50", "(2.5%)", "900K", "12 m (39 ft)", "300-", "6 ft 11 in".

    `mark` is the decimal mark, "." or ",". Returns None if the cell is not exactly one amount: "10-20", "<5",
    "5+", "12A", "4 Mill Lane", "25/12/2024".
    """
    if len(text) > _MAX_CHARS:
        return None
    cell = plain_signs(text).strip()
    cell = cell.translate(_SWAPPED_MARKS) if mark == "," else cell
    return _read_signed(cell) or _read_converted(cell)


def _read_converted(cell: str) -> Amount | None:
    """Read a cell without the conversion or remark in brackets at its end; a second figure is neither."""
    match = _CONVERTED.fullmatch(cell)
    if match is None:
        return None
    inside, amount = match["inside"].strip(), _read_signed(match["figure"])
    if amount is None or not any(map(str.isdigit, inside)):
        return amount
    conversion = _read_signed(inside) or _read_signed(inside.partition(";")[0])
    return amount if conversion is not None and conversion.base and conversion.unit != amount.unit else None


def _read_signed(cell: str) -> Amount | None:
    """Read a cell with a bookkeeper's minus: brackets, a trailing minus, DR."""
    if "(" in cell:
        match = _IN_BRACKETS.fullmatch(cell)
        if match is None or "-" in match["before"] + match["inside"] or not match["inside"][-1:].strip():
            return None
        return _negative(_read_unsigned(f"{match['before']}{match['inside']}{match['after']}".strip()))
    if cell.endswith("-") and cell[-2:-1].isdigit() and cell[:1] not in "-+":
        return _negative(_read_unsigned(cell[:-1]))
    if booked := _BOOKED.fullmatch(cell):
        amount = _read_unsigned(booked["figure"])
        return amount if booked["side"] == "CR" else _negative(amount)
    return _read_unsigned(cell)


def _negative(amount: Amount | None) -> Amount | None:
    return amount and amount._replace(number=-amount.number)


def _read_unsigned(cell: str) -> Amount | None:
    if fraction := _FRACTION.fullmatch(cell):
        sign, whole, numerator, denominator, rest = fraction.groups()
        value = int(whole or 0) + Fraction(int(numerator), int(denominator))
        value = -value if sign else value
        return _read_unit(value, "", rest, cell) if rest else Amount(value)
    match = _AMOUNT.fullmatch(cell)
    if match is None:
        return _read_compound(cell)
    figure = re.sub("[,' ]", "", match["figure"]) + (match["power"] or "")
    number: Number = int(figure) if figure.isdecimal() else Decimal(figure)
    if isinstance(number, Decimal) and number.adjusted() > _MAX_POWER:  # 1e400 would be an infinite float
        return None
    if match["sign"] == "-" or match["minus"]:
        number = -number
    rest, money = match["rest"], match["money"] or ""
    if not rest:
        return _amount_of(number, money) if money else Amount(number)
    if ordinal := _ORDINAL.fullmatch(cell):
        return Amount(int(ordinal[1]), "th", "th")
    return _read_unit(number, money, rest, cell) or _read_compound(cell)


def _read_unit(number: Number, money: str, rest: str, cell: str) -> Amount | None:
    """Read the text after a figure: a scale, a unit, and up to two words that belong to the unit."""
    match = _REST.fullmatch(rest)
    if match is None:
        return None
    scale, unit = (match["scale"] or "").lower(), match["unit"] or ""
    more = " ".join(match["more"].replace("/", " per ").split())
    number *= _SCALES[scale.removesuffix("s")] if scale else 1
    if money and unit.lower() in _SCALES and not scale:  # $5m
        number, unit = number * _SCALES[unit.lower()], ""
    if unit.lower() == "per":  # 5 per game
        unit, more = "", f"per {more}"
    is_rate = more.startswith("per ")
    if len(more.split()) > _MAX_UNIT_WORDS or (more and not unit and not is_rate) or unit.lower() in _AM_PM:
        return None
    if money:
        is_same_kind = not unit or _amount_of(1, unit).base == _amount_of(1, money).base
        return _amount_of(number, money, more) if is_same_kind else None
    if more and f"{unit} {more.split()[0]}".lower() in UNITS:
        first, _, more = more.partition(" ")
        unit = f"{unit} {first}"
    is_glued = unit[:1].isalpha() and not scale and f" {unit}" not in cell
    if not _is_unit(unit) and (unit[:1].isupper() or is_glued):
        return None  # 258Sg and 12 Mill Lane are names
    return _amount_of(number, unit, more) if unit else Amount(number)


def _is_unit(name: str) -> bool:
    """Return whether a name is a unit, by case: S, H and Mb are not s, h and MB, and mW is not MW."""
    is_odd = name in _NO_UNITS or (len(name) == 1 and name.isupper() and name != "L")
    return name.lower().replace("° ", "°") in UNITS and not is_odd


def _amount_of(number: Number, unit: str, more: str = "") -> Amount:
    name = unit.lower().replace("° ", "°")
    entry = UNITS.get(name) if unit in _SIGNS or _is_unit(unit) else None
    base, factor = entry or (name.removesuffix("s") if len(name) > 3 else name, _ONE)
    return Amount(number, f"{unit} {more}".rstrip(), f"{base} {more}".rstrip(), factor)


def _read_compound(cell: str) -> Amount | None:
    """Read an amount in several units of one kind: "6 ft 11 in", "2h 31m"."""
    parts = _COMPOUND_PART.findall(cell)
    if len(parts) < 2 or _COMPOUND_PART.sub("", cell).strip():
        return None
    names = [unit for _, unit in parts]
    if "'" in names and any(unit == '"' and Fraction(figure) >= 12 for figure, unit in parts):
        return None  # 9'58" is a time
    is_time = bool({"h", "hr", "hrs", "s", "sec"} & {*names})
    units = [_SHORT_UNITS[name] if name in "'\"" or (name == "m" and is_time) else name for name in names]
    measures = [UNITS[unit] for unit in units if unit in UNITS]
    bases, factors = {base for base, _ in measures}, [factor for _, factor in measures]
    if len(measures) < len(units) or len(bases) > 1 or factors != sorted({*factors}, reverse=True):
        return None
    total = sum(Fraction(figure) * factor for (figure, _), factor in zip(parts, factors, strict=True))
    return _amount_of(exact(total / factors[-1]), units[-1])


def exact(value: Fraction) -> Number:
    """Return a fraction as int if it is a whole number."""
    return value.numerator if value.denominator == 1 else value


def marks_in(cells: Iterable[str]) -> set[str]:
    """Return which of "," and "." are certainly decimal marks in these cells."""
    pairs = ((mark, cell) for mark in _SURE for cell in cells if mark in cell and _SURE[mark].search(cell))
    return {mark for mark, cell in pairs if read_amount(cell, mark) is not None}


def two_readings(cells: Collection[str], mark: str, context: Iterable[str]) -> str:
    """Say why figures such as 12.500 may mean two things; "" if they may not.

    They may if `mark` is "?", if `context` has money of a place with decimal commas, or if each figure with a
    point has three digits after it and others are whole: numbers printed with three decimals would all
    have them.
    """
    if mark == "." and any(map(_COMMA_MONEY.search, context)) and "." not in marks_in(cells):
        mark = "?"
    marked = next((cell for cell in cells if "." in cell or "," in cell), "")
    is_open = mark == "?" or (mark == "." and EITHER.search(marked) and _look_like_thousands(cells))
    either = next(filter(EITHER.search, cells), "") if is_open else ""
    return either and f"{one_line(either, 20)} may mean thousands or decimals"


def _look_like_thousands(cells: Iterable[str]) -> bool:
    figures = [cell.strip(" -€$") for cell in cells if cell.strip()]
    pointed = [cell for cell in figures if "." in cell]
    are_open = all(EITHER.search(cell) and "," not in cell and cell[0] != "0" for cell in pointed)
    return bool(pointed) and are_open and any("." not in cell and len(cell) <= 3 for cell in figures)
