"""Reports for tests: real runs without a network, a hostile one, and an HTML page as tests read it."""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from chameleon import Executor, Inventory, State, Table
from chameleon.core.events import Event, Failure, Plan, RunEnded, RunStarted, Step, StepRecord
from chameleon.evaluation.benchmark import Judgment, Problem
from chameleon.evaluation.report_page import write_page
from chameleon.evaluation.results import Result
from chameleon.evaluation.run import Run, read_run, uniquely_named
from chameleon.evaluation.run_dir import RunDir
from chameleon.evaluation.system_table import Comparison
from chameleon.llm import LLM
from chameleon.llm.scripted import ScriptedModel
from chameleon.usage import Call, Usage
from tests.e2e.problems import make_problems
from tests.e2e.rule_model import RuleModel

Played = tuple[Problem, Sequence[Event], bool]
SCRIPT = "<script>window.ran = 1</script>"
IMAGE = '<img src="https://example.org/x.png" onerror="window.ran = 1">'
STEERING = "\x1b[31mred\x1b[0m \x00NUL \x07bell \u202eoverridden\u202c \u2066isolated\u2069 \u200bhidden"
BREAKOUTS = (
    '"\'></pre></td></details></style></title><b onmouseover="window.ran=1">{{ 7 * 7 }}{% raw %}&lt;&amp;'
)
SETTING = f"{SCRIPT}{IMAGE}{BREAKOUTS}{STEERING}"
HOSTILE = f"{SETTING} \ud800"
LONG = "L" * 200_000
UNBROKEN = "nobreak" * 100
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def settings(inventory: str, model: str | None = None, **other: Any) -> dict[str, Any]:
    made_by = {"benchmark": "tabmwp", "scorer": "chameleon", "inventory": inventory, "without": []}
    made_by |= {"model": model, "data": {"name": "made.jsonl.gz", "sha256": "0f" * 32}}
    made_by |= {"digests": {"inventory": "ab" * 32}, "seeds": {"scorer": 123}}
    versions = {"chameleon-compose": "0.1.0", "python": "3.11.7"}
    return {**made_by, "versions": versions, "started": "2026-11-21T01:30:00+00:00", **other}


def write_run(path: Path, made_by: Mapping[str, Any], runs: Iterable[Played]) -> Run:
    with RunDir(path, made_by) as folder:
        for problem, events, correct in runs:
            for event in events:
                folder.append(problem.id, event)
            folder.finish(Result.of(problem, State.fold(events), Judgment(correct), (), {}))
    return read_run(path)


def offline_run(path: Path, count: int) -> Run:
    """`tables_offline` over made problems; every fourth answer counts as wrong."""
    executor = Executor(Inventory.load("tables_offline"))
    return write_run(path, settings("tables_offline"), _played(executor, count))


def model_run(path: Path, count: int) -> Run:
    """`tabmwp` with a scripted model that plans, looks up, writes programs and errs by its own rules."""
    replies = RuleModel()
    seen: set[str] = set()  # what is asked again is asked warmer

    def reply(messages: list[tuple[str, str]]) -> Any:
        asked = [{"role": role, "content": text} for role, text in messages]
        told = replies({"messages": asked, "temperature": float(str(messages) in seen)})
        seen.add(str(messages))
        return {"text": told.text, "input_tokens": told.usage[0], "output_tokens": told.usage[1]}

    executor = Executor(Inventory.load("tabmwp"), LLM.connect(ScriptedModel(reply)))
    return write_run(path, settings("tabmwp", "scripted:script"), _played(executor, count))


def _played(executor: Executor, count: int) -> Iterator[Played]:
    for number, given in enumerate(make_problems(count), 1):
        events = tuple(executor.stream(given))
        gold = number % 4 and State.fold(events).answer
        columns = ("MC", "EXTR", "G7-8") if given.get("choices") else ("FREE", "INT", "G1-6")
        yield Problem(f"p{number}", given, gold, columns), events, bool(number % 4)


def hostile_run(path: Path, picture: Path | None = None) -> Run:
    made_by = settings(SETTING, SETTING, **{SETTING: {SETTING: LONG}})
    made_by |= {"without": [SETTING], "scorer": SETTING, "started": SETTING, "seeds": {SETTING: LONG}}
    made_by["data"] = {"name": LONG, "sha256": SETTING}
    return write_run(path, made_by, _hostile_problems(picture))


def _hostile_problems(picture: Path | None) -> Iterator[Played]:
    cells = [[HOSTILE, "7"], [LONG, STEERING], [UNBROKEN, "1\n2"]]
    wide = [[f"{row}/{n}" for n in range(500)] for row in range(20)]
    tables = {"small": Table([HOSTILE, LONG], cells, HOSTILE)}
    tables |= {"long": Table(["number", "square"], [[str(n), str(n * n)] for n in range(1_000)])}
    tables |= {"wide": Table([f"column {n}" for n in range(500)], wide)}
    tables |= {"wider": Table([str(n) for n in range(600)], [["x"] * 600] * 60)}
    for id, table in tables.items():
        yield _hostile_problem(id, table, None), _hostile_events(table), id == "wide"
    table = tables["small"]
    events = _hostile_events(table)
    declined = RunEnded("declined", Failure("Declined", HOSTILE, HOSTILE, HOSTILE))
    yield _hostile_problem(HOSTILE, table, picture), [events[0], declined], False
    failed = RunEnded("failed", Failure("ModelError", LONG, HOSTILE, LONG), (_hostile_call(),))
    yield _hostile_problem(LONG, table, picture), [*events[:-1], failed], False


def _hostile_problem(id: str, table: Table, picture: Path | None) -> Problem:
    return Problem(id, {"question": HOSTILE, "table": table}, HOSTILE, ("FREE", HOSTILE), picture=picture)


def _hostile_events(table: Table) -> list[Event]:
    step, other, call = Step(HOSTILE, {HOSTILE: LONG}), Step(UNBROKEN), _hostile_call()
    given = {"question": HOSTILE + UNBROKEN, "table": table, "choices": (HOSTILE, LONG), HOSTILE: LONG}
    output = {HOSTILE: (table, LONG), "nested": {"a": {"b": {"c": HOSTILE}}}}
    return [
        RunStarted(HOSTILE, given),
        Plan((step, other), HOSTILE, HOSTILE, refused=HOSTILE, calls=(call,)),
        Plan((step, other, step), LONG, LONG, calls=(replace(call, error=HOSTILE, text=""),)),
        StepRecord(step, table, {"table": table}, {HOSTILE: HOSTILE}, calls=(call, call)),
        StepRecord(other, error=Failure("ModuleError", HOSTILE, HOSTILE, HOSTILE)),
        Plan((step,), HOSTILE, HOSTILE, "repair"),
        StepRecord(step, output, {}, {LONG: HOSTILE}),
        RunEnded("answered"),
    ]


def _hostile_call() -> Call:
    system = ("system", f"{HOSTILE}\n" + "The same demonstration.\n" * 400)
    messages = (system, (HOSTILE, LONG), ("user", HOSTILE))
    return Call(HOSTILE, messages, {HOSTILE: LONG}, HOSTILE, HOSTILE, usage=Usage(1, None, None, None))


def page_of(*runs: Run, folder: Path, problems: int = 200) -> str:
    named = uniquely_named(runs)
    write_page(named, Comparison.of(named), folder / "page.html", problems)
    return (folder / "page.html").read_text("utf-8")


VOID = {"meta", "link", "input", "img"}
NUMBER = r"\d+"
LENGTH = r"-?\d+(\.\d+)?%?"
ANCHOR = rf"run{NUMBER}(-problem{NUMBER})?|table{NUMBER}|show{NUMBER}-\w+"
OURS = {"html": {"lang": "en"}}
OURS["meta"] = {"charset": "utf-8", "name": r"[a-z-]+", "content": ".*"}
OURS["meta"]["http-equiv"] = "Content-Security-Policy"
OURS |= {"details": {"open": ""}, "th": {"scope": "(col|row)"}, "link": {"rel": "icon", "href": "data:,"}}
OURS |= {"nav": {"aria-label": "Contents"}, "a": {"href": f"#({ANCHOR})"}}
OURS |= {"div": {"tabindex": "0", "role": "region", "aria-label": "Table"}}
OURS |= {
    "svg": {"role": "img", "viewbox": r"0 0 \d+ \d+", **dict.fromkeys(("y", "width", "height"), LENGTH)},
    "rect": dict.fromkeys(("x", "y", "width", "height"), LENGTH),
    "line": dict.fromkeys(("x1", "x2", "y1", "y2"), LENGTH),
    "text": dict.fromkeys(("x", "y"), LENGTH),
    "circle": dict.fromkeys(("cx", "cy", "r"), LENGTH),
    "path": {"d": r"M[\d C]+", "stroke-width": LENGTH},
}
OURS |= {"span": {"style": r"margin-left: \d+\.\d\d%; width: \d+\.\d\d%"}}
OURS |= {"input": {"type": "radio", "name": rf"show{NUMBER}", "checked": ""}, "label": {"for": ANCHOR}}
OURS |= {"img": {"src": r"data:image/(png|jpeg);base64,[A-Za-z0-9+/=]+", "alt": "Picture of the problem"}}
PLAIN = re.compile(
    r"head|title|style|body|main|header|section|article|h[1-5]|p|strong|del|ins|small|code|pre|ol|li|dl|dt|dd"
    r"|details|summary|table|caption|thead|tbody|tr|th|td|figure|figcaption|desc"
)


@dataclass
class Element:
    """An element: `text` is all text inside it, that of its children included."""

    tag: str
    attributes: dict[str, str | None]
    text: str = ""
    parents: tuple["Element", ...] = field(default=(), repr=False)

    @property
    def classes(self) -> list[str]:
        return (self.attributes.get("class") or "").split()


class Outline(HTMLParser):
    """Parses a page; every element must be closed in order. `elements` are in the order of the page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.declarations: list[str] = []
        self._open: list[Element] = []
        self.feed(page)
        self.close()
        assert not self._open, self._open

    def of_class(self, name: str) -> list[Element]:
        return [element for element in self.elements if name in element.classes]

    def of_tag(self, name: str) -> list[Element]:
        return [element for element in self.elements if element.tag == name]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"{tag} has an attribute twice: {attrs}"
        element = Element(tag, dict(attrs), parents=tuple(self._open))
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open[-1].tag == tag, (tag, self._open[-3:])
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def handle_decl(self, decl: str) -> None:
        self.declarations.append(decl)

    def _refuse(self, *found: object) -> None:
        raise AssertionError(f"the page has what no template writes: {found}")

    handle_comment = handle_pi = handle_startendtag = _refuse


def assert_ours(outline: Outline) -> None:
    """Every element and every attribute is one that the templates write."""
    anchors = set()
    for element in outline.elements:
        known = {"class": r"[a-z -]+", "id": ANCHOR, **OURS.get(element.tag, {})}
        assert element.tag in OURS or PLAIN.fullmatch(element.tag), element
        for name, value in element.attributes.items():
            assert name in known and re.fullmatch(known[name], value or ""), (element.tag, name, value)
        if anchor := element.attributes.get("id"):
            assert anchor not in anchors, f"{anchor} stands twice"
            anchors.add(anchor)
    for link in outline.of_tag("a"):
        assert (link.attributes["href"] or "").removeprefix("#") in anchors
