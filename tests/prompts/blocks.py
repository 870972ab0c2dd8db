"""Blocks in a prompt, as the most credulous reader would find them."""

import re
import unicodedata
from collections.abc import Iterator

_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_TAG = re.compile(r"<\s*(/?)\s*(\w+)[^<>\n]*>")


def outside(text: str) -> Iterator[str]:
    """The lines outside all blocks: whatever looks like a tag counts as one."""
    inside: list[str] = []
    for line in text.splitlines():
        tags = _TAG.findall(unicodedata.normalize("NFKC", _UNSEEN.sub("", line)).casefold())
        if not inside and not tags:
            yield line
        for slash, name in tags:
            if not slash:
                inside.append(name)
            elif name in inside:
                del inside[inside.index(name) :]
