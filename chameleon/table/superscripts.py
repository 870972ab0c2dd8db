"""Superscripts of a page (`<sup>`): marks of footnotes, powers, fractions and endings.

A raised number is never joined to the figure before it: "$5" with a mark "2" is not 52.
"""

from __future__ import annotations

import re

BEGIN, END = "\ue000", "\ue001"
"""Stand around a superscript until the whole text is known; both are for private use in Unicode."""

_BOUNDS = re.compile(f"[{BEGIN}{END}]")
_RAISED = re.compile(f"{BEGIN}([^{BEGIN}{END}]*){END}")
_NUMBER = re.compile(r"[+−–-]?\d{1,3}")
_BARE = r"(?:\d{1,2}|[a-z]|[ivx]{1,4}|\*{1,4}|[†‡§¶#]{1,3})"
_MARK = re.compile(
    rf"(?:\({_BARE}\)|{_BARE})(?:[,; ]*(?:\({_BARE}\)|{_BARE}))*|\[[^\[\]]{{1,12}}\]", re.IGNORECASE
)
_AFTER_AMOUNT = re.compile(r"[\d)%]\s*$")
_BASE = re.compile(r"(?<![\d.,])(?:10|2)$")
_MEASURE = re.compile(r"(?<![^\W_])(?:[^\W\d_]{1,2}|yds?|sec|min)$")
_FRACTION = re.compile(rf"\s*[/⁄]\s*{BEGIN}?\d")
_SEEN = 200  # characters before and after a mark that tell what it is
_HIGH = str.maketrans("0123456789+-−–()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁽⁾")

_POWER = re.compile(r"(?<![\d.,])(?:10|2)[⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+$")
_END_MARK = re.compile(
    r"(?<=[\d)%])\s*(?:[⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾,; ]*[⁰¹²³⁴⁵⁶⁷⁸⁹⁾]|[*†‡]{1,4}|\((?:\d|[a-d])\)|\[(?:\d\d?|[a-z])\])$"
)
_FIGURE = re.compile(r"\d")


def without_bounds(text: str) -> str:
    """Take the two characters out of a source's text, so that it cannot pass for superscripts."""
    return _BOUNDS.sub("", text) if BEGIN in text or END in text else text


def set_superscripts(text: str, *, drop_marks: bool) -> str:
    """Write superscripts as characters of their own: "90 m²", "10⁶", "5 1/2", "1st".

    Marks of footnotes are left out with `drop_marks`, as in cells of tables, and set apart otherwise: "$5²".
    """
    if BEGIN not in text:
        return text
    made, at, before = list[str](), 0, ""
    for found in _RAISED.finditer(text):
        made.append(text[at : found.start()])
        before = f"{before}{made[-1][-_SEEN:]}"[-_SEEN:]
        made.append(_set(before, found[1], text[found.end() : found.end() + _SEEN], drop_marks))
        before = f"{before}{made[-1][-_SEEN:]}"[-_SEEN:]
        at = found.end()
    return _BOUNDS.sub("", "".join([*made, text[at:]]))


def _set(before: str, raised: str, after: str, drop_marks: bool) -> str:
    """Write one superscript after a text, and before another."""
    mark = raised.strip()
    is_number = _NUMBER.fullmatch(mark) is not None
    if is_number and _FRACTION.match(after):
        return f" {mark}" if before[-1:].isdigit() else raised
    if is_number and (mark[0] in "+-−–" or _BASE.search(before) or _MEASURE.search(before)):
        return mark.translate(_HIGH)
    is_mark = is_number or _MARK.fullmatch(mark) is not None
    if not is_mark or not before.strip() or (mark.isalpha() and not _AFTER_AMOUNT.search(before)):
        return raised  # "1st", and what a note begins with
    if mark.isalpha() and mark.lower() not in "abcd":
        return raised
    if drop_marks:
        return ""
    if mark.isalpha():
        return f" ({mark})"
    return mark.translate(_HIGH) if mark[0] != "[" and any(map(str.isdigit, mark)) else f" {mark}"


def without_marks(cell: str) -> str:
    """Take off the marks of footnotes that end a cell's figure: "88" of "88 (2)", "$5" of "$5²".

    What may be a power, such as 10⁶, and two figures, such as "12 (34)", stay as they are.
    """
    text = cell.strip()
    figure = _FIGURE.search(text)
    if figure is None:
        return text
    end = len(text)
    while True:
        begin = max(0, end - _SEEN)
        tail = text[begin:end]
        mark = None if _POWER.search(tail) else _END_MARK.search(tail)
        if mark is None or begin + mark.start() <= figure.start():
            return text[:end]
        end = begin + mark.start()
