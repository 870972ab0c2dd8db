"""`chameleon eval`: evaluate one inventory over problems, here or on other machines."""

import hashlib
import shlex
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Any

import typer

from chameleon.cli.evaluating import EvalRun
from chameleon.cli.options import EvalOptions, names
from chameleon.cli.scoring import Data, show_counts
from chameleon.cli.setup import file_name, model_for, read_files, receiver, set_up
from chameleon.cli.terminal import Activity, say
from chameleon.errors import InputError
from chameleon.evaluation.data import DataFile
from chameleon.evaluation.problems import PART, PartOfProblems, Problems
from chameleon.inventories import first_rung
from chameleon.run.executor import Executor
from chameleon.text import counted


def evaluate(
    options: EvalOptions,
    inventory: str,
    data: Path,
    without: list[str] | None,
    part: str | None,
    *,
    as_json: bool,
) -> int:
    """Run and show an evaluation, and return the exit code: 0 done, 1 if every problem failed.

    Raises `Interrupted` after Ctrl-C and `Stopped` on an early end, both after showing the results so far.
    """
    if options.retry_failed and options.out is None:
        raise InputError("--retry-failed has nothing to retry", hint="Name the folder with --out.")
    if part is not None and options.out is None:
        raise InputError("--part makes a folder for `chameleon merge`", hint="Name it with --out.")
    if Path(inventory).is_file() and not inventory.endswith((".yaml", ".yml")) and not data.exists():
        hint = f"The inventory comes first: chameleon eval {data} {shlex.quote(inventory)}"
        raise InputError("a file of questions is not an inventory", where=inventory, hint=hint)
    mine = PartOfProblems.read(part) if part is not None else None
    if mine is not None and options.max_cost is not None:
        options = replace(options, max_cost=options.max_cost / mine.of)  # an equal share
    with ExitStack() as close:
        source = Data(data, options.benchmark, options, read_files(options, close))
        setup = set_up(_first_rung(inventory, options), options, names(without))
        with Activity(f"reading {data}"):
            problems = Problems(source.read, options.limit, mine)  # find faults before spending money
        executor = close.enter_context(placed(setup.executor, options))
        run = EvalRun(executor, problems, source, options, close.enter_context(receiver(options)))
        run.check()
        of = f", {mine}" if mine else ""
        say(f"Runs {counted(len(problems), 'problem')} of {source.benchmark.name}{of} with {setup.why}.")
        started = time.monotonic()
        stopped = run.run(**further_settings(options), **({PART: asdict(mine)} if mine else {}))
        seconds = time.monotonic() - started
    show_counts(run.tally, source.benchmark, source.scorer, seconds, run.spending, as_json=as_json)
    if source.skipped:
        say(f"Skipped {len(source.skipped):,} of {counted(source.n_rows, 'row')}; see above.")
    run.say_how_to_resume(stopped)
    if stopped is not None:
        raise stopped
    return int(0 < len(problems) == run.tally.failed)


def _first_rung(inventory: str, options: EvalOptions) -> str:
    """Return the inventory, or without a model its first part: the reader that asks no model."""
    offline = first_rung(inventory)
    if offline is None or model_for(options).model is not None:
        return inventory
    say(f"There is no model, so only {offline} answers, the first part of {inventory}.")
    return offline


def further_settings(options: EvalOptions) -> dict[str, Any]:
    """Return further settings that affect results: the files that all questions share, and the sample."""
    files = list(chain.from_iterable(options.files.values()))
    digests = {file_name(each): DataFile(each).sha256 for each in files if Path(each).is_file()}
    settings: dict[str, Any] = {"given": digests} if digests else {}
    if options.index is not None:
        settings["index"] = index_digests(options.index)
    if options.sample is not None:
        settings["sample"] = {"n": options.sample, "seed": options.seed}
    return settings


@contextmanager
def placed(executor: Executor, options: EvalOptions) -> Iterator[Executor]:
    """Yield the executor in the place that --on names: here, or on the machines of a Ray cluster."""
    if options.on is None:
        yield executor
        return
    kind, _, address = options.on.partition(":")
    if kind != "ray":
        what = f"{options.on!r} is not a place to run; write ray or ray:ADDRESS"
        raise typer.BadParameter(what, param_hint="--on")
    from chameleon.interop.ray import OnRay

    with OnRay(executor, address or None, runs=options.workers) as remote:
        say(f"On Ray: {remote.workers.count} x {remote.workers.room} problems at once.")
        yield remote


def index_digests(folder: Path) -> dict[str, str]:
    """Digest an index, or each index in a folder, to record which ones an evaluation searched."""
    manifests = sorted([*folder.glob("manifest.json"), *folder.glob("*/manifest.json")])
    names = {path.parent.relative_to(folder).as_posix(): path for path in manifests}
    return {name: hashlib.sha256(path.read_bytes()).hexdigest()[:12] for name, path in names.items()}
