"""Pass the text of a reply on while it comes, as the finished reply will have it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chameleon.text import mask_known

Hear = Callable[[str | None], None]
"""Called with each piece of a text; None says that what came so far does not count: another reply begins."""
_OPENED, _CLOSED = "<think>", "</think>"


class ReplyStream:
    """Passes on one reply: without thoughts at its beginning, cut at stop texts, without secrets.

    What may become one of these is held back until it is known. A reply that is asked for again starts over.
    """

    def __init__(self, hear: Hear, stops: Sequence[str] = (), secrets: Sequence[str] = ()) -> None:
        self._hear, self._stops, self._secrets = hear, [stop for stop in stops if stop], secrets
        self._margin = max((len(each) - 1 for each in (*self._stops, *secrets)), default=0)
        self._text, self._shown, self._sent = "", "", 0
        self._is_open = True

    def begin(self) -> None:
        """Start over."""
        self._hear(None)
        self._text, self._shown, self._sent, self._is_open = "", "", 0, True

    def piece(self, text: str) -> None:
        """Take the next piece of what the model writes."""
        self._text += text
        if self._is_open and not self._in_thoughts():
            self._send(len(self._text) - self._margin)

    def end(self, text: str) -> None:
        """Pass on what is still missing of the whole reply; all of it, where the reply is another one."""
        if not text.startswith(self._shown):
            self._hear(None)
            self._shown = ""
        if missing := text[len(self._shown) :]:
            self._hear(missing)
        self._shown = text

    def _in_thoughts(self) -> bool:
        """Tell whether the text has thoughts that have not ended; those that have are passed over."""
        if self._sent or not _OPENED.startswith(self._text.lstrip()[: len(_OPENED)]):
            return False
        end = self._text.find(_CLOSED)
        if end < 0 or not (rest := self._text[end + len(_CLOSED) :].lstrip()):
            return True
        self._sent = len(self._text) - len(rest)
        return False

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
