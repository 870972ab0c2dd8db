"""The page of a report in a real browser: it fits a phone, runs nothing, loads nothing, and can be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from chameleon.evaluation.report_page import write_page
from chameleon.evaluation.run import Run
from chameleon.evaluation.system_table import Comparison
from tests.evaluation.browser import PROGRAM, Browser

pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="there is no chromium here: apt-get install chromium, and the pages are looked at"
)

Size = tuple[int, int]
OPEN_ALL = "for (const one of document.querySelectorAll('details')) one.open = true"
SHOWN = "[...document.querySelectorAll('#run{} .problem')].filter(one => one.offsetHeight)"
# What lies further right than the window, outside all boxes that scroll or cut what is in them.
BEYOND = """[...document.querySelectorAll('main *')].filter(element => {
  for (let one = element.parentElement; one; one = one.parentElement)
    if (['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(one).overflowX)) return false
  return element.getBoundingClientRect().right > innerWidth + 1
}).map(element => element.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module")
def pages(runs: tuple[Run, Run], hostile: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    write_page([hostile], Comparison.of([hostile]), folder / "hostile.html")
    write_page(runs, Comparison.of(runs), folder / "plain.html")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with closing(Browser()) as opened:
        yield opened


@pytest.mark.parametrize("size", [(1280, 900), (375, 800)], ids=["wide", "narrow"])
@pytest.mark.parametrize("name", ["plain", "hostile"])
def test_the_page_fits_with_everything_open(browser: Browser, pages: Path, name: str, size: Size) -> None:
    browser.open(pages / f"{name}.html", *size)
    for opening in ("", OPEN_ALL):
        browser.evaluate(opening)
        root = "document.documentElement"
        assert browser.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")
        assert browser.evaluate("innerWidth") == size[0], "a phone need not zoom out"
        assert browser.evaluate(BEYOND) == []
    if name == "hostile":
        box = "document.querySelector('#run1-problem3 .box').scrollLeft"
        browser.evaluate(f"{box} = 1e6")
        assert browser.evaluate(box) > 10_000, "column 500 can be reached"


def test_no_script_runs_nothing_is_loaded_and_hostile_text_can_be_read(browser: Browser, pages: Path) -> None:
    browser.open(pages / "hostile.html", 1280, 900)
    browser.evaluate(OPEN_ALL)
    assert browser.evaluate("typeof window.ran") == "undefined"
    assert browser.evaluate("document.querySelectorAll('script, b, iframe, object, form, svg').length") == 0
    pictures = browser.evaluate("[...document.images].map(one => [one.src.slice(0, 15), one.naturalWidth])")
    assert pictures == [["data:image/png;", 1]] * 2
    asked = [sent["request"]["url"] for sent in browser.of("Network.requestWillBeSent")]
    outside = [address for address in asked if not address.startswith("data:")]
    assert outside == [(pages / "hostile.html").as_uri()] and not browser.of("Log.entryAdded")
    text = browser.evaluate("document.querySelector('#run1-problem1').innerText")
    assert '<script>window.ran = 1</script><img src="https://example.org/x.png"' in text
    assert "⟨U+001B⟩[31mred" in text and "⟨U+202E⟩overridden" in text


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_can_be_read_and_the_filter_shows_what_it_names(browser: Browser, pages: Path, dark: bool) -> None:
    browser.open(pages / "plain.html", 375, 800, dark=dark)
    for place in ("body", "h1", ".problems summary"):
        style = f"getComputedStyle(document.querySelector('{place}'))"
        ink = browser.evaluate(f"{style}.color.match(/[0-9.]+/g).slice(0, 3).map(Number)")
        assert sum(ink) > 500 if dark else sum(ink) < 250, (place, ink)
    for verdict in ("wrong", "declined", "right", "all"):
        label = f"document.querySelector('label[for=show1-{verdict}]')"
        browser.evaluate(f"{label}.click()")
        shown = browser.evaluate(f"{SHOWN.format(1)}.map(one => one.className)")
        assert browser.evaluate(f"{label}.innerText") == f"{verdict} {len(shown)}"
        assert all(verdict in (name.split()[1], "all") for name in shown)
        assert browser.evaluate(f"{SHOWN.format(2)}.length") == 12, "each run has a filter of its own"
