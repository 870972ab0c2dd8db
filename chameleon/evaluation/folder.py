"""The folder of an evaluation: results, events and the settings that made them, safe against a crash."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from chameleon.errors import InputError, LogError
from chameleon.evaluation.data import find_benchmark
from chameleon.evaluation.differences import difference
from chameleon.evaluation.histories import BACK, ELSEWHERE, begun_in, histories, usage_of
from chameleon.evaluation.results import Result, Tally
from chameleon.lines import LineFile
from chameleon.log import before_failure, event_from_json, event_to_json, json_line
from chameleon.state import Event
from chameleon.usage import Usage

SETTINGS, RESULTS, EVENTS = "settings.json", "results.jsonl", "events.jsonl"
PROBLEMS = "problems"


class RunFolder:
    """Where an evaluation is kept, problem by problem; the same evaluation opened again goes on.

    `done` are the problems that had a result when it was opened, and whether they failed; `earlier` has the
    results of those that are questions of a conversation. Writing is safe from several threads; one process
    at a time may have the folder open. Raises `LogError` when another evaluation has it, when its settings
    differ (the difference is named), or when a file in it is not ours; `InputError` when it cannot be made.
    """

    def __init__(self, path: str | os.PathLike[str], settings: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.done: dict[str, bool] = {}
        self.earlier: dict[str, Result] = {}
        self.dropped: dict[str, Usage] = {}
        self._begun: dict[str, tuple[Event, ...]] = {}
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise InputError(f"cannot make the folder: {problem.strerror}", where=str(path)) from problem
        # This file stays the same while the folder is open: its lock is what makes other processes wait.
        self._events = LineFile(self.path / EVENTS, "event log", ELSEWHERE)
        try:
            self._results = LineFile(self.path / RESULTS, "results", ELSEWHERE)
            self._keep(settings)
            self._note(_results(self._results))
            self._load_events()
        except BaseException:
            self.close()
            raise

    def append(self, id: str, event: Event) -> None:
        """Keep one event of a problem's run."""
        self._require(not self._events.is_deleted)
        self._events.append(json_line({"id": id, **event_to_json(event)}))

    def finish(self, result: Result) -> None:
        """Keep a problem's result, after all its events."""
        self._require(not self._results.is_deleted)
        self._results.append(json_line(result.to_json()))

    def require_kept(self) -> None:
        """Raise `LogError` when results or events do not lie in the folder any more."""
        self._require(self._results.is_in_place and self._events.is_in_place)

    def _require(self, there: bool) -> None:
        if not there:
            what = "the folder was deleted or moved, so nothing more is kept in it"
            raise LogError(what, where=str(self.path))

    def unfinished(self, id: str) -> tuple[Event, ...]:
        """The events of a run that was interrupted, to go on from; each is given once."""
        return self._begun.pop(id, ())

    def results(self) -> Iterator[Result]:
        """The results that were there when the folder was opened."""
        with (self.path / RESULTS).open("rb") as lines:
            yield from (Result.from_json(json.loads(line)) for line in lines)

    @property
    def usage(self) -> Usage:
        """What all that is kept here has cost, with what was taken back."""
        finished = sum((result.usage for result in self.results()), Usage())
        unfinished = sum(map(usage_of, self._begun.values()), Usage())
        return finished + unfinished + sum(self.dropped.values(), Usage())

    def forget_failures(self) -> int:
        """Drop the results of runs that failed, so that they go on from their last good step; how many.

        What followed in their conversations is dropped as well: it is to be told what they are answered now.
        """
        failed = {id for id, has_failed in self.done.items() if has_failed}
        if failed:
            torn = _first_positions(self.earlier[id] for id in failed if id in self.earlier)
            kept = [
                result
                for result in self.results()
                if result.id not in failed and result.position <= torn.get(result.sequence, result.position)
            ]
            self._results.rewrite(json_line(result.to_json()) for result in kept)
            self._note(kept)
            self._load_events()
        return len(failed)

    def take_back(self, id: str, events: tuple[Event, ...], kept: int) -> tuple[Event, ...]:
        """Note that of a run only the first `kept` events still count, and return them."""
        self.dropped[id] = self.dropped.get(id, Usage()) + usage_of(events[kept:])
        self._events.append(json_line({"id": id, "event": BACK, "kept": kept}))
        return events[:kept]

    def expect(self, problems: int) -> None:
        """Keep in the settings how many problems are to be run, so that an unfinished run shows as one."""
        settings = _read_settings(self.path / SETTINGS)
        if settings.get(PROBLEMS) != problems:
            write_whole(self.path / SETTINGS, json.dumps({**settings, PROBLEMS: problems}, indent=2) + "\n")

    def close(self) -> None:
        self._events.close()
        if hasattr(self, "_results"):
            self._results.close()

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _keep(self, settings: Mapping[str, Any]) -> None:
        file = self.path / SETTINGS
        if not file.exists():
            for name in (RESULTS, EVENTS):
                if (self.path / name).stat().st_size:
                    told = f"the folder has {name} and no settings that made it"
                    raise LogError(told, where=str(self.path), hint=ELSEWHERE)
            write_whole(file, json.dumps(settings, indent=2) + "\n")
            return
        before = _read_settings(file)
        if told := difference(before, settings):
            raise LogError(
                f"the folder was made with other settings: {told}",
                where=str(self.path),
                hint=ELSEWHERE,
            )

    def _note(self, results: Iterable[Result]) -> None:
        self.done, self.earlier = {}, {}
        for result in results:
            self.done[result.id] = result.failed
            if result.sequence:
                self.earlier[result.id] = result

    def _load_events(self) -> None:
        """Read what is kept of the problems without a result; a failure at its end is to be tried again."""
        whole = ((start, line) for start, line in self._events.whole_lines() if line.endswith(b"\n"))
        self._begun, self.dropped = histories(whole, lambda id: id not in self.done, self._events.path)
        for id, events in self._begun.items():
            kept = before_failure(events)
            if kept < len(events):
                self._begun[id] = self.take_back(id, events, kept)


@dataclass(frozen=True)
class Run:
    """A folder that an evaluation has written, read again."""

    path: Path
    settings: Mapping[str, Any]
    results: list[Result]

    @cached_property
    def tally(self) -> Tally:
        """The counts over the results, with the benchmark's columns in their order."""
        benchmark = find_benchmark(self.settings["benchmark"])
        rule = benchmark.scorers.get(str(self.settings.get("scorer")))
        tally = Tally(benchmark.columns, rule() if rule else None)
        for result in self.results:
            tally.add(result)
        return tally

    @property
    def total(self) -> int | None:
        """How many problems were to be run; None where the settings do not tell, as older ones."""
        total = self.settings.get(PROBLEMS)
        return total if isinstance(total, int) and not isinstance(total, bool) else None

    @cached_property
    def unfinished(self) -> bool:
        """Whether problems have no result yet: fewer than the total have, or one has begun and not ended."""
        if self.total is not None:
            return len(self.results) < self.total
        file, ended = self.path / EVENTS, {result.id for result in self.results}
        return file.is_file() and any(id not in ended for id in begun_in(file))

    def histories(self, ids: Collection[str]) -> dict[str, tuple[Event, ...]]:
        """The events of these problems, by id."""
        with (self.path / EVENTS).open("rb") as lines:
            whole = ((0, line) for line in lines if line.endswith(b"\n"))
            return histories(whole, frozenset(ids).__contains__, self.path / EVENTS)[0]


def read_run(path: str | os.PathLike[str]) -> Run:
    """Read a folder that `chameleon eval --out` has written; one that is being written to may be read too.

    Raises `InputError` for a folder that is none, `LogError` for a damaged one.
    """
    folder = Path(path)
    for name in (SETTINGS, RESULTS):
        if not (folder / name).is_file():
            raise InputError(
                f"this is no folder of an evaluation: it has no {name}",
                where=str(folder),
                hint=_where_runs_are(folder),
            )
    with (folder / RESULTS).open("rb") as lines:
        whole = [(0, line) for line in lines if line.endswith(b"\n")]
    return Run(folder, _read_settings(folder / SETTINGS), list(_parsed(whole, folder / RESULTS)))


def spent_in(path: Path) -> Usage:
    """What all calls have cost whose events lie in a folder, also those of runs that have not ended."""
    spent = Usage()
    with (path / EVENTS).open("rb") as lines:
        for line in lines:
            if line.endswith(b"\n") and (data := json.loads(line))["event"] != BACK:
                spent += usage_of([event_from_json(data)])
    return spent


def _where_runs_are(folder: Path) -> str:
    """What to name instead: the runs in the folder, if it has any."""
    runs = sorted(path.parent.name for path in folder.glob(f"*/{SETTINGS}")) if folder.is_dir() else []
    if runs:
        return f"It holds {', '.join(runs[:5])}{' …' if runs[5:] else ''}: name them, as {folder / runs[0]}."
    return "Make one with `chameleon eval INVENTORY DATA --out DIR`."


def _first_positions(results: Iterable[Result]) -> dict[str, int]:
    """The first of these results in each conversation, by its position."""
    found: dict[str, int] = {}
    for result in results:
        if result.sequence:
            found[result.sequence] = min(result.position, found.get(result.sequence, result.position))
    return found


def _results(file: LineFile) -> Iterator[Result]:
    whole = ((start, line) for start, line in file.whole_lines() if line.endswith(b"\n"))
    return _parsed(whole, file.path)


def _parsed(lines: Iterable[tuple[int, bytes]], path: Path) -> Iterator[Result]:
    seen: set[str] = set()
    for number, (_, line) in enumerate(lines, 1):
        try:
            result = Result.from_json(json.loads(line))
        except (ValueError, KeyError, TypeError) as problem:
            raise LogError(
                f"line {number} is no result",
                where=str(path),
                hint=f"Take out that line if it is not ours. {ELSEWHERE}",
            ) from problem
        if result.id in seen:
            told = f"line {number} is another result of problem {result.id}"
            raise LogError(told, where=str(path), hint=f"Take out one of them. {ELSEWHERE}")
        seen.add(result.id)
        yield result


def _read_settings(file: Path) -> Mapping[str, Any]:
    try:
        settings = json.loads(file.read_text("utf-8"))
        settings["benchmark"], settings["inventory"]
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise LogError("these are no settings of an evaluation", where=str(file), hint=ELSEWHERE) from problem
    return dict(settings)


def write_whole(file: Path, text: str) -> None:
    """Write a file that is either not there or whole."""
    beside = file.with_name(file.name + ".new")
    beside.write_text(text, "utf-8")
    beside.replace(file)
