"""`chameleon compare`: its arms told, measured without a model, and evaluated with one over real HTTP."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chameleon.evaluation.recall import read_corpus
from chameleon.inventory.source import shipped_grids
from chameleon.retrieval.make import build_index
from tests.e2e.commands import Command
from tests.engine.files import write
from tests.evaluation.grid_runs import BOATS, GRID, HEADER, arms, last_boat, make
from tests.evaluation.rows import read_lines, write_rows
from tests.loopback import Fault, LoopbackServer

Start = Callable[..., LoopbackServer]
MODEL = ("--model", "openai:local", "--workers", "1")
SEARCHED = """\
name: searched
inventory: finder.yaml
arms:
  given: {without: [finder]}
  plain: {modules: {finder: {within: plain}}}
  told: {modules: {finder: {within: told}}}
  dense: {modules: {finder: {within: plain, retriever: {first: dense}}}}
"""
FINDER = """\
name: finder
input: {question: str, table: "Table?", index: "str?"}
planner: {use: fixed, plan: [finder, table_answerer, consistency]}
modules:
  finder: {use: table_retriever, retriever: bm25}
  table_answerer: {prompt: tablerag/hybridqa, form: short, samples: 1}
  consistency: {}
"""


def test_the_arms_are_told_where_there_is_no_data(command: Command) -> None:
    told = command("compare", "tablerag")
    assert told.code == 0 and told.err == ""
    assert told.out.startswith("tablerag: Each part of TableRAG by itself")
    assert "All parts but the filter." in told.out and "`chameleon compare tablerag DATA`" in told.out
    found = json.loads(command("compare", "tablerag", "--json", "--arm", "whole", "--arm", "baseline").out)
    assert [(arm["arm"], arm["calls_per_question"]) for arm in found["arms"]] == [
        ("baseline", 1),
        ("whole", 12),
    ]


def test_grids_are_listed(command: Command) -> None:
    listed = json.loads(command("list", "grids", "--json").out)
    assert [row["name"] for row in listed] == shipped_grids()


def test_without_a_model_all_that_needs_none_is_measured(command: Command, tmp_path: Path) -> None:
    grid, questions = make(tmp_path)
    out = tmp_path / "out"
    shown = command("compare", grid, questions, "--out", str(out))
    assert shown.code == 0 and shown.out.startswith("sieves over 4 problems of wikitq")
    assert "Answers need a model, so nothing is said of them." in shown.out
    found = arms(command("compare", grid, questions, "--json").out)
    assert [found[name]["table"]["gold_kept"] for name in found] == [1.0, 0.3333, 0.6667]
    assert all(found[name]["evaluation"] is None for name in found)
    kept = json.loads((out / "grid.json").read_text())
    assert {arm["arm"]: arm["table"] for arm in kept["arms"]} == {
        name: found[name]["table"] for name in found
    }
    assert (kept["benchmark"], kept["problems"], kept["model"]) == ("wikitq", 4, None)


def test_with_a_model_every_arm_is_compared(loopback: Start, command: Command, tmp_path: Path) -> None:
    server = loopback(last_boat)
    grid, questions = make(tmp_path)
    out = tmp_path / "out"
    asked = ("grid", grid, questions, *MODEL, "--out", str(out))
    first = command(*asked, "--json")
    assert first.code == 0 and "Evaluates 3 arms of sieves over 4 problems of wikitq" in first.err
    found = arms(first.out)
    # The model answers with the last row that it sees: of all Otter, of one Swift, of two Heron.
    assert [found[name]["evaluation"]["correct"] for name in found] == [1, 1, 1]
    whole, one = found["whole"]["evaluation"], found["one"]["evaluation"]
    assert whole["difference"] is None and (one["difference"], one["accuracy"]) == (0.0, 0.25)
    assert one["difference_half_width_90"] == pytest.approx(1.645 * (2 / 4 / 4) ** 0.5)
    assert whole["half_width_90"] == pytest.approx(0.292980, abs=1e-6)  # Wilson's
    assert (one["usage"]["calls"], one["usage"]["input_tokens"], one["declined"]) == (4, 44, 0)
    assert one["usage"]["cost"] == pytest.approx(4 * 18 / 1e6)
    assert len(server.requests) == 12

    again = command(*asked, "--json")  # nothing is asked again
    assert again.code == 0 and len(server.requests) == 12
    assert arms(again.out) == found
    for name in found:
        assert len(read_lines(out / name / "results.jsonl")) == 4
    shown = command(*asked)
    assert "± is half of a 90 % interval" in shown.out and "+0.00 ± 58.16" in shown.out
    report = command("report", *(str(out / name) for name in found))
    assert report.code == 0 and "sieves_one" in report.out


def test_max_cost_is_that_of_all_arms(loopback: Start, command: Command, tmp_path: Path) -> None:
    server = loopback(last_boat)
    grid, questions = make(tmp_path)
    asked = ("grid", grid, questions, *MODEL, "--out", str(tmp_path / "out"), "--json", "--max-cost")
    call = 18 / 1e6
    stopped = command(*asked, str(5.5 * call))
    assert stopped.code == 1 and "the cost has reached --max-cost" in stopped.err
    found = arms(stopped.out)
    # The second arm stops after its second call, before that run has ended.
    assert [found[name]["problems"] for name in found] == [4, 1, 0] and len(server.requests) == 6
    assert found["two"]["lacks"] == "not reached"
    assert command(*asked, str(5.5 * call)).code == 1 and len(server.requests) == 6
    other = command(*asked, str(5.5 * call), "--arm", "two")
    assert other.code == 1 and len(server.requests) == 6
    done = command(*asked, "1")
    assert done.code == 0 and len(server.requests) == 12
    assert [arm["problems"] for arm in arms(done.out).values()] == [4, 4, 4]


def test_an_arm_that_cannot_run_stops_no_other(loopback: Start, command: Command, tmp_path: Path) -> None:
    loopback(last_boat)
    retriever = "{use: table_retriever, retriever: {embeddings: nobody}}"
    grid, questions = make(tmp_path, GRID.replace("one: {}", f"one: {{modules: {{keep: {retriever}}}}}"))
    outcome = command("compare", grid, questions, *MODEL)
    assert outcome.code == 0 and "one could not run: " in outcome.out and "'nobody'" in outcome.out
    assert command("compare", grid, questions, *MODEL, "--arm", "one").code == 1


def test_a_wrong_key_stops_all(loopback: Start, command: Command, tmp_path: Path) -> None:
    server = loopback([Fault(401)])
    grid, questions = make(tmp_path)
    outcome = command("compare", grid, questions, *MODEL)
    assert outcome.code == 1 and "refused the key" in outcome.err and len(server.requests) == 1


def test_arms_that_ask_no_model_are_evaluated_without_one(command: Command, tmp_path: Path) -> None:
    write(tmp_path, "name: offline\ninventory: wikitq_offline\narms: {it: {}}", "offline.yaml")
    _, questions = make(tmp_path)
    found = arms(command("compare", str(tmp_path / "offline.yaml"), questions, "--json").out)["it"]
    assert found["evaluation"]["n"] == 4 and found["needs_a_model"] == []


@pytest.fixture
def fleet(tmp_path: Path) -> tuple[str, str]:
    """A grid over two indexes of four tables that differ by a word, and questions about them."""
    pytest.importorskip("tantivy")
    write(tmp_path, FINDER, "finder.yaml")
    words, seasons = ("lantern", "kettle", "mirror", "clock"), ("spring", "summer", "autumn", "winter")
    data: list[dict[str, Any]] = [
        {
            "wikitq_id": f"nt-{number}",
            "table_id": f"boats-{number}",
            "question": f"Which boat has a {words[number]} or a {words[number - 1]} in {seasons[number]}?",
            "answers": [BOATS[0][0]],
            "table": {"caption": "", "header": HEADER, "rows": [*BOATS, [words[number], "at sea"]]},
            "llm_table_summary": f"Boats of the {seasons[number]}.",
        }
        for number in range(4)
    ]
    questions = str(write_rows(tmp_path / "e2e.jsonl", data))
    return str(write(tmp_path, SEARCHED, "searched.yaml")), questions


def test_indexes_of_recall_are_searched(command: Command, fleet: tuple[str, str], tmp_path: Path) -> None:
    index, (grid, questions) = tmp_path / "index", fleet
    recalled: dict[str, float] = {}
    for name, options in (("plain", ()), ("told", ("--summaries",))):
        asked = ("recall", questions, questions, "-r", "bm25", "--json", "--index", str(index / name))
        kept = command(*asked, *options)
        recalled[name] = json.loads(kept.out)["recall@1"]
    found = arms(command("compare", grid, questions, "--json", "--index", str(index)).out)
    assert found["given"]["table"]["gold_kept"] == 1
    # The first of the found tables is the one that comes to the model.
    assert {name: found[name]["table"]["gold_kept"] for name in recalled} == pytest.approx(recalled)
    assert recalled["plain"] < recalled["told"] == 1
    bare = arms(command("compare", grid, questions, "--json").out)
    assert "there is no index to find plain in" in bare["plain"]["lacks"] and found["dense"]["lacks"]


def test_an_index_that_others_have_built_is_searched(
    loopback: Start, command: Command, fleet: tuple[str, str], tmp_path: Path
) -> None:
    loopback(last_boat)
    corpus = Path(fleet[1])
    build_index(tmp_path / "index" / "plain", read_corpus(corpus), "bm25")
    asked = ("grid", *fleet, "--arm", "plain", "--json", "--index", str(tmp_path / "index"))
    out = ("--out", str(tmp_path / "out"), *MODEL)
    found = arms(command(*asked, *out).out)["plain"]
    assert found["evaluation"]["n"] == 4
    settings = json.loads((tmp_path / "out/plain/settings.json").read_text())
    assert list(settings["index"]) == ["plain"]
    shutil.rmtree(tmp_path / "index")
    changed = read_corpus(corpus, summaries=True)
    build_index(tmp_path / "index" / "plain", changed, "bm25")
    refused = command(*asked, *out)
    assert refused.code == 1 and "made with other settings: index.plain" in refused.out
