"""Turn a file into documents of an index, its tables and its passages, with ids, captions and sources."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, count
from pathlib import Path, PurePosixPath

from chameleon.documents.passages import SEPARATOR, Passage
from chameleon.documents.reading import SUFFIXES, read_document
from chameleon.retrieval.document import Document
from chameleon.table import Table
from chameleon.table.found import Found, LeftOut, Note, Unread
from chameleon.table.readers import ALL, holds_tables, tables_in
from chameleon.text import clean_cell

_MAX_LABEL_CHARS = 80
_SEPARATORS = re.compile(r"[\s_\-.]+|(?<=[a-z])(?=[A-Z])")
# Default names of sheets in spreadsheet programs.
_DEFAULT_SHEET = re.compile(r"(sheet|tabelle|feuil|hoja|foglio|blad|ark|table|лист)\s*\d*", re.IGNORECASE)


def file_documents(
    path: Path, name: str, is_free: Callable[[str], bool] = lambda id: True
) -> Iterator[Document | LeftOut | Note]:
    """Yield the tables and passages of a file as documents, under the name that the index has for it.

    Ids are `name` or `name#place`, with a number where places repeat or another file has the id. So a file
    that is read again gets the same ids as long as its tables keep their places. Passages are `name#p1`,
    `name#p2`, …. `Document.text` is the text below a table. Raises the errors of `tables_in` and
    `read_document`.

    Args:
        is_free: returns whether no other file has an id.
    """
    ids: set[str] = set()
    next_number = Counter[str]()

    def id_of(label: str) -> str:
        for number in count(next_number[label] or 1):
            place = label if number == 1 else f"{label} {number}".strip()
            id = f"{name}#{place}" if place else name
            if id not in ids and is_free(id):
                break
        next_number[label] = number + 1
        ids.add(id)
        return id

    def document_of(finding: Found) -> Document:
        table = finding.table.with_caption(caption_of(name, finding))
        id = id_of(finding.label[:_MAX_LABEL_CHARS].strip())
        return Document(id, table, text=finding.notes, source={"file": name, **finding.place})

    has_tables, headers = holds_tables(path), set[tuple[str, ...]]()
    for finding in tables_in(path, name) if has_tables else ():
        if isinstance(finding, Found):
            headers.add(finding.table.header)
            yield document_of(finding)
        elif not isinstance(finding, Unread):
            yield finding
    if path.suffix.lower() not in SUFFIXES:
        return
    passages = read_document(path, name)
    for table in () if has_tables else whole_tables(passages):
        headers.add(table.table.header)
        yield document_of(table)
    if unread := [passage for passage in passages if "is_unread" in passage]:
        more = f" (and {len(unread) - 1:,} more)" if len(unread) > 1 else ""
        where = ", page ".join([name, *map(str, filter(None, [unread[0].get("page")]))])
        yield LeftOut(where, unread[0]["text"].strip("[].") + more, is_picture=True)
    readable = (passage for passage in passages if "is_unread" not in passage)
    texts = (each for each in readable if "table" not in each or each["table"].header not in headers)
    for number, passage in enumerate(texts, 1):
        place = {"file": name, "heading": passage["title"], "page": str(passage.get("page", ""))}
        title = passage["title"] or in_words(PurePosixPath(name).stem)
        source = {key: value for key, value in place.items() if value}
        yield Document(id_of(f"p{number}"), title=title, text=passage["text"], source=source)


def whole_tables(passages: Iterable[Passage]) -> Iterator[Found]:
    """Join the pieces of tables in passages; yield each whole table with its heading and page."""
    pieces = list[Passage]()
    for passage in [*passages, None]:
        if pieces and (passage is None or not _goes_on(pieces[-1], passage)):
            first, *_ = pieces
            table, heading, page = first["table"], first["title"], str(first.get("page", ""))
            rows = chain.from_iterable(piece["table"].rows for piece in pieces)
            caption = table.caption or SEPARATOR.join(heading.split(SEPARATOR)[-2:])
            place = {key: value for key, value in (("heading", heading), ("page", page)) if value}
            yield ALL.structured(Found(Table(table.header, tuple(rows), caption), place))
            pieces = []
        if passage is not None and "table" in passage:
            pieces.append(passage)


def _goes_on(above: Passage, passage: Passage) -> bool:
    """Return whether a passage continues a table: with the next rows, or under its header on a new page."""
    is_next = passage.get("page") == above.get("page", -2) + 1 and passage["title"] == above["title"]
    is_same = "table" in passage and passage["table"].header == above["table"].header
    return is_same and (is_next or passage["rows"][:1] > [1])  # empty for a table without rows


def caption_of(name: str, result: Found) -> str:
    """Return the caption of a table: its file in words, then its sheet, then its own caption.

    A part whose words are all in another is left out, as is a default sheet name.
    """
    stem, sheet = in_words(PurePosixPath(name).stem), result.place.get("sheet", "")
    parts = [stem, "" if _DEFAULT_SHEET.fullmatch(sheet) else sheet, result.table.caption]
    unique: list[str] = []
    for place, part in enumerate(parts):
        others = " ".join([*unique, *parts[place + 1 :]])
        if part and not _words(part) <= _words(others):
            unique.append(part)
    return clean_cell(": ".join(unique))


def in_words(stem: str) -> str:
    """Return a file's name as words: `q3_sales-2024` as "q3 sales 2024"."""
    return " ".join(filter(None, _SEPARATORS.split(stem)))


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w+", in_words(text))}
