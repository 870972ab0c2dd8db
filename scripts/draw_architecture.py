"""Draw docs/architecture.svg: the rooms of `chameleon/` on their floors, and the plug-ins.

Run: python scripts/draw_architecture.py           writes the picture
     python scripts/draw_architecture.py --check   exits 1 when the picture is out of date
"""

import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "architecture.svg"


@dataclass(frozen=True)
class DrawnRoom:
    """A box of the picture, with its name and its purpose."""

    title: str
    does: str


FLOORS = (
    (DrawnRoom("cli", "the command line"),),
    (DrawnRoom("evaluation", "run, score, count, report"), DrawnRoom("interop", "MCP, LangChain, traces")),
    (DrawnRoom("run", "the executor: what comes next, step by step, and who approves it"),),
    (DrawnRoom("inventory", "a YAML file, checked, with its modules and its planner made"),),
    (DrawnRoom("core", "state, modules, planners, prompts, the log of a run"),),
    (
        DrawnRoom("llm", "chat models, replies kept"),
        DrawnRoom("documents", "files to passages"),
        DrawnRoom("retrieval", "an index, rankers"),
    ),
    (DrawnRoom("table", "readers, typed cells"), DrawnRoom("pictures", "images and OCR")),
    (DrawnRoom("web", "guarded requests"), DrawnRoom("sandbox", "sealed programs")),
    (DrawnRoom("errors, text, values", "what every room shares"),),
)
PLUGINS = (
    DrawnRoom("modules/", "the tools"),
    DrawnRoom("planners/", "choose the next modules"),
    DrawnRoom("benchmarks/", "readers, official scorers"),
)
DATA = (DrawnRoom("inventories/, prompts/", "YAML of a task; Markdown"),)

WIDTH, LEFT, RIGHT, GAP, HEIGHT, TOP = 1000, 20, 700, 14, 62, 50
BLUE, SAND, GREEN = "#e8f0fb", "#fdf1df", "#edf5e4"


def check_rooms() -> None:
    """Raise `SystemExit` unless every folder of `chameleon/` is drawn and every box exists in the code."""
    package = ROOT / "chameleon"
    drawn = {name for floor in FLOORS for room in floor for name in room.title.split(", ")}
    folders = {path.parent.name for path in package.glob("*/__init__.py") if not path.parent.is_symlink()}
    gone = {name for name in drawn - folders if not (package / f"{name}.py").is_file()}
    if strange := (folders - drawn) | gone:
        raise SystemExit(f"draw these, or take them out: {', '.join(sorted(strange))}")


def draw() -> str:
    """Return the picture as SVG."""
    bottom = TOP + len(FLOORS) * (HEIGHT + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 24}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{bottom + 24}" fill="#fff"/>',
        text(LEFT, 32, "chameleon/: knows no tool and no task", bold=True),
        text(RIGHT, 32, "beside it: found by name, plugged in", bold=True),
    ]
    for number, floor in enumerate(FLOORS):
        width = (RIGHT - 40 - LEFT - GAP * (len(floor) - 1)) / len(floor)
        for place, room in enumerate(floor):
            parts += box(room, LEFT + place * (width + GAP), TOP + number * (HEIGHT + GAP), width, BLUE)
    for number, room in enumerate((*PLUGINS, *DATA)):
        color = SAND if room in PLUGINS else GREEN
        parts += box(room, RIGHT, TOP + number * (HEIGHT + GAP), WIDTH - LEFT - RIGHT, color)
    note = "A room imports from its own floor and those below, never from above. Green is data."
    return "\n".join([*parts, text(LEFT, bottom + 8, note), "</svg>", ""])


def box(room: DrawnRoom, x: float, y: float, width: float, color: str) -> list[str]:
    """Return a room as a rectangle with two lines of text."""
    frame = f'<rect x="{x:.0f}" y="{y}" width="{width:.0f}" height="{HEIGHT}" rx="6"'
    return [
        f'{frame} fill="{color}" stroke="#8899aa"/>',
        text(x + 12, y + 26, room.title, bold=True),
        text(x + 12, y + 46, room.does),
    ]


def text(x: float, y: float, words: str, *, bold: bool = False) -> str:
    """Return one line of text."""
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.0f}" y="{y}" fill="#223"{weight}>{escape(words)}</text>'


def main() -> int:
    """Write or compare the picture; return the exit code."""
    check_rooms()
    picture = draw()
    if "--check" in sys.argv:
        return int(not PICTURE.exists() or PICTURE.read_text("utf-8") != picture)
    PICTURE.write_text(picture, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
