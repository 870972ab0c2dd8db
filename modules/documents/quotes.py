"""Hold an answer against the passages that it cites: its quotes, and the numbers that it states."""

from __future__ import annotations

import ast
import calendar
import operator
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from fractions import Fraction

from chameleon.modules.offline.words import language_of

_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|«([^»\n]+)»|„([^“”\n]+)[“”]")
_GAP = re.compile(r"\s*(?:…|\.\.\.|\[\s*(?:…|\.\.\.)\s*\])\s*")
_PLAIN = str.maketrans(
    {"’": "'", "‘": "'", "–": "-", "—": "-", "−": "-", "“": '"', "”": '"', "|": " ", "\xa0": " "}
)
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?|(?<![\w.])-?\.\d+")
_UNIT = re.compile(r"[$€£](?=\d)|(?<=\d)\s*(?:%|€|[^\W\d_]+)(?=\s*[-+*/)]|\s*$)")
_TIMES = re.compile(r"(?<=[\d)])\s*x\s*(?=[\d(])")
_EQUATION = re.compile(r"([^=≈:;\n]*[\d)][^=≈:;\n]*)[=≈]\s*([^=≈;\n]*?\d[\d,]*(?:\.\d+)?)")
_SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", "–": "-", "·": "*", "^": " "})
_OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
FREE = frozenset(map(Fraction, (*range(13), 24, 30, 52, 60, 100, 360, 365, 1_000, 1_000_000)))
"""What a calculation may bring along: counts, months, hours, percent, thousands."""
_MONTHS = {name.lower(): Fraction(number) for number, name in enumerate(calendar.month_name) if name}
_DATE = re.compile(r"(?<!\d)(\d{1,4})[./](\d{1,2})[./](\d{1,4})(?!\d)")
_SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_SCALED = re.compile(rf"(\d[\d,]*(?:\.\d+)?) ({'|'.join(_SCALES)})\b", re.IGNORECASE)
_SHARES = {"half": Fraction(50), "third": Fraction(100, 3), "quarter": Fraction(25), "tenth": Fraction(10)}
_FEWEST_WORDS, _MOST_PARTS = 2, 40


def quotes_in(text: str) -> list[str]:
    """Return what stands in double quotes."""
    return [next(filter(None, found.groups())) for found in _QUOTED.finditer(text)]


def fault_of_quotes(quotes: Sequence[str], cited: Sequence[str]) -> str:
    """Say which quote stands in none of the cited passages, or which passage has none; "" for neither.

    Case, white space and the form of quotes and dashes are no matter, and "…" may leave words out.
    """
    passages, held = list(map(_form, cited)), set[int]()
    for quote in quotes:
        parts = [part for each in _GAP.split(quote) if len(part := _form(each).strip(" .,;:-()")) > 1]
        words = r"(?!\w).*?(?<!\w)".join(map(re.escape, parts))
        said = re.compile(rf"(?<!\w){words}(?!\w)")
        places = {n for n, text in enumerate(passages) if parts and said.search(text)}
        if not places:
            return f"no passage that the reply cites says {quote[:80]!r}"
        if len(_form(quote).split()) >= _FEWEST_WORDS or _NUMBER.search(quote):
            held |= places
    return "" if len(held) == len(passages) else "it quotes no words of a passage that it cites"


def fault_of_numbers(
    solution: str, answer: str, known: Sequence[str], free: Collection[int | Fraction] = ()
) -> str:
    """Say which number of an answer stands in no text that is `known` and follows from no such numbers.

    What follows is written out in the solution, such as "4 × 310 = 1240"; it is calculated again. Small
    numbers may be brought along to a calculation, and those in `free` to an answer.
    """
    numbers = {number for text in known for number in _numbers(text)}
    for found in _EQUATION.finditer(solution):
        (result, *_), value = _numbers(found[2]), _value(found[1], numbers | FREE)
        is_share = "%" in solution[found.end() : found.end() + 2]  # 0.095 is 9.5 %
        if value is not None and (_is_near(value, result) or (is_share and _is_near(100 * value, result))):
            numbers |= {result, value}
    stated = [each for each in _numbers(answer) if each not in free]
    strange = next((each for each in stated if not any(_is_near(n, each) for n in numbers)), None)
    if strange is None:
        return ""
    shown = f"{float(strange):,.10g}"
    return f"the number {shown} is in no passage that it cites, and is not calculated from numbers of them"


def _form(text: str) -> str:
    return " ".join(text.translate(_PLAIN).casefold().split())


def _numbers(text: str) -> list[Fraction]:
    """Return the numbers of a text, those in words too, and without their signs; half is 50 %."""
    plain = _DATE.sub(r"\1 \2 \3", text.translate(_PLAIN))
    found = [Fraction(each.replace(",", "").lstrip("-")) for each in _NUMBER.findall(plain)]
    scaled = ((Fraction(each[1].replace(",", "")), each[2].lower()) for each in _SCALED.finditer(plain))
    found += [number * _SCALES[word] for number, word in scaled]
    words, before = language_of("").numbers | _SHARES | _MONTHS, Fraction(0)
    for word in (*re.findall(r"[a-z]+", text.lower()), ""):
        number = words.get(word)
        if number is not None and before >= 20 and 0 < number < 10:  # twenty five
            number, before = before + number, Fraction(0)
        found += [before] if before else []
        before = number or Fraction(0)
    return found


def _value(written: str, known: set[Fraction]) -> Fraction | None:
    """Calculate what stands left of a sign of equality, if all of its numbers are known."""

    def calculated(node: ast.AST) -> Fraction:
        match node:
            case ast.BinOp() if operation := _OPERATIONS.get(type(node.op)):
                return Fraction(operation(calculated(node.left), calculated(node.right)))
            case ast.UnaryOp(op=ast.USub()):
                return -calculated(node.operand)
            case ast.Constant(value=int() | float() as number):
                figure = Fraction(str(number))
                if any(_is_near(each, figure) for each in known):
                    return figure
        raise ValueError("no calculation with known numbers")

    plain = _UNIT.sub("", _TIMES.sub("*", written.translate(_SIGNS).replace(",", "")))
    parts = plain.split()[-_MOST_PARTS:]
    for start in range(len(parts)):  # a sentence may begin before it
        with suppress(SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
            return calculated(ast.parse(" ".join(parts[start:]), mode="eval").body)
    return None


def _is_near(number: Fraction, stated: Fraction) -> bool:
    """Tell whether a number is the one stated, or that one rounded to the places that are stated."""
    number, places = abs(number), 0
    while (stated * 10**places).denominator > 1 and places < 12:
        places += 1
    return number == stated or abs(number - stated) <= Fraction(1, 2 * 10**places)
