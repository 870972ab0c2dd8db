"""An evaluation's folder as a log of Inspect (`inspect_ai`): for its viewer and its analysis.

Made through Inspect's own classes. Its public writer takes a whole log, so all problems are held at once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from chameleon.errors import InputError, require
from chameleon.evaluation.results import Count
from chameleon.evaluation.run import Run, read_run
from chameleon.evaluation.run_dir import RESULTS
from chameleon.interop.inspect_sample import in_utc, inspect_name, sample_of, usage_of

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalResults

_TASK = ("inventory", "scorer", "without", "history")


def write_inspect_log(run_dir: Path, file: Path) -> int:
    """Write an evaluation's folder as a log of Inspect, `.eval` or `.json`; return how many problems it has.

    Raises `MissingPackage` without the extra `inspect`, `InputError` for another kind of file, and as
    `read_run` does.
    """
    if file.suffix not in (".eval", ".json"):
        raise InputError("a log of Inspect is called NAME.eval or NAME.json", where=str(file))
    run = read_run(run_dir)
    require("inspect-ai", "logs of Inspect are written with", "inspect", module="inspect_ai")
    from inspect_ai.log import write_eval_log

    if not file.parent.is_dir():
        raise InputError("there is no such folder", where=str(file.parent))
    log = inspect_log(run)
    write_eval_log(log, str(file))
    file.chmod(0o600)  # as the folder's own files
    return len(log.samples or ())


def inspect_log(run: Run) -> EvalLog:
    """Return a run that was kept as a log of Inspect."""
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSpec, EvalStats

    settings = run.settings
    ended_at = (run.path / RESULTS).stat().st_mtime
    data = settings.get("data") or {}
    written = json.dumps(dict(settings), sort_keys=True, default=str)
    id = hashlib.sha256(written.encode()).hexdigest()[:22]
    model = inspect_name(settings.get("model"))
    samples = [
        sample_of(result, events, str(settings.get("scorer")), ended_at)
        for result, events in run.with_events(list(run.results))
    ]
    started = str(settings.get("started") or in_utc(ended_at))
    chosen = {key: settings[key] for key in _TASK if settings.get(key)}
    return EvalLog(
        status="cancelled" if run.unfinished else "success",
        eval=EvalSpec(
            eval_id=id,
            run_id=id,
            task_id=id,
            created=started,
            task=str(settings["benchmark"]),
            task_args=chosen,
            solver=str(settings["inventory"]),
            dataset=EvalDataset(name=data.get("name"), samples=run.total or run.n),
            model=model,
            config=EvalConfig(epochs=1),
            packages={name: str(each) for name, each in (settings.get("versions") or {}).items()},
            metadata=dict(settings),
        ),
        results=_results(run),
        stats=EvalStats(
            started_at=started,
            completed_at=in_utc(ended_at),
            model_usage={model: usage_of(run.tally.usage)} if run.tally.usage.calls else {},
        ),
        samples=samples,
    )


def _results(run: Run) -> EvalResults:
    """Return the figures of a run: over all problems, and by column as "accuracy, FREE"."""
    from inspect_ai.log import EvalMetric, EvalResults, EvalScore

    tally, scorer = run.tally, str(run.settings.get("scorer"))

    def figures(count: Count, of: str = "") -> Iterator[tuple[str, float]]:
        for name, value in tally.figures(count).items():
            if value is not None:
                yield f"{name}{of}", value

    found = dict(figures(tally.all))
    for column, count in tally.columns.items():
        found |= dict(figures(count, f", {column}"))
    return EvalResults(
        total_samples=run.total or run.n,
        completed_samples=run.n - run.verdicts["failed"],
        scores=[
            EvalScore(
                name=scorer,
                scorer=scorer,
                scored_samples=run.n,
                metrics={name: EvalMetric(name=name, value=value) for name, value in found.items()},
                metadata=dict(run.verdicts),
            )
        ],
    )
