"""From the tables of a file to documents of an index: their ids, captions and sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, count
from pathlib import Path, PurePosixPath

from chameleon.retrieval.document import Document
from chameleon.table.found import Found, LeftOut, Note, Unread
from chameleon.table.readers import tables_in
from chameleon.text import clean_cell

_LONGEST_LABEL = 80
_SEPARATORS = re.compile(r"[\s_\-.]+|(?<=[a-z])(?=[A-Z])")
# What spreadsheet programs call a sheet that nobody has named.
_NAMELESS = re.compile(r"(sheet|tabelle|feuil|hoja|foglio|blad|ark|table|лист)\s*\d*", re.IGNORECASE)


def file_documents(
    path: Path, name: str, is_free: Callable[[str], bool] = lambda id: True
) -> Iterator[Document | LeftOut | Note]:
    """The tables of a file as documents, by the name that the index has for it; raises as `tables_in`.

    Ids are `name`, or `name#place` with a number where places repeat or where another file has the id, so
    that a file that is read again gives the same ids as long as its tables keep their places. `is_free` says
    whether no other file has an id. `Document.text` is what stands below a table.
    """
    taken: set[str] = set()
    for found in tables_in(path, name):
        if not isinstance(found, Found):
            if not isinstance(found, Unread):
                yield found
            continue
        label = next(iter(found.place.values()), "")[:_LONGEST_LABEL].strip()
        numbered = (" ".join(filter(None, [label, str(number)])) for number in count(2))
        ids = (f"{name}#{place}" if place else name for place in chain([label], numbered))
        id = next(id for id in ids if id not in taken and is_free(id))
        taken.add(id)
        table = found.table.with_caption(caption_of(name, found))
        source: Mapping[str, str] = {"file": name, **found.place}
        yield Document(id, table, text=found.notes, source=source)


def caption_of(name: str, found: Found) -> str:
    """What a table is called: its file in words, then its sheet, then what it calls itself.

    A part whose words all stand in another is left out, and so is the name of a sheet that says nothing.
    """
    sheet = found.place.get("sheet", "")
    parts = [
        in_words(PurePosixPath(name).stem),
        "" if _NAMELESS.fullmatch(sheet) else sheet,
        found.table.caption,
    ]
    kept: list[str] = []
    for place, part in enumerate(parts):
        others = " ".join([*kept, *parts[place + 1 :]])
        if part and not _words(part) <= _words(others):
            kept.append(part)
    return clean_cell(": ".join(kept))


def in_words(stem: str) -> str:
    """A file's name as words: `q3_sales-2024` as "q3 sales 2024"."""
    return " ".join(filter(None, _SEPARATORS.split(stem)))


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w+", in_words(text))}
