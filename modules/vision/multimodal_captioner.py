"""Describe a picture by asking a chat model that sees pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chameleon import LLMModule, State
from chameleon.errors import InventoryError
from chameleon.llm.message import MultimodalText
from chameleon.pictures.opening import Attachment, read_picture, require_pillow
from chameleon.pictures.versions import versions_of
from chameleon.prompt import Messages


class MultimodalCaptioner(LLMModule):
    """Describes what the image shows. For questions about what can be seen in it."""

    prompt = "pictures/image_captioner"
    reads = ("input.image", "input.question?")
    writes = ("cache.image_caption",)
    takes_cut_off = True

    def __init__(self, largest: int = 1024) -> None:
        """`largest`: the longer side, in pixels, of the picture that is sent; larger ones are scaled down."""
        if largest < 1:
            raise InventoryError(f"largest is {largest}, and is to be at least 1 pixel")
        self.largest = largest

    def check(self) -> None:
        require_pillow()

    def runtime_info(self) -> Mapping[str, Any]:
        """What scales the picture that is sent."""
        return {"versions": versions_of("pillow")}

    def messages(self, state: State) -> Messages:
        *before, (role, text) = super().messages(state)
        picture = Attachment.of(read_picture(state.input["image"], largest=self.largest))
        return [*before, (role, MultimodalText(text, [picture]))]
