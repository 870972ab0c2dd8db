"""The page of a report: what it shows, how much of it, and that whatever comes from outside is text."""

from __future__ import annotations

import base64
import html
import re
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import find_benchmark
from chameleon.evaluation.folder import Run, read_run
from chameleon.evaluation.report import RunSummary, compare, write_page
from chameleon.evaluation.report.text import LONGEST, visible
from chameleon.state import Begun, Ended, Event, Plan, Record, Step
from tests.evaluation.html_outline import Outline
from tests.evaluation.report_runs import (
    HOSTILE,
    LONG,
    SCRIPT,
    hostile_run,
    model_run,
    offline_run,
    settings,
    write_run,
)

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
NUMBER = r"\d+"
ANCHOR = rf"run{NUMBER}(-problem{NUMBER})?|table{NUMBER}|beginning{NUMBER}|beginnings|show{NUMBER}-\w+"
OURS = {
    "html": {"lang": "en"},
    "meta": {
        "charset": "utf-8",
        "http-equiv": "Content-Security-Policy",
        "name": r"[a-z-]+",
        "content": ".*",
    },
    "link": {"rel": "icon", "href": "data:,"},
    "nav": {"aria-label": "Contents"},
    "a": {"href": f"#({ANCHOR})"},
    "div": {"tabindex": "0", "style": r"width: \d+\.\d\d%"},
    "input": {"type": "radio", "name": rf"show{NUMBER}", "checked": ""},
    "label": {"for": ANCHOR},
    "img": {"src": r"data:image/(png|jpeg);base64,[A-Za-z0-9+/=]+", "alt": "Picture of the problem"},
}
PLAIN = {
    *(
        "head",
        "title",
        "style",
        "body",
        "main",
        "header",
        "section",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "p",
        "span",
    ),
    *("strong", "small", "code", "pre", "ol", "li", "dl", "dt", "dd", "details", "summary"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td"),
}


def page_of(*runs: Run, folder: Path, problems: int = 200) -> str:
    summaries = RunSummary.of(runs)
    write_page(summaries, compare(summaries, find_benchmark), folder / "page.html", problems)
    return (folder / "page.html").read_text("utf-8")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "picture.png").write_bytes(PNG)
    run = hostile_run(folder / "run", folder / "picture.png")
    return page_of(run, folder=folder)


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run, str]:
    folder = tmp_path_factory.mktemp("two")
    offline, model = offline_run(folder / "offline", 45), model_run(folder / "model", 36)
    return offline, model, page_of(offline, model, folder=folder)


@pytest.fixture(scope="module")
def outline(hostile: str) -> Outline:
    return Outline(hostile)


def assert_ours(outline: Outline) -> None:
    """Every element and every attribute is one that the templates write."""
    anchors = set()
    for element in outline.elements:
        known = {"class": r"[a-z -]+", "id": ANCHOR, **OURS.get(element.tag, {})}
        assert element.tag in PLAIN | OURS.keys(), element
        for name, value in element.attributes.items():
            assert name in known and re.fullmatch(known[name], value or ""), (element.tag, name, value)
        if anchor := element.attributes.get("id"):
            assert anchor not in anchors, f"{anchor} stands twice"
            anchors.add(anchor)
    for link in outline.of_tag("a"):
        assert (link.attributes["href"] or "").removeprefix("#") in anchors


def test_a_hostile_run_adds_no_element_and_no_attribute(outline: Outline) -> None:
    assert_ours(outline)
    assert outline.declarations == ["DOCTYPE html"]
    assert not outline.of_tag("script")
    texts = [element.text for element in outline.of_tag("pre")]
    assert sum(SCRIPT in text for text in texts) > 20, "it is there to be read"


def test_the_page_says_itself_that_nothing_may_run_or_load(hostile: str, outline: Outline) -> None:
    policy = next(e for e in outline.of_tag("meta") if "http-equiv" in e.attributes)
    assert str(policy.attributes["content"]).startswith(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    )
    assert hostile.index("Content-Security-Policy") < hostile.index("<style>")


def test_nothing_on_the_page_is_invisible_or_steers(hostile: str) -> None:
    assert not re.search(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]", hostile
    )
    for spelled in (
        "⟨ESC⟩[31mred",
        "⟨NUL⟩NUL",
        "⟨BEL⟩bell",
        "⟨U+202E⟩overridden",
        "⟨U+200B⟩hidden",
        "⟨U+D800⟩",
    ):
        assert spelled in hostile


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n$9 <b> é 名前 مرحبا 👩\u200d🔬", "plain\ttext\n$9 <b> é 名前 مرحبا 👩\u200d🔬"),
        ("a\r\nb\rc", "a\nb⟨CR⟩c"),
        ("\x7f\x85\u2028\u00ad\ue000", "⟨U+007F⟩⟨U+0085⟩⟨U+2028⟩⟨U+00AD⟩⟨U+E000⟩"),
        ("\u202eevil\u202c", "⟨U+202E⟩evil⟨U+202C⟩"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_long_texts_are_cut_and_say_how_much_is_missing(hostile: str, outline: Outline) -> None:
    assert len(hostile) < 2_000_000, "each of some hundred texts has 1,000,000 characters"
    assert f"[{len(LONG) - LONGEST:,} more characters are not shown]" in hostile
    assert max(len(element.text) for element in outline.of_tag("td")) < LONGEST + 100


def test_large_tables_are_shown_in_part(outline: Outline) -> None:
    notes = {element.text for element in outline.of_class("note")}
    assert "Only the first 50 of 10,000 rows are shown." in notes
    assert "Only the first 6 of 20 rows are shown." in notes
    assert "Only the first 6 of 60 rows and the first 500 of 2,000 columns are shown." in notes
    for table in outline.of_class("data"):
        assert any("box" in parent.classes for parent in table.parents), "a wide table scrolls in its box"


def test_a_problem_opens_to_all_that_is_known_of_it(two_runs: tuple[Run, Run, str]) -> None:
    _, model, page = two_runs
    outline = Outline(page)
    assert_ours(outline)
    result = next(result for result in model.results if result.answer is not None and result.correct)
    events = model.histories([result.id])[result.id]
    number = model.results.index(result) + 1
    problem = next(e for e in outline.of_class("problem") if e.attributes["id"] == f"run2-problem{number}")
    assert "right" in problem.classes
    begun = events[0]
    assert isinstance(begun, Begun)
    wanted = [begun.input["question"], result.id, str(result.answer), str(result.gold), *result.columns]
    wanted += [cell for row in begun.input["table"].rows for cell in row]
    for event in events:
        if isinstance(event, Plan):
            wanted += [*event.names, event.by, event.note, *(call.text for call in event.calls)]
        elif isinstance(event, Record):
            wanted += [event.step.module, *(call.text for call in event.calls)]
            wanted += [event.output] if isinstance(event.output, str) else []
            wanted += [event.error.message] if event.error else []
    for text in wanted:
        assert text in problem.text


def test_what_prompts_share_stands_on_the_page_once(two_runs: tuple[Run, Run, str]) -> None:
    _, model, page = two_runs
    shared = dict(
        re.findall(r'<details id="(beginning\d+)".*?<pre class="text">\n(.*?)</pre>', page, re.DOTALL)
    )
    reference = (
        r'<p class="quiet">The first ([\d,]+) '
        r'characters are those of <a href="#(\w+)">[^<]*</a>(?:\.|; then:)</p>'
        r'\s*(?:<pre class="text">\n(.*?)</pre>)?'
    )
    asked = set()
    for events in model.histories([result.id for result in model.results]).values():
        calls = [call for event in events if isinstance(event, Plan | Record) for call in event.calls]
        asked |= {text for call in calls for _, text in call.messages}
    referred = {
        html.unescape(shared[name])[: int(length.replace(",", ""))] + html.unescape(rest)
        for length, name, rest in re.findall(reference, page, re.DOTALL)
    }
    assert len(referred) > 100 and referred <= asked, "a prompt is its beginning and its rest"
    longest = max(shared.values(), key=len)
    middle = len(longest) // 2
    assert len(longest) > 5_000 and page.count(longest[middle : middle + 200]) == 1


def test_the_filter_needs_no_script(two_runs: tuple[Run, Run, str]) -> None:
    offline, _, page = two_runs
    outline = Outline(page)
    labels = {e.attributes["for"]: e.text for e in outline.of_tag("label")}
    right = sum(result.correct for result in offline.results)
    declined = sum(result.declined for result in offline.results)
    assert labels["show1-all"] == "all 45" and labels["show1-right"] == f"right {right}"
    assert labels["show1-declined"] == f"declined {declined}"
    shown = [e for e in outline.of_class("problem") if str(e.attributes["id"]).startswith("run1-")]
    assert sum("right" in e.classes for e in shown) == right
    first = [e.classes[1] for e in shown]
    assert first == sorted(first, key=lambda verdict: verdict == "right"), "what went wrong comes first"


def test_runs_point_to_each_other(two_runs: tuple[Run, Run, str]) -> None:
    offline, model, page = two_runs
    problem = next(e for e in Outline(page).of_class("problem") if e.attributes["id"] == "run1-problem5")
    other = model.results[4]
    assert other.id == offline.results[4].id
    assert re.search(r"In model:\s+(right|wrong|declined|failed)\.", problem.text)


def test_only_as_many_problems_as_asked_for_those_not_right_first(
    two_runs: tuple[Run, Run, str], tmp_path: Path
) -> None:
    offline = two_runs[0]
    page = page_of(offline, folder=tmp_path, problems=10)
    outline = Outline(page)
    wrong = [place for place, result in enumerate(offline.results, 1) if not result.correct]
    ids = [element.attributes["id"] for element in outline.of_class("problem")]
    assert ids == [f"run1-problem{place}" for place in wrong[:10]]
    assert "10 of 45 shown: --problems N shows more." in page


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
        runs.append((problem, [Begun("x", {}), Ended("declined")], False))
    page = page_of(write_run(tmp_path / "run", settings("x"), runs), folder=tmp_path)
    outline = Outline(page)
    assert_ours(outline)
    sources = [str(e.attributes["src"]) for e in outline.of_tag("img")]
    assert sources[0] == f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    assert len(sources) == 2 and sources[1].startswith("data:image/jpeg;base64,")
    notes = " ".join(element.text for element in outline.of_class("note"))
    assert "page.png is not shown: it is neither PNG nor JPEG" in notes
    assert "large.png is not shown: it is larger than 2 MB" in notes
    assert "missing.png is not there" in notes


def test_a_problem_without_events_says_so(tmp_path: Path) -> None:
    run = offline_run(tmp_path / "run", 2)
    (run.path / "events.jsonl").write_bytes(b"")
    page = page_of(read_run(run.path), folder=tmp_path)
    assert page.count("The event log does not hold this problem.") == 2


def test_an_evaluation_without_results_has_a_page_too(tmp_path: Path) -> None:
    page = page_of(write_run(tmp_path / "run", settings("x"), []), folder=tmp_path)
    assert_ours(Outline(page))


def test_a_page_that_cannot_be_written_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    run = offline_run(tmp_path / "run", 1)
    with pytest.raises(InputError, match=r"nowhere.*cannot be written"):
        page_of(run, folder=tmp_path / "nowhere")
    (tmp_path / "page.html").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        page_of(run, folder=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "run"]


def test_a_thousand_problems_take_seconds_and_no_more_memory_than_some_hundreds(tmp_path: Path) -> None:
    run = offline_run(tmp_path / "small", 30)
    events = run.histories([result.id for result in run.results])

    def copies(count: int) -> Iterator[tuple[Problem, list[Event], bool]]:
        for number in range(count):
            original = run.results[number % 30]
            yield Problem(f"copy{number}", {}, original.gold), list(events[original.id]), original.correct

    few, many = (write_run(tmp_path / str(n), settings("x"), copies(n)) for n in (300, 1_500))
    begun = time.monotonic()
    page = page_of(many, folder=tmp_path, problems=1_500)
    assert page.count('class="problem ') == 1_500
    assert time.monotonic() - begun < 15
    assert _peak(many, tmp_path) < 1.5 * _peak(few, tmp_path) + 4_000_000


def _peak(run: Run, folder: Path) -> int:
    summaries = RunSummary.of([run])
    comparisons = compare(summaries, find_benchmark)
    tracemalloc.start()
    try:
        write_page(summaries, comparisons, folder / "page.html", len(run.results))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_steps_say_what_they_changed(tmp_path: Path) -> None:
    step = Step("look", {"attempt": 3})
    record = Record(
        step, "found", {"question": "asked anew"}, {"look": "found", "more": ("a", "b")}, seconds=0.25
    )
    events: list[Event] = [
        Begun("x", {"question": "What?"}),
        Plan((step,), "rules", refused="it has no end"),
        Plan((step,), "rules", "because"),
        record,
        replace(record, dropped=True),
        Ended("answered"),
    ]
    problem = Problem("one", {}, None)
    page = page_of(write_run(tmp_path / "run", settings("x"), [(problem, events, True)]), folder=tmp_path)
    text = re.sub(r"\s+", " ", " ".join(e.text for e in Outline(page).of_class("events")))
    for told in (
        "Plan refused by rules, 0.000 s look it has no end",
        "Plan by rules, 0.000 s look because",
        '1. look 0.250 s, {"attempt": 3} found',
        "Writes cache.look.",
        "Writes input.question: asked anew",
        "Writes cache.more: a; b",
        "dropped: it ran beside a step that failed",
        "Ended: answered",
    ):
        assert told in text


def test_hostile_text_is_the_same_when_read_back(outline: Outline) -> None:
    texts = [element.text for element in outline.of_tag("pre")]
    assert f"\n{visible(HOSTILE)}" in texts
