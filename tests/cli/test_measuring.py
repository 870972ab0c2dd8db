"""`chameleon compare`, with and without a model, and `chameleon recall`, beside rank-bm25."""

import json
from pathlib import Path
from typing import Any

import pytest

from chameleon.inventory.source import shipped_grids
from chameleon.retrieval.make import build_index
from tests.benchmarks.shared_data import DATA, anchors, needs_data
from tests.e2e.commands import Command
from tests.engine.files import write
from tests.evaluation.grid_runs import BOATS, GRID, HEADER, arms, last_boat, make
from tests.evaluation.rows import read_lines, write_rows
from tests.loopback import Fault, Start
from tests.retrieval.hashed import tables

MODEL = " --model openai:local --workers 1"
RUN = f"grid grid.yaml questions.jsonl {MODEL} --out out"
MEASURE = "compare grid.yaml questions.jsonl"
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


@pytest.fixture(autouse=True)
def _files(tmp_path: Path) -> None:
    make(tmp_path)


def test_the_arms_are_told_where_there_is_no_data(sh: Command) -> None:
    told = sh("compare tablerag")
    assert told.code == 0 and told.err == ""
    assert told.out.startswith("tablerag: Each part of TableRAG by itself")
    assert "All parts but the filter." in told.out and "`chameleon compare tablerag DATA`" in told.out
    found = sh("compare tablerag --json --arm whole --arm baseline").json["arms"]
    assert [(arm["arm"], arm["calls_per_question"]) for arm in found] == [("baseline", 1), ("whole", 12)]
    for name in ("experiments", "grids"):  # its old name
        assert [row["name"] for row in sh(f"list {name} --json").json] == shipped_grids()


def test_without_a_model_all_that_needs_none_is_measured(sh: Command, tmp_path: Path) -> None:
    shown = sh(MEASURE, "--out", "out")
    assert shown.code == 0 and shown.out.startswith("sieves over 4 problems of wikitq")
    assert "Answers need a model, so none were measured." in shown.out
    found = arms(sh(MEASURE, "--json").out)
    assert [arm["table"]["gold_kept"] for arm in found.values()] == [1.0, 0.3333, 0.6667]
    assert all(arm["evaluation"] is None for arm in found.values())
    kept = json.loads((tmp_path / "out/grid.json").read_text())
    assert [arm["table"] for arm in kept["arms"]] == [arm["table"] for arm in found.values()]
    assert (kept["benchmark"], kept["problems"], kept["model"]) == ("wikitq", 4, None)


def test_with_a_model_every_arm_is_compared(loopback: Start, sh: Command, tmp_path: Path) -> None:
    server = loopback(last_boat)
    first = sh(RUN, "--json")
    told = "Evaluates 3 arms over 4 problems of wikitq with openai:local: some 12 calls, some $0.0"
    assert first.code == 0 and first.err.startswith(told)
    found = arms(first.out)
    # The model answers with the last row that it sees: of all Otter, of one Swift, of two Heron.
    assert [found[name]["evaluation"]["correct"] for name in found] == [1, 1, 1]
    whole, one = found["whole"]["evaluation"], found["one"]["evaluation"]
    assert whole["difference"] is None and (one["difference"], one["accuracy"]) == (0.0, 0.25)
    assert one["difference_half_width_90"] == pytest.approx(1.645 * (2 / 4 / 4) ** 0.5)
    assert whole["half_width_90"] == pytest.approx(0.292980, abs=1e-6)  # Wilson's
    assert (one["usage"]["calls"], one["usage"]["input_tokens"], one["declined"]) == (4, 44, 0)
    assert one["usage"]["cost"] == pytest.approx(4 * 18 / 1e6)
    again = sh(RUN, "--json")
    assert again.code == 0 and arms(again.out) == found and len(server.requests) == 12
    assert all(len(read_lines(tmp_path / f"out/{name}/results.jsonl")) == 4 for name in found)
    shown = sh(RUN).out
    assert "± is half of a 90% interval" in shown and "+0.00 ± 58.16" in shown
    report = sh("report", *(f"out/{name}" for name in found))
    assert report.code == 0 and "sieves_one" in report.out


def test_max_cost_is_that_of_all_arms(loopback: Start, sh: Command) -> None:
    server, low = loopback(last_boat), f"{RUN} --json --max-cost {5.5 * 18 / 1e6}"
    stopped = sh(low)
    assert stopped.code == 1 and "the cost has reached --max-cost" in stopped.err
    found = arms(stopped.out)
    # The second arm stops after its second call, before that run has ended.
    assert [arm["problems"] for arm in found.values()] == [4, 1, 0]
    assert [arm["lacks"] for arm in found.values()] == [None, "stopped after 1 of 4 problems", "not reached"]
    assert sh(low).code == 1 and sh(low, "--arm", "two").code == 1 and len(server.requests) == 6
    done = sh(RUN, "--json", "--max-cost", "1")
    assert done.code == 0 and len(server.requests) == 12
    assert [arm["problems"] for arm in arms(done.out).values()] == [4, 4, 4]


def test_an_arm_that_cannot_run_stops_no_other(loopback: Start, sh: Command, tmp_path: Path) -> None:
    loopback(last_boat)
    retriever = "{use: table_retriever, retriever: {embeddings: nobody}}"
    grid = GRID.replace("{keep: {rows: 2}}", "{table_answerer: {llm: {seed: 9}}}")
    make(tmp_path, grid.replace("one: {}", f"one: {{modules: {{keep: {retriever}}}}}"))
    outcome = sh(MEASURE + MODEL)
    assert outcome.code == 0 and "one could not run: " in outcome.out and "'nobody'" in outcome.out
    assert sh(MEASURE + MODEL, "--arm", "one").code == 1 and sh(MEASURE + MODEL, "-p", "seed=8").code == 2
    server = loopback([Fault(401)])
    stopped = sh(MEASURE + MODEL)
    assert stopped.code == 1 and "refused the key" in stopped.err and len(server.requests) == 1


def test_indexes_are_searched(loopback: Start, sh: Command, tmp_path: Path) -> None:
    pytest.importorskip("tantivy")
    write(tmp_path, FINDER, "finder.yaml")
    write(tmp_path, SEARCHED, "searched.yaml")
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
    write_rows(tmp_path / "e2e.jsonl", data)
    recall = "recall e2e.jsonl e2e.jsonl -r bm25 --json --index"
    plain, told = (sh(f"{recall} index/{name}").json["recall@1"] for name in ("plain", "told --summaries"))
    found = arms(sh("compare searched.yaml e2e.jsonl --json --index index").out)
    # The first of the found tables is the one that comes to the model.
    kept = [found[name]["table"]["gold_kept"] for name in ("given", "plain", "told")]
    assert kept == pytest.approx([1, plain, told]) and plain < told == 1
    bare = arms(sh("compare searched.yaml e2e.jsonl --json").out)
    assert "there is no index to find plain in" in bare["plain"]["lacks"] and found["dense"]["lacks"]
    loopback(last_boat)
    asked = f"grid searched.yaml e2e.jsonl --arm plain --json --index index {MODEL} --out out"
    assert arms(sh(asked).out)["plain"]["evaluation"]["n"] == 4
    assert list(json.loads((tmp_path / "out/plain/settings.json").read_text())["index"]) == ["plain", "told"]


FIGURES = ["recall@1", "recall@5", "recall@10", "recall@50", "mrr"]
KEYS = ["n", *FIGURES, "queries_per_second", "unmatched"]
RECALLS = "recall tables.jsonl.gz queries.jsonl"
KINDS = ("question", "statement", "query", "claim")


@pytest.fixture
def _searched(tmp_path: Path) -> None:
    """40 tables, and queries for 20 of them under all names that there are."""
    rows = [{"table_id": each.id, **each.table.to_json()} for each in tables(40) if each.table]
    write_rows(tmp_path / "tables.jsonl.gz", rows)
    asked = [
        {"id": n, KINDS[n % 4]: row["caption"], "gold_table_id" if n % 2 else "table_id": row["table_id"]}
        for n, row in enumerate(rows[:20])
    ]
    write_rows(tmp_path / "queries.jsonl", asked)


def figures(sh: Command, line: str) -> dict[str, float]:
    outcome = sh(line, "--json")
    assert outcome.code == 0, outcome.err
    found: dict[str, float] = outcome.json
    assert list(found) == KEYS and found["queries_per_second"] > 0
    return found


@pytest.mark.usefixtures("_searched")
def test_an_index_serves_as_corpus(sh: Command, tmp_path: Path) -> None:
    found = [figures(sh, line) for line in (f"{RECALLS} --index kept", "recall kept queries.jsonl")]
    found.append(figures(sh, f"{RECALLS} --index kept"))
    assert len({tuple(each[name] for name in FIGURES) for each in found}) == 1
    build_index(tmp_path / "kept", tables(1, seed=9, first=90))
    told = sh(RECALLS, "--index", "kept")
    assert told.code == 1 and "the index holds 41 documents, but the corpus has 40" in told.err
    usage = sh("recall kept queries.jsonl --index other")
    assert usage.code == 2 and "the corpus is already an index" in usage.told


@pytest.mark.usefixtures("_searched")
def test_ranks_reach_beyond_what_is_found(sh: Command, tmp_path: Path) -> None:
    rows = [{"table_id": str(n), "header": ["word"], "rows": [["river"]], "caption": ""} for n in range(80)]
    write_rows(tmp_path / "tables.jsonl.gz", rows)
    asked = [{"question": "river", "table_id": "59"}, {"question": "unheard", "table_id": "3"}]
    write_rows(tmp_path / "queries.jsonl", asked)
    found = figures(sh, f"{RECALLS} --retriever bm25")
    assert (found["recall@50"], found["mrr"], found["unmatched"]) == (0.0, round(1 / 60 / 2, 4), 1)
    shown = sh(RECALLS, "-r", "{first: bm25, depth: 20}").out
    assert "depth: 20" in shown.splitlines()[0]
    assert "1 query did not find the table that answers." in shown
    write_rows(tmp_path / "queries.jsonl", asked[:1])
    assert "found nothing" not in sh(RECALLS).out


@pytest.mark.usefixtures("_searched")
def test_tables_under_a_key_and_uneven_ones(sh: Command, tmp_path: Path) -> None:
    table = {"header": ["year", "club"], "rows": [[1999, "Rovers", "extra"], [None]], "caption": None}
    rows = [{"id": n, "table_id": "a", "question": "rovers", "table": table} for n in range(2)]
    write_rows(tmp_path / "q.jsonl", rows)
    assert figures(sh, "recall q.jsonl q.jsonl")["recall@1"] == 1.0
    write_rows(tmp_path / "other.jsonl", [rows[0], {**rows[1], "table": {**table, "caption": "x"}}])
    told = sh("recall other.jsonl q.jsonl").complaint
    assert "row 2: another table has the same table_id 'a'" in told


@needs_data
@pytest.mark.usefixtures("_searched")
def test_more_is_found_than_by_rank_bm25(sh: Command) -> None:
    data = DATA / "tablerag/e2ewtq.jsonl.gz"
    found = figures(sh, f"recall {data} {data} --retriever bm25")
    for name in ("recall@1", "recall@10", "mrr"):
        value, n = anchors()[f"tablerag.e2ewtq.bm25.{name}"]
        assert found[name] > value and found["n"] == n, found
