"""Where the weights of a model are: in a folder, in the hub's cache, or to be downloaded."""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chameleon.errors import InventoryError, ModuleError

INSTEAD = (
    "Or ask a chat model that sees pictures: `image_captioner: {use: multimodal_captioner}` in the inventory."
)
_CONFIG = "config.json"
_WHOLE, _HEAD = 50_000_000, 1_000_000
_SECONDS = 5.0
"""How long the hub may take to say that it knows a model; its own client would try for half a minute."""

_log = logging.getLogger("chameleon")
_told: set[str] = set()
"""The models of which the log has told: a check is made more than once."""


def is_path(model: str) -> bool:
    """Tell whether a model is named by its folder, and not by its name on the hub, `NAME` or `OWNER/NAME`."""
    path = Path(model)
    return (
        path.is_dir()
        or path.is_absolute()
        or model.startswith((".", "~"))
        or "\\" in model
        or len(path.parts) > 2
        or (len(path.parts) == 2 and path.parent.is_dir())
    )


def check_weights(model: str) -> None:
    """Look, without a network, for the model on this machine; the log tells once what a run will download.

    Raises `InventoryError` for a folder that does not exist or holds no model, and `ModuleError` for a model
    that is not in the hub's cache while `HF_HUB_OFFLINE` forbids to download it.
    """
    if is_path(model):
        _check_folder(Path(model))
    elif not _is_cached(model):
        from huggingface_hub import constants

        if constants.HF_HUB_OFFLINE:
            raise missing(model, "HF_HUB_OFFLINE is set")
        if model not in _told:
            _told.add(model)
            _log.warning(
                "the captioning model %s is not on this machine: the first run will download it "
                "(now: `hf download %s`)",
                model,
                model,
            )


def _is_cached(model: str) -> bool:
    """Tell whether the hub's cache (`HF_HOME`, `HF_HUB_CACHE`) has it, at least in part."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        return isinstance(try_to_load_from_cache(model, _CONFIG), str)
    except HFValidationError as problem:
        raise InventoryError(
            f"model is {model!r}, which is neither a folder nor a name on the hub",
            hint="Write OWNER/NAME, or the path of a folder.",
        ) from problem


def digest_of_weights(model: str) -> str | None:
    """Return which weights there are: a model's commit in the hub's cache, or a digest of a folder.

    The digest is over the names and lengths of all files and what they hold, of those past 50 MB the first
    megabyte, where safetensors has the names and forms of its tensors. None for a model that is not here.
    """
    if is_path(model):
        return _digest_of_folder(Path(model))
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        config = try_to_load_from_cache(model, _CONFIG)
    except HFValidationError:  # `check` tells it
        return None
    return Path(config).parent.name if isinstance(config, str) else None


def _digest_of_folder(folder: Path) -> str | None:
    digest = hashlib.sha256()
    try:
        for file in sorted(path for path in folder.iterdir() if path.is_file()):
            size = file.stat().st_size
            digest.update(f"{file.name}\0{size}\0".encode("utf-8", "surrogateescape"))
            with file.open("rb") as opened:
                digest.update(opened.read(size if size <= _WHOLE else _HEAD))
    except OSError:  # `check` tells it
        return None
    return digest.hexdigest()


def require_hub(model: str) -> None:
    """Ask the hub once, and for seconds, whether it has the model. Raises `ModuleError`.

    The question runs in a thread of its own: the look-up of a name cannot be told to give up.
    """
    from huggingface_hub import HfApi

    problems: list[Exception] = []

    def ask() -> None:
        try:
            HfApi().model_info(model, timeout=_SECONDS)
        except Exception as problem:  # its client, and so the errors of the network, differ between versions
            problems.append(problem)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_SECONDS + 1)
    if asking.is_alive():
        raise missing(model, f"the hub does not answer within {_SECONDS + 1:.0f} seconds")
    if problems:
        raise missing(model, f"the hub cannot be asked for it: {first_line(problems[0])}") from problems[0]
    _log.info("downloading the captioning model %s", model)


def missing(model: str, why: str) -> ModuleError:
    """Return the error for a model that is not here and does not come."""
    return ModuleError(
        f"the captioning model {model} is not on this machine and cannot be downloaded: {why}",
        hint=f"Run `hf download {model}` with a network, or set model to a folder that has it. {INSTEAD}",
    )


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers and the hub from writing hints, retries and bars on the terminal."""
    from transformers.utils import logging as said

    hub = logging.getLogger("huggingface_hub")
    level, hub_level, bars = said.get_verbosity(), hub.level, said.is_progress_bar_enabled()
    said.set_verbosity_error()
    said.disable_progress_bar()
    hub.setLevel(logging.ERROR)
    logging.getLogger("transformers.generation").setLevel(logging.ERROR)  # it warns at the first picture
    # Else it asks a service, in the background, to convert the weights of older models on the hub.
    os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "1")
    try:
        yield
    finally:
        said.set_verbosity(level)
        hub.setLevel(hub_level)
        if bars:
            said.enable_progress_bar()


def first_line(problem: BaseException) -> str:
    """Return what an error of a library says, cut to a line that fits into ours."""
    return (str(problem).strip() or type(problem).__name__).splitlines()[0][:200]


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise InventoryError(
            f"model is {str(folder)!r}, a folder that does not exist",
            hint="Write the path of a folder with a captioning model, or its name on the hub, OWNER/NAME.",
        )
    if not (folder / _CONFIG).is_file():
        raise InventoryError(
            f"the folder {str(folder)!r} has no {_CONFIG}, so it holds no model of transformers",
            hint="Set model to the folder that `save_pretrained` or `hf download --local-dir` has written.",
        )
