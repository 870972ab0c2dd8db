"""Find the arguments of a call and the columns of a table in a reply."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from chameleon import StepRejected
from chameleon.table.replies import normal as exactly_normal

normal = lru_cache(maxsize=4096)(exactly_normal)  # every step looks up the names of the same table
AROUND = " \t\r\n\"'`*"  # characters allowed around a name
_SEPARATOR = re.compile(r"([,;]\s*(?:and\s)?|\s(?:and\s|&))", re.IGNORECASE)
_PAREN = re.compile(r"[()]")
_JOINER = re.compile(r"\)?[ \t\]'\"`]*(?:[,;&+]|(?:and|or|to|through|as well as|also)\b)", re.IGNORECASE)
_MAX_SHOWN = 60


def call_in(text: str, *names: str) -> str:
    """Return the result of `inside_call`, without surrounding quotes."""
    return inside_call(text, *names).strip(AROUND)


def inside_call(text: str, *names: str) -> str:
    """Return the text between the parentheses of the first call of `f_NAME`, for any of the names.

    Balanced parentheses inside are kept ("f_group(Area (km2))"). Raises `StepRejected` if the call is
    missing.
    """
    start, end = next(_calls(text, names))
    return text[start:end]


def whole_choice(text: str, *names: str) -> str:
    """Return the arguments of the call, as `call_in` does, if the reply chooses nothing else.

    Raises `StepRejected` if another call chooses something else, or if the line continues ("f_row([row 1]),
    row 2"): part of a choice is never used.
    """
    calls = _calls(text, names)
    start, end = next(calls)
    inside = text[start:end].strip(AROUND)
    if _JOINER.match(text, end):
        more = text[end:].partition("\n")[0].lstrip(")")
        raise StepRejected(f"the reply continues after its call of f_{names[0]}: {more[:_MAX_SHOWN]!r}")
    if any(normal(text[start:end].strip(AROUND)) != normal(inside) for start, end in calls):
        raise StepRejected(f"the reply calls f_{names[0]} twice, with different arguments")
    return inside


def after_call(text: str, *names: str) -> str:
    """Return the rest of the paragraph after the first call of `f_NAME`, for any of the names."""
    _, end = next(_calls(text, names))
    return text[end:].partition("\n\n")[0]


def _calls(text: str, names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each call's arguments; an unclosed call ends with its line."""
    call = re.compile(rf"\bf_(?:{'|'.join(map(re.escape, names))})\s*\(", re.IGNORECASE)
    if call.search(text) is None:
        raise StepRejected(f"the reply names no f_{names[0]}(…)")
    end = 0
    while match := call.search(text, end):
        begin, depth = match.end(), 1
        line = text.find("\n", begin)
        end = line if line >= 0 else len(text)
        for paren in _PAREN.finditer(text, begin):
            depth += 1 if paren[0] == "(" else -1
            if depth == 0:
                end = paren.start()
                break
        yield begin, end


def column_named(name: str, header: Sequence[str]) -> int | None:
    """Return the position of a column: by its exact name, else ignoring case, space, quotes and brackets."""
    if name in header:
        return header.index(name)
    names = [*map(normal, header)]
    forms = (normal(name), normal(name.strip().removeprefix("[").removesuffix("]")))
    return next((names.index(form) for form in forms if form in names), None)


def one_column(name: str, header: Sequence[str]) -> int:
    """Return the position of a column. Raises `StepRejected` if no column has that name."""
    if (index := column_named(name, header)) is None:
        raise StepRejected(f"no column is named {name[:_MAX_SHOWN]!r}")
    return index


def columns_named(text: str, header: Sequence[str]) -> list[int]:
    """Return the positions of all columns named in a list such as "rank, area and team", in order.

    A name may contain a comma or "and": the longest name that fits counts. Raises `StepRejected` if a part
    does not name a column, because that column would be lost.
    """
    positions: dict[str, list[int]] = {}
    for index, name in enumerate(header):
        positions.setdefault(_in_list(name), []).append(index)
    pieces = _SEPARATOR.split(text)  # names at even positions, separators at odd ones
    max_pieces = max((len(_SEPARATOR.split(name)) for name in header), default=1)
    columns: set[int] = set()
    start = 0
    while start < len(pieces):
        for end in range(min(start + max_pieces, len(pieces)), start, -2):  # the longest name first
            if same := positions.get(_in_list("".join(pieces[start:end]))):
                columns.update(same)
                break
        else:
            raise StepRejected(f"no column is named {pieces[start].strip(AROUND)[:_MAX_SHOWN]!r}")
        start = end + 1
    return sorted(columns)


def _in_list(name: str) -> str:
    """Return a name in the form compared in lists: spaces around commas do not count."""
    return re.sub(r" ?([,;]) ?", r"\1 ", normal(name)).strip()
