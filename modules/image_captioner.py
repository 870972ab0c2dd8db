"""Describe a picture in a sentence (Chameleon, section 4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chameleon import Module, State
from chameleon.errors import InventoryError
from chameleon.modules.vision.captioning import Captioning, captioner, require_packages
from chameleon.pictures import load_picture

_LARGEST = 1024


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
        """Settings, all optional; model, tokens and beams are the paper's.

        - `model`: any image-to-text model of transformers, by its name on the hub or as a folder.
        - `max_tokens`, `beams`: the longest caption, and the width of the beam search.
        - `device`: auto, cuda, mps or cpu; auto is the first of them that is there.
        - `half`: compute in half precision; by default on a GPU.
        - `batch`, `wait`: pictures of concurrent runs go through the model together, at most that many; a
          batch that is not full waits so many milliseconds for more.
        - `instruction`: what a model that takes text beside the picture is told.
        - `threads`: of torch on the CPU, in this whole process; by default as many as processors. One less
          leaves a processor to a text detector beside it: else the two hold each other up.
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
        if wait < 0:
            raise InventoryError(f"wait is {wait}, and is to be 0 or more milliseconds")
        self.settings = Captioning(
            model, device, half, max_tokens, beams, instruction, batch, wait / 1000, threads
        )

    def check(self) -> None:
        require_packages()

    def setup(self) -> None:
        self._caption = captioner(self.settings)

    def run(self, state: State) -> str:
        return self._caption(load_picture(state.input["image"], largest=_LARGEST))

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"image_caption": output}
