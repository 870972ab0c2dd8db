"""`AsksModel`: what modules and planners that ask a model have in common."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from chameleon.errors import ChameleonError, InventoryError, NoModel
from chameleon.prompt import Prompt

if TYPE_CHECKING:
    from chameleon.llm import LLM


class AsksModel:
    """Something with a prompt file and a model.

    - `prompt`: the prompt file, such as "tabmwp/row_lookup"; the inventory may name another.
    - `llm_params`: parameters of the call, such as {"max_tokens": 256}.
    - `own_model`: a model of its own, "provider:name", with `own_connection` (retries, timeout, prices).
    """

    name: str = ""
    prompt: str = ""
    llm_params: Mapping[str, Any] = {}
    own_model: str = ""
    own_connection: Mapping[str, Any] = {}
    has_own_stop: bool = True
    folders: tuple[Path, ...] = ()
    llm: LLM | None = None

    @property
    def needs_model(self) -> bool:
        return True

    @cached_property
    def template(self) -> Prompt:
        """The prompt file, read on first use. Raises `PromptError` when there is none."""
        if not self.prompt:
            raise InventoryError(f"{self.name} names no prompt file", hint="Set `prompt:` in the inventory.")
        return Prompt.load(self.prompt, self.folders)

    def with_llm(self, llm: Any) -> Self:
        """A copy that asks this model, or its own."""
        bound = copy.copy(self)
        bound.__dict__.pop("_lock", None)  # the copy is set up on its own
        if self.own_model and llm is None:
            from chameleon.llm import LLM

            llm = LLM.connect(self.own_model, **self.own_connection)
        elif self.own_model:
            try:
                llm = llm.with_model(self.own_model, **self.own_connection)
            except ChameleonError as error:
                raise error.at(f"{self.name}, {error.where or f'model {self.own_model}'}") from None
        bound.llm = llm.with_params(**self.llm_params) if llm is not None else None
        return bound

    def redo_params(self, temperature_step: float) -> dict[str, Any]:
        """The parameters of a redo: as warm as published, where a temperature is set at all."""
        temperature = self.model.params.get("temperature")
        if temperature is None:
            return {}
        return {
            "temperature": min(float(temperature) + temperature_step, max(float(temperature), 1.0))
        }  # Claude's most

    @property
    def stop_params(self) -> dict[str, Any]:
        """The stop texts of the prompt, as a parameter; none where other ones were given for all calls."""
        return {"stop": list(self.template.stop)} if self.template.stop and self.has_own_stop else {}

    @property
    def model(self) -> LLM:
        """The model. Raises `NoModel` when none is connected."""
        if self.llm is None:
            raise NoModel(f"{self.name} asks a model, and none is connected")
        return self.llm
