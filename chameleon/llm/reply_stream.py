"""Pass the text of a reply on while it comes, as the finished reply will have it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chameleon.llm.thoughts import MARKS, begun_tag, first_tag
from chameleon.text import mask_known

Hear = Callable[[str | None], None]
"""Called with each piece of a text; None says that what came so far does not count: another reply begins."""


class ReplyStream:
    """Passes on one reply: without thoughts, cut at stop texts, without secrets.

    What may become one of these is held back until it is known, and what follows thoughts in the middle until
    the end. A reply that is asked for again starts over.
    """

    def __init__(self, hear: Hear, stops: Sequence[str] = (), secrets: Sequence[str] = ()) -> None:
        self._hear, self._stops, self._secrets = hear, [stop for stop in stops if stop], secrets
        self._margin = max((len(each) - 1 for each in (*self._stops, *secrets)), default=0)
        self._text, self._shown, self._sent, self._looked = "", "", 0, 0
        self._is_open, self._has_thoughts = True, False

    def begin(self) -> None:
        """Start over."""
        self._hear(None)
        self._text, self._shown, self._sent, self._looked = "", "", 0, 0
        self._is_open, self._has_thoughts = True, False

    def piece(self, text: str) -> None:
        """Take the next piece of what the model writes."""
        self._text += text
        if not self._is_open or self._in_thoughts():
            return
        tag = first_tag(self._text, self._looked)
        self._looked = begun_tag(self._text, self._looked)
        self._send(min(tag.start() if tag else self._looked, len(self._text) - self._margin))
        self._is_open = self._is_open and tag is None

    def end(self, text: str) -> None:
        """Pass on what is still missing of the whole reply; all of it, where the reply is another one."""
        if not text.startswith(self._shown):
            self._hear(None)
            self._shown = ""
        if missing := text[len(self._shown) :]:
            self._hear(missing)
        self._shown = text

    def _in_thoughts(self) -> bool:
        """Tell whether the text begins with thoughts that have not ended; those that have are passed over."""
        if self._sent:
            return False
        tag = None
        if self._has_thoughts:
            tag = first_tag(self._text, self._looked)
        else:
            begun = len(self._text) - len(self._text.lstrip())
            if self._text[begun : begun + 1] not in MARKS:
                return False
            tag = first_tag(self._text, begun)
            if tag is None or tag.start() > begun:
                return begun_tag(self._text, begun) == begun
            self._has_thoughts, self._is_open = True, bool(tag["opens"])
            self._looked = tag.end()
            tag = first_tag(self._text, self._looked)
        while tag is not None and not tag["closes"]:
            tag = first_tag(self._text, tag.end())
        if tag is None:
            self._looked = begun_tag(self._text, self._looked)
            return True
        rest = self._text[tag.end() :].lstrip()
        self._looked = tag.start()
        if rest:
            self._sent = self._looked = len(self._text) - len(rest)
        return not rest

    def _send(self, end: int) -> None:
        begun = self._sent
        if not self._shown:  # white space at the start ends no reply
            begun = len(self._text) - len(self._text[begun:].lstrip())
        places = [place for stop in self._stops if (place := self._text.find(stop, begun)) >= 0]
        if places and min(places) <= end:
            end, self._is_open = min(places), False
        for secret in self._secrets:
            place = self._text.find(secret, max(self._sent, end - len(secret) + 1))
            if 0 <= place < end < place + len(secret):
                end = place
        if end > begun or (self._shown and end > self._sent):
            shown = mask_known(self._text[self._sent : end], self._secrets)
            self._sent, self._shown = end, self._shown + shown
            self._hear(shown)
