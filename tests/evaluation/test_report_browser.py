"""The page of a report in a real browser: it fits a phone, runs nothing, loads nothing, and can be read."""

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from chameleon.evaluation.report_page import write_page
from chameleon.evaluation.run import Run
from chameleon.evaluation.system_table import Comparison

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="there is no chromium here: apt-get install chromium, and the pages are looked at"
)
# A page of ours that has the other in a frame, and turns into the JSON of what a function finds there.
FRAME = """<body><iframe src="PAGE" style="width: WIDTHpx; height: 800px"></iframe><script>
onload = () => {
  const page = document.querySelector('iframe').contentWindow, one = each => page.document.querySelector(each)
  const all = each => [...page.document.querySelectorAll(each)], style = each => page.getComputedStyle(each)
  document.body.textContent = JSON.stringify((FIND)())
}
</script></body>"""
# Whether it fits, closed and open, and what lies beyond its right edge outside all boxes that scroll.
FITS = """() => [false, true].map(open => {
  const root = page.document.documentElement, is_cut = each => each && (
    ['auto', 'scroll', 'hidden', 'clip'].includes(style(each).overflowX) || is_cut(each.parentElement))
  const right = each => each.getBoundingClientRect().right
  const beyond = each => right(each) > page.innerWidth + 1 && !is_cut(each.parentElement)
  all('details').forEach(each => each.open = open)
  return [root.scrollWidth <= root.clientWidth, all('main *').filter(beyond).map(each => each.outerHTML)]
})"""
PLACES = "['body', 'h1', '.problems summary']"
INK = f"() => {PLACES}.map(each => style(one(each)).color.match(/[0-9.]+/g).map(Number))"
FOUND = """() => { all('details').forEach(each => each.open = true); return {
  ran: typeof page.ran, strange: all('script, b, iframe, object, form, svg:not(.chart, .chart *), .chart a,'
  + 'foreignObject').length,
  images: all('img').map(each => [each.src.slice(0, 15), each.naturalWidth]),
  loaded: page.performance.getEntriesByType('resource').map(each => each.name),
  text: one('#run1-problem1').innerText, scrolled: (one('#run1-problem3 .box').scrollLeft = 1e6,
  one('#run1-problem3 .box').scrollLeft) } }"""
FILTERED = """() => ['wrong', 'declined', 'right', 'all'].map(verdict => {
  const label = one(`label[for=show1-${verdict}]`), is_shown = each => each.offsetHeight
  const shown = run => all(`#run${run} .problem`).filter(is_shown).map(each => each.className)
  label.click()
  return [verdict, label.innerText, shown(1), shown(2).length]
})"""


def look(page: Path, find: str, width: int = 375, *, dark: bool = False) -> Any:
    frame = FRAME.replace("PAGE", page.name).replace("WIDTH", str(width)).replace("FIND", find)
    (page.parent / "frame.html").write_text(frame, "utf-8")
    options = "--headless=new --no-first-run --disable-gpu --disable-dev-shm-usage"
    options += " --allow-file-access-from-files --dump-dom" + " --no-sandbox" * (os.geteuid() == 0)
    options += f" --disable-background-networking --user-data-dir={page.parent}"
    options += f" --blink-settings=preferredColorScheme={int(not dark)}"
    command = [str(PROGRAM), *options.split(), (page.parent / "frame.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    told = re.search("<body>(.*)</body>", done.stdout, re.DOTALL)
    assert told is not None, done.stdout
    return json.loads(html.unescape(told[1]))


@pytest.fixture(scope="module")
def pages(runs: tuple[Run, Run], hostile: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    write_page([hostile], Comparison.of([hostile]), folder / "hostile.html")
    write_page(runs, Comparison.of(runs), folder / "plain.html")
    return folder


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("name", ["plain", "hostile"])
def test_the_page_fits_with_everything_open(pages: Path, name: str, width: int) -> None:
    assert look(pages / f"{name}.html", FITS, width) == [[True, []]] * 2


def test_it_can_be_read_by_day_and_by_night_and_the_filter_shows_what_it_names(pages: Path) -> None:
    assert all(sum(ink) < 250 for ink in look(pages / "plain.html", INK))
    assert all(sum(ink) > 500 for ink in look(pages / "plain.html", INK, dark=True))
    for verdict, label, shown, others in look(pages / "plain.html", FILTERED):
        assert label == f"{verdict} {len(shown)}" and others == 12, "each run has a filter of its own"
        assert all(verdict in (name.split()[1], "all") for name in shown)


def test_no_script_runs_nothing_is_loaded_and_hostile_text_can_be_read(pages: Path) -> None:
    found = look(pages / "hostile.html", FOUND)
    assert (found["ran"], found["strange"], found["images"]) == ("undefined", 0, [["data:image/png;", 1]] * 2)
    assert all(name.startswith("data:") for name in found["loaded"])
    assert found["scrolled"] > 10_000, "column 500 can be reached"
    assert '<script>window.ran = 1</script><img src="https://example.org/x.png"' in found["text"]
    assert "⟨U+001B⟩[31mred" in found["text"] and "⟨U+202E⟩overridden" in found["text"]
