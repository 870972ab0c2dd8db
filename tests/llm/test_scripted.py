"""The scripted model, and how replies of all kinds are read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from chameleon.budget import Usage
from chameleon.errors import InputError, ModelError, Refused, ScriptExhausted
from chameleon.llm import LLM, ScriptedModel
from chameleon.llm.parse_reply import parse_reply
from chameleon.llm.prices import Pricing


def test_replies_come_in_order_and_run_out() -> None:
    model = ScriptedModel(["a", {"text": "b", "finish": "length", "input_tokens": 3, "output_tokens": 1}])
    llm = LLM.connect(model)
    assert llm.name == "scripted:script"
    assert llm.ask("1").text == "a"
    second = llm.ask([("system", "s"), ("user", "2"), ("assistant", "so far")])
    assert (second.text, second.truncated, second.usage) == ("b", True, Usage(1, 3, 1, None, None, None))
    with pytest.raises(ScriptExhausted, match="holds 2 replies, and reply 3 was asked for"):
        llm.ask("3")
    assert model.requests[1] == [("system", "s"), ("user", "2"), ("assistant", "so far")]
    assert issubclass(ScriptExhausted, ModelError)


def test_a_function_is_a_script() -> None:
    llm = LLM.connect(ScriptedModel(lambda messages: messages[-1][1].upper()))
    assert [llm.ask(text).text for text in ("a", "b")] == ["A", "B"]


def test_a_file_of_json_lines_is_a_script(tmp_path: Path) -> None:
    script = tmp_path / "replies.jsonl"
    script.write_text('"one"\n\n{"text": "two", "finish": "length"}\n', encoding="utf-8")
    llm = LLM.connect(f"scripted:{script}")
    assert [llm.ask("x").text, llm.ask("y").finish] == ["one", "length"]
    script.write_text('"one"\n{"reply": "two"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="line 2"):
        LLM.connect(f"scripted:{script}")
    script.write_text('"one', encoding="utf-8")
    with pytest.raises(InputError, match="line 1"):
        LLM.connect(f"scripted:{script}")
    with pytest.raises(InputError, match=r"missing\.jsonl: there is no such script of replies$"):
        LLM.connect(f"scripted:{tmp_path / 'missing.jsonl'}")
    with pytest.raises(InputError, match=r": the script cannot be read: Is a directory$"):
        LLM.connect(f"scripted:{tmp_path}")


def read(content: Any, metadata: dict[str, Any] | None = None, **fields: Any) -> Any:
    return parse_reply(AIMessage(content=content, response_metadata=metadata or {}, **fields), Pricing("m"))


def test_blocks_are_joined_and_reasoning_is_left_out() -> None:
    blocks = [
        {"type": "reasoning", "reasoning": "hmm"},
        {"type": "thinking", "thinking": "hmm"},
        {"type": "text", "text": "The answer"},
        " is ",
        {"type": "text", "text": "4"},
    ]
    assert read(blocks).text == "The answer is 4"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<think>a\nb</think>\n\n4", "4"),
        ("so it must be 4</think>4", "4"),
        ("\n<think>\n\n</think>\n4", "4"),
        ("<think>endless", ""),
        ("4 <think> 5", "4 <think> 5"),
        ("Write <think> and </think> as tags", "Write <think> and </think> as tags"),
        ("a < b", "a < b"),
    ],
)
def test_thoughts_in_the_text_are_left_out(content: str, text: str) -> None:
    assert read(content).text == text


def test_tool_calls_without_text_become_their_arguments() -> None:
    call = {"name": "plan", "args": {"steps": ["ä"]}, "id": "1", "type": "tool_call"}
    assert json.loads(read("", tool_calls=[call]).text) == {"steps": ["ä"]}


@pytest.mark.parametrize(
    ("metadata", "finish"),
    [
        ({"finish_reason": "stop"}, "stop"),
        ({"finish_reason": "STOP"}, "stop"),
        ({"finish_reason": "MAX_TOKENS"}, "length"),
        ({"stop_reason": "max_tokens"}, "length"),
        ({"stop_reason": "end_turn"}, "stop"),
        ({"stopReason": "max_tokens"}, "length"),
        ({"done_reason": "length"}, "length"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "completed", "incomplete_details": None}, "stop"),
        ({"finish_reason": "SAFETY"}, "content_filter"),
        ({}, ""),
    ],
)
def test_providers_words_for_the_end_are_made_one(metadata: dict[str, Any], finish: str) -> None:
    assert read("x", metadata).finish == finish


def test_refusals_are_faults() -> None:
    assert isinstance(read("par", {"stop_reason": "refusal"}).error, Refused)
    assert isinstance(read("", {}, additional_kwargs={"refusal": "no"}).error, Refused)
    assert read("fine").error is None


@given(st.integers(0, 9), st.integers(0, 9), st.sampled_from(["", "text"]))
def test_unknown_usage_is_never_zero(tokens_in: int, tokens_out: int, text: str) -> None:
    usage = {"input_tokens": tokens_in, "output_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}
    got = read(text, usage_metadata=usage).usage
    assert got.input_tokens == (tokens_in or None)
    assert got.output_tokens != 0 or not text
    assert got.cost is None
    assert read(text).usage == Usage(1, None, None, None, None, None)


def test_importing_is_light() -> None:
    program = (
        "import sys, chameleon.llm\n"
        "heavy = {'langchain', 'langchain_core', 'openai', 'httpx', 'httpx2', 'pydantic', 'asyncio'}\n"
        "print(*sorted(heavy & set(sys.modules)))"
    )
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=root, check=True
    )
    assert done.stdout.strip() == ""
