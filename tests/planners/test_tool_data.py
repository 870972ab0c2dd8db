"""The tools and requests that shortlists are measured on: complete, well formed, each request with a tool."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
TYPES = {"string", "number", "integer", "boolean", "array", "object"}
TOOLS: list[dict[str, Any]] = yaml.safe_load((HERE / "tools_232.yaml").read_text("utf-8"))
REQUESTS: list[dict[str, Any]] = yaml.safe_load((HERE / "tool_requests.yaml").read_text("utf-8"))


def test_each_tool_is_well_formed_and_different() -> None:
    assert len({tool["name"] for tool in TOOLS}) == len({tool["description"] for tool in TOOLS}) == 232
    assert len(TOOLS) == 232
    for tool in TOOLS:
        assert set(tool) == {"name", "description", "args"}
        assert re.fullmatch(r"[a-z][a-z0-9_]{0,39}", tool["name"])
        assert 10 <= len(tool["description"].split()) <= 60 and len(tool["args"]) <= 8, tool["name"]
        for name, arg in tool["args"].items():
            assert isinstance(name, str) and arg["type"] in TYPES, (tool["name"], name)
            assert set(arg) <= {"type", "description", "enum", "default"}, (tool["name"], name)
            assert "default" not in arg or arg["default"] in arg.get("enum", [arg["default"]]), tool["name"]
            assert all(isinstance(value, str) for value in arg.get("enum", [])), (tool["name"], name)


def test_each_request_has_a_tool_and_each_set_uses_a_tool_once() -> None:
    assert Counter(row["set"] for row in REQUESTS) == {"tuning": 100, "frozen": 100}
    assert all(4 <= len(row["request"].split()) <= 30 for row in REQUESTS)
    assert len({row["request"] for row in REQUESTS}) == 200
    right = [(row["set"], [row["tool"]] if isinstance(row["tool"], str) else row["tool"]) for row in REQUESTS]
    uses = Counter((which, tool) for which, tools in right for tool in tools)
    assert max(uses.values()) == 1 and len({tool for _, tool in uses}) >= 150
    assert {tool for _, tool in uses} <= {tool["name"] for tool in TOOLS}
