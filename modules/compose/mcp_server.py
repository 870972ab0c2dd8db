"""The tools of a server of the Model Context Protocol: `modules: {files: {mcp: {command: [...]}}}`."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from chameleon.arguments import Arguments
from chameleon.errors import InventoryError, NotApproved
from chameleon.interop.mcp_client import Connection, connection
from chameleon.interop.mcp_results import masked, output_of
from chameleon.interop.schema_arguments import SchemaArguments, thawed
from chameleon.inventory.schema import McpSpec
from chameleon.module import Module
from chameleon.state import State
from chameleon.text import harmless, known_secrets, one_line
from chameleon.toolkit import Toolkit, chosen

_log = logging.getLogger("chameleon")
_NO_NAME = re.compile(r"\W+", re.ASCII)
_LONGEST_DESCRIPTION = 2_000
_KEPT = ("name", "description", "inputSchema", "outputSchema", "annotations")


class McpServer(Toolkit):
    """Brings the tools of a server, or those that `tools` names, as modules.

    Their names are the server's, after `prefix`. Each asks for approval, unless `allow` names it, and then
    too where the server says that it destroys. `deny` leaves tools out; `at_most` says how often a run may
    call one, by name. `listed` are the tools as a log has them; the server is asked otherwise.
    """

    def __init__(
        self,
        server: Any,
        entry: str = "server",
        *,
        tools: list[str] | None = None,
        prefix: str = "",
        allow: list[str] | None = None,
        deny: list[str] | None = None,
        at_most: Any = None,
        folder: Any = None,
        listed: Any = None,
    ) -> None:
        self.spec = server if isinstance(server, McpSpec) else McpSpec.model_validate(server)
        self.entry, self.prefix, self.folder, self.listed = entry, prefix, folder, listed
        self.wanted, self.allow, self.deny = tools, allow or [], deny or []
        self.at_most: Mapping[str, int] | int | None = at_most

    def modules(self) -> Mapping[str, Module]:
        """Return the tools by name. Raises `ServerFailed`, and `InventoryError` for one that is not there."""
        if self.listed is None:
            listed = {str(each.get("name")): each for each in self._connection.tools()}
        else:
            listed = {each["name"]: each for each in self.listed}
        limits = self.at_most if isinstance(self.at_most, Mapping) else {}
        own = {_NO_NAME.sub("_", name): name for name in listed}  # as plans write them

        def meant(names: Iterable[str]) -> list[str]:
            return chosen(listed, [own.get(name, name) for name in names])

        allowed, denied = meant(self.allow), meant(self.deny)
        at_most = dict(zip(meant(limits), limits.values(), strict=True))
        found: dict[str, Module] = {}
        for name in listed if self.wanted is None else meant(self.wanted):
            if name in denied:
                continue
            try:
                tool = self._tool(name, listed[name], at_most.get(name), is_allowed=name in allowed)
            except InventoryError as problem:
                if self.wanted is not None:
                    raise
                _log.warning("the tool %s is left out: %s", one_line(harmless(name), 60), problem)
                continue
            if tool.name in found:
                what = f"two tools of the server {self.entry} come to the name {tool.name}"
                raise InventoryError(what, hint="Name those that you want in `tools`.")
            found[tool.name] = tool
        return found

    @property
    def _connection(self) -> Connection:
        return connection(self.spec, self.folder)

    def _tool(
        self, name: str, listed: Mapping[str, Any], at_most: int | None, *, is_allowed: bool
    ) -> McpTool:
        told = {key: listed[key] for key in _KEPT if listed.get(key) is not None}
        own = f"{self.prefix}{_NO_NAME.sub('_', name)}"
        if not own.isidentifier():
            own = f"{self.entry}_{own}"
        tool = McpTool(own, {"of": self.entry, **told}, self.spec, self.folder)
        destroys = (listed.get("annotations") or {}).get("destructiveHint") is True
        tool.asks = "" if is_allowed and not destroys else "approval"
        tool.at_most = (
            at_most if at_most is not None else self.at_most if isinstance(self.at_most, int) else None
        )
        return tool


class McpTool(Module):
    """A tool of a server. What it says of itself, and what it gives, are a stranger's words."""

    reads = ()

    def __init__(self, name: str, listed: Mapping[str, Any], spec: McpSpec, folder: Path | None) -> None:
        self.name, self.listed, self.spec, self.folder = name, listed, spec, folder
        self.description = one_line(harmless(str(listed.get("description", ""))), _LONGEST_DESCRIPTION)
        self._arguments = SchemaArguments.of_schema(name, listed.get("inputSchema") or {})
        self.gives = ""
        if isinstance(schema := listed.get("outputSchema"), Mapping):
            parts = schema.get("properties")
            if isinstance(parts, Mapping) and parts.keys() == {"result"}:  # as `output_of` has it
                said = Arguments.in_words(parts["result"], schema)
            else:
                said = Arguments.in_words(schema, schema)
            self.gives = "" if said in ("any", "object") else harmless(said)

    @property
    def arguments(self) -> Arguments | None:
        """Return what its schema says that it takes."""
        return self._arguments

    async def run(self, state: State, /, **args: Any) -> Any:
        """Call the tool. Raises `StepRejected` where it failed, `ServerFailed` where there is no answer.

        A secret of the environment never leaves: neither to the server, nor from its reply into the log.
        """
        assert self.listed is not None
        given, secrets = thawed(args), known_secrets()
        if any(secret in text for text in _texts(given) for secret in secrets):
            raise NotApproved(f"an argument of {self.name} holds a key or password of this machine")
        result = await connection(self.spec, self.folder).call(self.listed["name"], given)
        return await asyncio.to_thread(output_of, masked(result, secrets))


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts in a value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from (str(key), *_texts(each))
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
