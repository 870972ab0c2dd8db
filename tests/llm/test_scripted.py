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
    llm = LLM.connect(ScriptedModel(lambda messages: messages[-1][1].upper()))
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
    with pytest.raises(InputError, match=r"missing\.jsonl: there is no such script of replies$"):
        LLM.connect(f"scripted:{tmp_path / 'missing.jsonl'}")
    with pytest.raises(InputError, match=r": the script cannot be read: Is a directory$"):
        LLM.connect(f"scripted:{tmp_path}")


def test_replies_of_a_script_are_not_kept_whether_it_is_written_anew_or_not(tmp_path: Path) -> None:
    script, store = tmp_path / "replies.jsonl", ResponseStore(tmp_path / "store.sqlite")

    def asked(reply: str) -> str:
        script.write_text(f'"{reply}"\n', encoding="utf-8")
        return LLM.connect(f"scripted:{script}", store=store).ask("x").text

    assert [asked("one"), asked("two"), asked("one")] == ["one", "two", "one"]
    llm = LLM.connect(f"scripted:{script}", store=store)
    assert not llm.ask("x").cached
    with pytest.raises(ScriptExhausted, match="holds 1 reply, and reply 2 was asked for"):
        llm.ask("x")


@pytest.mark.slow
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


def test_without_langchain_the_pip_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chameleon.errors.find_spec", lambda name: None)
    monkeypatch.delitem(vars(chameleon.llm), "ScriptedModel", raising=False)  # kept since its first use
    with pytest.raises(MissingPackage, match=r"scripted model needs .*pip install .*\[models\]"):
        _ = chameleon.llm.ScriptedModel
