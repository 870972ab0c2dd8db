"""Check an answer against the passages that it cites: its quotes and its numbers."""

import ast
import calendar
import operator
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise, product

from chameleon.modules.offline.words import language_of

_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|«([^»\n]+)»|„([^“”\n]+)[“”]")
_GAP = re.compile(r"\s*(?:…|\.\.\.|\[\s*(?:…|\.\.\.)\s*\])\s*")
_PLAIN = str.maketrans(
    {"’": "'", "‘": "'", "–": "-", "—": "-", "−": "-", "“": '"', "”": '"', "|": " ", "\xa0": " "}
)
_SCALES = {"thousand": 10**3, "million": 10**6, "mio": 10**6, "mn": 10**6} | {
    **dict.fromkeys(("billion", "bn", "mrd"), 10**9),
    "trillion": 10**12,
}
_FIGURE = re.compile(
    r"(?<![\w.])(?:(?P<clock>\d\d?:\d\d)(?!\d)"
    r"|(?P<digits>[1-9]\d{0,2}(?:[ '\u2007\u2009\u202f]\d{3})+(?![\d.,]*\d)"
    rf"|\d(?:[\d.,]{{0,28}}\d)?|\.\d{{1,28}})(?:\s?(?P<scale>{'|'.join(_SCALES)})\b)?)",
    re.IGNORECASE,
)
_POINT = re.compile(r"\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?|\d*\.?\d+")  # 1,234.5
_COMMA = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d+")  # 1.234,5
_SHARE = re.compile(r"[^\d%]*[\d.,]+\s*%")
_PERCENT = re.compile(r"(?<=\d)\s*%")
_UNIT = re.compile(r"[$€£](?=\d)|(?<=\d)\s*(?:%|€|[^\W\d_]+)(?=\s*[-+*/)]|\s*$)")
_TIMES = re.compile(r"(?<=[\d)%])\s*(?:x|of)\s*(?=[\d(])")
_SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", "–": "-", "·": "*", "^": " "})  # no powers
_OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
FREE = frozenset(map(Fraction, (*range(13), 24, 30, 52, 60, 100, 360, 365, 1_000, 1_000_000)))
"""Numbers that a calculation may use without a source: counts, months, hours, percent, thousands."""
_MONTHS = {name.lower(): Fraction(number) for number, name in enumerate(calendar.month_name) if name}
_DATE = re.compile(r"(?<!\d)(\d{1,4})[./](\d{1,2})[./](\d{1,4})(?!\d)")
_SHARES = {"half": Fraction(50), "third": Fraction(100, 3), "quarter": Fraction(25), "tenth": Fraction(10)}
_MIN_QUOTE_WORDS, _MAX_PARTS = 2, 40  # words; parts of a calculation


def quotes_in(text: str) -> list[str]:
    """Return the texts in double quotes."""
    return [next(filter(None, match.groups())) for match in _QUOTED.finditer(text)]


def fault_of_quotes(quotes: Sequence[str], cited: Sequence[str]) -> str:
    """Return an error for a quote that no cited passage has, or a passage that is not quoted; or "".

    Case, white space and the style of quotes and dashes are ignored, and "…" may replace words.
    """
    passages, hits = list(map(_form, cited)), set[int]()
    for quote in quotes:
        parts = [part for each in _GAP.split(quote) if len(part := _form(each).strip(" .,;:-()")) > 1]
        words = r"(?!\w).*?(?<!\w)".join(map(re.escape, parts))
        pattern = re.compile(rf"(?<!\w){words}(?!\w)")
        places = {n for n, text in enumerate(passages) if parts and pattern.search(text)}
        if not places:
            return f"no passage that the reply cites says {quote[:80]!r}"
        if len(_form(quote).split()) >= _MIN_QUOTE_WORDS or _FIGURE.search(quote):
            hits |= places
    return "" if len(hits) == len(passages) else "it quotes no words of a passage that it cites"


def fault_of_numbers(
    solution: str, answer: str, known: Sequence[str], free: Collection[int | Fraction] = ()
) -> str:
    """Return an error for a number that is neither in `known` nor calculated from it; or "".

    Calculations that the solution writes out, such as "4 × 310 = 1240", are repeated. They may use numbers
    in `FREE` without a source.

    Args:
        known: texts, such as the cited passages and the question.
        free: numbers that the answer may use without a source.
    """
    numbers = {number for text in known for readings in _numbers(text) for number in readings}
    lines = (re.split("[=≈]", line) for line in re.split(r"[;\n]", solution))
    for left, right in (pair for parts in lines for pair in pairwise(parts)):  # a = b = c is two equations
        result = next((first for first, *_ in _numbers(right)), None)
        if result is None:
            continue  # "Q4"
        is_share = _SHARE.match(right[:80]) is not None  # 0.095 is 9.5%
        for value in _values(left.rpartition(":")[2], numbers):
            if _is_near(value, result) or (is_share and _is_near(100 * value, result)):
                numbers |= {result, value}
    stated = [first for first, *_ in _numbers(answer) if first not in free]
    strange = next((each for each in stated if not any(_is_near(n, each) for n in numbers)), None)
    if strange is None:
        return ""
    figure = f"{float(strange):,.10g}"
    return f"the number {figure} is neither in the cited passages nor calculated from them"


def _form(text: str) -> str:
    return " ".join(text.translate(_PLAIN).casefold().split())


def _numbers(text: str) -> list[list[Fraction]]:
    """Return the possible values of each number in a text, likeliest first, without sign; half is 50%."""
    numbers = list(map(_readings, _FIGURE.finditer(_DATE.sub(r"\1 | \2 | \3", text.translate(_PLAIN)))))
    words, before = language_of("").numbers | _SHARES | _MONTHS, Fraction(0)
    for word in (*re.findall(r"[a-z]+", text.lower()), ""):
        number = words.get(word)
        if number is not None and before >= 20 and 0 < number < 10:  # twenty five
            number, before = before + number, Fraction(0)
        numbers += [[before]] if before else []
        before = number or Fraction(0)
    return numbers


def _readings(figure: re.Match[str]) -> list[Fraction]:
    """Return the possible values of a figure: 1.234 may be 1,234; the time 10:30 is 10.30, 10 and 30."""
    if figure["clock"]:
        hours, minutes = map(int, figure["clock"].split(":"))
        return [Fraction(100 * hours + minutes, 100), Fraction(hours), Fraction(minutes)]
    parts = re.split(r"[^\d.,]", figure["digits"])
    digits, scale = "".join(parts), _SCALES.get((figure["scale"] or "").lower(), 1)
    forms = [digits.replace(",", "")] if _POINT.fullmatch(digits) else []
    forms += [digits.replace(".", "").replace(",", ".")] if _COMMA.fullmatch(digits) else []
    numbers = [*map(Fraction, forms or re.findall(r"\d+", digits))]
    return [*(number * scale for number in numbers), *numbers, *map(Fraction, parts[1:] and parts)]


def _values(expression: str, known: set[Fraction]) -> Iterator[Fraction]:
    """Calculate the left side of an equation if its numbers are known; 5% counts as 5 and as .05."""

    def calculated(node: ast.AST) -> Fraction:
        match node:
            case ast.BinOp() if operation := _OPERATIONS.get(type(node.op)):
                return Fraction(operation(calculated(node.left), calculated(node.right)))
            case ast.UnaryOp(op=ast.USub()):
                return -calculated(node.operand)
            case ast.Constant(value=int() | float() as number):
                figure = Fraction(str(number))
                if any(_is_near(each, figure) for each in known | FREE):
                    return figure
        raise ValueError("no calculation with known numbers")

    plain = _FIGURE.sub(lambda each: str(float(_readings(each)[0])), expression)
    signs = _TIMES.sub("*", plain.translate(_SIGNS))
    for text in dict.fromkeys((signs, _PERCENT.sub("/100", signs))):
        parts = _UNIT.sub("", text).split()[-_MAX_PARTS:]
        for start in range(len(parts)):  # a sentence may begin before it
            with suppress(SyntaxError, ArithmeticError, ValueError, RecursionError, MemoryError):
                tree = ast.parse(" ".join(parts[start:]), mode="eval").body
                value = calculated(tree)
                figures = [Fraction(str(n.value)) for n in ast.walk(tree) if isinstance(n, ast.Constant)]
                if any(_is_near(*pair) for pair in product(known, figures)):  # not of 6 and 7 alone
                    yield value
                break


def _is_near(number: Fraction, stated: Fraction) -> bool:
    """Return whether a number equals the stated one, or rounds to it at its number of decimals."""
    number, places = abs(number), 0
    while (stated * 10**places).denominator > 1 and places < 12:
        places += 1
    return number == stated or abs(number - stated) <= Fraction(1, 2 * 10**places)
