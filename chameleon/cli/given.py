"""The files that a question comes with, each given once, by its path or as `-` for standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from chameleon.errors import InputError
from chameleon.pictures.opening import MAX_BYTES, check_picture, is_address
from chameleon.table import read_table, read_table_stream

STANDARD_INPUT = "-"
_NAME = "standard input"
_LARGEST_TEXT = 1_000_000
_PICTURES_BEGIN = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM", b"II*\0", b"MM\0*")


def only(given: Sequence[str] | None, option: str) -> str | None:
    """The one value of an option. Raises `BadParameter` where there are more: none is left out in silence."""
    if given and len(given) > 1:
        raise typer.BadParameter(f"is given {len(given)} times, and takes one file", param_hint=option)
    return given[0] if given else None


def read_tables(sources: Sequence[str]) -> dict[str, Any]:
    """The first table as `table`; where there are more, the others as `tables`.

    Several have captions to name them by: a table without one takes the name of its file. Raises
    `InputError` for what is no table.
    """
    tables = [read_table_stream(sys.stdin.buffer) if s == STANDARD_INPUT else read_table(s) for s in sources]
    if len(tables) < 2:
        return {"table": tables[0]} if tables else {}
    first, *others = (
        table if table.caption.strip() else table.with_caption(_NAME if s == STANDARD_INPUT else Path(s).stem)
        for table, s in zip(tables, sources, strict=True)
    )
    return {"table": first, "tables": others}


def index_folder(path: Path) -> str:
    """The absolute path of an index that is there; raises `InputError`."""
    from chameleon.documents.indexing import require_numpy
    from chameleon.retrieval.index.manifest import at

    require_numpy()
    folder = path.expanduser()
    at(folder)
    return str(folder.resolve())


def require_one_reader(**sources: str | None) -> None:
    """Raise `BadParameter` where several options would read standard input."""
    reading = [f"--{name}" for name, source in sources.items() if source == STANDARD_INPUT]
    if len(reading) > 1:
        raise typer.BadParameter("only one of them can read standard input", param_hint=" and ".join(reading))


@contextmanager
def picture_file(source: str) -> Iterator[str]:
    """The path of a picture that was looked at; one from standard input is kept in a file until the end.

    Raises `InputError` for what is no picture, or one too large.
    """
    if source != STANDARD_INPUT:
        check_picture(source)
        yield source
        return
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    with TemporaryDirectory(prefix="chameleon-") as folder:
        file = Path(folder, _NAME)
        file.write_bytes(data)
        check_picture(file)
        yield str(file)


def read_text_or_paper(source: str) -> dict[str, Any]:
    """What `--text` gives: a text as `text`; a PDF, a page, a long text, one with headings as `passages` too.

    What a file is its first bytes tell, else its name. Raises `InputError`, and `MissingPackage` where a
    PDF or a page cannot be read without one.
    """
    from chameleon.documents import reading

    where = _NAME if source == STANDARD_INPUT else source
    limit = reading.MAX_BYTES
    data = sys.stdin.buffer.read(limit + 1) if source == STANDARD_INPUT else _bytes_of(source, limit)
    if reading.kind_of(data, where) == "text":
        text = _decoded(data, where)
        is_paper = reading.is_text_paper(text)
        return {"text": text, **({"passages": reading.text_passages(text, where)} if is_paper else {})}
    _require_at_most(limit, data, where, "paper")
    passages = reading.read_paper(data, where)
    return {"passages": passages, "text": _whole(passages)}


def _decoded(data: bytes, where: str) -> str:
    """The text in a file's bytes; raises `InputError`."""
    _require_at_most(_LARGEST_TEXT, data, where, "text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        is_picture = data.startswith(_PICTURES_BEGIN)
        raise InputError(
            f"the file is not UTF-8 text (byte {problem.start})",
            where=where,
            hint="Did you mean --image?" if is_picture else "Save it as UTF-8; a picture goes with --image.",
        ) from problem
    if not text.strip():
        raise InputError("the text is empty", where=where, hint="There is nothing in it to answer from.")
    return text


def _require_at_most(limit: int, data: bytes, where: str, kind: str) -> None:
    if len(data) > limit:
        raise InputError(
            f"the {kind} has more than the limit of {limit:,} bytes",
            where=where,
            hint="Give the part that the question is about.",
        )


def text_passages(text: str, source: str | None) -> list[dict[str, Any]]:
    """A text as passages, which name where it was read from."""
    from chameleon.documents import reading

    return reading.text_passages(text, file_name(source or STANDARD_INPUT))


def file_name(source: str) -> str:
    """The name of a file, without its folders."""
    return _NAME if source == STANDARD_INPUT else Path(source).name


def _whole(passages: Sequence[Mapping[str, Any]]) -> str:
    """The text of a paper as one, its headings above what stands below them, up to the limit of a text."""
    parts, title = list[str](), ""
    for each in passages:
        if each["title"] != title:
            title = each["title"]
            parts.append(title)
        parts.append(each["text"])
    return "\n\n".join(parts)[:_LARGEST_TEXT]


def _bytes_of(source: str, limit: int) -> bytes:
    if is_address(source):
        raise InputError(
            "is an address, and texts are read from files only", where=source[:80], hint="Download it first."
        )
    file = Path(source)
    try:
        if not file.exists():
            raise InputError("there is no such file", where=source)
        if not file.is_file():  # a device may never end, and a pipe never begin
            kind = "a folder" if file.is_dir() else "a device or a pipe"
            raise InputError(f"is {kind}, not a file", where=source, hint="Give the path of one text file.")
        with file.open("rb") as opened:
            return opened.read(limit + 1)
    except (OSError, ValueError) as problem:  # ValueError: a null byte in the path
        said = getattr(problem, "strerror", None) or str(problem)
        raise InputError(f"the text cannot be read: {said}", where=source) from problem
