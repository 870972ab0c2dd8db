"""Tell what takes time in proportion to its input from what takes its square."""

import time
from collections.abc import Callable

_TICK = 0.001  # seconds of the processor, below which nothing can be told


def grows_in_proportion(call: Callable[[str], object], text: Callable[[int], str], size: int = 1_000) -> bool:
    """Whether four times the text takes far less than sixteen times as long, in the processor's time."""

    def spent(size: int) -> float:
        given, found = text(size), list[float]()
        for _ in range(3):
            begun = time.process_time()
            call(given)
            found.append(time.process_time() - begun)
        return min(found)

    return spent(4 * size) < 9 * max(spent(size), _TICK)
