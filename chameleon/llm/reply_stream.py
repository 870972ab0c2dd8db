"""Pass on the text of a reply while it arrives, in the form of the finished reply."""

import threading
from collections.abc import Callable, Sequence
from functools import partial

from chameleon.llm.thoughts import settled, spoken
from chameleon.text import mask_known

Hear = Callable[[str | None], None]
"""Called with each piece of a text; None means that earlier text does not count, as another reply starts."""


class ReplyStream:
    """Passes on one reply, also from another thread: without thoughts, cut at stop texts, without secrets.

    Text that may turn out to be one of these is held back until that is clear, and so is everything after a
    piece that changes text already shown. A retried reply starts over.
    """

    def __init__(self, on_text: Hear, stops: Sequence[str] = (), secrets: Sequence[str] = ()) -> None:
        self._hear, self._stops, self._secrets = on_text, [stop for stop in stops if stop], secrets
        # The end of a text may be the start of a stop text or of a secret.
        self._margin = max((len(each) - 1 for each in (*self._stops, *secrets)), default=0)
        self._lock, self._attempt = threading.RLock(), 0
        self._text, self._shown, self._due = "", "", 0

    def begin(self) -> Callable[[str], None]:
        """Start over; return a function for the pieces of this attempt, valid until the next or the end."""
        with self._lock:
            self._hear(None)
            self._text, self._shown, self._due = "", "", 0
            self._attempt += 1
            return partial(self._piece_of, self._attempt)

    def _piece_of(self, attempt: int, text: str) -> None:
        with self._lock:
            if attempt == self._attempt:  # otherwise a late piece of an abandoned attempt
                self.piece(text)

    def piece(self, text: str) -> None:
        """Take the next piece of the model's text."""
        self._text += text
        if len(self._text) < self._due:
            return
        # The whole text is read again, less often for a long one.
        self._due = len(self._text) + max(0, len(self._text) - 2_000) // 20
        reply, is_cut = cut_at(spoken(settled(self._text)), self._stops)
        reply = mask_known(reply, self._secrets)
        certain = reply if is_cut else reply[: max(0, len(reply) - self._margin)]
        if certain.startswith(self._shown) and len(certain) > len(self._shown):
            self._hear(certain[len(self._shown) :])
            self._shown = certain

    def close(self) -> None:
        """Ignore further pieces."""
        with self._lock:
            self._attempt += 1

    def end(self, text: str) -> None:
        """Pass on the rest of the final reply, or all of it if it differs from the text so far."""
        self.close()
        if not text.startswith(self._shown):
            self._hear(None)
            self._shown = ""
        if missing := text[len(self._shown) :]:
            self._hear(missing)
        self._shown = text


def cut_at(text: str, stops: Sequence[str]) -> tuple[str, bool]:
    """Return a reply up to its first stop text, and whether it has one, ignoring leading whitespace."""
    start = len(text) - len(text.lstrip())
    places = [place for stop in stops if stop and (place := text.find(stop, start)) >= 0]
    return text[: min(places, default=len(text))], bool(places)
