"""Data in a prompt: text that can neither end the block it is in nor start another one.

A prompt puts text from pictures, files, pages and models into blocks such as::

    <passage>
    …
    </passage>

Anything in the data that could start or end a block has its "<" replaced by "‹": closing tags, opening tags,
and the marks of chat templates and markup ("<|im_end|>", "<!--", "<?xml"). All else is unchanged: `a < b`,
`x<3`, `if a<b:`, code and line breaks, and tags that format a word within a line, such as <br> or <sup>.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

# Characters that models or fonts treat as "<", ">" and "/" count too.
_OPEN, _CLOSE, _SLASH = "<＜﹤〈⟨", ">＞﹥〉⟩", "/／∕⁄"
_INVISIBLE = r"\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff"
_FORMATTING = r"/?(?:b|br|em|i|strong|sub|sup|u)\s?/?>"
_ATTRIBUTES = rf"(?:\s[^\n{_CLOSE}]{{0,200}})?"
_TAG_START = re.compile(
    rf"[{_OPEN}](?!{_FORMATTING})(?="
    rf"[\s{_INVISIBLE}]*[{_SLASH}]"  # a closing tag
    rf"|[{_INVISIBLE}]*[|｜!?]"  # "<|im_end|>", "<!--", "<?xml"
    rf"|[{_INVISIBLE}]*[^\W\d][\w.:{_INVISIBLE}-]*{_ATTRIBUTES}[{_SLASH}]?[{_CLOSE}])",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"<(\w+)>\n(.*)\n</\1>", re.DOTALL)


class Quoted(str):
    """Text that a prompt may contain unchanged: blocks made from data by `block`."""

    __slots__ = ()


def untagged(text: str) -> str:
    """Return the text with the start of each tag replaced."""
    if "<" not in text and (text.isascii() or not any(sign in text for sign in _OPEN)):
        return text
    return _TAG_START.sub("‹", text)


def unframed(text: str) -> str:
    """Return the text without the mark that ends a frame: prompts also put tables between `/*` and `*/`."""
    return text.replace("*/", "* /")


def block(name: str, text: str) -> Quoted:
    """Write data as a block of that name. Text that is already a whole block is renamed."""
    tag = "_".join(re.findall(r"\w+", name)) or "data"
    return Quoted("\n".join((f"<{tag}>", *untagged(unblocked(text)).strip().splitlines(), f"</{tag}>")))


def unblocked(text: str) -> str:
    """Return the content of a text that is a block, or the text itself if it is not one."""
    match = _BLOCK.fullmatch(text.strip())
    return text if match is None else match[2]


def on_one_line(text: str) -> str:
    """Turn the line breaks of a text into spaces; the result of `block` is unchanged."""
    lines = text.splitlines()
    if len(lines) < 2 or isinstance(text, Quoted):
        return text
    return " ".join(filter(None, map(str.strip, lines)))


def as_data(value: Any, change: Callable[[str], str] = untagged) -> Any:
    """Return the value of a slot with every text in it untagged; the result of `block` is unchanged."""
    if isinstance(value, Quoted):
        return value
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {as_data(key, change): as_data(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_data(item, change) for item in value]
    return value
