"""The format of an inventory file, as pydantic models; its JSON Schema comes from here."""

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
        raise ValueError("use letters, digits and underscores, and start with a letter")
    return value


def _input_type(value: str) -> str:
    if value.removesuffix("?") not in INPUT_TYPES:
        types = ", ".join(INPUT_TYPES)
        raise ValueError(f"write one of {types}, with a question mark if it is optional")
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
    """Return an optional key with its description."""
    return Field(default=default, description=meaning, **bounds)


class Prices(Strict):
    """US dollars per million tokens; `cached` input tokens cost as much as others by default."""

    input: NonNegativeFloat = Field(description="Price of input tokens.")
    output: NonNegativeFloat = Field(description="Price of output tokens.")
    cached: NonNegativeFloat | None = key("Price of cached input tokens.")

    @property
    def each(self) -> tuple[float, ...]:
        """Return the prices of input, output and, if given, cached input."""
        prices = (self.input, self.output)
        return prices if self.cached is None else (*prices, self.cached)


Reasoning = Literal["none", "minimal", "low", "medium", "high"]


class ModelSpec(Strict):
    """`llm:`: the model and the parameters of its calls. A module's own values override the inventory's.

    `timeout`, `retries` and `prices` belong to a model: a module sets them together with its own `model`.
    """

    model: str | None = key("The model to ask, as PROVIDER:NAME.")
    temperature: NonNegativeFloat | None = key("How random the words are; 0 takes the likeliest.")
    max_tokens: PositiveInt | None = key("The longest visible answer; thinking has its own limit.")
    top_p: PositiveFloat | None = key("Sample from the likeliest words, up to this share of probability.")
    seed: int | None = key("A number that makes sampling repeatable, if supported.")
    logprobs: bool | None = key("Request the probability of replies, which weighs votes.")
    stop: list[str] | None = key("Texts that end a reply, if not set in the prompt file.")
    reasoning: Reasoning | None = key("How much the model thinks before it answers.")
    timeout: PositiveFloat | None = key("Seconds for a call; 120 by default.")
    retries: int | None = key("Retries of a call; 6 by default.", ge=0, le=20)
    prices: Prices | None = key("Prices, instead of the known ones.")

    def params(self) -> dict[str, Any]:
        """Return the parameters of a call."""
        return self.model_dump(exclude_none=True, exclude={"model", "timeout", "retries", "prices"})

    def connection(self) -> dict[str, Any]:
        """Return the settings of the model's connection, as arguments of `LLM.connect` and `with_model`."""
        data = {"retries": self.retries, "timeout": self.timeout, "prices": self.prices and self.prices.each}
        return {key: value for key, value in data.items() if value is not None}


class RepairSpec(Strict):
    """`repair: {verifier: …}`: when that module rejects a result, redo another one and check again.

    Modules that redo the same one share its attempts. `repair: {show_error: false}` applies to every entry
    that does not set it, as in the published runs.
    """

    redo: Name = Field(description="The module to run again; it may be the one that rejects.")
    attempts: PositiveInt = key("How often it runs for one plan, including the first time.", 20)
    temperature_step: NonNegativeFloat = key("Added to the temperature for each redo.", 0.1)
    show_error: bool = key("Show the model its last reply and the error.", True)


class RulesSpec(Strict):
    """`rules:`: the rules that plans must follow."""

    last: Names = key("Modules, one of which must end a plan.", [])
    once: list[Name] = key("Modules that may occur only once in a plan.", [])
    needs: dict[Name, Names] = key("Modules that must come before a module.", {})
    next: dict[Name, Name] = key("The module that must follow a module directly.", {})
    drops: dict[Name, Names] = key("Modules dropped from a plan that contains a module.", {})
    completed: bool = key("Add missing followers, and a missing last module, to a model's plan.", False)
    max_steps: PositiveInt = key("The maximum number of steps in a plan.", 32)


def _with_show_error(repair: Any) -> Any:
    """Copy `show_error` of the whole `repair:` to each entry that does not set it."""
    key = "show_error"
    if not isinstance(repair, dict) or key not in repair:
        return repair
    if not isinstance(value := repair[key], bool):
        raise ValueError(f"{key} must be true or false")
    entries = {name: entry for name, entry in repair.items() if name != key}
    return {k: {key: value, **entry} if isinstance(entry, dict) else entry for k, entry in entries.items()}


class BudgetSpec(Strict):
    """`budget:`: the most that one question may spend; null means no limit.

    Limits are checked before every step and every call; a single call is limited by `llm.timeout`.
    """

    calls: PositiveInt | None = key("Calls of models.", 64)
    tokens: PositiveInt | None = key("Tokens of models, input and output together.")
    seconds: PositiveFloat | None = key("Seconds of wall time.", 3_600.0)
    cost: PositiveFloat | None = key("US dollars.")
    steps: PositiveInt | None = key("Steps that run.", 64)
    megabytes: PositiveFloat | None = key("MB that an output, arguments or the state may hold.", 16.0)


OnError = Literal["stop", "skip", "fallback"] | list[Name]


class McpSpec(Strict):
    """`mcp:`: a Model Context Protocol server: a `command` to start, or the `url` of a running one.

    The command's environment has PATH, HOME and the like, plus what `env` sets. In `env` and `headers`,
    "$NAME" is the value of an environment variable.
    """

    command: Annotated[list[str], Field(min_length=1)] | None = key("The program to start, with arguments.")
    url: str | None = key("The address of a running server.")
    env: dict[str, str] = key("Environment variables for the command.", {})
    cwd: str | None = key("Where the command runs; by default the inventory's folder.")
    headers: dict[str, str] = key("HTTP headers sent to the url.", {})
    timeout: PositiveFloat = key("Seconds for each tool call.", 60.0)

    @property
    def place(self) -> str:
        """Return the command or address, with possible secrets removed."""
        return redact(self.url or " ".join(self.command or ()))

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("give a command or a url")
        if self.url is not None and not self.url.startswith(("http://", "https://")):
            raise ValueError("a url must start with http:// or https://")
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
    """One entry of `modules:`; other keys are constructor parameters. A bare name means its `use`.

    An inventory as a module takes the inputs it declares. For the tools of a server, see also `tools`,
    `prefix`, `allow` and `deny`. From `prompt` on, keys are for modules that ask a model.
    """

    use: str | None = key("The class or function, if not the shipped tool of its name.")
    inventory: str | None = key("The inventory to run as a module: a name or a file.")
    mcp: McpSpec | None = key("The server that provides the tools.")
    description: str | None = key("What it does, as shown to the planner; by default its docstring.")
    when: str | None = key("When to use it, as shown to the planner.")
    reads: str | list[str] | None = key("More keys that it reads, such as `cache.facts?`.")
    on_error: OnError | None = key("After a failure: end the run, skip the step, or take another plan.")
    requires_approval: bool | None = key("A person must approve each of its steps.")
    max_runs: PositiveInt | dict[str, PositiveInt] | None = key("How often one run may use it, or each tool.")
    prompt: str | None = key("A prompt file, next to the inventory or shipped.")
    llm: ModelSpec | None = key("Its own model or parameters.")
    samples: PositiveInt | None = key("How many replies to ask for; `vote` chooses.")
    structured: Structured | None = key("Require replies in a JSON schema; auto: if supported.")
    vote: Literal["majority", "first"] | None = key("Choose the most frequent or the first valid reply.")
    table_style: Style | None = key("How a prompt writes tables.")
    max_rows: PositiveInt | None = key("Rows of a table shown in a prompt.")
    max_cell: PositiveInt | None = key("Characters of a cell shown in a prompt.")
    max_table_tokens: PositiveInt | None = key("Estimated tokens of a table shown in a prompt.")
    max_text_tokens: PositiveInt | None = key("Estimated tokens of each text shown in a prompt.")


class PlannerSpec(Open):
    """`planner:`; other keys are constructor parameters of the planner. A bare name means its `use`."""

    use: str = Field(description="The class: a shipped planner, or `file:Class`.")
    prompt: str | None = key("A prompt file, next to the inventory or shipped.")
    llm: ModelSpec | None = key("Its own model or parameters.")


def short_for(entry: Any) -> Any:
    """Expand a bare name, or an empty entry, to a mapping."""
    return {"use": entry} if isinstance(entry, str) else {} if entry is None else entry


class InventorySpec(Strict):
    """A whole inventory file."""

    name: str = Field(description="The name of the inventory.")
    about: str = key("What it does, in a sentence; its card when used as a module.", "")
    extends: str | None = key("The inventory it is based on: a name or a file.")
    input: dict[Name, InputType] = key(
        f"The inputs of a run: {', '.join(INPUT_TYPES)}; `?` marks an optional one.",
        {"question": "str"},
    )
    llm: ModelSpec = key("The model and parameters of all parts that ask one.", ModelSpec())
    planner: Annotated[PlannerSpec, BeforeValidator(short_for, json_schema_input_type=str | PlannerSpec)] = (
        Field(description="The planner of the steps.")
    )
    fallback: list[Name] = key("The plan to take if another fails.", [])
    rules: RulesSpec = key("The rules that plans must follow.", RulesSpec())
    repair: Annotated[dict[Name, RepairSpec], BeforeValidator(_with_show_error)] = key(
        "The module to redo, by the module that rejects a result.", {}
    )
    budget: BudgetSpec = key("The most that one question may spend.", BudgetSpec())
    modules: dict[
        Name,
        Annotated[ModuleSpec, BeforeValidator(short_for, json_schema_input_type=str | ModuleSpec | None)],
    ] = Field(description="The tools, by their names in plans.")
