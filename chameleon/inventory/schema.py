"""The form of an inventory file, as pydantic models; its JSON Schema is exported from here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from chameleon.table import Table
from chameleon.table.formats import Style
from chameleon.text import redact

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
INPUT_TYPES: dict[str, type[Any] | tuple[type[Any], ...]] = {
    "str": str,
    "Table": Table,
    "list": (list, tuple),
    "number": (int, float),
    "bool": bool,
    "path": (str, Path),
    "any": object,
}
CUSTOMARY_TYPES = {
    "table": "Table",
    "tables": "list",
    "image": "path",
    "text": "str",
    "passages": "list",
    "index": "str",
}
"""What the keys of the input are that the command line gives from files."""


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError("a name has letters, digits and underscores, and begins with a letter")
    return value


def _input_type(value: str) -> str:
    if value.removesuffix("?") not in INPUT_TYPES:
        raise ValueError(
            f"an input is one of {', '.join(INPUT_TYPES)}, with a question mark if it may be missing"
        )
    return value


Name = Annotated[str, AfterValidator(_name)]
Names = Annotated[
    list[Name],
    BeforeValidator(
        lambda value: [value] if isinstance(value, str) else value, json_schema_input_type=Name | list[Name]
    ),
]
InputType = Annotated[str, AfterValidator(_input_type)]


class Strict(BaseModel):
    """A mapping in which an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Prices(Strict):
    """US dollars for a million tokens; `cached` input tokens cost as much as others unless told."""

    input: NonNegativeFloat
    output: NonNegativeFloat
    cached: NonNegativeFloat | None = None

    @property
    def each(self) -> tuple[float, ...]:
        """Return the prices of input, output and, where it is told, cached input."""
        prices = (self.input, self.output)
        return prices if self.cached is None else (*prices, self.cached)


Reasoning = Literal["none", "minimal", "low", "medium", "high"]
_OF_CONNECTION = ("model", "timeout", "retries", "prices")


class ModelSpec(Strict):
    """`llm:`: which model, and the parameters of its calls. Those of a module win over the inventory's.

    `max_tokens` bounds the visible answer; what a model thinks before it has room of its own. `reasoning`
    is how much it shall think. `timeout`, `retries` and `prices` belong to a model: a module has them beside
    a `model` of its own.
    """

    model: str | None = None
    temperature: NonNegativeFloat | None = None
    max_tokens: PositiveInt | None = None
    top_p: PositiveFloat | None = None
    seed: int | None = None
    logprobs: bool | None = None
    stop: list[str] | None = None
    reasoning: Reasoning | None = None
    timeout: PositiveFloat | None = None
    retries: int | None = Field(default=None, ge=0, le=20)
    prices: Prices | None = None

    def params(self) -> dict[str, Any]:
        """Return the parameters of a call."""
        return self.model_dump(exclude_none=True, exclude=set(_OF_CONNECTION))

    def connection(self) -> dict[str, Any]:
        """Return the settings of the model's connection, as `LLM.connect` and `LLM.with_model` take them."""
        given = {"retries": self.retries, "timeout": self.timeout, "prices": self.prices and self.prices.each}
        return {key: value for key, value in given.items() if value is not None}


class RepairSpec(Strict):
    """`repair: {verifier: …}`: when that module rejects, redo another one and ask again.

    `attempts` is the most times that the redone module runs for one plan, the first included; modules that
    redo the same one share the count. `temperature_step` is added to the temperature of every redo (constant,
    as published). `tell`: the model is shown its last reply and what was wrong with it.
    `repair: {tell: false}` holds for all that do not say it themselves, as in the published runs.
    """

    redo: Name
    attempts: PositiveInt = 20
    temperature_step: NonNegativeFloat = 0.1
    tell: bool = True


class RulesSpec(Strict):
    """`rules:`: what a plan must look like.

    `last` must end it; `once` lists modules that may occur once; `needs` names what must come before;
    `next` names what must follow directly; `max_steps` bounds its length.
    """

    last: Names = Field(default_factory=list)
    once: list[Name] = Field(default_factory=list)
    needs: dict[Name, Names] = Field(default_factory=dict)
    next: dict[Name, Name] = Field(default_factory=dict)
    max_steps: PositiveInt = 32


def _with_tell(repair: Any) -> Any:
    """Give `tell` of a whole `repair:` to each that does not say it itself."""
    if not isinstance(repair, dict) or "tell" not in repair:
        return repair
    if not isinstance(tell := repair["tell"], bool):
        raise ValueError("tell is true or false")
    entries = {name: entry for name, entry in repair.items() if name != "tell"}
    return {k: {"tell": tell, **entry} if isinstance(entry, dict) else entry for k, entry in entries.items()}


class BudgetSpec(Strict):
    """`budget:`: the most that one question may spend; null is no limit.

    Limits are looked at before every step and every call; a single call is bounded by `llm.timeout`.
    """

    calls: PositiveInt | None = None
    tokens: PositiveInt | None = None
    seconds: PositiveFloat | None = None
    cost: PositiveFloat | None = None
    steps: PositiveInt | None = 64


OnError = Literal["stop", "skip", "fallback"] | list[Name]


class McpSpec(Strict):
    """`mcp:`: a server of the Model Context Protocol: a `command` to start, or the `url` of one that runs.

    The command runs in `cwd`, by default the folder of the inventory; of the environment it gets PATH, HOME
    and the like, and what `env` names. In `env` and `headers` "$NAME" is the value of a variable. `timeout`
    bounds each call, in seconds.
    """

    command: Annotated[list[str], Field(min_length=1)] | None = None
    url: str | None = None
    env: dict[str, str] = Field(default_factory=dict)
    cwd: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    timeout: PositiveFloat = 60.0

    @property
    def place(self) -> str:
        """Return the command or address, without what looks like a secret."""
        return redact(self.url or " ".join(self.command or ()))

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("give a command or a url")
        if self.url is not None and not self.url.startswith(("http://", "https://")):
            raise ValueError("a url begins with http:// or https://")
        misplaced = (self.env or self.cwd) if self.command is None else self.headers
        if misplaced:
            raise ValueError("env and cwd belong to a command, headers to a url")
        return self


class Open(BaseModel):
    """A mapping in which unknown keys are the parameters of a constructor."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    def parameters(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class ModuleSpec(Open):
    """One entry of `modules:`; keys besides these are constructor parameters. A name alone is its `use`.

    `inventory` runs another inventory, by name or file, as a module: on what it takes of the input, with the
    model of the run or the one that its `llm` names. `mcp` brings the tools of a server, of which `tools`,
    `prefix`, `allow` and `deny` say more. `on_error` says what a failure does: stop the run, which
    is what it does unless the planner goes on, skip the step, take the inventory's fallback plan, or take the
    plan listed here. `asks: approval` has a person allow each of its steps; `at_most` is how often one run
    may run it, by tool where the entry brings several. `description` and `when` are the card that a planner
    reads; by default the class's own.
    """

    use: str | None = None
    inventory: str | None = None
    mcp: McpSpec | None = None
    description: str | None = None
    when: str | None = None
    on_error: OnError | None = None
    asks: Literal["approval"] | None = None
    at_most: PositiveInt | dict[str, PositiveInt] | None = None
    prompt: str | None = None
    llm: ModelSpec | None = None
    samples: PositiveInt | None = None
    structured: Literal[True, False, "auto"] | None = None
    vote: Literal["majority", "first"] | None = None
    table_style: Style | None = None
    max_rows: PositiveInt | None = None
    max_cell: PositiveInt | None = None
    max_table_tokens: PositiveInt | None = None
    max_text_tokens: PositiveInt | None = None


class PlannerSpec(Open):
    """`planner:`; keys besides these are constructor parameters of the planner. A name alone is its `use`."""

    use: str
    prompt: str | None = None
    llm: ModelSpec | None = None


def short_for(given: Any) -> Any:
    """Return what a name alone, or nothing at all, is short for."""
    return {"use": given} if isinstance(given, str) else {} if given is None else given


class InventorySpec(Strict):
    """A whole inventory file."""

    name: str
    about: str = ""
    extends: str | None = None
    input: dict[Name, InputType] = Field(default_factory=lambda: {"question": "str"})
    llm: ModelSpec = ModelSpec()
    planner: Annotated[PlannerSpec, BeforeValidator(short_for, json_schema_input_type=str | PlannerSpec)]
    fallback: list[Name] = Field(default_factory=list)
    rules: RulesSpec = RulesSpec()
    repair: Annotated[dict[Name, RepairSpec], BeforeValidator(_with_tell)] = Field(default_factory=dict)
    budget: BudgetSpec = BudgetSpec()
    modules: dict[
        Name,
        Annotated[ModuleSpec, BeforeValidator(short_for, json_schema_input_type=str | ModuleSpec | None)],
    ]
