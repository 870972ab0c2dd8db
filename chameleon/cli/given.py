"""The files that a question comes with, each given once, by its path or as `-` for standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import chain, groupby, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from chameleon.cli.options import QuestionOptions, origin
from chameleon.cli.setup import that_takes
from chameleon.cli.terminal import say
from chameleon.errors import InputError
from chameleon.inventory import Inventory
from chameleon.table.databases import address_name
from chameleon.table.readers import KINDS, choose_table
from chameleon.table.records import read_file, read_within
from chameleon.text import counted, harmless
from chameleon.text import is_address as is_database

STANDARD_INPUT = "-"
_NAME = "standard input"
_MOST_NAMED = 5
_TAKEN_BY = {"--table": "table", "--image": "picture", "--text": "document"}
_READ = (
    "CSV, JSON, HTML, workbooks, SQLite, DuckDB and Parquet go with --table, PDF, .docx, .pptx, .odt, .epub, "
    "HTML, Markdown and plain text with --text, pictures with --image."
)
_FILES = {
    "index": "index",
    "table": "table",
    "tables": "second table",
    "image": "picture",
    "text": "text",
    "passages": "text",
}


def check_options(options: QuestionOptions) -> None:
    """Raise `BadParameter` for wrong usage, and `InputError` for a question that comes alone."""
    if not options.question.strip():
        raise typer.BadParameter("there is none: give it in quotes", param_hint="QUESTION")
    files = options.files
    tables, sheets = len(options.table or ()), len(options.sheet or ())
    if sheets and sheets != tables:
        what = f"is given {sheets} times for {counted(tables, 'table')}: once for each, in order"
        raise typer.BadParameter(what, param_hint="--sheet")
    reading = [name for name, sources in files.items() for each in sources if each == STANDARD_INPUT]
    if len(reading) > 1:
        hint = " and ".join(dict.fromkeys(reading))
        raise typer.BadParameter("only one of them can read standard input", param_hint=hint)
    if options.inventory is None and options.index is not None and any(files.values()):
        raise typer.BadParameter(
            "is given with something else, and is searched alone: leave one out, or name an inventory that "
            "takes both with --inventory",
            param_hint="--index",
        )
    if options.inventory is None and options.index is None and not any(files.values()):
        raise InputError(
            "the question comes without anything to answer it from",
            hint="Give a table with --table, an index with --index, a picture with --image or a text "
            "with --text.",
        )


def without_file_of_settings(options: QuestionOptions) -> QuestionOptions:
    """Return the options without the index that a file of settings names, where other files are given."""
    has_others = any(options.files.values()) and origin("index")
    return replace(options, index=None) if has_others else options


def files_in_words(options: QuestionOptions) -> str:
    """Name the files that a question comes with."""
    names = map(_file_name, chain.from_iterable(options.files.values()))
    return ", ".join(names) or str(options.index or "")


@contextmanager
def read_input(options: QuestionOptions) -> Iterator[dict[str, Any]]:
    """Read the input of the run, which may rest on files that are there until the end of the block.

    The first table is `table`; where there are more, the others are `tables`. A table without a caption takes
    the name of its file. Raises `InputError` for a file that cannot be read.
    """
    given: dict[str, Any] = {"question": options.question, "unit": options.unit}
    tables = []
    sources = options.table or []
    for source, sheet in zip(sources, options.sheet or repeat(None, len(sources)), strict=True):
        with _told_by_option("--table", source):
            is_piped = source == STANDARD_INPUT
            data = read_within(sys.stdin.buffer, _NAME) if is_piped else source
            found = choose_table(
                data,
                name=_NAME if is_piped else "",
                sheet=sheet,
                header=options.header or "",
                keep_totals=options.keep_totals,
            )
        name = _file_name(source)
        if found.others and not sheet:
            others = ", ".join(map(repr, found.others[:_MOST_NAMED]))
            more = ", …" if found.others[_MOST_NAMED:] else ""
            which = f"Read {found.name!r} of {name}; there are also {others}{more}: choose with --sheet."
            say(harmless(which))
        for warning in found.warnings[:_MOST_NAMED]:
            say(f"{harmless(warning)}.")
        table, caption = found.table, found.name if sheet else Path(name).stem
        is_named = table.caption.strip() or (source == STANDARD_INPUT and len(sources) < 2)
        tables.append(table if is_named else table.with_caption(caption))
    if len(tables) > 1:
        given["tables"] = tables[1:]
    if tables:
        given["table"] = tables[0]
    if options.index is not None:
        from chameleon.retrieval.manifest import Manifest

        _require_path(str(options.index), "an index is read")
        index = options.index
        with suppress(RuntimeError):  # there is no such user
            index = index.expanduser()
        Manifest.read(index)
        given["index"] = str(index.resolve())
    if options.text:
        with _told_by_option("--text", options.text):
            given |= read_text_or_document(options.text)
    if options.choices is not None:
        given["choices"] = [choice.strip() for choice in options.choices.split(";") if choice.strip()]
        if len(given["choices"]) < 2:
            raise typer.BadParameter('two options or more, such as "yes;no"', param_hint="--choices")
    with ExitStack() as kept:
        if options.image:
            from chameleon.pictures.opening import MAX_BYTES, check_picture

            picture = options.image
            if picture == STANDARD_INPUT:
                data = sys.stdin.buffer.read(MAX_BYTES + 1)
                file = Path(kept.enter_context(TemporaryDirectory(prefix="chameleon-")), _NAME)
                file.write_bytes(data)
                picture = str(file)
            check_picture(picture)
            given["image"] = picture
        yield given


@contextmanager
def _told_by_option(option: str, source: str) -> Iterator[None]:
    """Tell of a file that cannot be read which option takes it, or that none does."""
    try:
        yield
    except InputError as error:
        from chameleon.documents.reading import PICTURES, SUFFIXES
        from chameleon.retrieval.manifest import MANIFEST

        path, suffix = Path(source), Path(source.lower().removesuffix(".gz")).suffix
        takes = {"--table": KINDS, "--image": PICTURES, "--text": SUFFIXES}
        if path.is_dir() and (path / MANIFEST).exists():
            raise InputError("is an index", where=source, hint="Give it with --index.") from None
        if not path.is_file() or suffix in (*takes[option], ".txt"):
            raise
        if other := next((name for name, suffixes in takes.items() if suffix in suffixes), ""):
            what = f"is a {_TAKEN_BY[other]}, not a {_TAKEN_BY[option]}"
            raise InputError(what, where=source, hint=f"Give it with {other}.") from None
        if suffix and "is not UTF-8" in error.what:
            raise InputError(f"is a file ({suffix}) that is not read", where=source, hint=_READ) from None
        raise


def read_text_or_document(source: str) -> dict[str, Any]:
    """Read what `--text` gives as `text`; a document, a long text or one with headings as `passages` too.

    Raises `InputError`, and `MissingPackage` where a document cannot be read without one.
    """
    from chameleon.documents import reading

    where = _NAME if source == STANDARD_INPUT else source
    if source == STANDARD_INPUT:
        data = read_within(sys.stdin.buffer, _NAME)
    else:
        _require_path(source, "texts are read")
        data = read_file(Path(source))
    is_text = reading.kind_of(data, where) == "text"
    if len(data) > (most := reading.MAX_TEXT_BYTES if is_text else reading.MAX_BYTES):
        what = f"the {'text' if is_text else 'document'} has more than the limit of {most:,} bytes"
        raise InputError(what, where=where, hint="Give the part that the question is about.")
    if is_text and not reading.is_document(text := reading.decoded_text(data, where)):
        return {"text": text}
    passages = reading.read_passages(data, where)
    if is_text:
        return {"text": text, "passages": passages}
    parts: list[str] = []
    for title, below in groupby(passages, key=lambda each: each["title"]):
        parts += [title, *(each["text"] for each in below)]
    return {"passages": passages, "text": "\n\n".join(parts).lstrip("\n")[: reading.MAX_TEXT_BYTES]}


def fit(given: Mapping[str, Any], inventory: Inventory, options: QuestionOptions) -> Mapping[str, Any]:
    """Return the input in the form that an inventory takes: a text as its passages or as the text.

    A table beside passages takes the name of its file where it has no caption, so that sources name it.
    Raises `InputError` where the inventory does not take all the files.
    """
    takes, fitted = inventory.input_types, dict(given)
    if "text" in fitted and takes and "passages" in takes and "text" not in takes:
        from chameleon.documents.reading import text_passages

        assert options.text
        fitted.setdefault("passages", text_passages(fitted["text"], _file_name(options.text)))
    if "passages" in fitted:
        del fitted["passages" if takes and "passages" not in takes else "text"]
    if "passages" in fitted and options.table:
        name = _file_name(options.table[0])
        if fitted["table"].caption in ("", Path(name).stem):
            fitted["table"] = fitted["table"].with_caption(name)
    files = [key for key in _FILES if key in fitted]
    lacking = [_FILES[key] for key in files if takes and key not in takes]
    if lacking:
        one = that_takes(*("passages" if key == "text" else key for key in files))
        what = f"the inventory {inventory.name} takes no {' and no '.join(lacking)}"
        raise InputError(what, hint=f"Leave it out, or name one that takes it with --inventory{one}.")
    return fitted


def _file_name(source: str) -> str:
    """Return what a source is called; of an address, which may hold a password, only where it leads."""
    if is_database(source):
        return address_name(source)
    return _NAME if source == STANDARD_INPUT else Path(source).name


def _require_path(source: str, done: str) -> None:
    """Raise `InputError` for an address, which may hold a password, in the place of a path."""
    from chameleon.pictures.opening import is_address

    if is_address(source) or is_database(source):
        hint = "Download a file first; ask a database with --table."
        raise InputError(f"is an address, and {done} from files only", where=address_name(source), hint=hint)
