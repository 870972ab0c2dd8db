"""The page of a report: what it shows of runs, how much of it, and that all that strangers wrote is text."""

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
from chameleon.evaluation.page_views import LONGEST, shown, visible
from chameleon.evaluation.report_page import write_page
from chameleon.evaluation.run import Run, read_run
from chameleon.evaluation.system_table import Comparison
from tests.evaluation import report_runs
from tests.evaluation.report_runs import Outline, assert_ours, offline_run, page_of, settings, write_run


@pytest.fixture(scope="module")
def outline(runs: tuple[Run, Run], tmp_path_factory: pytest.TempPathFactory) -> Outline:
    outline = Outline(page_of(*runs, folder=tmp_path_factory.mktemp("two")))
    assert_ours(outline)
    return outline


def problem_of(outline: Outline, run: int, number: int) -> report_runs.Element:
    [found] = [e for e in outline.of_class("problem") if e.attributes["id"] == f"run{run}-problem{number}"]
    return found


def ids_of(outline: Outline) -> list[str]:
    return [str(element.attributes["id"]) for element in outline.of_class("problem")]


def test_a_problem_opens_to_all_that_is_known_of_it(outline: Outline, runs: tuple[Run, Run]) -> None:
    model = runs[1]
    right = ((number, each) for number, each in enumerate(model.results, 1) if each.answered and each.correct)
    number, result = next(right)
    [(_, events)] = model.with_events([result])
    problem, begun = problem_of(outline, 2, number), events[0]
    assert "right" in problem.classes and isinstance(begun, RunStarted)
    wanted = [begun.input["question"], result.id, str(result.answer), str(result.gold), *result.columns]
    wanted += [cell for row in begun.input["table"].rows for cell in row]
    for event in events:
        if isinstance(event, Plan):
            wanted += [*event.names, event.by, event.note, *(call.text for call in event.calls)]
        elif isinstance(event, StepRecord):
            wanted += [event.step.module, *(call.text for call in event.calls)]
            wanted += [event.output] if isinstance(event.output, str) else []
            wanted += [event.error.message] if event.error else []
    assert all(text in problem.text for text in wanted)

    number, result = next((n, each) for n, each in enumerate(runs[0].results, 1) if each.answered)
    [(_, events)] = runs[0].with_events([result])
    alone, problem = Outline(run_page.page_of(events)), problem_of(outline, 1, number)
    assert {"Read as", "From"} <= {e.text for e in alone.of_tag("dt")}
    for whole, part in [(outline.of_class("source"), alone.of_class("source"))] + [
        (outline.of_tag(tag), alone.of_tag(tag)) for tag in ("dt", "li")
    ]:
        assert [e.text for e in whole if problem in e.parents] == [e.text for e in part] != []


def test_the_filter_needs_no_script_and_runs_are_linked(outline: Outline, runs: tuple[Run, Run]) -> None:
    labels = {e.attributes["for"]: e.text for e in outline.of_tag("label")}
    right = sum(result.correct for result in runs[0].results)
    declined = sum(result.declined for result in runs[0].results)
    names = ("show1-all", "show1-right", "show1-declined")
    assert [labels[name] for name in names] == ["all 24", f"right {right}", f"declined {declined}"]
    shown = zip(ids_of(outline), outline.of_class("problem"), strict=True)
    verdicts = [each.classes[1] for id, each in shown if id.startswith("run1-")]
    assert verdicts.count("right") == right and verdicts[-3:] == ["right"] * 3, "what went wrong comes first"
    assert list(runs[1].results)[4].id == list(runs[0].results)[4].id
    assert re.search(r"In model:\s+(right|wrong|declined|failed)\.", problem_of(outline, 1, 5).text)


def test_as_many_problems_as_asked_for_wrong_first(runs: tuple[Run, Run], tmp_path: Path) -> None:
    page = page_of(runs[0], folder=tmp_path, problems=5)
    order = ["wrong", "failed", "declined", "right"]
    found = sorted(enumerate(runs[0].results, 1), key=lambda placed: order.index(placed[1].verdict))
    assert ids_of(Outline(page)) == [f"run1-problem{place}" for place, _ in found[:5]]
    assert "5 of 24 shown: --problems N shows more." in page
    run = offline_run(tmp_path / "run", 2)
    (run.path / "events.jsonl.gz").write_bytes(b"")
    page = page_of(read_run(run.path), write_run(tmp_path / "empty", settings("x"), []), folder=tmp_path)
    assert page.count("The event log does not hold this problem.") == 2
    assert_ours(Outline(page))


def test_what_runs_differ_on_comes_first_in_the_table_and_below(tmp_path: Path) -> None:
    step, question = Step("count"), "How many apples are there?"
    begun: list[Event] = [RunStarted("x", {"question": question}), Plan((step,), "rules")]
    begun += [StepRecord(step, "7"), RunEnded("answered")]
    runs = []
    for name, wrong in {"a": (), "b": (8, 10)}.items():
        made = [(Problem(str(n), {}, "7"), begun, n not in wrong) for n in range(12)]
        runs.append(write_run(tmp_path / name, settings("x"), made))
    [comparison] = Comparison.of(runs)
    assert [row["id"] for row in comparison.problems(4)] == ["8", "10", "0", "1"]
    outline = Outline(page_of(*runs, folder=tmp_path, problems=2))
    assert_ours(outline)
    table = next(e for e in outline.of_tag("table") if "Gold answer" in e.text)
    links = [str(e.attributes["href"])[1:] for e in outline.of_tag("a") if table in e.parents]
    assert links == ["run1-problem9", "run2-problem9", "run1-problem11", "run2-problem11"]
    assert question in table.text and ids_of(outline) == [*links[::2], *links[1::2]]


def test_pictures_are_embedded_when_they_are_pictures(tmp_path: Path) -> None:
    files = {"picture.png": report_runs.PNG, "photo.jpg": b"\xff\xd8\xff\xe0" + b"0" * 100}
    files |= {"page.png": b"<svg onload=alert(1)>", "large.png": report_runs.PNG + b"0" * 2_000_000}
    files[f"{report_runs.SCRIPT.replace('/', '')}.png"] = b"nothing"
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    problems = [Problem(name, {}, 1, picture=tmp_path / name) for name in [*files, "missing.png"]]
    made = [(problem, [RunStarted("x", {}), RunEnded("declined")], False) for problem in problems]
    outline = Outline(page_of(write_run(tmp_path / "run", settings("x"), made), folder=tmp_path))
    assert_ours(outline)
    png, jpeg = (str(e.attributes["src"]) for e in outline.of_tag("img"))
    assert base64.b64decode(png.removeprefix("data:image/png;base64,")) == report_runs.PNG
    assert "/jpeg;base64," in jpeg
    notes = " ".join(element.text for element in outline.of_class("note"))
    assert all(f"{name}.png is not shown: only PNG and JPEG" in notes for name in ("page", "large"))
    assert "missing.png is not there" in notes


def test_a_page_replaces_only_a_page(runs: tuple[Run, Run], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere.*cannot be written"):
        page_of(*runs, folder=tmp_path / "nowhere")
    for _ in range(2):
        write_page(runs, [], tmp_path / "again.html")
    (tmp_path / "page.html").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        page_of(*runs, folder=tmp_path)
    (tmp_path / ".bashrc").write_text("precious")
    with pytest.raises(InputError, match="not a page written by"):
        write_page(runs, [], tmp_path / ".bashrc")
    assert (tmp_path / ".bashrc").read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".bashrc", "again.html", "page.html"]


def test_many_problems_take_no_more_memory_than_few(runs: tuple[Run, Run], tmp_path: Path) -> None:
    events = {result.id: events for result, events in runs[0].with_events(list(runs[0].results))}
    peaks = []
    for count in (40, 160):
        each = zip(range(count), cycle(runs[0].results), strict=False)
        made = ((Problem(f"copy{n}", {}, one.gold), events[one.id], bool(one.correct)) for n, one in each)
        many = write_run(tmp_path / str(count), settings("x"), made)
        comparisons = Comparison.of([many])
        tracemalloc.start()
        try:
            write_page([many], comparisons, tmp_path / "page.html", count)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert (tmp_path / "page.html").read_text("utf-8").count('class="problem ') == 160
    assert peaks[1] < 1.5 * peaks[0] + 1_000_000


def test_steps_say_what_they_changed(tmp_path: Path) -> None:
    step = Step("look", {"attempt": 3})
    written = {"look": "found", "more": ("a", "b"), "reading": {"means": "height of <it>"}}
    record = StepRecord(step, "found", {"question": "asked anew"}, written, seconds=0.25)
    plans = [Plan((step,), "rules", refused="it has no end"), Plan((step,), "rules", "because")]
    dropped = replace(record, dropped=True)
    events = [RunStarted("x", {"question": "What?"}), *plans, record, dropped, RunEnded("answered")]
    run = write_run(tmp_path / "run", settings("x"), [(Problem("one", {}, None), events, True)])
    page = page_of(run, folder=tmp_path)
    text = re.sub(r"\s+", " ", " ".join(e.text for e in Outline(page).of_class("events")))
    for told in (
        "Plan refused by rules, under 1 ms look it has no end",
        "Plan by rules, under 1 ms look because",
        '1. look 0.2 s, {"attempt": 3} found',
        "Writes cache.look.",
        "Writes input.question: asked anew",
        "Writes cache.more: a; b",
        "dropped: it ran at the same time as a step that failed",
        "Ended: answered",
    ):
        assert told in text
    assert "<dt>Read as</dt><dd>height of &lt;it&gt;</dd>" in page


@pytest.fixture(scope="module")
def harmed(hostile: Run, tmp_path_factory: pytest.TempPathFactory) -> str:
    return page_of(hostile, folder=tmp_path_factory.mktemp("page"))


@pytest.mark.slow
def test_a_hostile_run_adds_no_element_and_no_attribute(harmed: str) -> None:
    outline = Outline(harmed)
    assert_ours(outline)
    assert outline.declarations == ["DOCTYPE html"] and not outline.of_tag("script")
    texts = [element.text for element in outline.of_tag("pre")]
    assert sum(report_runs.SCRIPT in text for text in texts) > 20, "it is there to be read"
    assert f"\n{visible(report_runs.HOSTILE)}" in texts


def test_the_page_says_itself_that_nothing_may_run_or_load_and_nothing_steers(harmed: str) -> None:
    allowed = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="(.*?)">', harmed)
    assert policy is not None and policy[1].replace("&#39;", "'").startswith(allowed)
    assert policy.start() < harmed.index("<style>")
    unseen = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
    assert not re.search(unseen, harmed)
    spelled = "⟨U+001B⟩[31mred ⟨U+0000⟩NUL ⟨U+0007⟩bell ⟨U+202E⟩overridden ⟨U+200B⟩hidden ⟨U+D800⟩"
    assert all(each in harmed for each in spelled.split())


def test_visible() -> None:
    kept = "plain\ttext\n$9 <b> é 名前 مرحبا 👩\u200d🔬"
    spelled = "\x7f\x85\u2028\u00ad\ue000\u202e"
    for text, expected in {kept: kept, "a\r\nb\rc": "a\nb⟨U+000D⟩c"}.items():
        assert visible(text) == expected
    assert visible(spelled) == "".join(f"⟨U+{ord(each):04X}⟩" for each in spelled)
    assert shown("ab" * 1_000 + "cd" * 1_000, 4) == "ab … [3,996 characters are not shown] … cd"


def test_long_texts_and_large_tables_are_cut_and_say_how_much_is_missing(harmed: str) -> None:
    outline = Outline(harmed)
    assert len(harmed) < 2_000_000, "each of some hundred texts has 200,000 characters"
    assert f"[{len(report_runs.LONG) - LONGEST:,} characters are not shown]" in harmed
    assert max(len(element.text) for element in outline.of_tag("td")) < LONGEST + 100
    notes = {element.text for element in outline.of_class("note")}
    of_50, of_6 = "Only the first 50 of 1,000 rows are shown.", "Only the first 6 of 20 rows are shown."
    assert {of_50, of_6, "Only the first 6 of 60 rows and the first 500 of 600 columns are shown."} <= notes
    for table in outline.of_class("data"):
        assert any("box" in parent.classes for parent in table.parents), "a wide table scrolls in its box"
