"""How often the arms of a grid find the table that a question is about, and the indexes that they search."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from chameleon.errors import ChameleonError, InputError
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.recall import Query, Recall, check_gold, measure
from chameleon.inventory import Inventory
from chameleon.inventory.grid import Grid
from chameleon.state import State

if TYPE_CHECKING:
    from chameleon.retrieval.document import Document
    from chameleon.retrieval.index import Index
    from chameleon.retrieval.part import Part
    from chameleon.retrieval.retriever import Retriever

Documents = Callable[[bool], Iterable["Document"]]
"""The documents of an index, with summaries or without."""


@runtime_checkable
class Searches(Protocol):
    """A module that finds documents in an index: by which `retriever`, and in which folder `within` it.

    `search_of` tells what it would search, and for what; None where it would not search.
    """

    retriever: str
    within: str

    def search_of(self, state: State) -> tuple[Index, Retriever, str] | None: ...


def searching(inventory: Inventory) -> Iterator[tuple[str, Searches]]:
    """The modules of an inventory that search, by name, without those that are left out."""
    for name, module in inventory.modules.items():
        if name not in inventory.left_out and isinstance(module, Searches):
            yield name, module


def recall_of(inventory: Inventory, runs: Sequence[tuple[Problem, State]]) -> Recall | None:
    """How well the first module that searches finds the problems' tables; None where none does.

    `runs` are problems with the states that the module is run in. Raises `InputError` where the index lacks
    what the retriever needs, or has not the tables that problems are about.
    """
    first = next(searching(inventory), None)
    if first is None:
        return None
    name, module = first
    view = inventory.access[name].view
    found = ((problem, module.search_of(view(state))) for problem, state in runs if problem.table_id)
    searches = [(problem, search) for problem, search in found if search is not None]
    if not searches:
        return None
    queries = [Query(text, problem.table_id) for problem, (_, _, text) in searches]
    index, retriever, _ = searches[0][1]
    check_gold(index.ids, queries)
    return measure(index, retriever, queries)


@dataclass(frozen=True)
class Indexed:
    """What came of building the indexes of a grid: which were built, and which retrievers cannot be had."""

    built: tuple[str, ...] = ()
    lacks: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)

    def reason(self, inventory: Inventory) -> str:
        """Why an arm cannot search; "" where nothing keeps it from it."""
        for _, module in searching(inventory):
            if told := self.missing.get(module.within) or self.lacks.get(module.retriever):
                return told
        return ""


def build_indexes(folder: Path, grid: Grid, documents: Documents, *, own: bool = False) -> Indexed:
    """Make the indexes of the grid that its arms search and that are not there.

    Each has what all retrievers need that arms search it by. What cannot be had here is left out, with the
    reason. In a folder of our `own` an index that lacks something is made anew. Raises `InputError` for
    documents that cannot be read, or a folder with something else in it.
    """
    from chameleon.retrieval.index import Index

    sample = next(iter(documents(False)), None)
    if sample is None:
        return Indexed()
    built, lacks, missing = list[str](), dict[str, str](), dict[str, str]()
    usable = _Usable(sample)
    for within, names in _wanted(grid).items():
        place, summaries = folder / within, grid.spec.indexes[within].summaries
        there = _parts_there(place)
        if there is not None and not own:
            continue
        parts = usable.parts(names, lacks)
        if there is not None and there >= parts.keys():
            continue
        if there is not None:
            shutil.rmtree(place)
        try:
            Index.build(place, documents(summaries), [*parts.values()])
        except InputError as problem:
            if not summaries:
                raise
            missing[within] = str(problem)
        else:
            built.append(within)
    return Indexed(tuple(built), lacks, missing)


def _wanted(grid: Grid) -> Mapping[str, Sequence[str]]:
    """The retrievers that arms search by, by the folder of the index, where the grid tells how it is made."""
    found: dict[str, dict[str, None]] = {}
    for arm in grid.arms.values():
        for _, module in searching(arm.inventory):
            if module.within in grid.spec.indexes:
                found.setdefault(module.within, {})[module.retriever] = None
    return {within: list(names) for within, names in found.items()}


def _parts_there(place: Path) -> frozenset[str] | None:
    """The parts that an index has; None where there is no index."""
    from chameleon.retrieval.index import Index
    from chameleon.retrieval.index.manifest import MANIFEST

    return frozenset(Index.open(place).settings) if (place / MANIFEST).exists() else None


class _Usable:
    """Parts of an index that work here: each is tried on one document, since its model may be missing."""

    def __init__(self, sample: Document) -> None:
        self._sample = sample
        self._tried: dict[str, ChameleonError | None] = {}

    def parts(self, retrievers: Sequence[str], lacks: dict[str, str]) -> dict[str, Part]:
        """The parts that these retrievers need, by name; `lacks` is told which of them cannot be had."""
        found: dict[str, Part] = {}
        for retriever in retrievers:
            try:
                self._add(retriever, found)
            except ChameleonError as problem:
                lacks[retriever] = str(problem)
        return found

    def _add(self, retriever: str, parts: dict[str, Part]) -> None:
        """Put the parts that a retriever needs to those of an index; raises what keeps one out."""
        from chameleon.retrieval.parts import parts_for

        needed = {part.name: part for part in parts_for(retriever)}
        for name, part in needed.items():
            if name in parts and parts[name].settings() != part.settings():
                raise InputError(f"an index has one part {name!r}, and that of {retriever} is another one")
            key = f"{name} {dict(part.settings())}"
            if key not in self._tried:
                self._tried[key] = self._problem(part)
            if (problem := self._tried[key]) is not None:
                raise problem
        parts |= needed

    def _problem(self, part: Part) -> ChameleonError | None:
        from chameleon.retrieval.index import Index

        with tempfile.TemporaryDirectory(prefix="chameleon-") as folder:
            try:
                Index.build(folder, [self._sample], [part])
            except ChameleonError as problem:
                return problem
        return None
