"""Pass the text of a reply on while it comes, as the finished reply will have it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial

from chameleon.llm.thoughts import settled, spoken
from chameleon.text import mask_known

Hear = Callable[[str | None], None]
"""Called with each piece of a text; None says that what came so far does not count: another reply begins."""


class ReplyStream:
    """Passes on one reply, also from another thread: without thoughts, cut at stop texts, without secrets.

    What may become one of these is held back until it is known, and so is all that follows a piece which
    changes what was shown. A reply that is asked for again starts over.
    """

    def __init__(self, hear: Hear, stops: Sequence[str] = (), secrets: Sequence[str] = ()) -> None:
        self._hear, self._stops, self._secrets = hear, [stop for stop in stops if stop], secrets
        # The end of a text may be the beginning of a stop text, or of a secret.
        self._margin = max((len(each) - 1 for each in (*self._stops, *secrets)), default=0)
        self._lock, self._attempt = threading.RLock(), 0
        self._text, self._shown, self._due = "", "", 0

    def begin(self) -> Callable[[str], None]:
        """Start over; return what takes the pieces of this attempt, until another begins or all is shown."""
        with self._lock:
            self._hear(None)
            self._text, self._shown, self._due = "", "", 0
            self._attempt += 1
            return partial(self._piece_of, self._attempt)

    def _piece_of(self, attempt: int, text: str) -> None:
        with self._lock:
            if attempt == self._attempt:  # else it was given up, and comes late
                self.piece(text)

    def piece(self, text: str) -> None:
        """Take the next piece of what the model writes."""
        self._text += text
        if len(self._text) < self._due:
            return
        # All of the text is read again: of a long one that happens less often.
        self._due = len(self._text) + max(0, len(self._text) - 2_000) // 20
        reply, is_cut = cut_at(spoken(settled(self._text)), self._stops)
        reply = mask_known(reply, self._secrets)
        certain = reply if is_cut else reply[: max(0, len(reply) - self._margin)]
        if certain.startswith(self._shown) and len(certain) > len(self._shown):
            self._hear(certain[len(self._shown) :])
            self._shown = certain

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


def cut_at(text: str, stops: Sequence[str]) -> tuple[str, bool]:
    """Return a reply up to its first stop text, and whether it has one; white space at its start is none."""
    begun = len(text) - len(text.lstrip())
    places = [place for stop in stops if stop and (place := text.find(stop, begun)) >= 0]
    return text[: min(places, default=len(text))], bool(places)
