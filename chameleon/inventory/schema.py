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

from chameleon.core.llm_module import Structured
from chameleon.table import Style, Table
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


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError("a name has letters, digits and underscores, and begins with a letter")
    return value


def _input_type(value: str) -> str:
    if value.removesuffix("?") not in INPUT_TYPES:
        known = ", ".join(INPUT_TYPES)
        raise ValueError(f"an input is one of {known}, with a question mark if it may be missing")
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


def key(meaning: str, default: Any = None, **bounds: Any) -> Any:
    """Return a key that may be left out, with what it means."""
    return Field(default=default, description=meaning, **bounds)


class Prices(Strict):
    """US dollars for a million tokens; `cached` input tokens cost as much as others by default."""

    input: NonNegativeFloat = Field(description="Price of input tokens.")
    output: NonNegativeFloat = Field(description="Price of output tokens.")
    cached: NonNegativeFloat | None = key("Price of input tokens that are cached.")

    @property
    def each(self) -> tuple[float, ...]:
        """Return the prices of input, output and, if given, cached input."""
        prices = (self.input, self.output)
        return prices if self.cached is None else (*prices, self.cached)


Reasoning = Literal["none", "minimal", "low", "medium", "high"]
_OF_CONNECTION = ("model", "timeout", "retries", "prices")


class ModelSpec(Strict):
    """`llm:`: which model, and the parameters of its calls. Those of a module win over the inventory's.

    `timeout`, `retries` and `prices` belong to a model: a module has them with its own `model`.
    """

    model: str | None = key("The model to ask, as PROVIDER:NAME.")
    temperature: NonNegativeFloat | None = key("How freely words are drawn; at 0 the likeliest ones.")
    max_tokens: PositiveInt | None = key("The longest visible answer; thoughts have room of their own.")
    top_p: PositiveFloat | None = key("Draw from the likeliest words, up to this share of probability.")
    seed: int | None = key("A number that makes random draws the same again, where that is offered.")
    logprobs: bool | None = key("Ask how probable replies are; votes weigh them by it.")
    stop: list[str] | None = key("Texts that end a reply, where the prompt file has none.")
    reasoning: Reasoning | None = key("How much the model thinks before it answers.")
    timeout: PositiveFloat | None = key("Seconds for a call; 120 where nothing is said.")
    retries: int | None = key("Further attempts of a call; else 6.", ge=0, le=20)
    prices: Prices | None = key("Prices, in place of those that are known.")

    def params(self) -> dict[str, Any]:
        """Return the parameters of a call."""
        return self.model_dump(exclude_none=True, exclude=set(_OF_CONNECTION))

    def connection(self) -> dict[str, Any]:
        """Return the settings of the model's connection, as `LLM.connect` and `LLM.with_model` take them."""
        given = {"retries": self.retries, "timeout": self.timeout, "prices": self.prices and self.prices.each}
        return {key: value for key, value in given.items() if value is not None}


class RepairSpec(Strict):
    """`repair: {verifier: …}`: when that module rejects, redo another one and ask again.

    Modules that redo the same one share its attempts. `repair: {show_error: false}` holds for all that do
    not set it themselves, as in the published runs.
    """

    redo: Name = Field(description="The module to run again; it may be the one that rejects.")
    attempts: PositiveInt = key("How often it runs for one plan, the first included.", 20)
    temperature_step: NonNegativeFloat = key("Added to the temperature in a redo.", 0.1)
    show_error: bool = key("Show the model its last reply and what was wrong with it.", True)


class RulesSpec(Strict):
    """`rules:`: what a plan must look like."""

    last: Names = key("Modules one of which must end a plan.", [])
    once: list[Name] = key("Modules that may occur once in a plan.", [])
    needs: dict[Name, Names] = key("What must come before a module.", {})
    next: dict[Name, Name] = key("What must follow a module directly.", {})
    drops: dict[Name, Names] = key("What a plan loses where that module is in it.", {})
    completed: bool = key(
        "Whether a model's plan is given the followers, and the last, that it lacks.", False
    )
    max_steps: PositiveInt = key("The most steps of a plan.", 32)


def _with_show_error(repair: Any) -> Any:
    """Give `show_error` of a whole `repair:` to each that does not set it itself."""
    key = "show_error"
    if not isinstance(repair, dict) or key not in repair:
        return repair
    if not isinstance(shown := repair[key], bool):
        raise ValueError(f"{key} is true or false")
    entries = {name: entry for name, entry in repair.items() if name != key}
    return {k: {key: shown, **entry} if isinstance(entry, dict) else entry for k, entry in entries.items()}


class BudgetSpec(Strict):
    """`budget:`: the most that one question may spend; null is no limit.

    Limits are looked at before every step and every call; a single call is bounded by `llm.timeout`.
    """

    calls: PositiveInt | None = key("Calls of models.", 64)
    tokens: PositiveInt | None = key("Tokens of models, input and output together.")
    seconds: PositiveFloat | None = key("Seconds of wall time.", 3_600.0)
    cost: PositiveFloat | None = key("US dollars.")
    steps: PositiveInt | None = key("Steps that run.", 64)
    megabytes: PositiveFloat | None = key("MB that an output, arguments or the state may hold.", 16.0)


OnError = Literal["stop", "skip", "fallback"] | list[Name]


class McpSpec(Strict):
    """`mcp:`: a server of the Model Context Protocol: a `command` to start, or the `url` of one that runs.

    Of the environment the command gets PATH, HOME and the like, and what `env` names. In `env` and `headers`
    "$NAME" is the value of a variable.
    """

    command: Annotated[list[str], Field(min_length=1)] | None = key("The program to start, with arguments.")
    url: str | None = key("The address of a server that runs already.")
    env: dict[str, str] = key("Variables that the command gets.", {})
    cwd: str | None = key("Where the command runs; else the inventory's folder.")
    headers: dict[str, str] = key("HTTP headers that go to the url.", {})
    timeout: PositiveFloat = key("Seconds for each call of a tool.", 60.0)

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

    An inventory as a module takes what it knows of the input. Of the tools of a server `tools`, `prefix`,
    `allow` and `deny` say more. From `prompt` on, keys are for modules that ask a model.
    """

    use: str | None = key("What it is made from, if not the shipped tool of its name.")
    inventory: str | None = key("The inventory to run as a module: a name or a file.")
    mcp: McpSpec | None = key("A server that has the tools.")
    description: str | None = key("What it does, for the planner; else its docstring.")
    when: str | None = key("When to use it, for the planner.")
    reads: str | list[str] | None = key("Further keys that it reads, such as `cache.facts?`.")
    on_error: OnError | None = key("What a failure does: end the run, skip the step, or take another plan.")
    requires_approval: bool | None = key("A person has to allow each of its steps.")
    max_runs: PositiveInt | dict[str, PositiveInt] | None = key("How often a run may run it; or each tool.")
    prompt: str | None = key("A prompt file, next to the inventory or shipped.")
    llm: ModelSpec | None = key("A model or parameters of its own.")
    samples: PositiveInt | None = key("How many replies to ask for; `vote` chooses.")
    structured: Structured | None = key("Hold replies to a JSON schema; auto: where the model offers that.")
    vote: Literal["majority", "first"] | None = key("Of several, the most frequent or the first valid reply.")
    table_style: Style | None = key("How a prompt writes tables.")
    max_rows: PositiveInt | None = key("Rows of a table that a prompt shows.")
    max_cell: PositiveInt | None = key("Characters of a cell that a prompt shows.")
    max_table_tokens: PositiveInt | None = key("Tokens of a table that a prompt shows, estimated.")
    max_text_tokens: PositiveInt | None = key("Tokens of each text that a prompt shows, estimated.")


class PlannerSpec(Open):
    """`planner:`; keys besides these are constructor parameters of the planner. A name alone is its `use`."""

    use: str = Field(description="What it is made from: a shipped planner, or `file:Class`.")
    prompt: str | None = key("A prompt file, next to the inventory or shipped.")
    llm: ModelSpec | None = key("A model or parameters of its own.")


def short_for(given: Any) -> Any:
    """Return what a name alone, or nothing at all, is short for."""
    return {"use": given} if isinstance(given, str) else {} if given is None else given


class InventorySpec(Strict):
    """A whole inventory file."""

    name: str = Field(description="What the inventory is called.")
    about: str = key("What it does, in a sentence; its card where it is a module.", "")
    extends: str | None = key("The inventory that it is a variant of: a name or a file.")
    input: dict[Name, InputType] = key(
        f"What a run is given: {', '.join(INPUT_TYPES)}; `?` after one that may be missing.",
        {"question": "str"},
    )
    llm: ModelSpec = key("The model and parameters of all that ask one.", ModelSpec())
    planner: Annotated[PlannerSpec, BeforeValidator(short_for, json_schema_input_type=str | PlannerSpec)] = (
        Field(description="What plans the steps.")
    )
    fallback: list[Name] = key("The plan to take if another fails.", [])
    rules: RulesSpec = key("What a plan must look like.", RulesSpec())
    repair: Annotated[dict[Name, RepairSpec], BeforeValidator(_with_show_error)] = key(
        "What to redo, by the module that rejects a result.", {}
    )
    budget: BudgetSpec = key("The most that one question may spend.", BudgetSpec())
    modules: dict[
        Name,
        Annotated[ModuleSpec, BeforeValidator(short_for, json_schema_input_type=str | ModuleSpec | None)],
    ] = Field(description="The tools, by the names that plans call them.")
