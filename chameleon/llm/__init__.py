"""Access to chat models: any LangChain provider, with a response store, retries, usage and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chameleon.errors import require
from chameleon.lazy import lazy
from chameleon.text import redact

if TYPE_CHECKING:
    from chameleon.llm.client import LLM
    from chameleon.llm.message import Reply
    from chameleon.llm.model_choice import ModelChoice, choose_model
    from chameleon.llm.scripted import ScriptedModel
    from chameleon.llm.store import ResponseStore

__all__ = [
    "LLM",
    "ModelChoice",
    "Reply",
    "ResponseStore",
    "ScriptedModel",
    "choose_model",
    "redact",
]

_load = lazy(
    __name__,
    client="LLM",
    message="Reply",
    model_choice="ModelChoice choose_model",
    scripted="ScriptedModel",
    store="ResponseStore",
)


def __getattr__(name: str) -> Any:
    if name == "ScriptedModel":  # a LangChain class, which takes a second to import
        require("langchain-core", "a scripted model needs", "models", module="langchain_core", imports=True)
    return _load(name)
