"""Find the weights of a model: in a folder, in the hub's cache, or for download."""

import hashlib
import logging
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from chameleon.errors import InventoryError, ModuleError
from chameleon.text import one_line

INSTEAD = (
    "Or ask a chat model that sees pictures: `image_captioner: {use: multimodal_captioner}` in the inventory."
)
_HUB_NAME = re.compile(r"\w[\w.-]*(?:/\w[\w.-]*)?")
_HEAD_BYTES = 1_000_000
_SECONDS = 5.0  # to wait for the hub; otherwise transformers would retry for half a minute

_log = logging.getLogger("chameleon")


@dataclass(frozen=True)
class Weights:
    """The weights of a model, named by its folder or by its name on the hub, OWNER/NAME."""

    model: str

    @property
    def is_folder(self) -> bool:
        """Return whether the model is a folder: one that exists, or a name that is not valid on the hub."""
        return Path(self.model).is_dir() or not _HUB_NAME.fullmatch(self.model)

    @property
    def config(self) -> Path | None:
        """Return the local configuration, or None, without contacting the hub."""
        if self.is_folder:
            file = Path(self.model) / "config.json"
            return file if file.is_file() else None
        from huggingface_hub import try_to_load_from_cache

        cached = try_to_load_from_cache(self.model, "config.json")
        return Path(cached) if isinstance(cached, str) else None

    def check(self) -> None:
        """Look for the model on this machine, offline; log once if it will be downloaded.

        Raises:
            InventoryError: for a folder that does not exist or holds no model.
            ModuleError: for a model that is not in the hub's cache while `HF_HUB_OFFLINE` forbids downloads.
        """
        if self.config:
            return
        if self.is_folder:
            exists = Path(self.model).is_dir()
            fault = "has no config.json, so it is not a model" if exists else "does not exist"
            hint = "Write the folder of a captioning model, or its name on the hub, OWNER/NAME."
            raise InventoryError(f"model is {self.model!r}, a folder that {fault}", hint=hint)
        from huggingface_hub import constants

        if constants.HF_HUB_OFFLINE:
            raise self.missing("HF_HUB_OFFLINE is set")
        warn_of_download(self.model)

    def digest(self) -> str | None:
        """Return an identifier of the weights: a commit in the hub's cache, the digest of a folder, or None.

        The digest covers the names, lengths and first megabytes of all files, including the tensor names and
        shapes in safetensors files.
        """
        if (config := self.config) is None:
            return None
        if not self.is_folder:
            return config.parent.name  # snapshots/COMMIT/config.json
        digest = hashlib.sha256()
        for file in sorted(path for path in config.parent.iterdir() if path.is_file()):
            digest.update(f"{file.name}\0{file.stat().st_size}\0".encode("utf-8", "surrogateescape"))
            with file.open("rb") as opened:
                digest.update(opened.read(_HEAD_BYTES))
        return digest.hexdigest()

    def require_hub(self) -> None:
        """Ask the hub for the model, for a few seconds at most. Raises `ModuleError` if it is not there."""
        from huggingface_hub import HfApi

        try:
            HfApi().model_info(self.model, timeout=_SECONDS)
        except Exception as problem:  # its client, and so its network errors, differ between versions
            raise self.missing(f"the hub cannot be reached: {one_line(str(problem), 200)}") from problem
        _log.info("downloading the captioning model %s", self.model)

    def missing(self, why: str) -> ModuleError:
        """Return the error for a model that is neither here nor available for download."""
        what = f"the captioning model {self.model} is not on this machine and cannot be downloaded: {why}"
        hint = f"With a network run `hf download {self.model}`, or set model to its folder. {INSTEAD}"
        return ModuleError(what, hint=hint)


@cache
def warn_of_download(model: str) -> None:
    """Log, once for each model, that the first run will download it."""
    _log.warning(
        f"the captioning model {model} is not on this machine: the first run will download it "
        f"(now: `hf download {model}`)"
    )
