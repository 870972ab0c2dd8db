"""Index files and folders, and update the index when some of them have changed."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Protocol

from chameleon.documents.file_documents import file_documents
from chameleon.documents.files import LEDGER, Entry, Ledger, Walk, digest_of
from chameleon.documents.reading import PICTURES
from chameleon.documents.scans import engine_installed
from chameleon.errors import ChameleonError, InputError, MissingPackage, ModelError, lack_of
from chameleon.lazy import cached_property
from chameleon.retrieval.build import Build
from chameleon.retrieval.document import Document, Kind
from chameleon.retrieval.index import KINDS
from chameleon.retrieval.make import Spec, settings_at
from chameleon.retrieval.manifest import is_ours
from chameleon.table.databases import address_name
from chameleon.table.found import LeftOut, Note
from chameleon.table.records import printable, shown
from chameleon.text import is_address

Progress = Callable[[int, int, str], object]
"""Called with how many files are done, of how many, and the next one ("" while writing the index)."""

_KEPT_NOTE = "; its earlier entries stay in the index"


class DescribesTables(Protocol):
    """Adds a description to each document with a table; reports the ids without one, and why."""

    failed: dict[str, ModelError]

    def __call__(self, documents: Iterable[Document]) -> Iterator[Document]: ...


@dataclass
class Summary:
    """Counts of everything that was read, and everything left out, with the reason.

    Attributes:
        files, without: the number of files with content, and of files without any.
        others: the number of files of each other kind.
        notes: how some of the files were read.
        held: what the index holds now, by kind.
    """

    index: Path
    files: int = 0
    without: int = 0
    unchanged: int = 0
    vanished: int = 0
    tables: int = 0
    rows: int = 0
    passages: int = 0
    others: Counter[str] = field(default_factory=Counter)
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    held: Counter[Kind] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def faults(self) -> list[LeftOut]:
        """Return everything that a user may miss; layout tables are not included."""
        return [one for one in self.left_out if one.is_fault]

    def count(self, document: Document) -> None:
        """Count a document that was read."""
        if document.table is None:
            self.passages += 1
        else:
            self.tables += 1
            self.rows += len(document.table.rows)


def index_files(
    sources: Sequence[Path],
    out: Path,
    retriever: Spec | None = None,
    progress: Progress | None = None,
    with_summaries: DescribesTables | None = None,
) -> Summary:
    """Put the tables and texts of these files, and of the files in these folders, into the index `out`.

    An existing index is extended: unchanged files are not read again; the contents of a changed file replace
    the old ones, and the contents of a file that is gone from one of the folders are removed. Whatever cannot
    be read or described is in the summary.

    Args:
        retriever: what will search the index; None: "auto" for a new one, else the one it was built for.
        with_summaries: has a model describe every table that is read; files indexed without summaries are
            read again.

    Raises:
        InputError: if nothing can be indexed, or the index was built for another retriever or is damaged.
        ChameleonError: as `build_index` and `with_summaries` raise it.
    """
    if address := next((str(source) for source in sources if is_address(str(source))), ""):
        where, hint = address_name(address), "Ask it as a table instead."
        raise InputError("is an address, but only files are indexed", where=where, hint=hint)
    if out.is_file():
        raise InputError("is a file, not the folder of an index", where=str(out), hint="Name a folder.")
    started = time.monotonic()
    summary = Summary(out)
    settings = settings_at(out, retriever)
    files, unread = _files(sources, summary)
    with Build(out, settings) as build:
        ledger = Ledger(build.old.data if build.old is not None else None)
        summarizes = with_summaries is not None
        reading = _Reading(ledger, files, summary, progress or (lambda *_: None), summarizes)
        documents = with_summaries(reading.documents()) if with_summaries else reading.documents()
        first = next(documents, None)
        if first is None and build.old is None:
            raise _nothing_in(sources, summary)
        build.add(chain([first], documents) if first else ())
        for id, problem in with_summaries.failed.items() if with_summaries else ():
            reading.note_missing_summary(id, problem)
        for path in _vanished(ledger, sources, files, unread):
            reading.gone |= set(ledger.entries.pop(path).ids)
            summary.vanished += 1
        removed_ids = reading.gone.difference(*(entry.ids for entry in ledger.entries.values()))
        build.delete(build.old.with_ids(sorted(removed_ids)) if build.old is not None else ())
        build.add_file(LEDGER, ledger.to_json())
        index = build.commit()
    summary.held = Counter({kind: index.count(kind) for kind in KINDS})
    summary.seconds = time.monotonic() - started
    return summary


@dataclass
class _Reading:
    """Reads the files that have changed; `gone` has the ids of documents that no longer exist."""

    ledger: Ledger
    files: Mapping[Path, Path]
    summary: Summary
    progress: Progress
    summarizes: bool
    gone: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._owners = {id: path for path, entry in self.ledger.entries.items() for id in entry.ids}

    def documents(self) -> Iterator[Document]:
        """Yield the documents of files that are new or have changed; note all files in the ledger."""
        total = len(self.files)
        for number, (path, relative) in enumerate(self.files.items()):
            name, old = self.ledger.name_for(path, relative), self.ledger.entries.get(str(path))
            if (entry := self._entry_to_read(path, name, old)) is None:
                continue
            self.progress(number, total, name)
            for document in self._read(path, entry):
                self._owners[document.id] = str(path)
                self.summary.count(document)
                entry.ids.append(document.id)
                yield document
            self._note(path, entry, old)
        self.progress(total, total, "")

    def note_missing_summary(self, id: str, problem: ChameleonError) -> None:
        """Note that a table has no summary; the next run that writes summaries reads its file again."""
        self.ledger.entries[self._owners[id]].summarized = False
        self.summary.notes.append(Note(id, f"has no summary: {problem}"))

    def _entry_to_read(self, path: Path, name: str, old: Entry | None) -> Entry | None:
        """Return a new entry for a file to read, or None if it is unchanged."""
        is_done = (
            old is not None
            and (old.summarized or not self.summarizes)
            and (old.engine is None or old.engine == self._engine)
        )
        try:
            entry = Entry(name, digest_of(path), summarized=self.summarizes)
        except OSError as problem:
            if (lack := lack_of(problem)) is not None:
                raise lack from problem
            stays = _KEPT_NOTE if old and old.ids else ""
            why = f"cannot be read ({problem.strerror or problem}){stays}"
            self.summary.left_out.append(LeftOut(name, why))
            return None
        if old and is_done and old.digest == entry.digest:
            self.summary.unchanged += 1
            self.summary.left_out += old.left_out  # repeated, because the file is unchanged
            return None
        return entry

    def _read(self, path: Path, entry: Entry) -> Iterator[Document]:
        """Yield a file's documents, and note the rest. Raises `MachineError` if the file is not at fault."""
        key = str(path)
        try:
            for part in file_documents(path, entry.name, lambda id: self._owners.get(id, key) == key):
                if isinstance(part, Document):
                    yield part
                elif isinstance(part, Note):
                    self.summary.notes.append(part)
                else:
                    entry.left_out.append(part)
        except Exception as problem:  # a file may be damaged in ways its reader does not expect
            if (lack := lack_of(problem)) is not None:
                raise lack from problem
            entry.read_again()
            if isinstance(problem, MissingPackage) and path.suffix.lower() in PICTURES:
                self.summary.others[path.suffix.lower()] += 1
                note = Note("pictures", f"were not read: {LeftOut.of(problem).why}")  # once: maybe many
                self.summary.notes += [note] if note not in self.summary.notes else []
            elif isinstance(problem, ChameleonError):
                entry.left_out.append(LeftOut.of(problem, entry.name))
            else:
                message = shown(f"{type(problem).__name__}: {problem}".removesuffix(": "), 100)
                entry.left_out.append(LeftOut(entry.name, f"cannot be read ({message})"))

    def _note(self, path: Path, entry: Entry, old: Entry | None) -> None:
        """Note the documents of a file and the ids that are gone; an unreadable file keeps its documents."""
        faults = [one for one in entry.left_out if one.is_fault and not one.is_picture]
        has_failed = not entry.digest or bool(faults and not entry.ids)
        self.summary.files += bool(entry.ids)
        self.summary.without += not (entry.ids or entry.left_out or has_failed)
        before = old.ids if old else []
        if has_failed:
            entry.read_again()
            stays = [id for id in before if id not in set(entry.ids)]
            entry.ids += stays
            if stays and faults:
                last = entry.left_out.index(faults[-1])
                entry.left_out[last] = replace(faults[-1], why=faults[-1].why.rstrip(".") + _KEPT_NOTE)
        elif any(one.is_picture for one in entry.left_out):
            entry.engine = self._engine
        if entry.ids and old and old.summarized and not self.summarizes:
            self.summary.notes.append(Note(entry.name, "had a summary, but was indexed without one"))
        self.summary.left_out += entry.left_out
        self.gone |= set(before) - set(entry.ids)
        self.ledger.entries.pop(str(path), None)
        if entry.ids or not has_failed:
            self.ledger.entries[str(path)] = entry

    @cached_property
    def _engine(self) -> str:
        """Return the installed OCR engine, or ""."""
        return engine_installed()


def _files(sources: Sequence[Path], summary: Summary) -> tuple[dict[Path, Path], list[Path]]:
    """Return the files to look at, with their paths in the folders, and the folders that cannot be read."""
    files: dict[Path, Path] = {}
    unread: list[Path] = []
    for source in sources:
        if is_ours(source):
            hint = "Give the files that it was built from."
            raise InputError("is an index, not a file or folder to index", where=str(source), hint=hint)
        if not source.is_dir():
            if source.is_file():  # a device may never end, and a pipe never begin
                files.setdefault(source.resolve(), Path(source.name))
            else:
                why = "is not a regular file" if source.exists() else "there is no such file or folder"
                summary.left_out.append(LeftOut(printable(str(source)), why))
            continue
        root = source.resolve()
        walk = Walk(root)
        for path in walk.files():
            files.setdefault(path, path.relative_to(root))
        summary.others += walk.others
        summary.left_out += walk.left_out
        unread += walk.unread
    return files, unread


def _vanished(
    ledger: Ledger, sources: Sequence[Path], files: Mapping[Path, Path], unread: Sequence[Path]
) -> list[str]:
    """Return the files that were in one of the folders and no longer are."""
    folders = [source.resolve() for source in sources if source.is_dir()]
    missing = [path for path in map(Path, ledger.entries) if path not in files]
    in_folders = [path for path in missing if any(map(path.is_relative_to, folders))]
    return [str(path) for path in in_folders if not any(map(path.is_relative_to, unread))]


def _nothing_in(sources: Sequence[Path], summary: Summary) -> InputError:
    """Return the error for sources without a table or text, naming what they hold instead."""
    if summary.faults:
        first, *more = summary.faults
        also = f"Not read either: {', '.join(each.where for each in more[:5])}." if more else ""
        folder = sources[0] if len(sources) == 1 and sources[0].is_dir() else Path()
        return InputError(first.why, where=str(folder / first.where), hint=also)
    hint = "The folder is empty."
    if summary.others:
        kinds = ", ".join(f"{count} {kind}" for kind, count in summary.others.most_common(5))
        hint = f"There are: {printable(kinds)}."
    elif summary.without or summary.left_out:
        hint = "It has no file with a table or text."
    return InputError("no table and no text was found", where=", ".join(map(str, sources)), hint=hint)
