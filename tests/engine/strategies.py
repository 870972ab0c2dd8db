"""A run, and anything that a run and its log may hold."""

from pathlib import Path
from typing import get_args

from hypothesis import strategies as st

from chameleon import values
from chameleon.core.events import Event, Failure, Plan, PlanKind, Redo, RunEnded, RunStarted, Step, StepRecord
from chameleon.core.log import EventLog
from chameleon.table import Table
from chameleon.usage import Call, Usage

# Any text that Python can hold: half a surrogate pair comes out of badly decoded files.
texts = st.text(st.characters(exclude_categories=()), max_size=8)
keys = texts | st.sampled_from(["$", "$$", "$table", "$path", "$output", "$$output", "event", "error"])
rows = st.integers(1, 3).map(lambda width: st.lists(texts, min_size=width, max_size=width))
tables = rows.flatmap(lambda row: st.builds(Table, row, st.lists(row, max_size=3), texts))
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
paths = st.sampled_from([Path("a/b.csv"), Path("/tmp"), Path()])
scalars = st.none() | st.booleans() | numbers | texts | tables | paths
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
mappings = st.dictionaries(keys, anything, max_size=3).map(values.freeze)
no_failure = st.none() | st.builds(Failure, texts, texts, texts)
outputs = anything.map(values.freeze)
flags = st.booleans()
few, flags = st.integers(0, 9), st.booleans()
reasons = st.sampled_from(["answered", "declined", "failed", "budget"])
usages = st.builds(Usage, few, st.none() | few, st.none(), st.none() | st.just(0.5))
messages = st.lists(st.tuples(texts, texts), max_size=2).map(tuple)
params = st.dictionaries(texts, st.integers() | texts, max_size=2)
calls = st.builds(Call, texts, messages, params, texts, texts, few, usages, cached=flags, error=texts)
many_calls = st.lists(calls, max_size=2).map(tuple)
redos = st.builds(Redo, st.integers(1, 9), st.sampled_from([0.0, 0.1]), st.booleans())
steps = st.builds(Step, texts, st.none() | mappings, st.none() | redos)
kinds = st.sampled_from(get_args(PlanKind))
seconds = st.integers(0, 10**6).map(lambda micro: micro / 10**6)
events: st.SearchStrategy[Event] = (
    st.builds(RunStarted, texts, mappings, mappings)
    | st.builds(Plan, st.lists(steps, max_size=3).map(tuple), texts, texts, kinds, texts, seconds, many_calls)
    | st.builds(StepRecord, steps, outputs, mappings, mappings, no_failure, seconds, many_calls, flags)
    | st.builds(RunEnded, reasons, no_failure, many_calls)
)

RUN: list[Event] = [
    RunStarted("mine", values.freeze({"question": "How many? é 🦎"})),
    Plan((Step("look"), Step("say")), "fixed"),
    StepRecord(Step("look"), 3, {}, values.freeze({"look": 3})),
    StepRecord(Step("say"), "3", {}, values.freeze({"say": "3"})),
    RunEnded("answered"),
]


def write_log(folder: Path, events: list[Event]) -> Path:
    path = folder / "run.jsonl"
    with EventLog(path) as log:
        for event in events:
            log.append(event)
    return path
