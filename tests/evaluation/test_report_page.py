"""The page of a report: what it shows of runs, how much of it, and how it is written."""

from __future__ import annotations

import base64
import re
import tracemalloc
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest

from chameleon.core.events import Event, Plan, RunEnded, RunStarted, Step, StepRecord
from chameleon.errors import InputError
from chameleon.evaluation import run_page
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.report_page import write_page
from chameleon.evaluation.run import Run, read_run
from chameleon.evaluation.system_table import Comparison
from tests.evaluation.html_outline import Outline, assert_ours
from tests.evaluation.report_runs import PNG, SCRIPT, offline_run, page_of, settings, write_run


@pytest.fixture(scope="module")
def two_runs(runs: tuple[Run, Run], tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run, str]:
    return *runs, page_of(*runs, folder=tmp_path_factory.mktemp("two"))


def test_a_problem_opens_to_all_that_is_known_of_it(two_runs: tuple[Run, Run, str]) -> None:
    _, model, page = two_runs
    outline = Outline(page)
    assert_ours(outline)
    number, result = next(
        (number, each)
        for number, each in enumerate(model.results, 1)
        if each.answer is not None and each.correct
    )
    [(_, events)] = model.with_events([result])
    problem = next(e for e in outline.of_class("problem") if e.attributes["id"] == f"run2-problem{number}")
    assert "right" in problem.classes
    begun = events[0]
    assert isinstance(begun, RunStarted)
    wanted = [begun.input["question"], result.id, str(result.answer), str(result.gold), *result.columns]
    wanted += [cell for row in begun.input["table"].rows for cell in row]
    for event in events:
        if isinstance(event, Plan):
            wanted += [*event.names, event.by, event.note, *(call.text for call in event.calls)]
        elif isinstance(event, StepRecord):
            wanted += [event.step.module, *(call.text for call in event.calls)]
            wanted += [event.output] if isinstance(event.output, str) else []
            wanted += [event.error.message] if event.error else []
    for text in wanted:
        assert text in problem.text


def test_a_problem_is_shown_as_on_the_page_of_its_run(two_runs: tuple[Run, Run, str]) -> None:
    offline, _, page = two_runs
    results = [(number, each) for number, each in enumerate(offline.results, 1) if each.answered]
    number, result = results[0]
    [(_, events)] = offline.with_events([result])
    alone = Outline(run_page.page_of(events))
    whole = Outline(page)
    [problem] = [e for e in whole.of_class("problem") if e.attributes["id"] == f"run1-problem{number}"]
    inside = [e for e in whole.of_class("source") if problem in e.parents]
    assert [e.text for e in inside] == [e.text for e in alone.of_class("source")] != []
    for tag in ("dt", "li"):
        own = [e.text for e in whole.of_tag(tag) if problem in e.parents]
        assert own == [e.text for e in alone.of_tag(tag)]
    assert {"Read as", "From"} <= {e.text for e in alone.of_tag("dt")}


def test_the_filter_needs_no_script(two_runs: tuple[Run, Run, str]) -> None:
    offline, _, page = two_runs
    outline = Outline(page)
    labels = {e.attributes["for"]: e.text for e in outline.of_tag("label")}
    right = sum(result.correct for result in offline.results)
    declined = sum(result.declined for result in offline.results)
    assert labels["show1-all"] == "all 24" and labels["show1-right"] == f"right {right}"
    assert labels["show1-declined"] == f"declined {declined}"
    shown = [e for e in outline.of_class("problem") if str(e.attributes["id"]).startswith("run1-")]
    assert sum("right" in e.classes for e in shown) == right
    first = [e.classes[1] for e in shown]
    assert first[-3:] == ["right"] * 3, "what went wrong comes first"


def test_runs_point_to_each_other(two_runs: tuple[Run, Run, str]) -> None:
    offline, model, page = two_runs
    problem = next(e for e in Outline(page).of_class("problem") if e.attributes["id"] == "run1-problem5")
    assert list(model.results)[4].id == list(offline.results)[4].id
    assert re.search(r"In model:\s+(right|wrong|declined|failed)\.", problem.text)


def test_as_many_problems_as_asked_for_wrong_first(two_runs: tuple[Run, Run, str], tmp_path: Path) -> None:
    offline = two_runs[0]
    page = page_of(offline, folder=tmp_path, problems=5)
    order = ["wrong", "failed", "declined", "right"]
    found = sorted(enumerate(offline.results, 1), key=lambda placed: order.index(placed[1].verdict))
    wrong = [place for place, _ in found]
    ids = [element.attributes["id"] for element in Outline(page).of_class("problem")]
    assert ids == [f"run1-problem{place}" for place in wrong[:5]]
    assert "5 of 24 shown: --problems N shows more." in page


def test_what_runs_differ_on_comes_first_in_the_table_and_below(tmp_path: Path) -> None:
    step = Step("count")
    begun: list[Event] = [
        RunStarted("x", {"question": "How many apples are there?"}),
        Plan((step,), "rules"),
        StepRecord(step, "7"),
        RunEnded("answered"),
    ]
    correct = {"a": [True] * 12, "b": [number not in (8, 10) for number in range(12)]}
    runs = [
        write_run(
            tmp_path / name,
            settings("x"),
            [(Problem(str(n), {}, "7"), begun, each) for n, each in enumerate(found)],
        )
        for name, found in correct.items()
    ]
    [comparison] = Comparison.of(runs)
    assert [row["id"] for row in comparison.problems(4)] == ["8", "10", "0", "1"]
    outline = Outline(page_of(*runs, folder=tmp_path, problems=2))
    assert_ours(outline)
    table = next(e for e in outline.of_tag("table") if "Gold answer" in e.text)
    links = [e.attributes["href"] for e in outline.of_tag("a") if table in e.parents]
    assert links == ["#run1-problem9", "#run2-problem9", "#run1-problem11", "#run2-problem11"]
    assert "How many apples are there?" in table.text
    shown = [e.attributes["id"] for e in outline.of_class("problem")]
    assert [f"#{each}" for each in shown] == [links[0], links[2], links[1], links[3]]


def test_pictures_are_embedded_when_they_are_pictures(tmp_path: Path) -> None:
    files = {
        "picture.png": PNG,
        "photo.jpg": b"\xff\xd8\xff\xe0" + b"0" * 100,
        "page.png": b"<svg onload=alert(1)>",
        "large.png": PNG + b"0" * 2_000_000,
        f"{SCRIPT.replace('/', '')}.png": b"nothing",
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    runs = []
    for name in [*files, "missing.png"]:
        problem = Problem(name, {}, 1, picture=tmp_path / name)
        runs.append((problem, [RunStarted("x", {}), RunEnded("declined")], False))
    page = page_of(write_run(tmp_path / "run", settings("x"), runs), folder=tmp_path)
    outline = Outline(page)
    assert_ours(outline)
    sources = [str(e.attributes["src"]) for e in outline.of_tag("img")]
    assert sources[0] == f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    assert len(sources) == 2 and sources[1].startswith("data:image/jpeg;base64,")
    notes = " ".join(element.text for element in outline.of_class("note"))
    assert all(f"{name}.png is not shown: it is no PNG or JPEG" in notes for name in ("page", "large"))
    assert "missing.png is not there" in notes


def test_problems_without_events_and_runs_without_problems(tmp_path: Path) -> None:
    run = offline_run(tmp_path / "run", 2)
    (run.path / "events.jsonl.gz").write_bytes(b"")
    empty = write_run(tmp_path / "empty", settings("x"), [])
    page = page_of(read_run(run.path), empty, folder=tmp_path)
    assert page.count("The event log does not hold this problem.") == 2
    assert_ours(Outline(page))


def test_a_page_that_cannot_be_written_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    run = offline_run(tmp_path / "run", 1)
    with pytest.raises(InputError, match=r"nowhere.*cannot be written"):
        page_of(run, folder=tmp_path / "nowhere")
    (tmp_path / "page.html").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        page_of(run, folder=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "run"]


def test_many_problems_take_no_more_memory_than_few(tmp_path: Path) -> None:
    run = offline_run(tmp_path / "small", 6)
    events = {result.id: events for result, events in run.with_events(list(run.results))}

    def peak(count: int) -> int:
        made = (
            (Problem(f"copy{number}", {}, each.gold), events[each.id], bool(each.correct))
            for number, each in zip(range(count), cycle(list(run.results)), strict=False)
        )
        many = write_run(tmp_path / str(count), settings("x"), made)
        comparisons = Comparison.of([many])
        tracemalloc.start()
        try:
            write_page([many], comparisons, tmp_path / "page.html", count)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few, many = peak(40), peak(160)
    assert (tmp_path / "page.html").read_text("utf-8").count('class="problem ') == 160
    assert many < 1.5 * few + 1_000_000


def test_steps_say_what_they_changed(tmp_path: Path) -> None:
    step = Step("look", {"attempt": 3})
    written = {"look": "found", "more": ("a", "b"), "reading": {"means": "height of <it>"}}
    record = StepRecord(step, "found", {"question": "asked anew"}, written, seconds=0.25)
    events: list[Event] = [
        RunStarted("x", {"question": "What?"}),
        Plan((step,), "rules", refused="it has no end"),
        Plan((step,), "rules", "because"),
        record,
        replace(record, dropped=True),
        RunEnded("answered"),
    ]
    problem = Problem("one", {}, None)
    page = page_of(write_run(tmp_path / "run", settings("x"), [(problem, events, True)]), folder=tmp_path)
    text = re.sub(r"\s+", " ", " ".join(e.text for e in Outline(page).of_class("events")))
    for told in (
        "Plan refused by rules, under 1 ms look it has no end",
        "Plan by rules, under 1 ms look because",
        '1. look 0.2 s, {"attempt": 3} found',
        "Writes cache.look.",
        "Writes input.question: asked anew",
        "Writes cache.more: a; b",
        "dropped: it ran beside a step that failed",
        "Ended: answered",
    ):
        assert told in text
    assert "<dt>Read as</dt><dd>height of &lt;it&gt;</dd>" in page


def test_a_page_replaces_one_of_its_own_kind_and_no_other_file(runs: tuple[Run, Run], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    for _ in range(2):
        write_page(runs, [], page)
    precious = tmp_path / ".bashrc"
    precious.write_text("precious")
    with pytest.raises(InputError, match="is no page of ours"):
        write_page(runs, [], precious)
    assert precious.read_text() == "precious"
