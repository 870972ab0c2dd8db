"""The picture of plans: legible whatever the transitions and names are, the same bytes every time."""

from __future__ import annotations

import itertools
import random
import sys
import warnings
from pathlib import Path
from xml.etree import ElementTree

import pytest

from chameleon.errors import InputError, MissingPackage
from chameleon.evaluation.charts import Drawing, draw, figure_of
from chameleon.evaluation.stats import PlanStats
from chameleon.evaluation.transition_graph import MOST_ARROWS

MODULES = [f"module_{number}_of_them" for number in range(9)]
ODD = [
    "$a_1$",
    "$\\frac{x",
    "_under_$_",
    "W" * 300,
    "<script>alert(1)</script>",
    "\x1b[31mred",
    "名前",
    "&amp;",
]


def some_plans(modules: list[str], count: int, seed: int = 1) -> PlanStats:
    """Plans that keep an order most of the time, so that transitions lead on, back, and to themselves."""
    chance = random.Random(seed)
    plans = []
    for _ in range(count):
        plan = [name for name in modules if chance.random() < 0.4]
        if plan and chance.random() < 0.2:
            plan.append(chance.choice(modules))
        plans.append([*plan, modules[-1]])
    return PlanStats.of(plans)


@pytest.mark.parametrize("modules", [MODULES, ODD, [f"m{n}" for n in range(40)], ["one"]], ids=len)
@pytest.mark.parametrize("count", [5, 60])
def test_no_two_labels_overlap(modules: list[str], count: int) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        figure = figure_of([Drawing("run", some_plans(modules, count), {modules[0]: 50.0}, "a paper")])
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
    texts = [text for axes in figure.axes for text in axes.texts] + figure.texts
    boxes = [text.get_window_extent(canvas.get_renderer()) for text in texts]
    for (one, box), (other, beside) in itertools.combinations(zip(texts, boxes, strict=True), 2):
        assert not box.overlaps(beside), (one, other)
    frame = figure.bbox
    for text, box in zip(texts, boxes, strict=True):
        assert box.x0 >= frame.x0 and box.x1 <= frame.x1, text
        assert box.y0 >= frame.y0 and box.y1 <= frame.y1, text


def test_what_is_not_drawn_is_counted() -> None:
    stats = some_plans([f"m{n}" for n in range(12)], 400)
    transitions = sum(map(len, stats.transitions.values()))
    texts = [text.get_text() for text in figure_of([Drawing("run", stats)]).axes[1].texts]
    assert any(text.startswith(f"{transitions - MOST_ARROWS:,} rarer") for text in texts)


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_same_runs_give_the_same_bytes(tmp_path: Path, kind: str) -> None:
    drawings = [Drawing("one", some_plans(MODULES, 50)), Drawing("two", some_plans(ODD, 50))]
    first, second = tmp_path / f"first.{kind}", tmp_path / f"second.{kind.upper()}"
    draw(drawings, first)
    draw(drawings, second)
    assert first.read_bytes() == second.read_bytes()


def test_an_svg_is_whole_and_holds_nothing_of_the_names_but_text(tmp_path: Path) -> None:
    draw([Drawing("<script>alert(1)</script>", some_plans(ODD, 50))], tmp_path / "graph.svg")
    root = ElementTree.parse(tmp_path / "graph.svg").getroot()
    assert root.tag.endswith("svg")
    assert not [element for element in root.iter() if element.tag.endswith("script")]
    assert len([element for element in root.iter() if element.tag.endswith("path")]) > 50


def test_a_png_is_sharp_and_not_blank(tmp_path: Path) -> None:
    from matplotlib import image

    draw([Drawing("run", some_plans(MODULES, 50))], tmp_path / "graph.png")
    pixels = image.imread(tmp_path / "graph.png")
    assert pixels.shape[1] >= 2300
    assert 0.05 < float((pixels[:, :, :3].min(axis=2) < 0.95).mean()) < 0.6


def test_names_are_no_formulas(tmp_path: Path) -> None:
    stats = PlanStats.of([["$\\frac{1}{2}$", "a_b"]])
    texts = [text for axes in figure_of([Drawing("$x^2$", stats)]).axes for text in axes.texts]
    shown = [text for text in texts if "$" in text.get_text()]
    assert shown and not any(text.get_parse_math() for text in shown)
    draw([Drawing("$\\broken{", stats)], tmp_path / "graph.svg")


def test_other_endings_are_refused_with_the_two_that_are_not(tmp_path: Path) -> None:
    for name in ("graph.pdf", "graph", "graph.svg.txt"):
        with pytest.raises(InputError, match=r"SVG or PNG.*\.svg or \.png"):
            draw([], tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere.*cannot be written"):
        draw([Drawing("run", some_plans(MODULES, 2))], tmp_path / "nowhere" / "graph.svg")


def test_without_matplotlib_the_error_is_the_pip_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackage, match=r"pip install 'matplotlib"):
        draw([Drawing("run", some_plans(MODULES, 2))], tmp_path / "graph.svg")
