"""Fit the parameters of a request to a model: what is sent, and what is dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from chameleon.llm.capabilities import EFFORTS, Capabilities

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

# Tokens for thinking where a model takes a number of them; those of Gemini 2.5 are Google's own mapping
# (ai.google.dev/gemini-api/docs/openai, "Thinking"), kept for Claude as well.
BUDGETS: Mapping[str, int] = {"minimal": 1_024, "low": 1_024, "medium": 8_192, "high": 24_576}

_MOST_STOPS = 4  # OpenAI's limit, the lowest of all; a reply is cut at the others here
_WHILE_IT_THINKS = "it is known to refuse it while it thinks"
_NO_LOSS: Mapping[str, Any] = {"temperature": 1, "top_p": 1, "logprobs": False}


@dataclass(frozen=True)
class Fitted:
    """Parameters as a model takes them.

    - `asked`: what they were fitted from, and `known`: what was known of the model then.
    - `sent`: what goes to the client, by the names that all providers share; `reasoning` is an effort.
    - `widened`: how often the limit was widened.
    - `cut_at`: where the reply is cut on our side, whatever the server does.
    - `dropped`: what the model is asked without, and why. A stop text is not among it, since the reply is cut
      here all the same, nor what the model does by itself, such as a `top_p` of 1.
    """

    asked: Mapping[str, Any]
    known: Capabilities
    sent: Mapping[str, Any]
    widened: int
    cut_at: tuple[str, ...]
    dropped: Mapping[str, str]

    @property
    def limit(self) -> int:
        """Return the limit that is sent; 0 for none."""
        return int(self.sent.get("max_tokens", 0))


def fit(asked: Mapping[str, Any], known: Capabilities, widened: int = 0) -> Fitted:
    """Fit parameters to a model. The limit has room for thoughts, and grows fourfold with each `widened`."""
    sent, dropped = dict(asked), dict[str, str]()
    stops = tuple(sent.pop("stop", ()))
    effort = ""
    if wanted := sent.pop("reasoning", ""):
        effort, why = _effort(wanted, known)
        sent |= {"reasoning": effort} if effort else {}
        dropped |= {"reasoning": why} if why else {}
    elif (
        not known.thinks
        and known.refuses_thinking & sent.keys()
        and "none" in known.efforts
        and "reasoning" not in known.refuses
    ):
        sent["reasoning"] = effort = "none"  # LangChain lets a temperature through only with it
    thinking = effort != "none" if effort else known.thinks
    refused = dict.fromkeys(known.refuses_thinking, _WHILE_IT_THINKS) if thinking else {}
    refused |= known.refuses
    for name in [name for name in sent if name in refused]:
        if sent.pop(name) != _NO_LOSS.get(name):
            dropped[name] = refused[name]
    for kept, other in known.apart:
        if kept in sent and other in sent:
            less = other if sent[kept] != _NO_LOSS.get(kept) else kept
            if sent.pop(less) != _NO_LOSS.get(less):
                dropped[less] = f"it does not take {less} with {other if less == kept else kept}"
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
    return Fitted(asked, known, sent, widened, stops, dropped)


def _effort(asked: str, known: Capabilities) -> tuple[str, str]:
    """Return the effort to ask with, or "" to say nothing of it, and why it is another one."""
    if "reasoning" in known.refuses:
        return "", "" if asked == "none" and not known.thinks else known.refuses["reasoning"]
    if asked == "none" and not known.lists_efforts:
        has_switch = known.thinking == "adaptive" or (known.thinking == "budget" and not known.efforts)
        if has_switch or (known.is_known and known.efforts and not known.thinks):
            return "none" if known.thinks or "none" in known.efforts else "", ""
    effort = known.nearest_effort(asked)
    return effort, "" if effort == asked else f"with {effort} instead, the nearest that it takes"


def efforts_of(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the efforts that a client with these fields takes, where it names them."""
    if "reasoning_effort" not in fields:
        return ()
    named = [get_args(part) for part in get_args(fields["reasoning_effort"].annotation)]
    return tuple(effort for effort in EFFORTS if any(effort in values for values in named))


def reasoning_fields(
    fields: Mapping[str, Any], effort: str, known: Capabilities, model: str = ""
) -> dict[str, Any] | None:
    """Return how a client with these fields is told the effort; None where it has no way to say it.

    LangChain's clients of OpenAI, Anthropic, Google, Groq and others take `reasoning_effort`; those of
    Ollama and OpenRouter take `reasoning`.
    """
    tokens = BUDGETS.get(effort, BUDGETS["high"])
    if "thinking_budget" in fields and known.thinking == "budget":
        return {"thinking_budget": 0 if effort == "none" else tokens}
    if "thinking" in fields:
        if effort == "none":
            return {"thinking": {"type": "disabled"}}
        if known.thinking == "budget":
            return {"thinking": {"type": "enabled", "budget_tokens": tokens}}
        if known.thinking == "adaptive":
            return {"thinking": {"type": "adaptive"}, "reasoning_effort": effort}
    if "reasoning_effort" in fields:
        return {"reasoning_effort": effort}
    if "reasoning" in fields:
        if "bool" not in str(fields["reasoning"].annotation):
            return {"reasoning": {"effort": effort}}
        # Of Ollama's models, gpt-oss alone has levels.
        is_leveled = "gpt-oss" in model and effort in ("low", "medium", "high")
        return {"reasoning": effort if is_leveled else effort != "none"}
    return None
