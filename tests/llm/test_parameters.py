"""Parameters are fitted to the model: what is sent, what is cut here, what is dropped and told."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module, resources
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chameleon.llm import choose_model
from chameleon.llm.capabilities import (
    EFFORTS,
    Capabilities,
    SwitchOff,
    capabilities_of,
    default_model,
    providers_with_default,
    switch_off,
)
from chameleon.llm.parameters import ROOM, WIRE_NAMES, Learned, fit, reasoning_fields
from chameleon.llm.providers import providers
from chameleon.llm.refusals import OURS

ANY = Capabilities()
THINKS = Capabilities(thinks=True)
NO_LOSS = {"temperature": 1, "top_p": 1, "logprobs": False}
O4 = capabilities_of("openai:o4-mini")
LUNA = capabilities_of("openai:gpt-6-luna")
SONNET_4 = capabilities_of("anthropic:claude-sonnet-4-5")
OPUS = capabilities_of("anthropic:claude-opus-4-8")
GEMINI = capabilities_of("google_genai:gemini-2.5-flash")


# What is sent


@pytest.mark.parametrize(
    ("asked", "known", "sent", "dropped"),
    [
        ({}, ANY, {}, ()),
        ({"temperature": 0, "seed": 3}, ANY, {"temperature": 0, "seed": 3}, ()),
        ({"temperature": 0, "top_p": 0.5}, O4, {}, ("temperature", "top_p")),
        ({"temperature": 1, "top_p": 1, "logprobs": False}, O4, {}, ()),
        ({"temperature": 0, "logprobs": True}, LUNA, {}, ("temperature", "logprobs")),
        (
            {"temperature": 0, "logprobs": True, "reasoning": "none"},
            LUNA,
            {"temperature": 0, "logprobs": True, "reasoning": "none"},
            (),
        ),
        ({"temperature": 0.5, "top_p": 0.9}, SONNET_4, {"temperature": 0.5}, ("top_p",)),
        ({"temperature": 0.5, "top_p": 1}, SONNET_4, {"temperature": 0.5}, ()),
        ({"temperature": 1, "top_p": 0.9}, SONNET_4, {"top_p": 0.9}, ()),
        ({"temperature": 1, "top_p": 1}, SONNET_4, {"top_p": 1}, ()),
        (
            {"temperature": 0.5, "reasoning": "high"},
            SONNET_4,
            {"reasoning": "high"},
            ("temperature",),
        ),
        ({"logprobs": True, "seed": 1, "n": 2}, OPUS, {}, ("logprobs", "seed", "n")),
        ({"reasoning": "none"}, OPUS, {}, ()),
        ({"reasoning": "minimal"}, OPUS, {"reasoning": "low"}, ("reasoning",)),
        ({"reasoning": "none"}, O4, {"reasoning": "low"}, ("reasoning",)),
        ({"reasoning": "none"}, GEMINI, {"reasoning": "none"}, ()),
        ({"reasoning": "high"}, Capabilities(refuses=frozenset({"reasoning"})), {}, ("reasoning",)),
        ({"reasoning": "none"}, Capabilities(refuses=frozenset({"reasoning"})), {}, ()),
    ],
)
def test_a_model_gets_what_it_takes(
    asked: Mapping[str, Any], known: Capabilities, sent: Mapping[str, Any], dropped: tuple[str, ...]
) -> None:
    fitted = fit(asked, known, Learned())
    assert fitted.sent == sent
    assert set(fitted.dropped) == set(dropped)
    assert all(fitted.dropped.values())


@pytest.mark.parametrize(
    ("stop", "known", "sent"),
    [
        (["END"], ANY, ["END"]),
        (["\n\n"], ANY, None),
        (["\n\n", "END", " "], ANY, ["END"]),
        (list("abcdef"), ANY, list("abcd")),
        (["\n", *"abcde"], ANY, list("abcd")),
        (["END"], O4, None),
        ([], ANY, None),
    ],
)
def test_a_reply_is_cut_here_at_every_stop(stop: list[str], known: Capabilities, sent: list[str]) -> None:
    fitted = fit({"stop": stop}, known, Learned())
    assert fitted.sent.get("stop") == sent
    assert fitted.cut_at == tuple(stop) and not fitted.dropped


@pytest.mark.parametrize(
    ("asked", "known", "widened", "limit"),
    [
        ({}, ANY, 0, 60),
        ({}, ANY, 1, 240),
        ({}, ANY, 2, 960),
        ({}, THINKS, 0, 60 + ROOM["medium"]),
        ({}, THINKS, 1, 4 * 60 + 2 * ROOM["medium"]),
        ({}, replace(THINKS, default_effort="high"), 0, 60 + ROOM["high"]),
        ({"reasoning": "low"}, THINKS, 0, 60 + ROOM["low"]),
        ({"reasoning": "high"}, ANY, 0, 60 + ROOM["high"]),
        ({"reasoning": "none"}, ANY, 0, 60),
        ({"reasoning": "none"}, replace(THINKS, thinking="adaptive"), 0, 60),
        ({"reasoning": "none"}, replace(THINKS, efforts=("low", "high")), 0, 60 + ROOM["low"]),
        ({}, replace(THINKS, most_output=1_000), 0, 1_000),
        ({}, replace(ANY, most_output=1_000), 2, 960),
        ({}, replace(ANY, most_output=500), 2, 500),
    ],
)
def test_a_limit_leaves_room_where_the_model_thinks(
    asked: Mapping[str, Any], known: Capabilities, widened: int, limit: int
) -> None:
    fitted = fit({"max_tokens": 60, **asked}, known, Learned(), widened=widened)
    assert fitted.sent["max_tokens"] == limit


def test_what_a_server_said_counts_for_more_than_what_was_known() -> None:
    asked = {"temperature": 0, "max_tokens": 60, "reasoning": "minimal", "stop": ["END"]}
    learned = Learned({"temperature": "not here", "stop": "nor this"}, "", 4_000, ("low", "high"), True)
    fitted = fit(asked, replace(ANY, most_output=9_000, efforts=("minimal",)), learned)
    assert fitted.sent == {"max_tokens": 4_000, "reasoning": "low"}
    assert fitted.dropped["temperature"] == "not here"
    assert (set(fitted.dropped), fitted.cut_at) == ({"temperature", "reasoning"}, ("END",))


# What holds for all models and parameters

names = st.sampled_from([*WIRE_NAMES, "n", "top_k"])
some_names = st.frozensets(names)
efforts = st.lists(st.sampled_from(EFFORTS), unique=True).map(tuple)
models = st.builds(
    Capabilities,
    thinks=st.booleans(),
    efforts=efforts,
    default_effort=st.sampled_from(["", *EFFORTS]),
    refuses=some_names,
    refuses_thinking=some_names,
    apart=st.sampled_from([(), (("temperature", "top_p"),)]),
    thinking=st.sampled_from(["", "budget", "adaptive"]),
    most_output=st.none() | st.integers(1, 200_000),
)
replies = st.builds(
    Learned,
    refuses=st.dictionaries(names, st.just("no")),
    most_output=st.none() | st.integers(1, 200_000),
    efforts=efforts,
    thinks=st.booleans(),
)
requests = st.fixed_dictionaries(
    {},
    optional={
        "temperature": st.sampled_from([0, 0.5, 1, 2]),
        "top_p": st.sampled_from([0.1, 1]),
        "max_tokens": st.integers(1, 200_000),
        "stop": st.lists(st.text(" \n\tab", min_size=1, max_size=3), max_size=7),
        "seed": st.integers(),
        "logprobs": st.booleans(),
        "reasoning": st.sampled_from(EFFORTS),
        "top_k": st.integers(1, 50),
    },
)


@given(requests, models, replies, st.integers(0, 2))
def test_nothing_that_is_refused_is_sent_and_nothing_is_lost_in_silence(
    asked: dict[str, Any], known: Capabilities, learned: Learned, widened: int
) -> None:
    before = {**asked}
    fitted = fit(asked, known, learned, widened=widened)
    assert asked == before
    assert not fitted.sent.keys() & (known.refuses | learned.refuses.keys())
    assert not any(first in fitted.sent and second in fitted.sent for first, second in known.apart)
    if (known.thinks or learned.thinks) and "reasoning" not in asked:
        assert not fitted.sent.keys() & known.refuses_thinking
    gone = asked.keys() - fitted.sent.keys() - fitted.dropped.keys() - {"stop", "reasoning"}
    assert all(asked[name] == NO_LOSS.get(name) for name in gone)
    assert "stop" not in fitted.dropped and fitted.dropped.keys() <= asked.keys()
    assert not any(asked[name] == NO_LOSS.get(name, object()) for name in fitted.dropped)
    changed = {name for name in fitted.sent if fitted.sent[name] != asked.get(name)} - {"stop", "max_tokens"}
    assert changed <= {"reasoning"} and (
        not changed or "reasoning" in fitted.dropped or fitted.sent["reasoning"] == "none"
    )


@given(requests, models, replies)
def test_stops_are_sent_as_all_servers_take_them(
    asked: dict[str, Any], known: Capabilities, learned: Learned
) -> None:
    fitted = fit(asked, known, learned)
    assert fitted.cut_at == tuple(asked.get("stop", ()))
    if "stop" in fitted.sent:
        assert 1 <= len(fitted.sent["stop"]) <= 4
        assert all(stop.strip() and stop in asked["stop"] for stop in fitted.sent["stop"])


@given(requests, models, replies)
def test_an_effort_is_one_that_the_model_takes(
    asked: dict[str, Any], known: Capabilities, learned: Learned
) -> None:
    sent = fit(asked, known, learned).sent.get("reasoning")
    taken = learned.efforts or known.efforts
    assert sent is None or sent == "none" or not taken or sent in taken


@given(requests, models, replies)
def test_a_limit_bounds_the_visible_reply(
    asked: dict[str, Any], known: Capabilities, learned: Learned
) -> None:
    asked = {"max_tokens": 60, **asked}
    limits = [fit(asked, known, learned, widened=times).sent.get("max_tokens") for times in range(3)]
    if None in limits:
        assert "max_tokens" in known.refuses | learned.refuses.keys() | known.refuses_thinking
        return
    most = learned.most_output or known.most_output
    least = min(asked["max_tokens"], most or asked["max_tokens"])
    assert least <= limits[0] <= limits[1] <= limits[2]
    if most is None:
        room = limits[0] - asked["max_tokens"]
        assert limits == [asked["max_tokens"] * 4**times + room * 2**times for times in range(3)]
    else:
        assert limits[2] <= most
    effort = fit(asked, known, learned).sent.get("reasoning", asked.get("reasoning", "none"))
    if effort == "none" and not known.thinks and not learned.thinks:
        assert limits[0] == least
    assert limits[0] - asked["max_tokens"] <= max(ROOM.values())


def test_no_room_is_left_where_the_effort_was_refused() -> None:
    fitted = fit({"max_tokens": 60, "reasoning": "high"}, ANY, Learned({"reasoning": "no such thing"}))
    assert fitted.sent == {"max_tokens": 60}


@pytest.mark.parametrize(
    ("known", "learned"),
    [
        (THINKS, Learned({"reasoning": "no such thing"})),
        (ANY, Learned({"reasoning": "no such thing"}, thinks=True)),
        (replace(THINKS, refuses=frozenset({"reasoning"})), Learned()),
        (ANY, Learned(efforts=("low", "high"))),  # it said that "none" is not one of them
    ],
)
def test_a_model_that_cannot_be_kept_from_thinking_has_room_and_it_is_told(
    known: Capabilities, learned: Learned
) -> None:
    fitted = fit({"max_tokens": 60, "reasoning": "none"}, known, learned)
    assert fitted.sent["max_tokens"] > 60
    assert "reasoning" in fitted.dropped


# How a client is told to think


@pytest.mark.parametrize(
    ("client", "thinking", "fields"),
    [
        (
            "langchain_openai.ChatOpenAI",
            "",
            {effort: {"reasoning_effort": effort} for effort in EFFORTS},
        ),
        (
            "langchain_anthropic.ChatAnthropic",
            "",
            {
                "none": {"thinking": {"type": "disabled"}},
                "low": {"reasoning_effort": "low"},
                "high": {"reasoning_effort": "high"},
            },
        ),
        (
            "langchain_anthropic.ChatAnthropic",
            "adaptive",
            {
                "none": {"thinking": {"type": "disabled"}},
                "low": {"thinking": {"type": "adaptive"}, "reasoning_effort": "low"},
                "medium": {"thinking": {"type": "adaptive"}, "reasoning_effort": "medium"},
                "max": {"thinking": {"type": "adaptive"}, "reasoning_effort": "max"},
            },
        ),
        (
            "langchain_anthropic.ChatAnthropic",
            "budget",
            {
                "none": {"thinking": {"type": "disabled"}},
                "minimal": {"thinking": {"type": "enabled", "budget_tokens": 1_024}},
                "low": {"thinking": {"type": "enabled", "budget_tokens": 1_024}},
                "medium": {"thinking": {"type": "enabled", "budget_tokens": 8_192}},
                "high": {"thinking": {"type": "enabled", "budget_tokens": 24_576}},
                "max": {"thinking": {"type": "enabled", "budget_tokens": 24_576}},
            },
        ),
        (
            "langchain_google_genai.ChatGoogleGenerativeAI",
            "budget",
            {
                "none": {"thinking_budget": 0},
                "minimal": {"thinking_budget": 1_024},
                "low": {"thinking_budget": 1_024},
                "medium": {"thinking_budget": 8_192},
                "high": {"thinking_budget": 24_576},
                "xhigh": {"thinking_budget": 24_576},
            },
        ),
        (
            "langchain_google_genai.ChatGoogleGenerativeAI",
            "",
            {effort: {"reasoning_effort": effort} for effort in ("minimal", "low", "medium", "high")},
        ),
        (
            "langchain_ollama.ChatOllama",
            "",
            {"none": {"reasoning": False}, "low": {"reasoning": True}, "high": {"reasoning": True}},
        ),
    ],
)
def test_each_client_is_told_in_its_own_way(
    client: str, thinking: str, fields: Mapping[str, Mapping[str, Any]]
) -> None:
    kind = client_class(client)
    for effort, told in fields.items():
        assert reasoning_fields(kind.model_fields, effort, Capabilities(thinking=thinking)) == told


@pytest.mark.parametrize("thinking", ["", "budget", "adaptive"])
@pytest.mark.parametrize(
    ("client", "taken"),
    [
        ("langchain_openai.ChatOpenAI", EFFORTS),
        ("langchain_anthropic.ChatAnthropic", ("none", "low", "medium", "high", "xhigh", "max")),
        ("langchain_google_genai.ChatGoogleGenerativeAI", ("minimal", "low", "medium", "high")),
    ],
)
def test_the_clients_take_what_they_are_told(client: str, taken: tuple[str, ...], thinking: str) -> None:
    kind = client_class(client)
    for effort in taken:
        told = reasoning_fields(kind.model_fields, effort, Capabilities(thinking=thinking))
        made = kind(model="m", api_key="k", **(told or {}))
        assert {name: getattr(made, name) for name in told or {}} == told


def test_a_budget_leaves_room_for_the_answer() -> None:
    known = Capabilities(thinking="budget")
    for effort in ("minimal", "low", "medium", "high", "xhigh", "max"):
        told = reasoning_fields({"thinking": None}, effort, known)
        assert told is not None and told["thinking"]["budget_tokens"] < ROOM[effort]


def test_a_client_that_cannot_say_it_gets_nothing() -> None:
    assert reasoning_fields({"temperature": None}, "high", ANY) is None


def client_class(name: str) -> Any:
    package, _, kind = name.rpartition(".")
    pytest.importorskip(package)
    return getattr(import_module(package), kind)


# What is known of models


@cache
def known_models() -> Mapping[str, Any]:
    text = resources.files("chameleon.llm").joinpath("models.yaml").read_text("utf-8")
    read: Mapping[str, Any] = yaml.safe_load(text)
    return read


def entries(section: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The entries of a section by "provider:model"."""
    for provider, models in known_models()[section].items():
        for name, entry in models.items():
            yield f"{provider}:{name}", entry


def test_no_model_is_listed_twice() -> None:
    def check(node: yaml.Node) -> None:
        if isinstance(node, yaml.MappingNode):
            keys = [key.value for key, _ in node.value]
            assert len(keys) == len(set(keys)), sorted(key for key in keys if keys.count(key) > 1)
            for _, value in node.value:
                check(value)

    check(yaml.compose(resources.files("chameleon.llm").joinpath("models.yaml").read_text("utf-8")))


def test_every_entry_says_where_it_is_from() -> None:
    defaults = [(f"{provider} default", entry) for provider, entry in known_models()["defaults"].items()]
    for name, entry in [*defaults, *entries("switched_off"), *entries("families")]:
        assert isinstance(entry.get("source"), str) and entry["source"].strip(), name


def test_defaults_are_models_of_providers_that_there_are() -> None:
    read = known_models()
    assert isinstance(read["checked"], datetime.date)
    for provider, entry in read["defaults"].items():
        assert provider in providers() and providers()[provider].keys, provider
        assert isinstance(entry["date"], datetime.date) and entry["date"] <= read["checked"], provider
        assert default_model(provider) == f"{provider}:{entry['model']}"
    assert providers_with_default() == tuple(read["defaults"])
    assert default_model("ollama") is None


def test_defaults_are_not_switched_off() -> None:
    for provider in providers_with_default():
        assert switch_off(str(default_model(provider))) is None, provider


def test_models_end_on_a_day_and_what_takes_their_place_does_not_end_before() -> None:
    for name, entry in entries("switched_off"):
        provider = name.partition(":")[0]
        assert provider in providers() and set(entry) <= {"on", "instead", "source"}, name
        assert type(entry["on"]) is datetime.date, name
        ends = switch_off(name)
        assert ends is not None and ends.on == entry["on"]
        successor = switch_off(f"{provider}:{ends.instead}")
        assert successor is None or successor.on > ends.on, name


def test_families_speak_of_known_parameters_and_efforts() -> None:
    parameters = {*WIRE_NAMES, *OURS}
    facts = {"reasons", "thinking", "efforts", "refuses", "refuses_thinking", "apart", "source"}
    for name, entry in entries("families"):
        assert name.partition(":")[0] in providers() and set(entry) <= facts, name
        assert set(entry.get("efforts", ())) <= set(EFFORTS), name
        assert {*entry.get("refuses", ()), *entry.get("refuses_thinking", ())} <= parameters, name
        assert all(len(pair) == 2 and set(pair) <= parameters for pair in entry.get("apart", ())), name
        assert entry.get("thinking", "") in ("", "budget", "adaptive"), name
        assert isinstance(entry.get("reasons", False), bool), name
        known = capabilities_of(name)
        assert known.refuses >= set(entry.get("refuses", ())) and known.efforts == tuple(
            entry.get("efforts", ())
        )


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("openai:gpt-5-mini", "openai:gpt-5"),
        ("openai:gpt-5.1-2025-11-13", "openai:gpt-5.1"),
        ("openai:gpt-5.6-sol", "openai:gpt-5.6"),
        ("openai:o3-2025-04-16", "openai:o3"),
        ("openai:openai/gpt-6-luna", "openai:gpt-6"),
        ("anthropic:claude-sonnet-4-5-20250929", "anthropic:claude-sonnet-4-5"),
        ("anthropic:claude-opus-5", "anthropic:claude-opus-5"),
        ("anthropic:claude-opus-5-5", "anthropic:claude-opus-5-5"),
        ("google_genai:models/gemini-2.5-flash", "google_genai:gemini-2.5-flash"),
        ("fireworks:accounts/fireworks/models/glm-5p3", "fireworks:glm-5p3"),
    ],
)
def test_a_model_belongs_to_the_family_with_the_longest_name(model: str, family: str) -> None:
    assert capabilities_of(model) == capabilities_of(family) != Capabilities()


@pytest.mark.parametrize("model", ["openai:gpt-50", "openai:o30", "openai:gpt-4.1-mini", "ollama:gpt-5", "x"])
def test_a_model_that_is_not_listed_belongs_to_none(model: str) -> None:
    assert capabilities_of(model) == Capabilities()


def test_profiles_tell_the_rest() -> None:
    profile = {
        "reasoning_output": True,
        "temperature": False,
        "max_output_tokens": 9_000,
        "reasoning_effort_levels": ["low", "high"],
        "reasoning_effort_default": "high",
    }
    known = capabilities_of("openai:new", profile)
    assert (known.thinks, known.efforts, known.default_effort) == (True, ("low", "high"), "high")
    assert (known.most_output, known.refuses) == (9_000, {"temperature", "top_p"})
    levels = ["none", *profile["reasoning_effort_levels"]]  # type: ignore[misc]
    silent = {**profile, "reasoning_effort_levels": levels, "reasoning_effort_default": "none"}
    known = capabilities_of("openai:new", silent)
    assert not known.thinks and not known.refuses
    assert known.refuses_thinking == {"temperature", "top_p"}
    assert capabilities_of("openai:new", {"reasoning_output": False}).refuses == {"reasoning"}
    listed = capabilities_of("openai:gpt-5-mini", profile)
    assert listed.efforts == ("minimal", "low", "medium", "high")


@pytest.mark.parametrize(
    ("taken", "asked", "nearest"),
    [
        ((), "xhigh", "xhigh"),
        (("low", "high"), "low", "low"),
        (("low", "high"), "none", "low"),
        (("low", "high"), "medium", "low"),
        (("low", "high"), "max", "high"),
        (("high", "low", "none"), "minimal", "low"),
    ],
)
def test_the_nearest_effort_is_the_lower_of_two(taken: tuple[str, ...], asked: str, nearest: str) -> None:
    assert Capabilities(efforts=taken).nearest_effort(asked) == nearest


def test_the_end_of_a_model_is_told_with_what_takes_its_place() -> None:
    today = datetime.datetime.now(datetime.UTC).date()
    assert str(SwitchOff(datetime.date(2020, 1, 2))) == "it was switched off on 2020-01-02"
    later = SwitchOff(today + datetime.timedelta(days=2), "gpt-x")
    assert str(later) == (f"it will be switched off on {later.on}; its provider recommends gpt-x")
    assert switch_off("openai:gpt-x") is None and switch_off("nobody:gpt-4.1") is None


def test_a_model_that_is_chosen_tells_when_it_ends() -> None:
    choice = choose_model("gpt-4.1-mini", None, {})
    assert choice.ends == str(switch_off("openai:gpt-4.1-mini")) and "2027-01-14" in choice.ends
    assert str(choice) == f"{choice.why}; {choice.ends}"
    assert choose_model(None, None, {"ANTHROPIC_API_KEY": "k"}).ends == ""


def test_every_key_chooses_a_model_that_is_not_switched_off() -> None:
    for provider in providers_with_default():
        choice = choose_model(None, None, {providers()[provider].keys[0]: "k"})
        assert (choice.model, choice.ends) == (default_model(provider), "")
