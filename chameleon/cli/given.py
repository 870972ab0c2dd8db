"""The files that a question comes with, each given once, by its path or as `-` for standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from chameleon.cli.options import QuestionOptions
from chameleon.errors import InputError
from chameleon.pictures.opening import MAX_BYTES, check_picture, is_address
from chameleon.table import read_table, read_table_stream

STANDARD_INPUT = "-"
_NAME = "standard input"
_LARGEST_TEXT = 1_000_000
_PICTURES_BEGIN = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM", b"II*\0", b"MM\0*")


def check_options(options: QuestionOptions) -> None:
    """Raise `BadParameter` for a blank question, and for files that do not go together."""
    if not options.question.strip():
        raise typer.BadParameter("is empty", param_hint="QUESTION")
    sources = {name: list(getattr(options, name) or ()) for name in ("table", "image", "text")}
    for name in ("image", "text"):  # none is left out in silence
        if len(sources[name]) > 1:
            raise typer.BadParameter(
                f"is given {len(sources[name])} times, and takes one file", param_hint=f"--{name}"
            )
    reading = [f"--{name}" for name, given in sources.items() for each in given if each == STANDARD_INPUT]
    if len(reading) > 1:
        names = " and ".join(dict.fromkeys(reading))
        raise typer.BadParameter("only one of them can read standard input", param_hint=names)
    if options.choices is not None and len(_choices(options.choices)) < 2:
        raise typer.BadParameter('two options or more, such as "yes;no"', param_hint="--choices")


@contextmanager
def read_input(options: QuestionOptions) -> Iterator[dict[str, Any]]:
    """Read the input of the run, which may rest on files that are there until the end of the block.

    Raises `InputError` for a file that cannot be read.
    """
    given: dict[str, Any] = {"question": options.question, "unit": options.unit}
    given |= read_tables(options.table or ())
    if options.index is not None:
        given["index"] = index_folder(options.index)
    if options.text:
        given |= read_text_or_paper(options.text[0])
    if options.choices is not None:
        given["choices"] = _choices(options.choices)
    with ExitStack() as kept:
        if options.image:
            given["image"] = kept.enter_context(picture_file(options.image[0]))
        yield given


def _choices(typed: str) -> list[str]:
    return [choice.strip() for choice in typed.split(";") if choice.strip()]


def read_tables(sources: Sequence[str]) -> dict[str, Any]:
    """Read the first table as `table`; where there are more, the others as `tables`.

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
    """Return the absolute path of an index that is there; raise `InputError` where there is none."""
    from chameleon.documents.indexing import require_numpy
    from chameleon.retrieval.index.manifest import at

    require_numpy()
    folder = path.expanduser()
    at(folder)
    return str(folder.resolve())


@contextmanager
def picture_file(source: str) -> Iterator[str]:
    """Return the path of a picture that was looked at; keep one from standard input in a file until the end.

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
    """Read what `--text` gives as `text`; a PDF, a page, a long text, one with headings as `passages` too.

    The first bytes of a file tell what it is, else its name. Raises `InputError`, and `MissingPackage` where
    a PDF or a page cannot be read without one.
    """
    from chameleon.documents import reading

    where = _NAME if source == STANDARD_INPUT else source
    limit = reading.MAX_BYTES
    data = sys.stdin.buffer.read(limit + 1) if source == STANDARD_INPUT else _read(source, limit)
    if reading.kind_of(data, where) == "text":
        text = _decode(data, where)
        is_paper = reading.is_text_paper(text)
        return {"text": text, **({"passages": reading.text_passages(text, where)} if is_paper else {})}
    _require_at_most(limit, data, where, "paper")
    passages = reading.read_paper(data, where)
    return {"passages": passages, "text": _join(passages)}


def text_passages(text: str, source: str) -> list[dict[str, Any]]:
    """Return a text as passages, which name where it was read from."""
    from chameleon.documents import reading

    return reading.text_passages(text, file_name(source))


def file_name(source: str) -> str:
    """Return the name of a file, without its folders."""
    return _NAME if source == STANDARD_INPUT else Path(source).name


def _decode(data: bytes, where: str) -> str:
    """Return the text in a file's bytes; raise `InputError` where there is none."""
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


def _join(passages: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of a paper, headings above what stands below them, up to the limit of a text."""
    parts, title = list[str](), ""
    for each in passages:
        if each["title"] != title:
            title = each["title"]
            parts.append(title)
        parts.append(each["text"])
    return "\n\n".join(parts)[:_LARGEST_TEXT]


def _read(source: str, limit: int) -> bytes:
    """Return the bytes of an ordinary file, one more than `limit` at most; raise `InputError`."""
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
