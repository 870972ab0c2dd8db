"""Files and folders into an index, and again when some of them have changed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from chameleon.documents.file_reader import FileReader, FileToRead, Part
from chameleon.documents.ledger import Entry, Ledger, Stamp, digest_of, stamp_of, unread_entry
from chameleon.documents.reading import PICTURES
from chameleon.documents.scans import engine_installed
from chameleon.documents.walking import Walk, is_ours, require_file
from chameleon.errors import ChameleonError, InputError, lack_of
from chameleon.retrieval.build import Build, clear, is_of_vectors, retriever_of
from chameleon.retrieval.document import Document, Kind
from chameleon.retrieval.engine import Damaged
from chameleon.retrieval.index import KINDS, Index
from chameleon.retrieval.make import Spec, settings_at, settings_for
from chameleon.retrieval.manifest import LEDGER, VECTORS, is_index
from chameleon.table.databases import address_name
from chameleon.table.found import LeftOut, Note
from chameleon.table.records import printable
from chameleon.text import is_address

if TYPE_CHECKING:
    from chameleon.documents.summaries import Summaries

Progress = Callable[[int, int, str], object]
"""Told how many files are done, of how many, and which one is next ("" when the index is being written)."""

_DAMAGED = (
    "is damaged, so every file was read again. What the index has of files that are gone by now stays: to be "
    "without it, build it again in another folder"
)
_STAYS = "; what the index has of it stays"


@dataclass
class Summary:
    """What was done: counts of what was read, and everything that is left out, with the reason.

    `files` are those read that hold something, `without` those that hold nothing, `others` files of other
    kinds; `notes` are how some of those read were read. `held` is what the index holds now, by kind.
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
    damaged: str = ""
    seconds: float = 0.0

    @property
    def faults(self) -> list[LeftOut]:
        """What somebody may miss; tables that only lay out a page are not among it."""
        return [one for one in self.left_out if one.is_fault]


class _Source(NamedTuple):
    path: Path
    relative: Path


def index_files(
    sources: Sequence[Path],
    out: Path,
    retriever: Spec | None = None,
    progress: Progress | None = None,
    with_summaries: Summaries | None = None,
    *,
    reader: FileReader | None = None,
) -> Summary:
    """Put the tables and texts of these files, and of the files in these folders, into the index `out`.

    What is there already is added to: files with the size and time of change, or else the bytes, that they
    had are not read again; what a changed file holds takes the place of what it held, and what a file held
    that is gone from one of the folders is taken out. `retriever` says what will search the index, "auto"
    for a new one. `with_summaries` has a model describe every table that is read; files that were indexed
    without are read again. `reader` reads the files, by default here. What cannot be read or described is
    told of in the summary. Raises `InputError` when there is nothing to index, for another retriever than the
    index was built for, and as `build_index` and `with_summaries` do.

    Of an index that is damaged, vectors are made anew, and all else is built anew of the sources; `damaged`
    of the summary says why. Raises `InputError` where it holds files that are not among them.
    """
    if address := next((str(source) for source in sources if is_address(str(source))), ""):
        where = address_name(address)
        raise InputError(
            "is an address, and files are indexed", where=where, hint="Ask it as a table instead."
        )
    if out.is_file():
        raise InputError("is a file, not the folder of an index", where=str(out), hint="Name a folder.")
    try:
        return _indexed(sources, out, retriever, progress, with_summaries, reader=reader)
    except Damaged as problem:
        ledger = Ledger.load(out)
        _require_all(ledger, sources, problem)
        known = retriever_of(out, problem, ledger.retriever if retriever is None else retriever)
        summary = _indexed(sources, out, known, progress, with_summaries, reader=reader, damage=problem)
        return replace(summary, damaged=f"{problem.where}: {problem.what}")


def _indexed(
    sources: Sequence[Path],
    out: Path,
    retriever: Spec | None,
    progress: Progress | None,
    with_summaries: Summaries | None,
    *,
    reader: FileReader | None,
    damage: Damaged | None = None,
) -> Summary:
    """Index; what has a `damage` stays until something has been read that takes its place."""
    begun = time.monotonic()
    summary = Summary(out)
    is_new = not is_index(out) or (damage is not None and not is_of_vectors(damage))
    ledger = Ledger.load(out)
    ledger = ledger.unread() if is_new else ledger
    before = dict(ledger.entries)
    if ledger.is_damaged:
        summary.left_out.append(LeftOut(str(out / LEDGER), _DAMAGED))
    known = ledger.retriever if retriever is None and is_new else retriever
    settings = settings_for(known or "auto") if is_new else settings_at(out, known)
    ledger.retriever = settings.retriever
    files, unread = _files(sources, summary)
    reader = reader or FileReader()
    reading = _Reading(ledger, files, summary, progress, with_summaries is not None, reader=reader)
    documents = with_summaries(reading.documents()) if with_summaries else reading.documents()
    first = next(documents, None)
    if first is None and is_new:
        raise InputError(
            "no table and no text was found", where=", ".join(map(str, sources)), hint=_most_of(summary)
        )
    if damage:
        clear(out, damage)
    with Build(out, settings, analyse=reader.analyse) as build:
        ledger.require_current(out)
        build.add(chain([first], documents) if first else ())
        for id, problem in with_summaries.failed.items() if with_summaries else ():
            reading.lacks_summary(id, problem)
        for path in _vanished(ledger, sources, files, unread):
            reading.gone |= set(ledger.entries.pop(path).ids)
            summary.vanished += 1
        gone = reading.gone.difference(*(entry.ids for entry in ledger.entries.values()))
        build.delete(build.old.with_ids(sorted(gone)) if build.old else ())
        intended = ledger.intended(before)
        if intended != ledger:
            intended.save(out)  # should the process die now, the next run knows what it may find
        build.commit()
        ledger.save(out)
    index = Index.open(out)
    summary.held = Counter({kind: index.count(kind) for kind in KINDS})
    summary.seconds = time.monotonic() - begun
    return summary


class _Reading:
    """Reads the files that have changed; what their documents were before and are not now is `gone`."""

    def __init__(
        self,
        ledger: Ledger,
        files: Sequence[_Source],
        summary: Summary,
        progress: Progress | None,
        summarises: bool,
        *,
        reader: FileReader,
    ) -> None:
        self.ledger, self.files, self.summary, self.summarises = ledger, files, summary, summarises
        self._reader = reader
        self.progress = progress or (lambda *_: None)
        self.gone: set[str] = set()
        self._is_whole = True
        self._owners = {id: path for path, entry in ledger.entries.items() for id in entry.ids}

    def documents(self) -> Iterator[Document]:
        for file, found in self._reader.read(self._to_read(), self._is_free):
            self.progress(file.number, len(self.files), file.name)
            ids: list[str] = []
            before, self._is_whole = len(self.summary.left_out), True
            for document in self._documents_of(file.path, found):
                self._owners[document.id] = str(file.path)
                self._count(document)
                ids.append(document.id)
                yield document
                if len(ids) % 50 == 0:
                    told = f"{file.name}, {document.kind} {len(ids):,}"
                    self.progress(file.number, len(self.files), told)
            self.summary.files += bool(ids)
            stale = self._stale(file.before, ids, before)
            left_out = self.summary.left_out[before:]
            told_of = [(one.where, one.why, one.is_fault) for one in left_out]
            engine = self._engine if any(one.is_picture for one in left_out) else None
            entry = Entry(
                file.name, file.stamp, file.digest, ids + stale, told_of, self.summarises, engine, stale
            )
            self._note(file.path, entry, file.before)
        self.progress(len(self.files), len(self.files), "")

    def _to_read(self) -> Iterator[FileToRead]:
        for number, (path, relative) in enumerate(self.files):
            name = self.ledger.name_for(path, relative)
            old = self.ledger.entries.get(str(path))
            if (state := self._changed(path, name, old)) is not None:
                yield FileToRead(number, path, name, *state, old)

    def _is_free(self, path: Path, id: str) -> bool:
        """Whether no other file has this id."""
        return self._owners.get(id, str(path)) == str(path)

    def lacks_summary(self, id: str, problem: ChameleonError) -> None:
        """Tell that a table has no summary; its file is read again by the next run that writes them."""
        path = self._owners[id]
        self.ledger.entries[path] = replace(self.ledger.entries[path], summarised=False)
        self.summary.notes.append(Note(id, f"has no summary: {problem}"))

    def _changed(self, path: Path, name: str, old: Entry | None) -> tuple[Stamp, str] | None:
        """Return the stamp and digest of a file that is to be read; None for one that stays as it was."""
        is_done = (
            old is not None
            and (old.summarised or not self.summarises)
            and (old.engine is None or old.engine == self._engine)
        )
        try:
            stamp = stamp_of(path)
            if old and is_done and old.stamp == stamp and all(time for _, time in stamp):
                self._keep(old)
                return None
            digest = digest_of(path)
        except OSError as problem:
            if (lack := lack_of(problem)) is not None:
                raise lack from problem
            stays = _STAYS if old and old.ids else ""
            why = f"cannot be read ({problem.strerror or problem}){stays}"
            self.summary.left_out.append(LeftOut(name, why))
            return None
        if old and is_done and old.digest == digest:
            self.ledger.entries[str(path)] = replace(old, stamp=stamp)
            self._keep(old)
            return None
        return stamp, digest

    def _documents_of(self, path: Path, found: Iterable[Part]) -> Iterator[Document]:
        """Yield the documents of a file, and tell of all else in the summary; `_is_whole` says of faults."""
        for part in found:
            if isinstance(part, Document):
                yield part
            elif isinstance(part, Note):
                self.summary.notes.append(part)
            elif isinstance(part, LeftOut):
                self.summary.left_out.append(part)
            else:
                self._is_whole = False
                if part.lacks_package and path.suffix.lower() in PICTURES:  # of which there may be thousands
                    self._lacks_engine(path, part.left_out.why)
                else:
                    self.summary.left_out.append(part.left_out)

    def _stale(self, old: Entry | None, ids: Sequence[str], before: int) -> list[str]:
        """The documents that a file held and holds no more, for a fault that is new or had this effect."""
        told = self.summary.left_out
        faults = [at for at in range(before, len(told)) if told[at].is_fault and not told[at].is_picture]
        if old is None or (self._is_whole and not faults):
            return []
        known = {(where, why.removesuffix(_STAYS)) for where, why, _ in old.left_out}
        is_new = not self._is_whole or (
            old.digest != "" and any((told[at].where, told[at].why) not in known for at in faults)
        )
        read = set(ids)
        stale = [id for id in (old.ids if is_new else old.stale) if id not in read]
        if stale and faults:
            last = told[faults[-1]]
            told[faults[-1]] = replace(last, why=last.why.rstrip(".") + _STAYS)
        return stale

    @cached_property
    def _engine(self) -> str:
        """The OCR engine that is installed; "" for none."""
        return engine_installed()

    def _count(self, document: Document) -> None:
        if document.table is None:
            self.summary.passages += 1
        else:
            self.summary.tables += 1
            self.summary.rows += len(document.table.rows)

    def _note(self, path: Path, entry: Entry, old: Entry | None) -> None:
        """Note what was read of a file in the ledger, and what of it is gone."""
        self._forget(path, entry.ids)
        if entry.ids or not any(is_fault for _, _, is_fault in entry.left_out):
            self.ledger.entries[str(path)] = entry if self._is_whole else unread_entry(entry)
        if entry.ids and old and old.summarised and not self.summarises:
            self.summary.notes.append(Note(entry.name, "had summaries, and is indexed without"))
        self.summary.without += self._is_whole and not entry.ids and not entry.left_out

    def _lacks_engine(self, path: Path, why: str) -> None:
        """Count a picture that no engine reads among files of other kinds, and tell once what would."""
        self.summary.others[path.suffix.lower()] += 1
        told = Note("pictures", f"were not read: {why}")
        self.summary.notes += [told] if told not in self.summary.notes else []

    def _keep(self, entry: Entry) -> None:
        """The file is as it was, and so is what it lacks."""
        self.summary.unchanged += 1
        self.summary.left_out += [LeftOut(*one) for one in entry.left_out]

    def _forget(self, path: Path, ids: Sequence[str]) -> None:
        """Take note of what the file held before and does not hold any more."""
        if old := self.ledger.entries.pop(str(path), None):
            self.gone |= set(old.ids) - set(ids)


def _files(sources: Sequence[Path], summary: Summary) -> tuple[list[_Source], list[Path]]:
    """The files to look at, each once, and the folders that could not be looked into."""
    found: dict[Path, Path] = {}
    unread: list[Path] = []
    for source in sources:
        if is_ours(source):
            hint = "Give the files that it was built of."
            raise InputError("is an index, not a file or folder to index", where=str(source), hint=hint)
        if not source.is_dir():
            try:
                require_file(source)
                found.setdefault(source.resolve(), Path(source.name))
            except InputError as error:
                summary.left_out.append(LeftOut.of(error))
            continue
        root = source.resolve()
        walk = Walk(root)
        for path in walk.files():
            found.setdefault(path, path.relative_to(root))
        summary.others += walk.others
        summary.left_out += walk.left_out
        unread += walk.unread
    return [_Source(path, relative) for path, relative in found.items()], unread


def _require_all(ledger: Ledger, sources: Sequence[Path], problem: Damaged) -> None:
    """Raise `InputError` where a damaged index holds files that would not be read for a new one."""
    given = [source.resolve() for source in sources]
    others = [path for path in ledger.entries if not any(map(Path(path).is_relative_to, given))]
    if others and VECTORS not in Path(problem.where).parts:
        raise InputError(
            f"{problem.what}, and of the files in it {len(others):,} are not given, such as {others[0]}",
            where=problem.where,
            hint="Give all of them, and it is built anew; or build another index.",
        )


def _vanished(
    ledger: Ledger, sources: Sequence[Path], files: Sequence[_Source], unread: Sequence[Path]
) -> list[str]:
    """The files that lay in one of the folders, and do not any more."""
    folders = [source.resolve() for source in sources if source.is_dir()]
    found = {str(file.path) for file in files}
    missing = [Path(path) for path in ledger.entries if path not in found]
    return [
        str(path)
        for path in missing
        if any(map(path.is_relative_to, folders)) and not any(map(path.is_relative_to, unread))
    ]


def _most_of(summary: Summary) -> str:
    """What there was instead, in a sentence."""
    if summary.faults:
        first = summary.faults[0]
        more = len(summary.faults) - 1
        return f"{first.where}: {first.why}{f' ({more} more)' if more else ''}"
    if summary.others:
        kinds = ", ".join(f"{count} {kind}" for kind, count in summary.others.most_common(5))
        return f"There are: {printable(kinds)}."
    if summary.without:
        return "There are only files without a table or a text."
    return "The folder is empty." if not summary.left_out else ""
