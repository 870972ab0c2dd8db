"""`TokenEncoder`: text as vectors, one for each token."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


class TokenEncoder(ABC):
    """Subclass it, without parameters of the constructor, to plug in another. One serves all threads."""

    @abstractmethod
    def query(self, text: str) -> NDArray[numpy.float32]:
        """The query's tokens: a matrix of (tokens, dimensions), its rows of unit length."""

    @abstractmethod
    def documents(self, texts: Sequence[str]) -> list[NDArray[numpy.float32]]:
        """The same of each text; many at once cost less."""
