"""How long apart requests are made again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chameleon.retry import Backoff


@given(chance=st.floats(0, 1, exclude_max=True))
def test_backoff_waits_longer_each_time_within_bounds(chance: float) -> None:
    backoff = Backoff(first=0.5, longest=4, chance=lambda: chance)
    for attempt in range(1, 9):
        doubled = min(4, 0.5 * 2 ** (attempt - 1))
        assert doubled / 2 <= backoff.wait(attempt) <= doubled


@given(st.floats(min_value=0, max_value=1e9), st.integers(1, 2000))
def test_a_wait_is_never_shorter_than_asked_nor_longer_than_the_cap(asked: float, attempt: int) -> None:
    backoff = Backoff()
    wait = backoff.wait(attempt, asked)
    assert min(asked, backoff.longest_asked) <= wait <= backoff.longest_asked
