"""Read the text in a picture (Chameleon, section 4.1)."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from chameleon import Module, State
from chameleon.core.module import Traits
from chameleon.pictures.engines import EngineName, chosen_engine, read_lines, resolved_engine, shared_engine
from chameleon.pictures.opening import read_picture, require_pillow
from chameleon.pictures.pieces import Piece, lines_of, text_of

_MAX_SIDE = 2000


class TextDetector(Module):
    """Reads the text that is written in the image, such as labels, titles, signs and tables."""

    reads = ("input.image",)
    writes = ("cache.detected_text", "cache.text_boxes")
    traits = Traits(non_text=("cache.text_boxes",))

    def __init__(
        self,
        engine: EngineName = "auto",
        languages: list[Annotated[str, Field(min_length=1)]] | None = None,
        boxes: bool = False,
        least_confidence: Annotated[float, Field(ge=0, le=1)] = 0.5,
    ) -> None:
        """Take settings, all optional.

        Args:
            engine: easyocr or rapidocr; auto is the first one that works here.
            languages: codes of the engine; English by default. RapidOCR's model accepts none.
            boxes: include the position of each text in the prompt's context, as in the paper.
            least_confidence: from 0 to 1; text below this confidence is shown only as "[…]", on a line with
                other text.
        """
        self.engine = engine
        self.languages = tuple(languages or ())
        self.boxes = boxes
        self.least_confidence = least_confidence

    def check(self) -> None:
        require_pillow()
        chosen_engine(self.engine, self.languages)

    def runtime_info(self) -> Mapping[str, Any]:
        """Return the engine that `auto` resolves to, or None, and the versions; load nothing."""
        return resolved_engine(self.engine, self.languages)

    def setup(self) -> None:
        self._reader = shared_engine(self.engine, self.languages)

    def run(self, state: State) -> list[dict[str, Any]]:
        """Return the pieces of text in reading order, as mappings.

        They have `text`, `box` (four corners in pixels of the upright original, clockwise from the top left)
        and `confidence` (0 to 1).
        """
        picture = read_picture(state.input["image"], max_side=_MAX_SIDE)
        lines = read_lines(self._reader, picture.image, self.least_confidence)
        return [piece.scaled(*picture.scale).to_json() for line in lines for piece in line]

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        text = _with_boxes(output) if self.boxes else text_of(lines_of(map(Piece.from_json, output)))
        return {"detected_text": text, "text_boxes": output}


def _with_boxes(output: Sequence[Mapping[str, Any]]) -> str:
    """Write the box and text of each piece on a line, without the confidence, as in Chameleon's prompts."""
    boxes = [[[round(x), round(y)] for x, y in each["box"]] for each in output]
    lines = (f"({box}, {each['text']!r})" for box, each in zip(boxes, output, strict=True))
    return "[" + ",\n ".join(lines) + "]" if output else ""
