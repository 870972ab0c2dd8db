"""Parameters are fitted to the model: what is sent, what is cut here, what is dropped and told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.llm.capabilities import EFFORTS, Capabilities, capabilities_of
from chameleon.llm.parameters import ROOM, WIRE_NAMES, fit, reasoning_fields
from tests.llm.asking import Json

ANY = Capabilities()
THINKS = Capabilities(thinks=True)
NOT_TOLD = Capabilities(refuses={"reasoning": "no such thing"})
NO_LOSS = {"temperature": 1, "top_p": 1, "logprobs": False}
O4, GPT_5_2, LUNA = (capabilities_of(f"openai:{name}") for name in ("o4-mini", "gpt-5.2", "gpt-6-luna"))
SONNET_4, OPUS = (capabilities_of(f"anthropic:claude-{name}") for name in ("sonnet-4-5", "opus-4-8"))
GEMINI = capabilities_of("google_genai:gemini-2.5-flash")
COLD, BOTH = {"temperature": 0, "logprobs": True}, {"temperature": 0, "logprobs": True, "reasoning": "none"}
names = st.sampled_from([*WIRE_NAMES, "n", "top_k"])
models = st.builds(
    Capabilities,
    thinks=st.booleans(),
    efforts=st.lists(st.sampled_from(EFFORTS), unique=True).map(tuple),
    default_effort=st.sampled_from(["", *EFFORTS]),
    refuses=st.dictionaries(names, st.just("no")),
    refuses_thinking=st.frozensets(names),
    apart=st.sampled_from([(), (("temperature", "top_p"),)]),
    thinking=st.sampled_from(["", "budget", "adaptive"]),
    most_output=st.none() | st.integers(1, 200_000),
    lists_efforts=st.booleans(),
    is_known=st.booleans(),
)
optional = {
    "temperature": st.sampled_from([0, 0.5, 1, 2]),
    "top_p": st.sampled_from([0.1, 1]),
    "max_tokens": st.integers(1, 200_000),
    "stop": st.lists(st.text(" \n\tab", min_size=1, max_size=3), max_size=7),
    "seed": st.integers(),
    "logprobs": st.booleans(),
    "reasoning": st.sampled_from(EFFORTS),
    "top_k": st.integers(1, 50),
}
requests = st.fixed_dictionaries({}, optional=optional)


@pytest.mark.parametrize(
    ("asked", "known", "sent", "dropped"),
    [
        ({"temperature": 0, "top_p": 0.5}, O4, {}, "temperature top_p"),
        (NO_LOSS, O4, {}, ""),
        (COLD, LUNA, {}, "temperature logprobs"),
        (BOTH, LUNA, BOTH, ""),
        ({"temperature": 0}, GPT_5_2, {"temperature": 0, "reasoning": "none"}, ""),
        ({"temperature": 0.5, "top_p": 0.9}, SONNET_4, {"temperature": 0.5}, "top_p"),
        ({"temperature": 0.5, "top_p": 1}, SONNET_4, {"temperature": 0.5}, ""),
        ({"temperature": 1, "top_p": 0.9}, SONNET_4, {"top_p": 0.9}, ""),
        ({"temperature": 0.5, "reasoning": "high"}, SONNET_4, {"reasoning": "high"}, "temperature"),
        ({"logprobs": True, "seed": 1, "n": 2}, OPUS, {}, "logprobs seed n"),
        ({"reasoning": "none"}, OPUS, {}, ""),
        ({"reasoning": "minimal"}, OPUS, {"reasoning": "low"}, "reasoning"),
        ({"reasoning": "none"}, O4, {"reasoning": "low"}, "reasoning"),
        ({"reasoning": "none"}, GEMINI, {"reasoning": "none"}, ""),
        ({"reasoning": "high"}, NOT_TOLD, {}, "reasoning"),
        ({"reasoning": "none"}, NOT_TOLD, {}, ""),
    ],
)
def test_it_gets_what_it_takes(asked: Json, known: Capabilities, sent: Json, dropped: str) -> None:
    fitted = fit(asked, known)
    assert (fitted.sent, set(fitted.dropped)) == (sent, set(dropped.split()))
    assert all(fitted.dropped.values())


LISTED = replace(ANY, efforts=("low", "high"), lists_efforts=True)  # its server said that "none" is not one


@pytest.mark.parametrize(
    ("effort", "known", "limit"),
    [
        ("", ANY, 60),
        ("", THINKS, 60 + ROOM["medium"]),
        ("", replace(THINKS, default_effort="high"), 60 + ROOM["high"]),
        ("none", replace(THINKS, thinking="adaptive"), 60),
        ("none", replace(THINKS, efforts=("low", "high")), 60 + ROOM["low"]),
        ("none", replace(NOT_TOLD, thinks=True), 60 + ROOM["medium"]),
        ("none", LISTED, 60 + ROOM["low"]),
    ],
)
def test_a_limit_leaves_room_for_thoughts(effort: str, known: Capabilities, limit: int) -> None:
    asked = {"max_tokens": 60, **({"reasoning": effort} if effort else {})}
    fitted = fit(asked, known)
    assert fitted.sent["max_tokens"] == limit
    if effort and (known.refuses or known.lists_efforts):  # it cannot be told, and that is said
        assert "reasoning" in fitted.dropped


@given(requests, models)
def test_nothing_refused_is_sent_nor_lost_in_silence(asked: dict[str, Any], known: Capabilities) -> None:
    before = {**asked}
    fitted = fit(asked, known)
    assert asked == before
    assert not fitted.sent.keys() & known.refuses.keys()
    assert not any(first in fitted.sent and second in fitted.sent for first, second in known.apart)
    if known.thinks and "reasoning" not in asked:
        assert not fitted.sent.keys() & known.refuses_thinking
    gone = asked.keys() - fitted.sent.keys() - fitted.dropped.keys() - {"stop", "reasoning"}
    assert all(asked[name] == NO_LOSS.get(name) for name in gone)
    assert "stop" not in fitted.dropped and fitted.dropped.keys() <= asked.keys()
    assert not any(asked[name] == NO_LOSS.get(name, object()) for name in fitted.dropped)
    effort, taken = fitted.sent.get("reasoning"), known.efforts
    changed = {name for name in fitted.sent if fitted.sent[name] != asked.get(name)} - {"stop", "max_tokens"}
    assert changed <= {"reasoning"} and (not changed or "reasoning" in fitted.dropped or effort == "none")
    assert effort in (None, "none") or not taken or effort in taken
    stops = fitted.sent.get("stop", ["END"])
    assert fitted.cut_at == tuple(asked.get("stop", ())) and 1 <= len(stops) <= 4
    assert all(stop.strip() for stop in stops) and {*stops} <= {*asked.get("stop", ()), "END"}


@given(requests, models)
def test_a_limit_bounds_the_visible_reply(asked: dict[str, Any], known: Capabilities) -> None:
    asked = {"max_tokens": 60, **asked}
    fitted = [fit(asked, known, widened=times) for times in range(3)]
    limits = [each.sent.get("max_tokens") for each in fitted]
    if None in limits:
        assert "max_tokens" in known.refuses.keys() | known.refuses_thinking
        return
    most = known.most_output
    least = min(asked["max_tokens"], most or asked["max_tokens"])
    assert least <= limits[0] <= limits[1] <= limits[2]
    room = limits[0] - asked["max_tokens"]
    assert room <= max(ROOM.values())
    if most is None:
        assert limits == [asked["max_tokens"] * 4**times + room * 2**times for times in range(3)]
    else:
        assert limits[2] <= most
    effort = fitted[0].sent.get("reasoning", asked.get("reasoning", "none"))
    if effort == "none" and not known.thinks:
        assert limits[0] == least


OFF = {"thinking": {"type": "disabled"}}
TOKENS = {"minimal": 1_024, "low": 1_024, "medium": 8_192, "high": 24_576, "max": 24_576}
ENABLED = {e: {"thinking": {"type": "enabled", "budget_tokens": n}} for e, n in TOKENS.items()}
BUDGETS = {e: {"thinking_budget": n} for e, n in {"none": 0, **TOKENS}.items()}
CLAUDE, GOOGLE = "langchain_anthropic.ChatAnthropic", "langchain_google_genai.ChatGoogleGenerativeAI"


def by_effort(*efforts: str, **others: Any) -> Mapping[str, Any]:
    """Return how a client is told these efforts that takes them by name."""
    return {effort: {"reasoning_effort": effort, **others} for effort in efforts}


ADAPTIVE = by_effort("low", "medium", "max", thinking={"type": "adaptive"})


@pytest.mark.parametrize(
    ("client", "thinking", "fields"),
    [
        ("langchain_openai.ChatOpenAI", "", by_effort(*EFFORTS)),
        (CLAUDE, "", {"none": OFF, **by_effort("low", "high")}),
        (CLAUDE, "adaptive", {"none": OFF, **ADAPTIVE}),
        (CLAUDE, "budget", {"none": OFF, **ENABLED}),
        (GOOGLE, "budget", BUDGETS),
        (GOOGLE, "", by_effort("minimal", "low", "medium", "high")),
        ("langchain_ollama.ChatOllama", "", {"none": {"reasoning": False}, "low": {"reasoning": True}}),
    ],
)
def test_each_client_is_told_in_its_way(client: str, thinking: str, fields: Json) -> None:
    package, _, name = client.rpartition(".")
    pytest.importorskip(package)
    kind = getattr(import_module(package), name)
    for effort, told in fields.items():
        assert reasoning_fields(kind.model_fields, effort, Capabilities(thinking=thinking)) == told
        budget = told.get("thinking", {}).get("budget_tokens")
        assert budget is None or budget < ROOM[effort], "it leaves room for the answer"
        if "ollama" not in client:
            made = kind(model="m", api_key="k", **told)
            assert {name: getattr(made, name) for name in told} == told
