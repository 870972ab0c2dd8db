"""Where the weights of a model are: in a folder, in the hub's cache, or to be downloaded."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from pathlib import Path

from chameleon.errors import InventoryError, ModuleError
from chameleon.text import one_line

INSTEAD = (
    "Or ask a chat model that sees pictures: `image_captioner: {use: multimodal_captioner}` in the inventory."
)
_HEAD = 1_000_000  # bytes
_SECONDS = 5.0
"""How long the hub may take to say that it knows a model; its own client would try for half a minute."""

_log = logging.getLogger("chameleon")


@dataclass(frozen=True)
class Weights:
    """The weights of a model, which is named by its folder or by its name on the hub, OWNER/NAME."""

    model: str

    @property
    def is_folder(self) -> bool:
        """Tell whether it is named by its folder: that is there, lies in one, or is no name on the hub."""
        from huggingface_hub.errors import HFValidationError
        from huggingface_hub.utils import validate_repo_id

        path = Path(self.model)
        try:
            validate_repo_id(self.model)
        except HFValidationError:
            return True
        return path.is_dir() or (len(path.parts) == 2 and path.parent.is_dir())

    @property
    def config(self) -> Path | None:
        """Return the configuration on this machine, None where there is none; the hub is not asked."""
        if self.is_folder:
            file = Path(self.model) / "config.json"
            return file if file.is_file() else None
        from huggingface_hub import try_to_load_from_cache

        found = try_to_load_from_cache(self.model, "config.json")
        return Path(found) if isinstance(found, str) else None

    def check(self) -> None:
        """Look, without a network, for the model on this machine; the log tells once what will be downloaded.

        Raises `InventoryError` for a folder that does not exist or holds no model, and `ModuleError` for a
        model that is not in the hub's cache while `HF_HUB_OFFLINE` forbids to download it.
        """
        if self.config:
            return
        if self.is_folder:
            is_there = Path(self.model).is_dir()
            lacks = "has no config.json, so it holds no model" if is_there else "does not exist"
            raise InventoryError(
                f"model is {self.model!r}, a folder that {lacks}",
                hint="Write the folder of a captioning model, or its name on the hub, OWNER/NAME.",
            )
        from huggingface_hub import constants

        if constants.HF_HUB_OFFLINE:
            raise self.missing("HF_HUB_OFFLINE is set")
        if self not in _told:
            _told.add(self)
            _log.warning(
                f"the captioning model {self.model} is not on this machine: the first run will download it "
                f"(now: `hf download {self.model}`)"
            )

    def digest(self) -> str | None:
        """Return which weights there are: a model's commit in the hub's cache, or a digest of a folder.

        The digest is over the names, lengths and first megabytes of all files; there safetensors has the
        names and forms of its tensors. None for a model that is not here.
        """
        if (config := self.config) is None:
            return None
        if not self.is_folder:
            return config.parent.name
        digest = hashlib.sha256()
        for file in sorted(path for path in config.parent.iterdir() if path.is_file()):
            digest.update(f"{file.name}\0{file.stat().st_size}\0".encode("utf-8", "surrogateescape"))
            with file.open("rb") as opened:
                digest.update(opened.read(_HEAD))
        return digest.hexdigest()

    def require_hub(self) -> None:
        """Ask the hub once, and for seconds, whether it has the model. Raise `ModuleError`."""
        from huggingface_hub import HfApi

        try:
            HfApi().model_info(self.model, timeout=_SECONDS)
        except Exception as problem:  # its client, and so the errors of the network, differ between versions
            raise self.missing(f"the hub cannot be asked for it: {one_line(str(problem), 200)}") from problem
        _log.info("downloading the captioning model %s", self.model)

    def missing(self, why: str) -> ModuleError:
        """Return the error for a model that is not here and does not come."""
        return ModuleError(
            f"the captioning model {self.model} is not on this machine and cannot be downloaded: {why}",
            hint=f"With a network run `hf download {self.model}`, or set model to its folder. {INSTEAD}",
        )


_told: set[Weights] = set()
"""Of which the log has told: a check is made more than once."""
