"""The tools of a Model Context Protocol server: `modules: {files: {mcp: {command: [...]}}}`."""

import asyncio
import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

from chameleon.core.arguments import type_writer
from chameleon.core.masking import masked
from chameleon.core.module import Module, Traits
from chameleon.core.state import State
from chameleon.errors import InventoryError, NotApproved
from chameleon.interop.mcp_client import connection
from chameleon.interop.mcp_results import output_of
from chameleon.interop.schema_arguments import SchemaArguments, usable_schema
from chameleon.inventory.schema import McpSpec
from chameleon.inventory.toolkit import Toolkit
from chameleon.text import harmless, nearest, one_line

_log = logging.getLogger("chameleon")
_NO_NAME = re.compile(r"\W+", re.ASCII)
_NOT_LATIN = re.compile(r"[^\W\x00-\u024f]")
_MAX_DESCRIPTION_CHARS = 2_000


class McpServer(Toolkit):
    """Provides the tools of a server as modules.

    Args:
        server: an `McpSpec`, or its keys.
        entry: the name of its entry in the inventory.
        tools: the tools to provide; None: all.
        prefix: put before the server's names of tools.
        allow: the tools that need no approval, unless the server calls them destructive.
        deny: the tools to leave out.
        max_runs: how often a run may call each tool: by name, or one number for all.
        listed: the tools recorded in a log; None: the server is asked.
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
        max_runs: Any = None,
        folder: Any = None,
        listed: Any = None,
    ) -> None:
        self.spec = server if isinstance(server, McpSpec) else McpSpec.model_validate(server)
        self.entry, self.prefix, self.folder, self.listed = entry, prefix, folder, listed
        self.wanted, self.allow, self.deny = tools, allow or [], deny or []
        self.max_runs: Mapping[str, int] | int | None = max_runs

    def modules(self) -> Mapping[str, Module]:
        """Return the tools by name. Raises `ServerFailed`, and `InventoryError` for an unknown tool."""
        server, is_recorded = connection(self.spec, self.folder), self.listed is not None
        tools = self.listed if is_recorded else server.tools()
        listed = {str(each.get("name")): each for each in tools}
        by_identifier = {_as_identifier(name): name for name in listed}  # as plans write them

        def meant(key: str, names: Iterable[str]) -> list[str]:
            resolved = [name if name in listed else by_identifier.get(name, name) for name in names]
            unknown = [name for name in resolved if name not in listed]
            if unknown and not is_recorded:  # a log has only the tools that were used
                what = f"{key} names {unknown[0]!r}, but the server has no such tool"
                raise InventoryError(what, hint=nearest(unknown[0], [*listed]))
            return [name for name in resolved if name in listed]

        allowed, denied = meant("allow", self.allow), meant("deny", self.deny)
        limits = self.max_runs if isinstance(self.max_runs, Mapping) else dict.fromkeys(listed, self.max_runs)
        max_runs = {name: limit for each, limit in limits.items() for name in meant("max_runs", [each])}
        modules: dict[str, Module] = {}
        for name in listed if self.wanted is None else meant("tools", self.wanted):
            if name in denied:
                continue
            try:
                tool = self._tool(name, listed[name], server.secrets, is_recorded=is_recorded)
            except InventoryError as problem:
                _log.warning("the tool %s is left out: %s", one_line(harmless(name), 60), problem)
                continue
            if tool.name in modules:
                what = f"two tools of the server {self.entry} get the same name, {tool.name}"
                raise InventoryError(what, hint="Name those that you want in `tools`.")
            destroys = tool.hints.get("destructiveHint") is True
            tool.requires_approval = name not in allowed or destroys
            if name in allowed and destroys:
                what = "%s needs approval although `allow` names it: its server calls it destructive"
                _log.warning(what, tool.name)
            tool.max_runs = max_runs.get(name)
            modules[tool.name] = tool
        return modules

    def _tool(
        self, name: str, listing: Mapping[str, Any], secrets: Sequence[str], *, is_recorded: bool
    ) -> "McpTool":
        before, identifier = self.prefix, _as_identifier(name)
        if not f"{before}{identifier}".isidentifier():
            before = f"{self.entry}_{before}"
        full_name = f"{before}{identifier}"
        record = {"of": self.entry, **_record_of(full_name, listing, secrets)}
        alias = f"{before}{name}"
        return McpTool(full_name, record, self.spec, self.folder, alias=alias, is_recorded=is_recorded)


class McpTool(Module):
    """A tool of a server. What it says of itself, and what it gives, are a stranger's words.

    One that a log `is_recorded` to have had is looked for before it is called: it must be the same. Those of
    a server run in turn: nobody but the server knows which of them changes what another reads.
    """

    reads = ()

    def __init__(
        self,
        name: str,
        listed: Mapping[str, Any],
        spec: McpSpec,
        folder: Path | None,
        *,
        alias: str,
        is_recorded: bool = False,
    ) -> None:
        self.name, self.listed, self.is_recorded = name, listed, is_recorded
        self.spec, self.folder = spec, folder
        settings = (*spec.env.values(), *spec.headers.values())
        self.uses = tuple(value[1:] for value in settings if value.startswith("$"))  # type: ignore[misc]
        theirs = str(listed["name"]) if _NOT_LATIN.search(str(listed["name"])) else ""
        about = filter(None, (one_line(harmless(theirs), 200), str(listed.get("description", ""))))
        self.description = ": ".join(about)
        self.hints: Mapping[str, Any] = listed.get("annotations", {})
        self.traits = Traits(
            returns=_returns(listed.get("outputSchema")),
            exclusive_group=spec.place,
            server_name=alias,
            server_schema=listed,
            arguments=SchemaArguments.of_schema(name, listed["inputSchema"]),
        )

    async def run(self, state: State, /, **args: Any) -> Any:
        """Call the tool. Raises `StepRejected` if it fails, and `ServerFailed` if the server does not answer.

        Secrets of the environment never leak, neither to the server nor from its reply into the log.
        """
        server = connection(self.spec, self.folder)
        secrets, name = server.secrets, str(self.listed["name"])
        encoded = json.dumps(args, default=_sent, ensure_ascii=False)
        if any(json.dumps(secret, ensure_ascii=False)[1:-1] in encoded for secret in secrets):
            raise NotApproved(f"an argument of {self.name} contains a key or password of this machine")
        if self.is_recorded:
            now = await server.listed(name)
            if now is None or {"of": self.listed["of"], **_record_of(self.name, now, secrets)} != self.listed:
                what = f"the tool {self.name} has changed since the log began"
                raise NotApproved(what, hint="Look at it with `chameleon check`, and start a new log.")
        result = await server.call(name, json.loads(encoded))
        return await asyncio.to_thread(output_of, result, secrets)


def _as_identifier(name: str) -> str:
    """Turn a name into an identifier for plans, with a unique number if it has letters that are not Latin."""
    identifier = _NO_NAME.sub("_", name)
    if identifier.strip("_") and not _NOT_LATIN.search(name):
        return identifier
    return f"{identifier.strip('_') or 'tool'}_{crc32(name.encode()) % 1_000_000}"


def _sent(value: Any) -> Any:
    """Encode a table as its header, rows and caption, and a path as text."""
    return value.to_json() if hasattr(value, "to_json") else str(value)


def _record_of(name: str, listing: Mapping[str, Any], secrets: Sequence[str]) -> dict[str, Any]:
    """Return a listing, short, harmless and without secrets. Raises the errors of `usable_schema`."""
    text = one_line(harmless(str(listing.get("description") or "")), _MAX_DESCRIPTION_CHARS)
    record: dict[str, Any] = {"name": str(listing["name"]), "description": text}
    record["inputSchema"] = usable_schema(name, listing.get("inputSchema") or {"type": "object"})
    with suppress(InventoryError):  # it only helps
        if listing.get("outputSchema") is not None:
            record["outputSchema"] = usable_schema(name, listing["outputSchema"])
    hints = listing.get("annotations")
    if isinstance(hints, Mapping):
        record["annotations"] = {key: value for key, value in hints.items() if isinstance(value, bool)}
    return dict(masked(record, secrets))


def _returns(schema: Any) -> str:
    """Describe a tool's output from its schema, or return "" if the schema says nothing."""
    try:
        parts = schema["properties"]
        text = type_writer(schema)(parts["result"] if parts.keys() == {"result"} else schema)
    except Exception:  # a server's schema may have any form, and this only helps
        return ""
    return "" if text in ("any", "object") else one_line(harmless(text), _MAX_DESCRIPTION_CHARS)
