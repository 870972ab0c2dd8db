"""Describe a picture with a multimodal chat model."""

from collections.abc import Mapping
from typing import Any

from pydantic import PositiveInt

from chameleon import LLMModule, State
from chameleon.core.prompt import Messages
from chameleon.errors import versions_of
from chameleon.llm.message import with_picture
from chameleon.pictures.opening import require_pillow


class MultimodalCaptioner(LLMModule):
    """Describes what the image shows. For questions about what can be seen in it."""

    prompt = "pictures/image_captioner"
    reads = ("input.image", "input.question?")
    writes = ("cache.image_caption",)
    _takes_cut_off = True

    def __init__(self, max_side: PositiveInt = 1024) -> None:
        """Scale pictures down to `max_side` pixels on the longer side before they are sent."""
        self.max_side = max_side

    def check(self) -> None:
        require_pillow()

    def runtime_info(self) -> Mapping[str, Any]:
        """Return the library that scales the picture before it is sent."""
        return {"versions": versions_of("pillow")}

    def messages(self, state: State) -> Messages:
        return with_picture(super().messages(state), state.input["image"], self.max_side)
