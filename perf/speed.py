"""Run the speed comparisons one after another, and write `docs/benchmarks/speed.md` from their output.

    python -m venv /tmp/perf && /tmp/perf/bin/pip install -e '.[openai]' -r perf/requirements.txt
    /tmp/perf/bin/python perf/speed.py [--quick] [--page FILE]

`--quick` measures less, to check that everything runs; pass another `--page` with it. The scripts can also be
run one by one; each prints Markdown.
"""

import argparse
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from timings import machine

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmarks" / "speed.md"
HEAD = """# Speed

Made by `python perf/speed.py{quick}` on {date} at commit {commit}; the figures are as the scripts printed
them. {machine}. No model is asked: replies are at hand, or come from a server on this machine after a fixed
time. Packages are pinned in `perf/requirements.txt`; [how to run it](#run-it-yourself).

Other work on the machine affects the figures, above all wall time. Compare figures of one table: their stacks
ran in turn, in the same rounds, and a ratio is made of two figures of one round. "Aim" is the limit for a
release.
"""
TAIL = """
## What is like for like

The plain loop, own modules and LangGraph call the same function in each of six steps, in one
process. LangGraph keeps nothing unless a checkpointer is given: with checkpoints in SQLite it is closest to
the event log. Checkpoints hold the
whole state after each step and are committed to a database; the log holds the changes of each step, and hands
each line to the operating system. Prompt modules do more in a step than the bare chat model does: they
render a template that no value can break out of, detect equal questions in flight, keep a budget,
retry, and record requests and costs. The agents are different: to call five tools they ask
their model six times with the whole conversation, and they have no plan to run; their rows show what a
question costs there. DSPy and LCEL are called six times in a loop and keep nothing. In calls, only
Chameleon's rows plan, check and keep a record; `ChatOpenAI`, `AsyncOpenAI` and aiohttp ask the same
questions and drop the replies. Not measured: TLS, streaming, more cores.

## Run it yourself

    python -m venv /tmp/perf && /tmp/perf/bin/pip install -e '.[openai]' -r perf/requirements.txt
    /tmp/perf/bin/python perf/speed.py

It takes about a quarter of an hour on two cores; `--quick` a minute or two, for figures that swing more.
"""


@dataclass(frozen=True)
class PageSection:
    """A section of the page: the output of a script with these options."""

    title: str
    told: str
    script: str
    options: str = ""
    quick: str = ""


PARTS = [
    PageSection(
        "Steps",
        "What the engine adds to a step that takes no time itself. A plan is a planner and five modules, "
        "with prompts of 2.5 KB; CPU, and ratios of it, are medians with the least and the most of all.",
        "step_costs.py",
        quick="--rounds 3 --seconds 0.05",
    ),
    PageSection(
        "Calls in flight",
        "200 problems of four calls each over HTTP. Ideal is what the calls alone take; CPU is that of the "
        "client's process.",
        "calls.py",
        quick="--problems 64 --workers 32 256 --repeats 1",
    ),
    PageSection(
        "Calls that take a second",
        "The same where a call takes as long as models do.",
        "calls.py",
        "--seconds 1 --workers 256",
        "--problems 64 --repeats 1",
    ),
    PageSection(
        "Recorded replies",
        "The response store beside LangChain's cache in memory and a plain table of SQLite.",
        "recorded_replies.py",
        quick="--replies 500 --repeats 2",
    ),
    PageSection("The command line", "From the prompt of the shell to the end of the process.", "cli.py"),
    PageSection(
        "A whole evaluation",
        "Made-up problems of TabMWP's form, a model in this process, everything logged: pace and memory.",
        "evaluation.py",
        quick="--problems 500",
    ),
]


def section(part: PageSection, *, quick: bool) -> str:
    """Run a script and return its section; output without a Markdown table is kept as is."""
    options = f"{part.options} {part.quick if quick else ''}".split()
    print(f"perf/{part.script} {' '.join(options)}", file=sys.stderr)
    done = subprocess.run(
        [sys.executable, HERE / part.script, *options], check=True, text=True, stdout=subprocess.PIPE
    )
    printed = done.stdout.strip()
    if "\n|" not in printed:
        printed = f"```\n{printed}\n```"
    return f"\n## {part.title}\n\n{part.told} `{' '.join(['perf/' + part.script, *options])}`\n\n{printed}\n"


def commit() -> str:
    """Return the commit being measured, and whether the files differ from it."""
    described = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(described, cwd=HERE, check=True, text=True, stdout=subprocess.PIPE).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="measure less and shorter")
    parser.add_argument("--page", type=Path, default=PAGE, help="the file to write")
    options = parser.parse_args()
    quick = " --quick" if options.quick else ""
    head = HEAD.format(date=f"{datetime.now(UTC):%Y-%m-%d}", commit=commit(), machine=machine(), quick=quick)
    sections = [section(part, quick=options.quick) for part in PARTS if (HERE / part.script).exists()]
    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text("".join([head, *sections, TAIL]), "utf-8")
    print(f"wrote {options.page}", file=sys.stderr)


if __name__ == "__main__":
    main()
