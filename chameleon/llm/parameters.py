"""Fit the parameters that are asked for to the model that is asked: what is sent, and what is dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chameleon.llm.capabilities import Capabilities

ROOM: Mapping[str, int] = {
    "none": 0,
    "minimal": 2_048,
    "low": 8_192,
    "medium": 16_384,
    "high": 32_768,
    "xhigh": 65_536,
    "max": 65_536,
}
"""Tokens that a limit leaves for thinking, by effort; a model that thinks less does not use them up."""

_MOST_STOPS = 4  # OpenAI's limit, the lowest of all; a reply is cut at the others here
_NO_LOSS: Mapping[str, Any] = {"temperature": 1, "top_p": 1, "logprobs": False}


@dataclass(frozen=True)
class Fitted:
    """Parameters as a model takes them.

    - `sent`: what goes to the client, by the names that all providers share; `reasoning` is an effort.
    - `cut_at`: where the reply is cut on our side, whatever the server does.
    - `dropped`: what the model is asked without, and why. A stop text is none of it, since the reply is cut
      here all the same, and neither is what the model does by itself, such as a `top_p` of 1.
    """

    sent: Mapping[str, Any]
    cut_at: tuple[str, ...] = ()
    dropped: Mapping[str, str] = field(default_factory=dict)


def fit(asked: Mapping[str, Any], known: Capabilities, *, widened: int = 0) -> Fitted:
    """Fit parameters to a model.

    `max_tokens` bounds the visible answer: a model that thinks gets room for its thoughts on top of it.
    `widened` counts how often the reply was cut off before; each time the limit grows fourfold.
    """
    sent, dropped = dict(asked), dict[str, str]()
    stops = tuple(sent.pop("stop", ()))
    effort = ""
    if wanted := sent.pop("reasoning", ""):
        effort, why = _effort(wanted, known)
        sent |= {"reasoning": effort} if effort else {}
        dropped |= {"reasoning": why} if why else {}
    elif not known.thinks and known.refuses_thinking & sent.keys() and "none" in known.efforts:
        sent["reasoning"] = effort = "none"  # LangChain lets a temperature through beside it alone
    thinking = effort != "none" if effort else known.thinks
    refused = {**known.refuses}
    if thinking:
        refused |= dict.fromkeys(known.refuses_thinking, "it is known to refuse it while it thinks")
    for name in [name for name in sent if name in refused]:
        if sent.pop(name) != _NO_LOSS.get(name) and name in asked:
            dropped[name] = refused[name]
    if "max_tokens" in sent:
        room = ROOM[effort or known.default_effort or "medium"] if thinking else 0
        wider = sent["max_tokens"] * 4**widened + room * 2**widened
        if known.spare is not None:
            wider = min(wider, sent["max_tokens"] + known.spare)
        most = known.most_output or wider
        if sent["max_tokens"] > most:
            dropped["max_tokens"] = f"with {most} instead, the most that it gives"
        sent["max_tokens"] = min(wider, most)
    visible = [stop for stop in stops if stop.strip()][:_MOST_STOPS]  # several servers refuse white space
    if visible and "stop" not in refused:
        sent["stop"] = visible
    return Fitted(sent, stops, dropped)


def _effort(asked: str, known: Capabilities) -> tuple[str, str]:
    """Return the effort to ask with, "" where none is to be said, and why it is another one."""
    is_met = asked == "none" and not known.thinks
    if "reasoning" in known.refuses:
        return "", "" if is_met else known.refuses["reasoning"]
    if is_met and known.efforts and "none" not in known.efforts:
        return "", ""
    effort = known.nearest_effort(asked)
    return effort, "" if effort == asked else f"with {effort} instead, the nearest that it takes"


def reasoning_fields(fields: Mapping[str, Any], effort: str, model: str = "") -> dict[str, Any] | None:
    """Return how a client with these fields is told the effort; None where it has no way to say it.

    LangChain's clients of OpenAI, Anthropic, Google, Groq and others take `reasoning_effort`; those of
    Ollama and OpenRouter take `reasoning`. Anthropic's is told not to think by `thinking`.
    """
    if "thinking" in fields and effort == "none":
        return {"thinking": {"type": "disabled"}}
    if "reasoning_effort" in fields:
        return {"reasoning_effort": effort}
    if "reasoning" not in fields:
        return None
    if "bool" not in str(fields["reasoning"].annotation):
        return {"reasoning": {"effort": effort}}
    # Of Ollama's models, gpt-oss alone has levels.
    is_leveled = "gpt-oss" in model and effort in ("low", "medium", "high")
    return {"reasoning": effort if is_leveled else effort != "none"}
