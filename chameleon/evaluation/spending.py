"""What an evaluation spends on model calls, counted as they are made."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from chameleon.errors import InputError
from chameleon.usage import Call, Usage


class Spending:
    """Sums the calls of all runs, those that are cut short too; safe to share between threads.

    `limit` is in US dollars; calls under way when it is reached are still paid. `before` is what a folder
    that is taken up has spent already. `stored` counts replies that the response store gave for nothing.
    """

    def __init__(self, limit: float | None = None, before: Usage | None = None) -> None:
        self.limit = limit
        self.usage = before or Usage()
        self.stored = 0
        self._lock = threading.Lock()

    def add(self, calls: Iterable[Call]) -> None:
        """Count calls that have been made."""
        with self._lock:
            for call in calls:
                self.usage += call.usage
                self.stored += call.cached

    @property
    def is_over(self) -> bool:
        """Whether the limit is reached. Raises `InputError` where there is one, and costs are not known."""
        if self.limit is None:
            return False
        if self.usage.cost is None:
            raise InputError(
                "the provider reports no cost, so --max-cost cannot be kept",
                hint="Give prices in the inventory (llm: {prices: {input: …, output: …}}, US dollars per "
                "million tokens), or leave it out.",
            )
        return self.usage.cost >= self.limit
