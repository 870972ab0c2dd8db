"""The capabilities of models, from LangChain's profiles and `models.yaml`, and each provider's default."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any, Self

from chameleon.yaml_text import read_yaml

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_SAMPLING = frozenset({"temperature", "top_p"})
_REFUSAL_REASON = "it is known to refuse it"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model accepts: known in advance, then corrected by its server's responses.

    Attributes:
        thinks: it thinks before it answers unless asked not to; thinking counts against its token limit.
        efforts: the reasoning efforts it accepts; `lists_efforts`: its server listed them itself.
        default_effort: its effort if the request sets none.
        refuses: parameters that it never accepts, and why; `refuses_thinking`: those it refuses while it
            thinks; `apart`: pairs of which it accepts only one.
        thinking: how to ask it to think if not by effort: "budget" (a number of tokens), "adaptive".
        most_output: the maximum tokens of a reply, including thinking; `limit_name`: its server's name for
            that parameter, if unusual.
        spare: the maximum tokens a limit may have beyond `max_tokens`, because the context has no more room.
        schema, sees, tools: it is known to accept JSON schemas, images, tools.
        without: what else it has refused: our own parameters, "schema", "tools".
        is_known: LangChain or `models.yaml` knows the model.
    """

    thinks: bool = False
    efforts: tuple[str, ...] = ()
    lists_efforts: bool = False
    default_effort: str = ""
    refuses: Mapping[str, str] = field(default_factory=dict)
    refuses_thinking: frozenset[str] = frozenset()
    apart: tuple[tuple[str, str], ...] = ()
    thinking: str = ""
    most_output: int | None = None
    limit_name: str = ""
    spare: int | None = None
    schema: bool = False
    sees: bool = False
    tools: bool = False
    without: frozenset[str] = frozenset()
    is_known: bool = False

    def without_also(self, name: str) -> Self:
        """Return the capabilities with one more refusal."""
        return replace(self, without=self.without | {name})

    def nearest_effort(self, requested: str) -> str:
        """Return the accepted effort nearest to the requested one, the lower of two."""
        if not self.efforts or requested in self.efforts:
            return requested
        place = EFFORTS.index(requested)
        efforts = [effort for effort in EFFORTS if effort in self.efforts and effort != "none"]
        # In ascending order, so that `min` finds the lower of two first.
        return min(efforts, key=lambda effort: abs(EFFORTS.index(effort) - place), default="none")


def end_in_words(day: datetime.date, instead: str = "") -> str:
    """Say when a model is retired, and what its provider recommends instead."""
    is_past = day <= datetime.datetime.now(datetime.UTC).date()
    end = f"it {'was' if is_past else 'will be'} switched off on {day.isoformat()}"
    return f"{end}; its provider recommends {instead}" if instead else end


def capabilities_of(model: str, profile: Mapping[str, Any] | None = None) -> Capabilities:
    """Return the capabilities of "provider:model" from `models.yaml`, or from LangChain's `profile`."""
    profile, family = profile or {}, _family(model)
    efforts = tuple(family.get("efforts") or profile.get("reasoning_effort_levels") or ())
    default = str(profile.get("reasoning_effort_default") or "")
    may_think = profile.get("reasoning_output") is True
    refuses, refuses_thinking = (set(family.get(name, ())) for name in ("refuses", "refuses_thinking"))
    # A profile does not say when: a model that can stop thinking refuses it only while it thinks.
    if may_think and profile.get("temperature") is False and not refuses | refuses_thinking >= _SAMPLING:
        (refuses_thinking if "none" in efforts else refuses).update(_SAMPLING)
    if profile.get("reasoning_output") is False and "reasons" not in family:
        refuses.add("reasoning")
    return Capabilities(
        thinks=bool(family.get("reasons", may_think and default != "none")),
        efforts=efforts,
        default_effort=default,
        refuses=dict.fromkeys(sorted(refuses), _REFUSAL_REASON),
        refuses_thinking=frozenset(refuses_thinking),
        apart=tuple((first, second) for first, second in family.get("apart", ())),
        thinking=str(family.get("thinking", "")),
        most_output=profile.get("max_output_tokens") or None,
        schema=profile.get("structured_output") is True,
        sees=bool(profile.get("image_inputs", _entries_for(model, "sees"))),
        tools=bool(profile.get("tool_calling", _entries_for(model, "tools"))),
        is_known=bool(profile or family),
    )


def default_model(provider: str) -> str | None:
    """Return a provider's default model, or None."""
    entry = section("defaults").get(provider)
    return f"{provider}:{entry['model']}" if entry else None


def switch_off(model: str) -> str:
    """Say when "provider:model" is switched off; "" if unknown."""
    provider, _, name = model.partition(":")
    entry = section("switched_off").get(provider, {}).get(name)
    return end_in_words(entry["on"], entry.get("instead", "")) if entry else ""


def provider_of(name: str) -> str:
    """Return the first provider with a model family of this name, or ""."""
    return next((each for each in section("families") if _family(f"{each}:{name}")), "")


def _family(model: str) -> Mapping[str, Any]:
    """Return the entry of the longest family name that starts the model's name."""
    fitting = _entries_for(model, "families")
    return fitting[max(fitting, key=len)] if fitting else {}


def _entries_for(model: str, key: str) -> dict[str, Any]:
    """Return the entries of a section of `models.yaml` whose name starts the model's name."""
    provider, _, path = model.partition(":")
    name = path.rpartition("/")[2]  # gateways call it openai/gpt-…
    entries = section(key).get("openai" if provider == "azure_openai" else provider, {})  # the same models
    return {
        prefix: entry
        for prefix, entry in entries.items()
        if name == prefix or name.startswith((f"{prefix}-", f"{prefix}."))  # gpt-5: gpt-5-mini, not gpt-50
    }


def section(name: str) -> Mapping[str, Any]:
    """Return a section of `models.yaml`."""
    return _known_models()[name]


@cache
def _known_models() -> Mapping[str, Mapping[str, Any]]:
    text = resources.files("chameleon.llm").joinpath("models.yaml").read_text("utf-8")
    models: Mapping[str, Mapping[str, Any]] = read_yaml(text)
    return models
