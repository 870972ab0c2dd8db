"""A model that answers by the cue at the end of a prompt, for a loopback server."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.loopback import Answer

Given = str | Answer | Sequence[Answer] | Callable[[str], Answer]


class ByCue:
    """Answer by a cue: how the last line of a prompt begins, else a text in it; "Caption:" for a picture.

    Several answers are given in turn. `asked` counts by cue, `last` holds the latest prompt for each.
    """

    def __init__(self, replies: Mapping[str, Given]) -> None:
        self.replies = dict(replies)
        self._lock = threading.Lock()
        self.asked: Counter[str] = Counter()
        self.last: dict[str, str] = {}

    def __call__(self, request: dict[str, Any]) -> Answer:
        content = request["messages"][-1]["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        end = text.rstrip().splitlines()[-1] if content == text else "Caption:"
        cues = [cue for cue in self.replies if end.startswith(cue)]
        cue = max(cues, key=len) if cues else next(cue for cue in self.replies if cue in text)
        with self._lock:
            number = self.asked[cue]
            self.asked[cue] += 1
            self.last[cue] = text
        reply = self.replies[cue]
        if callable(reply):
            return reply(text)
        return reply[number % len(reply)] if isinstance(reply, list | tuple) else reply  # type: ignore[return-value]
