"""Models on a GPU: what to do where its memory does not do."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")
_MOVED = "%s does not fit into the memory of %s: it runs on the CPU"
_log = logging.getLogger("chameleon")


def _is_out_of_memory(problem: BaseException) -> bool:
    """Tell whether a device had too little memory; torch's error of that name is CUDA's alone."""
    return type(problem).__name__ == "OutOfMemoryError" or "out of memory" in str(problem)


def loaded(model: str, load: Callable[[str], Result], device: str) -> Result:
    """Return the model loaded to the device, or to the CPU where it does not fit; the log says so."""
    try:
        return load(device)
    except RuntimeError as problem:
        if device == "cpu" or not _is_out_of_memory(problem):
            raise
    _log.warning(_MOVED, model, device)
    return load("cpu")


class Batched:
    """Runs a model in batches that its device has room for.

    Where memory runs out the batch is halved, and one item alone takes the model to the CPU: for good, with a
    line in the log each time. One thread at a time.
    """

    def __init__(self, model: str, batch: int, device: str, to_cpu: Callable[[], object]) -> None:
        self.model, self.batch, self.device = model, batch, device
        self._to_cpu = to_cpu

    def __call__(self, work: Callable[[int], Result], count: int) -> Result:
        """Return what `work` makes of `count` items in batches of the size that it is given."""
        while True:
            try:
                return work(self.batch)
            except RuntimeError as problem:
                if self.device == "cpu" or not _is_out_of_memory(problem):
                    raise
            # Not in the clause above: until it is left, the error holds on to what was computed.
            self._retreat(min(self.batch, max(count, 1)))

    def _retreat(self, tried: int) -> None:
        sys.modules["torch"].cuda.empty_cache()  # it is loaded; without CUDA this does nothing
        if tried > 1:
            self.batch = tried // 2
            sizes = f"{tried} at once: now {self.batch}"
            _log.warning("%s: the memory of %s is too small for %s", self.model, self.device, sizes)
            return
        self._to_cpu()
        _log.warning(_MOVED, self.model, self.device)
        self.device = "cpu"
