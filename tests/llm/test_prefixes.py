"""What prompts share is found, and never taken for more than they share."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from chameleon.llm.prefixes import LEAST, Prefixes, split_at

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
        found, text = prefixes.of(messages), text_of(messages)
        if len(text) < LEAST:
            assert found is None
            continue
        assert found is not None
        seen += [text] if text not in seen else []
        family = [each for each in seen if each[:LEAST] == text[:LEAST]]
        shared = shared_length(family) if len(family) > 1 else 0
        assert found.length == shared


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(["system", "user"]), st.text(max_size=9)), min_size=1, max_size=3),
        max_size=3,
    )
)
def test_a_prompt_is_short_by_its_characters_however_it_is_divided(
    asked: list[list[tuple[str, str]]],
) -> None:
    prefixes = Prefixes()
    for messages in asked:
        short, long = messages, [("system", "x" * LEAST), *messages]
        assert prefixes.of(short) is None
        assert prefixes.of(long) is not None


def test_families_have_names_of_their_own_and_the_oldest_are_forgotten() -> None:
    prefixes = Prefixes()

    def ask(number: int, end: str) -> tuple[str, int]:
        found = prefixes.of([("user", f"{number:04}" + LONG + end)])
        assert found is not None
        return found.name, found.length

    named = [ask(number, "A")[0] for number in range(70)]
    assert len(set(named)) == 70
    assert ask(69, "B") == (named[69], len(LONG) + 4)
    assert ask(0, "B") == (named[0], 0)


def test_names_do_not_tell_the_prompt_and_stay_the_same() -> None:
    one, other = Prefixes().of([("user", LONG)]), Prefixes().of([("system", LONG[:9]), ("user", LONG[9:])])
    assert one and other and one.name == other.name
    assert len(one.name) == 16 and one.name not in LONG


@given(st.lists(st.tuples(st.just("user"), st.text(max_size=9)), min_size=1, max_size=5), st.integers(0, 50))
def test_the_end_of_a_prefix_is_a_place_in_one_message(messages: list[tuple[str, str]], length: int) -> None:
    length = min(length, len(text_of(tuple(messages))))
    number, place = split_at(messages, length)
    before = "".join(text for _, text in messages[:number])
    assert before + messages[number][1][:place] == text_of(tuple(messages))[:length]
