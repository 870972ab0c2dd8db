"""Texts of messages with pictures beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chameleon.pictures.opening import Attachment


class Illustrated(str):
    """A message's text with pictures: `("user", Illustrated("What is this?", [picture]))`.

    As a string it is the text and a short reference to each picture: so it is logged and kept in the response
    store. The model gets `text` and the `pictures` themselves.
    """

    text: str
    pictures: tuple[Attachment, ...]

    def __new__(cls, text: str, pictures: Sequence[Attachment]) -> Illustrated:
        made = super().__new__(cls, "\n".join([text, *map(str, pictures)]))
        made.text, made.pictures = text, tuple(pictures)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Illustrated, (self.text, self.pictures)


def content_of(text: str) -> str | list[str | dict[Any, Any]]:
    """A message's content as LangChain takes it: the text, or its standard blocks of text and pictures."""
    if not isinstance(text, Illustrated):
        return text
    return [
        {"type": "text", "text": text.text},
        *({"type": "image", "base64": p.base64, "mime_type": p.mime_type} for p in text.pictures),
    ]


def text_of(content: Any) -> str:
    """The text of such a content, with a mark for each picture."""
    if not isinstance(content, list):
        return str(content)
    return "\n".join(block["text"] if block.get("type") == "text" else "[picture]" for block in content)
