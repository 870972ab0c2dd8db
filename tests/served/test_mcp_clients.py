"""`chameleon serve --mcp` and the MCP clients of other projects, each in an environment of its own.

Install one or more of these in environments, and name their interpreters in MCP_CLIENTS, with colons between:
langchain-mcp-adapters; 'pydantic-ai-slim[mcp]'; 'smolagents[mcp]' 'mcp<2' websockets. Others are skipped.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import ROOT

CLIENTS = Path(__file__).with_name("foreign_clients.py")
HOW_MANY = "How many points does Kingsmere Town have?"
SERVE = [sys.executable, "-m", "chameleon", "serve", "--mcp", "tables_offline"]
_LEAGUE = "demos/data/league.csv"


def interpreter_of(*packages: str) -> str:
    pytest.importorskip("mcp")
    imports = "; ".join(f"import {each}" for each in packages)
    for python in filter(None, [sys.executable, *os.environ.get("MCP_CLIENTS", "").split(os.pathsep)]):
        if subprocess.run([python, "-c", imports], capture_output=True, check=False).returncode == 0:
            return python
    pytest.skip(f"no interpreter with {packages[0]}: name one in MCP_CLIENTS")


PACKAGES: dict[str, tuple[str, ...]] = {
    "langchain": ("langchain_mcp_adapters.client",),
    "pydantic_ai": ("pydantic_ai.mcp", "fastmcp"),
}
PACKAGES["smolagents"] = ("smolagents", "mcpadapt.smolagents_adapter")


@pytest.mark.parametrize("client", PACKAGES)
def test_another_projects_client_calls_an_inventory(client: str) -> None:
    packages = PACKAGES[client]
    python, table = interpreter_of(*packages), (ROOT / _LEAGUE).read_text("utf-8")
    calls = [{"question": HOW_MANY, "table": given} for given in (_LEAGUE, table, "../league.csv")]
    there: dict[str, Any] = {"cwd": ROOT, "env": {**os.environ, "PYTHONPATH": str(ROOT)}, "timeout": 120}
    command = [python, str(CLIENTS), client, json.dumps(calls), *SERVE]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **there)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["answer"] for each in found] == ["47", "47", None]
    assert [each["text"] for each in found[:2]] == ["47", "47"]
    assert "there is no such file to be read" in found[2]["text"]
    assert {each["tool"] for each in found} == {"tables_offline"}
