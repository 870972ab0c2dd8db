"""What prompts share is found, and never taken for more than they share."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from chameleon.llm.dialects import MIN_CHARS, Prefixes, split_at

LONG = "Table: teams and points.\n" * 200  # 5,000 characters
prompts = st.builds(
    lambda shared, end: (("user", LONG[:shared] + end),),
    st.integers(0, len(LONG)),
    st.text("ab\n", max_size=9),
)


def shared_length(texts: Sequence[str]) -> int:
    """Compare texts character by character."""
    parted = (place for place, letters in enumerate(zip(*texts, strict=False)) if len(set(letters)) > 1)
    return next(parted, min(map(len, texts)))


def text_of(messages: tuple[tuple[str, str], ...]) -> str:
    return "".join(text for _, text in messages)


@given(st.lists(prompts, min_size=1, max_size=8))
def test_a_prefix_is_what_all_prompts_of_a_family_share(asked: list[tuple[tuple[str, str], ...]]) -> None:
    prefixes, seen = Prefixes(), list[str]()
    for messages in asked:
        length, text = prefixes.shared_length(messages), text_of(messages)
        seen += [text] if text not in seen and len(text) >= MIN_CHARS else []
        family = [each for each in seen if each[:MIN_CHARS] == text[:MIN_CHARS]]
        shared = shared_length(family) if len(family) > 1 and text in family else 0
        assert length == shared or (not length and shared == len(text))  # a whole prompt is no beginning


def test_the_oldest_families_are_forgotten() -> None:
    prefixes = Prefixes()

    def ask(number: int, end: str) -> int:
        divided = [("system", f"{number:04}"), ("user", LONG + end)]
        return prefixes.shared_length(divided)

    assert [ask(number, "A") for number in range(70)] == [0] * 70
    assert (ask(69, "B"), ask(0, "B")) == (len(LONG) + 4, 0)


@given(st.lists(st.tuples(st.just("user"), st.text(max_size=9)), min_size=1, max_size=5), st.integers(0, 50))
def test_the_end_of_a_prefix_is_a_place_in_one_message(messages: list[tuple[str, str]], length: int) -> None:
    length = min(length, len(text_of(tuple(messages))))
    number, place = split_at(messages, length)
    before = "".join(text for _, text in messages[:number])
    assert before + messages[number][1][:place] == text_of(tuple(messages))[:length]
