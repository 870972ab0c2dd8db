"""Text of programs: exact literals, values of a selection, and the last line that sets `ans`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction

from chameleon.modules.offline.grammar.lexicon import word_set

FRACTION_IMPORT = "from fractions import Fraction"


def literal(number: Fraction | int) -> str:
    """An exact literal: whole numbers as they are, others as Fraction("0.31")."""
    exact = Fraction(number)
    if exact.denominator == 1:
        return str(exact.numerator)
    decimal = _decimal(exact)
    return f'Fraction("{decimal if decimal else f"{exact.numerator}/{exact.denominator}"}")'


def _decimal(number: Fraction) -> str:
    for digits in range(1, 7):
        shifted = number * 10**digits
        if shifted.denominator == 1:
            sign, body = ("-" if shifted < 0 else ""), str(abs(shifted.numerator)).rjust(digits + 1, "0")
            return f"{sign}{body[:-digits]}.{body[-digits:]}"
    return ""


def listing(numbers: Iterable[Fraction | int]) -> str:
    return f"[{', '.join(literal(number) for number in numbers)}]"


def are_whole(numbers: Iterable[Fraction | int]) -> bool:
    return all(Fraction(number).denominator == 1 for number in numbers)


def variable(name: str, default: str = "values") -> str:
    """A Python name from a column's name: "Units sold (kg)" is units_sold."""
    plain = re.sub(r"\(.*?\)", "", name).lower()
    plain = "_".join(re.findall(r"[a-z]+[a-z0-9]*", plain)[:4])
    return plain if plain and plain not in _TAKEN else default


_TAKEN = word_set(
    """
    ans table rows row sum max min sorted len int float round list set dict str in is as from for if
    or and not class def del try pass with while return import lambda yield else elif raise break
    global assert total statistics math true false none average result best
    """
)


def assemble(lines: Sequence[str]) -> str:
    """The lines as a program, with the imports that they need on top."""
    body = "\n".join(lines)
    imports = [FRACTION_IMPORT] if "Fraction(" in body else []
    imports += [f"import {name}" for name in ("datetime", "math", "statistics") if f"{name}." in body]
    return "\n".join((*imports, *lines)) + "\n"


def finish(expression: str, *, whole: bool, money: bool = False) -> list[str]:
    """The lines that set `ans` from an exact number: whole numbers stay whole, money has whole cents."""
    if whole:
        return [f"ans = {expression}"]
    if money:
        return _to_hundredths(expression, "cents")
    return [f"result = {expression}", "ans = int(result) if result == int(result) else float(result)"]


def share(part: str, whole: str) -> list[str]:
    """The lines that set `ans` to a fraction in lowest terms, "3/4"."""
    return [f"share = Fraction({part}, {whole})", 'ans = f"{share.numerator}/{share.denominator}"']


def percentage(part: str, whole: str) -> list[str]:
    """The lines that set `ans` to a percentage with two decimals at most."""
    return _to_hundredths(f"Fraction({part}, {whole}) * 100", "hundredths")


def _to_hundredths(expression: str, name: str) -> list[str]:
    """The lines that round half up, as people do with money, and not half to even."""
    return [
        f"result = {expression}",
        f"{name} = math.floor(result * 100 + Fraction(1, 2))",
        f"ans = {name} / 100",
    ]
