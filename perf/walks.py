"""Count the files, rooms and climbs on the path of a question, from real calls.

    python perf/walks.py                                  # this checkout
    PYTHONPATH=OTHER python perf/walks.py [--files]       # another one; `--files` names the files

Each walk is one run in a separate process; `sys.setprofile` notes the first call of each of our functions.
`files` counts their files. A reader follows fewer, `followed`: not the ground floor, which is called from
everywhere, the readers of table files, which have a separate walk, or plug-ins (`modules`, `planners`,
`benchmarks`). The order of first calls gives a sequence of rooms (a folder, or a file at the root); a climb
is a move to a room on a higher floor, as listed in `tests/test_floors.py` of the checkout.
"""

from __future__ import annotations

import io
import json
import os
import runpy
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from itertools import groupby, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

import chameleon

ROOT = Path(chameleon.__file__).resolve().parents[1]
FLOORS = runpy.run_path(str(ROOT / "tests" / "test_floors.py"))["FLOORS"]
LEVEL = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}
PLUGINS = ("modules", "planners", "benchmarks")
GROUND = ("__init__", "bridge", "cached", "errors", "figures", "lazy", "quoting", "seal", "text", "usage")
GROUND += ("values", "yaml_text")
QUESTION = "How many more points does Kingsmere Town have than Northgate United?"
LEAGUE = str(ROOT / "demos" / "data" / "league.csv")
PROBLEMS = str(ROOT / "demos" / "data" / "problems.jsonl")
IN_FUNCTION = 0x2  # `co_flags` of a function, as opposed to a module or class body


class Trace:
    """The functions of the checkout in the order of their first calls: (file, name), by the file's path."""

    def __init__(self) -> None:
        self.calls: dict[tuple[str, str], None] = {}

    def run(self, work: Callable[[], object]) -> None:
        """Do the work while noting calls, also in new threads; discard its output."""
        threading.setprofile(self._note)
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            sys.setprofile(self._note)
            try:
                work()
            except SystemExit as ended:
                assert not ended.code, f"the walk ended with {ended.code}"
            finally:
                sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        is_function = code.co_flags & IN_FUNCTION and not code.co_name.startswith("<")  # not a comprehension
        if event == "call" and is_function and code.co_filename.startswith(str(ROOT)):
            path = os.path.relpath(os.path.realpath(code.co_filename), ROOT)
            if path.startswith(("chameleon/", *(f"{each}/" for each in PLUGINS))) and not _is_loading(frame):
                self.calls[path, code.co_qualname] = None


def _is_loading(frame: FrameType | None) -> bool:
    """Return whether a call is part of loading a file, which a reader does not follow."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals["__name__"] != "__main__":
            return True
        frame = frame.f_back
    return False


def ask(trace: Trace) -> None:
    """`chameleon ask`, from the command line to the answer."""
    trace.run(lambda: _command("ask", QUESTION, "--table", LEAGUE, "--inventory", "tables_offline"))


def run_state(trace: Trace) -> None:
    """One run of the executor, with the inventory and the table already loaded."""
    from chameleon.table import read_table

    executor, given = (
        chameleon.Executor("tables_offline"),
        {"question": QUESTION, "table": read_table(LEAGUE)},
    )
    trace.run(lambda: executor.run(given))


def prompt_of_table(trace: Trace) -> None:
    """From a table file to the prompt of a module."""
    from chameleon.table import read_table

    module = chameleon.Inventory.load("tabmwp").modules["solution_generator"]
    given = {"question": QUESTION}
    trace.run(lambda: module.messages(chameleon.State(input={**given, "table": read_table(LEAGUE)})))


def line_of_problem(trace: Trace) -> None:
    """From the problems of an evaluation to their lines and the score."""
    with TemporaryDirectory() as folder:
        trace.run(
            lambda: _command("eval", "tables_offline", PROBLEMS, "--out", folder, "--benchmark", "tabmwp")
        )


def model_call(trace: Trace) -> None:
    """A call of a model that is already connected, to the reply of its server."""
    from model_server import ModelServer

    with ModelServer(seconds=0.0) as server:
        llm = chameleon.LLM.connect("openai:local", base_url=server.url, api_key="k")
        llm.ask("What is 6 × 7?")
        trace.run(lambda: llm.ask("What is 7 × 6?"))


def _command(*words: str) -> None:
    from chameleon.cli import main

    sys.argv = ["chameleon", *words]
    main()


WALKS = {each.__name__: each for each in (ask, run_state, prompt_of_table, line_of_problem, model_call)}


def room_of(path: str) -> str:
    """Return the room of a file: "run" for `chameleon/run/executor.py`, "state" for `chameleon/state.py`."""
    parts = Path(path).with_suffix("").parts
    return parts[0] if parts[0] in PLUGINS else parts[1]


def measured(calls: list[tuple[str, str]]) -> Mapping[str, int | list[str]]:
    """Return the counts of a walk."""
    left_out = (*GROUND, *PLUGINS, *([] if calls[0][0].startswith("chameleon/table") else ["table"]))
    followed = [path for path, _ in calls if room_of(path) not in left_out]
    stays = [room for room, _ in groupby(map(room_of, followed))]
    climbs = sum(LEVEL[after] > LEVEL[before] for before, after in pairwise(stays))
    names = list(dict.fromkeys(followed))
    counts = {"files": len({path for path, _ in calls}), "followed": len(names), "rooms": len({*stays})}
    return {**counts, "stays": len(stays), "climbs": climbs, "names": names}


def main() -> None:
    if len(sys.argv) == 3 and sys.argv[1] == "--walk":
        trace = Trace()
        WALKS[sys.argv[2]](trace)
        print(json.dumps(measured([*trace.calls])))
        return
    heads = ("files", "followed", "rooms", "stays", "climbs")
    print(f"| walk | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
    for name, walk in WALKS.items():
        command = [sys.executable, __file__, "--walk", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        counts = json.loads(done.stdout)
        told = (walk.__doc__ or "").rstrip(".")
        print(f"| {told} | {' | '.join(str(counts[head]) for head in heads)} |")
        if "--files" in sys.argv:
            print("\n".join(f"    {path}" for path in counts["names"]))


if __name__ == "__main__":
    main()
