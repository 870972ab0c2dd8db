"""Units of measure and currencies by name: the base of their kind, and how many of it they are."""

from __future__ import annotations

from fractions import Fraction

# A line for each kind: names of a unit behind the first and how many of the first of the line it is.
_KINDS = (
    "m 1 metre meter; km 1000 kilometre kilometer kms; cm 0.01 centimetre centimeter; mm 0.001 millimetre"
    " millimeter; mi 1609.344 mile; ft 0.3048 foot feet; in 0.0254 inch inches; yd 0.9144 yard; nmi 1852",
    "kg 1 kilogram kilo kgs; g 0.001 gram gramme; mg 0.000001 milligram; t 1000 tonne; lb 0.45359237 pound"
    " lbs; oz 0.028349523125 ounce",
    "s 1 second sec secs; ms 0.001 millisecond; μs 0.000001 µs us microsecond; min 60 minute mins;"
    " h 3600 hour hr hrs; day 86400;"
    " week 604800; month 2629800; year 31557600 yr yrs",
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
_MONEY = (
    "$ 1 usd dollar buck us$; ¢ 0.01 cent",
    *("€ 1 eur euro", "£ 1 gbp", "¥ 1 yen jpy", "₹ 1 inr rupee", "₩ 1 krw", "₽ 1 rub", "₺ 1", "chf 1"),
    *("a$ 1 aud au$", "c$ 1 cad ca$", "hk$ 1 hkd", "nz$ 1 nzd", "s$ 1 sgd", "r$ 1 brl", "cny 1 rmb", "mxn 1"),
    *("sek 1", "nok 1", "dkk 1", "kr 1", "pln 1 zł", "czk 1 kč", "huf 1", "zar 1", "aed 1", "thb 1"),
)
CURRENCIES = frozenset(line.split()[0] for line in _MONEY)
"""The bases of all kinds of money."""


def _named() -> dict[str, tuple[str, Fraction]]:
    found: dict[str, tuple[str, Fraction]] = {}
    for line in (*_KINDS, *_MONEY):
        base = line.split()[0]
        for entry in line.split(";"):
            name, factor, *others = entry.split()
            for each in (name, *others):
                found.setdefault(each.replace("_", " "), (base, Fraction(factor)))
    return {f"{name}s": unit for name, unit in found.items() if len(name) > 1} | found


UNITS = _named()
"""The base and the factor of each unit, by its names in lower case, plural or not."""
