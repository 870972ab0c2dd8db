"""Late interaction as a part of an index: the vectors of all tokens, searched one and all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from chameleon.errors import InputError, ModelError
from chameleon.retrieval.document import Document
from chameleon.retrieval.embeddings import MINILM
from chameleon.retrieval.index.arrays import ArrayWriter, load, save
from chameleon.retrieval.index.files import Damaged, broken
from chameleon.retrieval.late.encoder import asked, encoded, require
from chameleon.retrieval.late.maxsim import maxsim
from chameleon.retrieval.part import Part, Searcher
from chameleon.retrieval.vectors.texts import texts

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from chameleon.retrieval.part import Piece

_AT_ONCE = 64


@dataclass(frozen=True)
class LateSettings:
    """Which token encoder, by name; how many texts of a document at most; and how exact the vectors are.

    `float16` takes half the room and up to twice the time; scores differ by less than a thousandth.
    """

    encoder: str = MINILM
    texts: int = 2
    precision: Literal["float32", "float16"] = "float16"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class LatePart(Part):
    """The token vectors of documents: `tokens.npy`, row after row, and `offsets.npy`, where each begins."""

    name = "late"
    is_slow = True

    def __init__(self, settings: LateSettings | None = None) -> None:
        """Raises ValueError for a precision that there is none of."""
        self._settings = settings or LateSettings()
        if self._settings.precision not in ("float32", "float16") or self._settings.texts < 1:
            raise ValueError(f"{self._settings} cannot be")

    def settings(self) -> Mapping[str, Any]:
        return self._settings.to_json()

    def check(self) -> None:
        """Raise `MissingPackage` for what is not at hand; nothing is loaded."""
        require(self._settings.encoder)

    def prepare(self) -> None:
        self.check()

    def write(self, documents: Sequence[Document], folder: Path) -> None:
        """Raises `MissingPackage`, and `ModelError` when the encoder fails."""
        import numpy

        offsets, sizes = [0], set[int]()
        with ArrayWriter(folder / "tokens.npy", self._settings.precision) as file:
            for start in range(0, len(documents), _AT_ONCE):
                for tokens in self._encoded(documents[start : start + _AT_ONCE]):
                    file.append(self._rounded(tokens).reshape(-1))
                    offsets.append(offsets[-1] + len(tokens))
                    sizes.add(tokens.shape[1])
        if len(sizes) > 1:
            raise ModelError("the token encoder changes its dimensions", where=self._settings.encoder)
        save(folder / "offsets.npy", numpy.array(offsets, numpy.int64))

    def join(self, pieces: Sequence[Piece], documents: Sequence[Document], folder: Path) -> None:
        """What the encoder gave is copied, not made again."""
        import numpy

        offsets = [0]
        with ArrayWriter(folder / "tokens.npy", self._settings.precision) as file:
            for path, alive in pieces:
                tokens = Tokens.of(path)
                for place in alive.nonzero()[0].tolist():
                    begin, end = tokens.offsets[place : place + 2].tolist()
                    file.append(tokens.vectors[begin:end].reshape(-1))
                    offsets.append(offsets[-1] + end - begin)
        save(folder / "offsets.npy", numpy.array(offsets, numpy.int64))

    def finish(self, segments: Sequence[Path], alive: NDArray[numpy.bool_], folder: Path) -> None:
        """Nothing is made of all segments."""

    def open(self, segments: Sequence[Path], alive: NDArray[numpy.bool_], folder: Path) -> LateSearcher:
        self.check()
        return LateSearcher(self._settings.encoder, [Tokens.of(path) for path in segments], alive)

    def _encoded(self, documents: Sequence[Document]) -> Iterator[NDArray[numpy.float32]]:
        """The tokens of each document: those of all its texts."""
        import numpy

        written = [texts(document, self._settings.texts) for document in documents]
        vectors = iter(encoded(self._settings.encoder, [text for some in written for text in some]))
        for some in written:
            yield numpy.concatenate([next(vectors) for _ in some])

    def _rounded(self, tokens: NDArray[numpy.float32]) -> NDArray[Any]:
        """In the precision of the files; what is too small for float16 becomes 0, which computes faster."""
        import numpy

        if self._settings.precision == "float32":
            return tokens
        least = float(numpy.finfo(numpy.float16).smallest_normal)
        return numpy.where(numpy.abs(tokens) < least, 0, tokens).astype(numpy.float16)


@dataclass(frozen=True)
class Tokens:
    """A segment's token vectors, memory-mapped."""

    vectors: NDArray[Any]
    offsets: NDArray[numpy.int64]

    @classmethod
    def of(cls, folder: Path) -> Tokens:
        """Raises `InputError` for files that are broken."""
        flat, offsets = load(folder / "tokens.npy"), load(folder / "offsets.npy")
        count = int(offsets[-1]) if len(offsets) else -1
        if count < 0 or (len(flat) % count if count else len(flat)):
            raise broken(folder / "tokens.npy")
        return cls(flat.reshape(count, -1) if count else flat.reshape(0, 0), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def scores(
        self, query: NDArray[numpy.float32], chosen: NDArray[numpy.int64] | None = None
    ) -> NDArray[numpy.float32]:
        vectors = self.vectors if len(self.vectors) else self.vectors.reshape(0, query.shape[1])
        return maxsim(query, vectors, self.offsets, chosen)


class LateSearcher(Searcher):
    """Scores every living document: of a large corpus, let another retriever find a hundred first.

    The model is loaded with the first query.
    """

    def __init__(self, encoder: str, segments: Sequence[Tokens], alive: NDArray[numpy.bool_]) -> None:
        self.encoder, self._segments, self._alive = encoder, segments, alive
        self._firsts = [0, *accumulate(map(len, segments))]
        sizes = {tokens.vectors.shape[1] for tokens in segments if len(tokens.vectors)}
        if len(sizes) > 1 or self._firsts[-1] != len(alive):
            raise Damaged("the segments' token vectors do not fit each other")
        self._size = next(iter(sizes), None)

    def search(self, query: str, k: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.float32]]:
        import numpy

        if k < 1 or not self._alive.any():
            return numpy.empty(0, numpy.int64), numpy.empty(0, numpy.float32)
        said = self._asked(query)
        scores = numpy.concatenate([tokens.scores(said) for tokens in self._segments])
        living = numpy.flatnonzero(self._alive)
        found = scores[living]
        if k < len(living):
            bound = numpy.partition(found, len(found) - k)[len(found) - k]
            living = living[found >= bound]
            found = scores[living]
        best = numpy.argsort(-found, kind="stable")[:k]
        return living[best], found[best]

    def scores(self, query: str, positions: NDArray[numpy.int64]) -> NDArray[numpy.float32]:
        import numpy

        found: NDArray[numpy.float32] = numpy.zeros(len(positions), numpy.float32)
        owners = numpy.searchsorted(self._firsts, positions, "right") - 1
        said = self._asked(query) if len(positions) else numpy.empty((0, 0), numpy.float32)
        for number in numpy.unique(owners).tolist():
            here = owners == number
            chosen = positions[here] - self._firsts[number]
            found[here] = self._segments[number].scores(said, chosen)
        return found

    def _asked(self, query: str) -> NDArray[numpy.float32]:
        said = asked(self.encoder, query)
        if self._size not in (None, said.shape[1]):
            raise InputError(
                f"{self.encoder} has vectors of {said.shape[1]} numbers, and had {self._size} "
                "when the index was built",
                hint="Use the model of that time, or build the index again in another folder.",
            )
        return said
