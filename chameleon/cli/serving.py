"""`chameleon serve`: start a server of inventories from options."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer

from chameleon.cli.options import ModelOptions
from chameleon.cli.setup import set_up
from chameleon.cli.terminal import say
from chameleon.errors import InputError, require
from chameleon.inventory.obstacles import all_of
from chameleon.run.approval import refuse


def serve_inventories(
    options: ModelOptions,
    inventories: Sequence[str],
    http: str | None,
    files: list[Path] | None,
    *,
    mcp: bool,
) -> None:
    """Serve MCP, whether `mcp` is set or not, until the client disconnects, or forever over HTTP.

    Args:
        http: "[HOST:]PORT"; None serves on standard input and output.
        files: folders in which clients may name files; by default this one, or none over HTTP.
    """
    import asyncio

    host, port = _address(http) if http is not None else ("", 0)
    with _stdout_for_the_protocol():
        require("mcp", "an MCP server needs", "mcp")
        from chameleon.interop.inventory_server import LOOPBACK, InventoryServer, serve_http, serve_stdio

        executors = []
        for name in inventories:
            setup = set_up(name, options)
            inventory = setup.executor.inventory
            if obstacles := [each for each in inventory.obstacles() if each.stops]:
                raise all_of(obstacles, inventory.name)
            setup.executor.approve = setup.executor.approve or refuse  # nobody is there to ask
            executors.append(setup.executor)
            say(f"Serves {setup.why}.")
        for folder in files or ():
            if not folder.is_dir():
                raise InputError("is not a folder", where=str(folder), hint="Give --files a folder.")
        folders = files or ([Path()] if http is None else [])
        server = InventoryServer(executors, folders=folders, lists_runs=http is None).server()
    if http is None:
        asyncio.run(serve_stdio(server))
        return
    if host not in LOOPBACK:
        say(f"Anyone who can reach {host} can ask: there is no password.")
    asyncio.run(serve_http(server, host, port, lambda url: say(f"At {url}")))


def _address(text: str) -> tuple[str, int]:
    """Read `[HOST:]PORT`. Raises `BadParameter` for other text."""
    host, _, port = text.rpartition(":")
    if not port.isascii() or not port.isdecimal() or int(port) > 65_535:
        raise typer.BadParameter(f"{text!r} is not [HOST:]PORT, such as 8000", param_hint="--http")
    return host.strip("[]") or "127.0.0.1", int(port)  # "[::1]:8000"


@contextmanager
def _stdout_for_the_protocol() -> Iterator[None]:
    """Redirect what the code of inventories prints while loading to standard error."""
    sys.stdout.flush()
    stdout = os.dup(1)
    os.dup2(2, 1)  # the descriptor, since C code and child processes print too
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(stdout, 1)
        os.close(stdout)
