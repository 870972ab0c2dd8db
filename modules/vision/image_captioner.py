"""Describe a picture in a sentence (Chameleon, section 4.1)."""

from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PositiveInt

from chameleon import Module, State
from chameleon.errors import ChameleonError, InventoryError, MissingPackage, versions_of
from chameleon.modules.vision.captioning import captioner, device_for
from chameleon.modules.vision.weights import INSTEAD, Weights
from chameleon.pictures.opening import read_picture

SMOLVLM = "HuggingFaceTB/SmolVLM-256M-Instruct"
_MAX_SIDE = 1024
_PACKAGES = {"torch": "torch", "transformers": "transformers", "PIL": "pillow"}


class ImageCaptioner(Module):
    """Describes what the image shows in one sentence. For questions about what can be seen in it."""

    reads = ("input.image",)
    writes = ("cache.image_caption",)
    uses = ("gpu",)

    def __init__(
        self,
        model: str = SMOLVLM,
        *,
        max_tokens: Annotated[int, Field(ge=2)] = 64,
        beams: PositiveInt = 1,
        device: str = "auto",
    ) -> None:
        """Take settings, all optional.

        Args:
            model: an image-to-text model of transformers, as a hub name or a folder. The default is from
                January 2025 (Apache-2.0); the paper uses nlpconnect/vit-gpt2-image-captioning (16 tokens, 4
                beams).
            max_tokens, beams: the maximum length of a caption, and the width of the beam search.
            device: auto, cuda (or cuda:1 and so on), mps or cpu; auto is CUDA, else MPS, else the CPU.
        """
        if not model.strip():
            raise InventoryError("model is empty", hint="Write a name on the hub, OWNER/NAME, or a folder.")
        self.model = str(Path(model).expanduser()) if model.startswith("~") else model
        self.device, self.max_tokens, self.beams = device, max_tokens, beams

    def check(self) -> None:
        if missing := [package for name, package in _PACKAGES.items() if find_spec(name) is None]:
            what = f"captions need packages that are not installed: {', '.join(missing)}"
            raise MissingPackage(what, hint=f"pip install torch transformers pillow. {INSTEAD}")
        if self.device not in ("auto", "cpu"):  # torch takes seconds to import
            device_for(self.device)
        Weights(self.model).check()

    def runtime_info(self) -> Mapping[str, Any]:
        """Return the device that `auto` resolves to, the weights and versions; load no model."""
        versions = versions_of("torch", "transformers", "tokenizers", "pillow")
        info: dict[str, Any] = {"device": None, "weights": None, "versions": versions}
        with suppress(ImportError, ChameleonError):  # `check` reports it
            info["device"] = device_for(self.device)
            info["weights"] = Weights(self.model).digest()
        return info

    def setup(self) -> None:
        self._captioner = captioner(self.model, self.device)

    def run(self, state: State) -> str:
        picture = read_picture(state.input["image"], max_side=_MAX_SIDE).image
        return self._captioner.describe(picture, max_tokens=self.max_tokens, beams=self.beams)
