"""Text from data as a page shows it: cut where it is long, with nothing in it that cannot be seen."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

LONGEST = 2_000
"""As many characters of a text are shown; how many are missing is said after them."""

_UNUSUAL = re.compile(r"[^\n\t -~]")
_HIDDEN_KINDS = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
_CONTROLS = (  # as ASCII names them; not every font has pictures of them
    *("NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR", "SO", "SI"),
    *(
        "DLE",
        "DC1",
        "DC2",
        "DC3",
        "DC4",
        "NAK",
        "SYN",
        "ETB",
        "CAN",
        "EM",
        "SUB",
        "ESC",
        "FS",
        "GS",
        "RS",
        "US",
    ),
)
_JOINERS = "\u200c\u200d"  # Persian, Indic scripts and emoji are not written without them


class Shown(str):
    """Text that is ready for the page."""

    __slots__ = ()


def shown(text: str, most: int = LONGEST) -> Shown:
    """The first `most` characters, and a note of how many more there are."""
    if len(text) <= most:
        return Shown(visible(text))
    return Shown(f"{visible(text[:most])} … [{len(text) - most:,} more characters are not shown]")


def both_ends(text: str, most: int = LONGEST) -> Shown:
    """The beginning and the end, and a note of what is left out between: a prompt's question comes last."""
    if len(text) <= most:
        return Shown(visible(text))
    half = most // 2
    note = f"… [{len(text) - 2 * half:,} characters are not shown] …"
    return Shown(f"{visible(text[:half])}\n{note}\n{visible(text[-half:])}")


def brief(text: str, most: int = 160) -> Shown:
    """The text on one line, cut with an ellipsis."""
    line = " ".join(text[: 4 * most].split())
    cut = len(line) > most or len(text) > 4 * most
    return Shown(visible(line[:most]) + ("…" if cut else ""))


def visible(text: str) -> str:
    """The text with control characters, bidirectional overrides and other invisible ones spelled out.

    An escape is written ⟨ESC⟩, a NUL ⟨NUL⟩, a right-to-left override ⟨U+202E⟩; tabs and line breaks stay.
    """
    return _UNUSUAL.sub(lambda found: _seen(found[0]), text.replace("\r\n", "\n"))


@lru_cache(maxsize=4096)
def _seen(character: str) -> str:
    code = ord(character)
    if unicodedata.category(character) not in _HIDDEN_KINDS or character in _JOINERS:
        return character
    return f"⟨{_CONTROLS[code]}⟩" if code < len(_CONTROLS) else f"⟨U+{code:04X}⟩"
