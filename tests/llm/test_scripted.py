"""The scripted model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import chameleon.llm
from chameleon.errors import InputError, MissingPackage, ScriptExhausted
from chameleon.llm import LLM, ResponseStore, ScriptedModel
from chameleon.usage import Usage
from tests.llm.asking import scripted


def test_replies_come_in_order_and_run_out() -> None:
    model = ScriptedModel(["a", {"text": "b", "finish": "length", "input_tokens": 3, "output_tokens": 1}])
    llm, messages = LLM.connect(model), [("system", "s"), ("user", "2"), ("assistant", "so far")]
    assert llm.name == "scripted:script" and llm.ask("1").text == "a"
    second = llm.ask(messages)
    assert (second.text, second.truncated, second.usage) == ("b", True, Usage(1, 3, 1, None, None, None))
    with pytest.raises(ScriptExhausted, match="holds 2 replies, and reply 3 was asked for"):
        llm.ask("3")
    assert model.requests[1] == messages
    llm = scripted(lambda messages: messages[-1][1].upper())
    assert [llm.ask(text).text for text in ("a", "b")] == ["A", "B"]


def test_a_file_of_json_lines_is_a_script(tmp_path: Path) -> None:
    script = tmp_path / "replies.jsonl"
    script.write_text('"one"\n\n{"text": "two", "finish": "length"}\n', encoding="utf-8")
    llm = LLM.connect(f"scripted:{script}")
    assert [llm.ask("x").text, llm.ask("y").finish] == ["one", "length"]
    for text, said in (('"one"\n{"reply": "two"}\n', "line 2"), ('"one', "line 1")):
        script.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=said):
            LLM.connect(f"scripted:{script}")
    for path, said in ((tmp_path / "missing.jsonl", "no such script"), (tmp_path, "Is a directory")):
        with pytest.raises(InputError, match=said):
            LLM.connect(f"scripted:{path}")


def test_replies_of_a_script_are_not_kept_whether_it_is_written_anew_or_not(
    tmp_path: Path, store: ResponseStore
) -> None:
    script, told = tmp_path / "replies.jsonl", []
    for reply in ("one", "two", "one"):
        script.write_text(f'"{reply}"\n', encoding="utf-8")
        told.append(LLM.connect(f"scripted:{script}", store=store).ask("x").text)
    assert told == ["one", "two", "one"]
    assert not LLM.connect(f"scripted:{script}", store=store).ask("x").cached


def test_without_langchain_the_pip_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chameleon.errors.find_spec", lambda name: None)
    monkeypatch.delitem(vars(chameleon.llm), "ScriptedModel", raising=False)  # kept since its first use
    with pytest.raises(MissingPackage, match=r"pip install .*\[models\]"):
        _ = chameleon.llm.ScriptedModel


@pytest.mark.slow
def test_importing_is_light() -> None:
    command = [sys.executable, "-c", "import sys, chameleon.llm; print(*sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=True)
    heavy = {"langchain", "langchain_core", "openai", "httpx", "httpx2", "pydantic", "asyncio"}
    assert not heavy & {*done.stdout.split()}
