"""Pass the text of a reply on while it comes, as the finished reply will have it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial

from chameleon.llm.thoughts import begun_tag, first_tag
from chameleon.text import mask_known

Hear = Callable[[str | None], None]
"""Called with each piece of a text; None says that what came so far does not count: another reply begins."""


class ReplyStream:
    """Passes on one reply, also from another thread: without thoughts, cut at stop texts, without secrets.

    What may become one of these is held back until it is known, and what follows thoughts in the middle until
    the end. A reply that is asked for again starts over.
    """

    def __init__(self, hear: Hear, stops: Sequence[str] = (), secrets: Sequence[str] = ()) -> None:
        self._hear, self._stops, self._secrets = hear, [stop for stop in stops if stop], secrets
        self._margin = max((len(each) - 1 for each in (*self._stops, *secrets)), default=0)
        self._lock, self._attempt = threading.RLock(), 0
        self._restart()

    def begin(self) -> Callable[[str], None]:
        """Start over; return what takes the pieces of this attempt, until another begins or all is told."""
        with self._lock:
            self._hear(None)
            self._restart()
            self._attempt += 1
            return partial(self._piece_of, self._attempt)

    def _piece_of(self, attempt: int, text: str) -> None:
        with self._lock:
            if attempt == self._attempt:  # else it was given up, and comes late
                self.piece(text)

    def _restart(self) -> None:
        self._text, self._shown, self._sent, self._looked = "", "", 0, 0
        self._is_open, self._is_thought = True, False

    def piece(self, text: str) -> None:
        """Take the next piece of what the model writes."""
        self._text += text
        while self._is_open:
            tag = first_tag(self._text, self._looked)
            is_first = tag and not self._shown and not self._text[self._sent : tag.start()].strip()
            if tag and (self._is_thought or (tag["opens"] and is_first)):
                self._is_thought = not tag["closes"]
                self._sent = self._looked = tag.end()
                continue
            self._looked = begun_tag(self._text, self._looked)
            if not self._is_thought:
                self._send(min(tag.start() if tag else self._looked, len(self._text) - self._margin))
                self._is_open = self._is_open and tag is None
            return

    def close(self) -> None:
        """Take no further piece."""
        with self._lock:
            self._attempt += 1

    def end(self, text: str) -> None:
        """Pass on what is still missing of the whole reply; all of it, where the reply is another one."""
        self.close()
        if not text.startswith(self._shown):
            self._hear(None)
            self._shown = ""
        if missing := text[len(self._shown) :]:
            self._hear(missing)
        self._shown = text

    def _send(self, end: int) -> None:
        begun = self._sent
        if not self._shown:  # white space at the start ends no reply
            begun = len(self._text) - len(self._text[begun:].lstrip())
            self._sent = begun if self._sent else 0  # behind thoughts it is no part of one
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
