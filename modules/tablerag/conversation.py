"""Earlier questions of a conversation: a question such as "and of those?" is understood with them alone."""

from __future__ import annotations

from collections.abc import Mapping

from chameleon import State
from chameleon.quoting import on_one_line

_MOST_TURNS = 12


def turns(state: State) -> list[dict[str, str]]:
    """Return the last turns of `input.history`, question and answer on a line; several answers have bars."""
    found = []
    for turn in (state.input.get("history") or ())[-_MOST_TURNS:]:
        if isinstance(turn, Mapping) and turn.get("question"):
            answer = turn.get("answer")
            items = answer if isinstance(answer, list | tuple) else [] if answer is None else [answer]
            said = " | ".join(str(on_one_line(str(item))) for item in items)
            found.append({"question": str(on_one_line(str(turn["question"]))).strip(), "answer": said})
    return found


def query_of(state: State) -> str:
    """Return what a search by similarity looks for: the question, after the conversation before it."""
    asked = [f"{turn['question']} {turn['answer']}".strip() for turn in turns(state)]
    return "\n".join([*asked, str(state.input["question"])])
