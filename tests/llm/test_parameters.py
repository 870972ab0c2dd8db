"""What is known of models and their prices, and how parameters are fitted to them."""

import datetime
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module, resources
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chameleon.llm import capabilities
from chameleon.llm.capabilities import EFFORTS, Capabilities, capabilities_of
from chameleon.llm.parameters import OURS, ROOM, WIRE_NAMES, fit, reasoning_fields
from chameleon.llm.prices import Pricing
from chameleon.llm.providers import providers
from chameleon.usage import Usage
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
optional = {"temperature": st.sampled_from([0, 0.5, 1, 2]), "top_p": st.sampled_from([0.1, 1])}
optional |= {"max_tokens": st.integers(1, 200_000)}
optional |= {"stop": st.lists(st.text(" \n\tab", min_size=1, max_size=3), max_size=7), "seed": st.integers()}
optional |= {"logprobs": st.booleans(), "reasoning": st.sampled_from(EFFORTS), "top_k": st.integers(1, 50)}
requests = st.fixed_dictionaries({}, optional=optional)


def test_it_gets_what_it_takes() -> None:
    for asked, known, sent, dropped in (
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
    ):
        fitted = fit(asked, known)
        assert (fitted.sent, set(fitted.dropped)) == (sent, set(dropped.split()))
        assert all(fitted.dropped.values())


def test_a_limit_leaves_room_for_thoughts() -> None:
    for effort, known, limit in (
        ("", ANY, 60),
        ("", THINKS, 60 + ROOM["medium"]),
        ("", replace(THINKS, default_effort="high"), 60 + ROOM["high"]),
        ("none", replace(THINKS, thinking="adaptive"), 60),
        ("none", replace(THINKS, efforts=("low", "high")), 60 + ROOM["low"]),
        ("none", replace(NOT_TOLD, thinks=True), 60 + ROOM["medium"]),
        ("none", replace(ANY, efforts=("low", "high"), lists_efforts=True), 60 + ROOM["low"]),
    ):
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


@pytest.mark.parametrize(
    ("client", "thinking", "fields"),
    [
        ("langchain_openai.ChatOpenAI", "", by_effort(*EFFORTS)),
        (CLAUDE, "", {"none": OFF, **by_effort("low", "high")}),
        (
            CLAUDE,
            "adaptive",
            {"none": OFF, **by_effort("low", "medium", "max", thinking={"type": "adaptive"})},
        ),
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


TEXT = resources.files("chameleon.llm").joinpath("models.yaml").read_text("utf-8")
KNOWN: Mapping[str, Any] = yaml.safe_load(TEXT)


def entries(part: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for provider, models in KNOWN[part].items():
        for name, entry in models.items():
            yield f"{provider}:{name}", entry


def test_no_model_is_listed_twice_and_every_entry_says_where_it_is_from() -> None:
    def check(node: yaml.Node) -> None:
        if isinstance(node, yaml.MappingNode):
            keys = [key.value for key, _ in node.value]
            assert len(keys) == len(set(keys)), sorted(key for key in keys if keys.count(key) > 1)
            for _, value in node.value:
                check(value)

    check(yaml.compose(TEXT))
    listed = [each for part in ("switched_off", "families", "sees", "tools") for each in entries(part)]
    for name, entry in [*KNOWN["defaults"].items(), *listed]:
        assert isinstance(entry.get("source"), str) and entry["source"].strip(), name
        assert name.partition(":")[0] in providers(), name
    for name in ("defaults", "providers", "switched_off", "sees", "tools", "families"):
        assert capabilities.section(name) == KNOWN[name] and [*capabilities.section(name)] == [*KNOWN[name]]
    for provider, entry in KNOWN["defaults"].items():
        assert isinstance(entry["date"], datetime.date) and entry["date"] <= KNOWN["checked"], provider
        assert capabilities.default_model(provider) == f"{provider}:{entry['model']}", provider
        assert providers()[provider].keys
    assert capabilities.default_model("ollama") is None


def test_models_end_on_a_day_and_what_takes_their_place_does_not_end_before() -> None:
    ends = dict(entries("switched_off"))
    for name, entry in ends.items():
        assert set(entry) <= {"on", "instead", "source"} and type(entry["on"]) is datetime.date, name
        words = capabilities.end_in_words(entry["on"], entry.get("instead", ""))
        assert capabilities.switch_off(name) == words
        successor = ends.get(f"{name.partition(':')[0]}:{entry.get('instead')}")
        assert successor is None or successor["on"] > entry["on"], name
    assert capabilities.switch_off("openai:gpt-x") == capabilities.switch_off("nobody:gpt-4.1") == ""
    later = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=2)
    assert capabilities.end_in_words(datetime.date(2020, 1, 2)) == "it was switched off on 2020-01-02"
    told = f"it will be switched off on {later}; its provider recommends gpt-x"
    assert capabilities.end_in_words(later, "gpt-x") == told


def test_families_speak_of_known_parameters_and_efforts() -> None:
    parameters = {*WIRE_NAMES, *OURS}
    facts = {"reasons", "thinking", "efforts", "refuses", "refuses_thinking", "apart", "source"}
    for name, entry in entries("families"):
        efforts, refuses = tuple(entry.get("efforts", ())), {*entry.get("refuses", ())}
        assert set(entry) <= facts and set(efforts) <= set(EFFORTS), name
        assert refuses | {*entry.get("refuses_thinking", ())} <= parameters, name
        assert all(len(pair) == 2 and set(pair) <= parameters for pair in entry.get("apart", ())), name
        assert entry.get("thinking", "") in ("", "budget", "adaptive"), name
        assert isinstance(entry.get("reasons", False), bool), name
        known = capabilities_of(name)
        assert known.refuses.keys() >= refuses and known.efforts == efforts


FAMILIES = """
gpt-5-mini gpt-5, gpt-5.1-2025-11-13 gpt-5.1, gpt-5.6-sol gpt-5.6, o3-2025-04-16 o3, openai/gpt-6-luna gpt-6
claude-sonnet-4-5-20250929 claude-sonnet-4-5, claude-opus-5 claude-opus-5, claude-opus-5-5 claude-opus-5-5
models/gemini-2.5-flash gemini-2.5-flash
accounts/fireworks/models/glm-5p3 glm-5p3
"""


def test_a_model_belongs_to_the_family_with_the_longest_name() -> None:
    providers_in_turn = ("openai", "anthropic", "google_genai", "fireworks")
    for provider, line in zip(providers_in_turn, FAMILIES.strip().splitlines(), strict=True):
        for model, family in (pair.split() for pair in line.split(", ")):
            known = capabilities_of(f"{provider}:{model}")
            assert known == capabilities_of(f"{provider}:{family}") != Capabilities(), model
    for other in ("openai:gpt-50", "openai:o30", "openai:gpt-4.1-mini", "ollama:gpt-5", "x"):
        assert replace(capabilities_of(other), sees=False, tools=False) == Capabilities()


def test_profiles_tell_the_rest() -> None:
    profile: dict[str, Any] = {"reasoning_output": True, "temperature": False, "max_output_tokens": 9_000}
    profile |= {"reasoning_effort_levels": ["low", "high"], "reasoning_effort_default": "high"}
    known = capabilities_of("openai:new", profile)
    assert (known.thinks, known.efforts, known.default_effort) == (True, ("low", "high"), "high")
    assert (known.most_output, known.refuses.keys()) == (9_000, {"temperature", "top_p"})
    silent = {"reasoning_effort_levels": ["none", "low", "high"], "reasoning_effort_default": "none"}
    known = capabilities_of("openai:new", profile | silent)
    assert not known.thinks and not known.refuses
    assert known.refuses_thinking == {"temperature", "top_p"}
    assert capabilities_of("openai:new", {"reasoning_output": False}).refuses.keys() == {"reasoning"}
    assert capabilities_of("openai:gpt-5-mini", profile).efforts == ("minimal", "low", "medium", "high")


def test_the_nearest_effort_is_the_lower_of_two() -> None:
    assert Capabilities().nearest_effort("xhigh") == "xhigh"
    rows = (
        "low,high:low:low low,high:none:low low,high:medium:low low,high:max:high high,low,none:minimal:low"
    )
    for taken, asked, nearest in (each.split(":") for each in rows.split()):
        assert Capabilities(efforts=tuple(taken.split(","))).nearest_effort(asked) == nearest


NOBODY, MINI, OPUS_4_5 = "openai:local-7b-of-mine", "openai:gpt-4.1-mini", "anthropic:claude-opus-4-5"
counts = st.integers(0, 10_000_000)
some_prices = st.tuples(st.floats(0, 1_000), st.floats(0, 1_000), st.floats(0, 1_000))


def tokens(read: int | None = None, written: int | None = None, cached: int | None = None) -> Usage:
    return Usage(1, read, written, None, cached)


def million(cached: int = 0) -> Usage:
    return tokens(1_000_000, 1_000_000, cached)


@pytest.mark.parametrize(
    ("model", "prices", "usage", "cost"),
    [
        (NOBODY, (2.0, 8.0), tokens(11, 7), (22 + 56) / 1e6),
        (NOBODY, (0, 0), million(), 0),
        (NOBODY, (2.0, 8.0, 0.5), million(400_000), 0.6 * 2 + 0.4 * 0.5 + 8),
        (NOBODY, (2.0, 8.0), million(400_000), 10.0),
        *[(NOBODY, (1.0, 2.0), part, None) for part in (tokens(), tokens(5), tokens(None, 5))],
        (MINI, None, million(), 0.4 + 1.6),
        (MINI, None, million(1_000_000), 0.1 + 1.6),
        (f"{MINI}-2025-04-14", None, million(), 2.0),
        (MINI, None, tokens(5), None),
        *[(name, None, million(), None) for name in (NOBODY, "ollama:qwen3:8b", "nobody:gpt-5", "openai:")],
    ],
)
def test_a_cost_is_of_given_prices_or_of_the_list(model: str, prices: Any, usage: Usage, cost: Any) -> None:
    if prices is None:
        pytest.importorskip("genai_prices")
    assert Pricing(model, given=prices).cost(usage) == (cost if cost is None else pytest.approx(cost))


@given(counts, counts, counts, some_prices)
def test_caching_costs_between_all_and_none(fresh: int, cached: int, out: int, prices: Any) -> None:
    pricing, total = Pricing(NOBODY, given=prices), fresh + cached
    cost = pricing.cost(tokens(total, out, cached))
    ends = [pricing.cost(tokens(total, out, part)) for part in (0, total)]
    assert cost is not None and None not in ends
    low, high = sorted(end for end in ends if end is not None)
    assert low - 1e-9 <= cost <= high + 1e-9


def test_lists_price_the_cache_and_the_default_models(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("genai_prices")
    counts = [(90_000, 0), (0, 0), (0, 90_000)]
    costs = [Pricing(OPUS_4_5).cost(tokens(100_000, 10, cached), kept) or 0 for cached, kept in counts]
    assert 0 < costs[0] < costs[1] < costs[2]
    models = [str(capabilities.default_model(each)) for each in ("openai", "anthropic", "google_genai")]
    for model in (*models, "google_genai:gemini-2.5-flash", "mistralai:mistral-small-latest"):
        assert (Pricing(model).cost(million()) or 0) > 0
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert Pricing(MINI).cost(million()) is None
