"""What is known of a model before it is asked: by LangChain's profile of it, and by `models.yaml`."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from chameleon.yaml_text import read_yaml

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_SAMPLING = frozenset({"temperature", "top_p"})


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model takes, as far as it is known.

    - `thinks`: it thinks before it answers unless told not to; what it thinks counts against its limit.
    - `efforts`: the reasoning efforts that it takes, `default_effort` the one that it has by itself.
    - `refuses`: parameters that it never takes; `refuses_thinking`: those that it refuses while it thinks.
    - `apart`: pairs of parameters of which it takes one.
    - `thinking`: how it is told to think where that is no effort: "budget" (a number of tokens).
    - `most_output`: the most tokens of a reply, thoughts included.
    - `structured`: its replies can be held to a JSON schema.
    - `sees`: it is known to take pictures; `tools`: to take tools to call.
    - `is_known`: LangChain or `models.yaml` knows the model.
    """

    thinks: bool = False
    efforts: tuple[str, ...] = ()
    default_effort: str = ""
    refuses: frozenset[str] = frozenset()
    refuses_thinking: frozenset[str] = frozenset()
    apart: tuple[tuple[str, str], ...] = ()
    thinking: str = ""
    most_output: int | None = None
    structured: bool = False
    sees: bool = False
    tools: bool = False
    is_known: bool = False

    def nearest_effort(self, asked: str) -> str:
        """Return the effort that it takes and that is nearest to the one asked for, the lower of two."""
        if not self.efforts or asked in self.efforts:
            return asked
        place = EFFORTS.index(asked)
        known = [effort for effort in EFFORTS if effort in self.efforts and effort != "none"]
        return min(known, key=lambda effort: abs(EFFORTS.index(effort) - place), default="none")


def end_in_words(day: datetime.date, instead: str = "") -> str:
    """Say when a model is switched off, and what its provider recommends instead."""
    is_past = day <= datetime.datetime.now(datetime.UTC).date()
    said = f"it {'was' if is_past else 'will be'} switched off on {day.isoformat()}"
    return f"{said}; its provider recommends {instead}" if instead else said


def capabilities_of(model: str, profile: Mapping[str, Any] | None = None) -> Capabilities:
    """Return what is known of "provider:model" by `models.yaml`, else by LangChain's `profile`."""
    told, family = dict(profile or {}), _family(model)
    efforts = tuple(family.get("efforts") or told.get("reasoning_effort_levels") or ())
    default = str(told.get("reasoning_effort_default") or "")
    may_think = told.get("reasoning_output") is True
    refuses = frozenset(family.get("refuses", ()))
    refuses_thinking = frozenset(family.get("refuses_thinking", ()))
    if may_think and told.get("temperature") is False and not refuses | refuses_thinking >= _SAMPLING:
        if "none" in efforts:
            refuses_thinking |= _SAMPLING
        else:
            refuses |= _SAMPLING
    if told.get("reasoning_output") is False and "reasons" not in family:
        refuses |= {"reasoning"}
    return Capabilities(
        thinks=bool(family.get("reasons", may_think and default != "none")),
        efforts=efforts,
        default_effort=default,
        refuses=refuses,
        refuses_thinking=refuses_thinking,
        apart=tuple((first, second) for first, second in family.get("apart", ())),
        thinking=str(family.get("thinking", "")),
        most_output=told.get("max_output_tokens") or None,
        structured=told.get("structured_output") is True,
        sees=bool(told.get("image_inputs", _fitting(model, "sees"))),
        tools=bool(told.get("tool_calling", _fitting(model, "tools"))),
        is_known=bool(told or family),
    )


def default_model(provider: str) -> str | None:
    """Return the model of a provider that is asked where none is named; None where none is known."""
    entry = section("defaults").get(provider)
    return f"{provider}:{entry['model']}" if entry else None


def switch_off(model: str) -> str:
    """Say when "provider:model" is switched off; "" if that is not known."""
    provider, _, name = model.partition(":")
    entry = section("switched_off").get(provider, {}).get(name)
    return end_in_words(entry["on"], entry.get("instead", "")) if entry else ""


def provider_of(name: str) -> str:
    """Return the first provider that has a family of models by this name; "" where none has."""
    return next((each for each in section("families") if _family(f"{each}:{name}")), "")


def _family(model: str) -> Mapping[str, Any]:
    """Return what is said of the longest beginning of the model's name."""
    fitting = _fitting(model, "families")
    found: Mapping[str, Any] = fitting[max(fitting, key=len)] if fitting else {}
    return found


def _fitting(model: str, named: str) -> Mapping[str, Any]:
    """Return the entries of a section of `models.yaml` that the model's name begins with."""
    provider, _, path = model.partition(":")
    name = path.rpartition("/")[2]  # gateways call it openai/gpt-…
    entries = section(named).get("openai" if provider == "azure_openai" else provider, {})
    return {
        known: told
        for known, told in entries.items()
        if name == known or name.startswith((f"{known}-", f"{known}."))
    }


@cache
def section(name: str) -> Mapping[str, Any]:
    """Read a section of `models.yaml`; which model to ask is known without those of hundreds of models."""
    text = resources.files("chameleon.llm").joinpath("models.yaml").read_text("utf-8")
    parts = re.split(r"^(?=\w)", text, flags=re.MULTILINE)
    # Entries name sources.
    found = "".join(part for part in parts if part.startswith(("sources:", f"{name}:")))
    read: Mapping[str, Any] = read_yaml(found)[name]
    return read
