"""Earlier questions of a conversation: a question such as "and of those?" is understood with them alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chameleon import State
from chameleon.quoting import on_one_line

LONGEST = 12


def turns(state: State) -> list[dict[str, str]]:
    """The last turns of `input.history`, each question and answer on a line; several answers have bars."""
    earlier = state.input.get("history") or ()
    return [_turn(turn) for turn in earlier[-LONGEST:] if isinstance(turn, Mapping) and turn.get("question")]


def query_of(state: State) -> str:
    """What a search by similarity is to look for: the question, after the conversation that it belongs to."""
    asked = [f"{turn['question']} {turn['answer']}".strip() for turn in turns(state)]
    return "\n".join([*asked, str(state.input["question"])])


def _turn(turn: Mapping[str, Any]) -> dict[str, str]:
    answer = turn.get("answer")
    listed = answer if isinstance(answer, list | tuple) else [] if answer is None else [answer]
    said = " | ".join(str(on_one_line(str(item))) for item in listed)
    return {"question": str(on_one_line(str(turn["question"]))).strip(), "answer": said}
