"""Describe a picture in a sentence (Chameleon, section 4.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chameleon import Module, State
from chameleon.errors import InventoryError
from chameleon.modules.vision.captioning import Captioning, captioner, require_packages
from chameleon.modules.vision.devices import check_form, require_device
from chameleon.modules.vision.weights import check_weights
from chameleon.pictures.opening import load_picture

_MAX_SIDE = 1024


class ImageCaptioner(Module):
    """Describes what the image shows in one sentence. For questions about what can be seen in it."""

    reads = ("input.image",)
    writes = ("cache.image_caption",)

    def __init__(
        self,
        model: str = "nlpconnect/vit-gpt2-image-captioning",
        *,
        max_tokens: int = 16,
        beams: int = 4,
        device: str = "auto",
        half: bool | None = None,
        batch: int = 16,
        wait: float = 10.0,
        instruction: str = "",
        threads: int | None = None,
    ) -> None:
        """Take settings, all optional; model, tokens and beams are the paper's.

        - `model`: any image-to-text model of transformers, by its name on the hub or as a folder.
        - `max_tokens`, `beams`: the longest caption, and the width of the beam search.
        - `device`: auto, cuda (or cuda:1 and so on), mps or cpu; auto is the first of them that is there.
        - `half`: compute in half precision; by default on a GPU.
        - `batch`, `wait`: pictures of concurrent runs go through the model together, at most that many; a
          batch that is not full waits so many milliseconds for more.
        - `instruction`: what a model that takes text beside the picture is told.
        - `threads`: of torch on the CPU, in this whole process; by default one less than processors, which
          leaves one to a text detector beside it: else the two hold each other up.
        """
        least_of = {
            "max_tokens": (max_tokens, 2),
            "beams": (beams, 1),
            "batch": (batch, 1),
            "threads": (threads, 1),
        }
        for name, (value, least) in least_of.items():
            if value is not None and value < least:
                raise InventoryError(f"{name} is {value}, and is to be at least {least}")
        if not 0 <= wait < math.inf:
            raise InventoryError(f"wait is {wait}, and is to be 0 or more milliseconds")
        if not model.strip():
            raise InventoryError("model is empty, and is to be a name on the hub, OWNER/NAME, or a folder")
        check_form(device)
        model = str(Path(model).expanduser()) if model.startswith("~") else model
        self.settings = Captioning(
            model, device, half, max_tokens, beams, instruction, batch, wait / 1000, threads
        )

    def check(self) -> None:
        require_packages()
        require_device(self.settings.device)
        check_weights(self.settings.model)

    def runtime_info(self) -> Mapping[str, Any]:
        """Return the device and precision that `auto` came to, and what computes; load no model."""
        return self.settings.runtime_info()

    def setup(self) -> None:
        self._caption = captioner(self.settings)

    def run(self, state: State) -> str:
        return self._caption(load_picture(state.input["image"], max_side=_MAX_SIDE))
