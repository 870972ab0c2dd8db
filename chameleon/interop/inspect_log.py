"""Export an evaluation's folder as an Inspect log, for its viewer and its analysis.

Inspect's own classes check the values. Its public writer needs the whole log, so all problems are in memory.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chameleon.core.events import Event, Nested, Plan, RunEnded, RunStarted, StepRecord
from chameleon.errors import InputError, require
from chameleon.evaluation.results import Result
from chameleon.evaluation.run import Run, read_run
from chameleon.evaluation.run_dir import RESULTS
from chameleon.interop.spans import PARAMETERS
from chameleon.usage import Call, Usage
from chameleon.values import to_json

_TASK_ARGS = ("inventory", "scorer", "without", "history")
_ROLES = {"system": "system", "assistant": "assistant", "ai": "assistant", "tool": "tool"}
_STOP_REASONS = {"length": "max_tokens", "tool_calls": "tool_calls", "content_filter": "content_filter"}
Json = dict[str, Any]


def write_inspect_log(run_dir: Path, file: Path) -> int:
    """Write an evaluation's folder as an Inspect log, `.eval` or `.json`; return the number of problems.

    Raises:
        MissingPackage: if the extra `inspect` is not installed.
        InputError: if the file is of another kind, or its folder or the evaluation's is missing.
        LogError: as `read_run` raises it.
    """
    if file.suffix not in (".eval", ".json"):
        raise InputError("an Inspect log must be named NAME.eval or NAME.json", where=str(file))
    run = read_run(run_dir)
    require("inspect-ai", "Inspect logs are written with", "inspect", module="inspect_ai")
    from inspect_ai.log import EvalLog, EvalSample, write_eval_log

    if not file.parent.is_dir():
        raise InputError("there is no such folder", where=str(file.parent))
    ended_at = (run.path / RESULTS).stat().st_mtime
    samples = [
        EvalSample.model_validate(_sample(run, result, events, ended_at))
        for result, events in run.with_events(list(run.results))
    ]
    log = EvalLog.model_validate({**_header(run, ended_at), "samples": samples})
    write_eval_log(log, str(file))
    file.chmod(0o600)  # like the folder's own files
    return len(samples)


def _header(run: Run, ended_at: float) -> Json:
    """Return a log without its samples; metrics of a column are named like "accuracy, FREE"."""
    settings, tally, scorer = run.settings, run.tally, str(run.settings.get("scorer"))
    model = _inspect_name(settings.get("model"))
    started = str(settings.get("started") or _in_utc(ended_at))
    digest = hashlib.sha256(json.dumps(dict(settings), sort_keys=True, default=str).encode())
    counts = {"": tally.all, **{f", {column}": count for column, count in tally.columns.items()}}
    metrics = {
        f"{name}{of}": {"name": f"{name}{of}", "value": value}
        for of, count in counts.items()
        for name, value in tally.figures(count).items()
        if value is not None
    }
    score = {"name": scorer, "scorer": scorer, "scored_samples": run.n, "metrics": metrics}
    return {
        "status": "cancelled" if run.unfinished else "success",
        "eval": {
            **dict.fromkeys(("eval_id", "run_id", "task_id"), digest.hexdigest()[:22]),
            "created": started,
            "task": str(settings["benchmark"]),
            "task_args": {key: settings[key] for key in _TASK_ARGS if settings.get(key)},
            "solver": str(settings["inventory"]),
            "dataset": {"name": (settings.get("data") or {}).get("name"), "samples": run.total or run.n},
            "model": model,
            "config": {"epochs": 1},
            "metadata": dict(settings),
        },
        "results": {
            "total_samples": run.total or run.n,
            "completed_samples": run.n - run.tally.failed,
            "scores": [{**score, "metadata": dict(run.tally.verdicts)}],
        },
        "stats": {
            "started_at": started,
            "completed_at": _in_utc(ended_at),
            "model_usage": {model: _usage(tally.usage)} if tally.usage.calls else {},
        },
    }


def _sample(run: Run, result: Result, events: Sequence[Event], ended_at: float) -> Json:
    """Return a problem: the last call's messages, all calls and steps, its result, and why it is wrong."""
    started = events[0] if events and isinstance(events[0], RunStarted) else RunStarted("", {})
    start = started.at or ended_at
    calls = [call for event in events for call in getattr(event, "calls", ())]
    verdict, answer = result.verdict, None if result.answer is None else _as_text(result.answer)
    message = {"role": "assistant", "content": answer or ""}
    output = _reply(calls[-1]) if calls else {"choices": [{"message": message}]}
    messages = [*_chat(calls[-1].messages), output["choices"][0]["message"]] if calls else []
    model = _inspect_name(run.settings.get("model"))
    golds = result.gold if isinstance(result.gold, list | tuple) else [result.gold]
    targets = [_as_text(gold) for gold in golds]
    error = {"message": str(result.error), "traceback": "", "traceback_ansi": ""}
    score = {
        "value": {True: "C", False: "I", None: dict(result.grades)}[result.correct],
        "answer": answer,
        "explanation": f"{verdict}: {result.error}" if result.error else verdict,
        "metadata": {"verdict": verdict, **result.grades},
    }
    return {
        "id": result.id,
        "epoch": 1,
        "input": _as_text(started.input.get("question", "")),
        "choices": [_as_text(choice) for choice in started.input.get("choices") or ()] or None,
        "target": targets[0] if len(targets) == 1 else targets,
        "messages": messages,
        "output": {**output, "completion": answer} if answer else output,
        "scores": {str(run.settings.get("scorer")): score},
        "metadata": result.to_json(),
        "events": list(_inspect_events(events, start)),
        "model_usage": {model: _usage(result.usage)} if calls else {},
        "started_at": _in_utc(start),
        "completed_at": _in_utc(start + result.seconds),
        "total_time": result.seconds,
        "error": error if result.failed else None,
    }


def _chat(messages: Sequence[tuple[str, str]]) -> list[Json]:
    """Return messages with Inspect's roles; an unknown role becomes the user's."""
    return [{"role": _ROLES.get(role, "user"), "content": text} for role, text in messages]


def _inspect_events(events: Sequence[Event], start: float) -> Iterator[Json]:
    """Yield an event for each call and step in sequence; events inside a step start with it."""
    for number, event in enumerate(events):
        inner = event.innermost if isinstance(event, Nested) else event
        if not isinstance(inner, Plan | StepRecord | RunEnded):
            continue
        seconds: float = getattr(inner, "seconds", 0.0)
        times = {"timestamp": _in_utc(start), "completed": _in_utc(start + seconds)}
        for call in inner.calls:
            yield {
                "event": "model",
                **times,
                "model": _inspect_name(call.model),
                "input": _chat(call.messages),
                "tools": [],
                "tool_choice": "none",
                "config": {name: value for name, value in call.params.items() if name in PARAMETERS},
                "output": _reply(call),
                "error": call.error or None,
                "cache": "read" if call.cached else None,
                "retries": call.attempts - 1 or None,
                "working_time": call.seconds,
            }
        if isinstance(inner, StepRecord):
            yield {
                "event": "tool",
                **times,
                "id": f"{inner.step.module}-{number}",
                "function": inner.step.module,
                "arguments": to_json(inner.step.args or {}),
                "result": "" if inner.output is None else _as_text(inner.output),
                "error": {"type": "unknown", "message": str(inner.error)} if inner.error else None,
            }
        start = start + seconds if inner is event else start


def _reply(call: Call) -> Json:
    """Return the reply of a call, with the tools that it called."""
    tools = [
        {"id": str(each["id"]), "function": str(each["name"]), "arguments": dict(each["args"])}
        for each in call.tool_calls
    ]
    model = _inspect_name(call.model)
    message = {"role": "assistant", "content": call.text, "tool_calls": tools or None, "model": model}
    choice = {"message": message, "stop_reason": _STOP_REASONS.get(call.finish, "stop")}
    reply = {"model": model, "choices": [choice], "usage": _usage(call.usage)}
    return {**reply, "time": call.seconds, "error": call.error or None}


def _usage(usage: Usage) -> Json:
    """Return the usage; counts that the provider did not report are 0, as Inspect has no unknown."""
    tokens_in, tokens_out = usage.input_tokens or 0, usage.output_tokens or 0
    return {
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
        "input_tokens_cache_read": usage.cached_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "total_cost": usage.cost,
    }


def _inspect_name(model: str | None) -> str:
    """Return Inspect's name of a model, such as "openai/gpt-6-luna"."""
    return model.replace(":", "/", 1) if model else "none/none"


def _as_text(value: Any) -> str:
    """Return a text unchanged, and anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(to_json(value), ensure_ascii=False)


def _in_utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
