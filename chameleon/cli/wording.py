"""Write values, answers, plans and costs as text, and say what else to try without an answer."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from chameleon.cli.hints import HINTS
from chameleon.core.events import Failure, Step
from chameleon.core.state import State
from chameleon.errors import Declined, StepRejected
from chameleon.figures import in_digits, with_unit, without_noise
from chameleon.inventories import DEFAULTS
from chameleon.inventory import Inventory
from chameleon.run.steps import parallel_group
from chameleon.table import Table
from chameleon.text import harmless, one_line
from chameleon.usage import Usage
from chameleon.values import to_json

MAX_REPLY_CHARS = 200
_EDGE_CHARS = " .,;:!?\"'“”‘’`*()[]"
_MODEL_ADVICE = "let a model answer: {} {} --model PROVIDER:NAME, and set its key."
_RETRY_ADVICE = (
    "Replies came from the response store: --store record asks the model again and keeps the replies, "
    "--store off asks it and keeps nothing."
)


def one_of_list(value: Any) -> str:
    """Write an item of a list on one line, with scores in four digits."""
    if not isinstance(value, Mapping):
        return plain(value)
    return ", ".join(
        f"{key}: {in_digits(item) if isinstance(item, float) else plain(item)}" for key, item in value.items()
    )


def entry(key: str, value: Any) -> str:
    """Write an entry of a mapping; a list of mappings or a text of several lines goes below its key."""
    rows = isinstance(value, tuple) and value and all(isinstance(each, Mapping) for each in value)
    text = "\n".join(map(one_of_list, value)) if rows else plain(value)
    return f"{key}:\n{textwrap.indent(text, '  ')}" if rows or "\n" in text else f"{key}: {text}"


def plain(value: Any) -> str:
    """Write a value as text: strings unchanged, a flat list with commas, nested values as JSON."""
    if isinstance(value, Table):
        return f"a {len(value.rows):,} × {len(value.header)} table"
    if isinstance(value, tuple) and not any(isinstance(item, Mapping | tuple) for item in value):
        return ", ".join(map(plain, value)) if value else "none"
    if isinstance(value, Mapping | tuple):
        return json.dumps(to_json(value), ensure_ascii=False)
    return without_noise(value) if isinstance(value, float) else str(value)


def answer_text(answer: Any, unit: str) -> str:
    """Write the answer: a number with its unit ("$12", "7 km"), texts of a picture below each other.

    For a mapping with a text, write only the text.
    """
    if isinstance(answer, tuple) and answer and all(isinstance(item, Mapping) for item in answer):
        return "\n".join(answer_text(item, "") for item in answer)
    if isinstance(answer, str | tuple | Mapping) and not answer:
        text = "(nothing)"
    elif isinstance(answer, Mapping) and isinstance(answer.get("text"), str):
        text = answer["text"]
    elif isinstance(answer, Mapping):
        text = ", ".join(f"{key}: {plain(item)}" for key, item in answer.items())
    else:
        text = plain(answer)
    text = harmless(text)
    if not unit or isinstance(answer, bool) or not isinstance(answer, int | float):
        return text
    return with_unit(text, harmless(unit))


def plan_in_words(steps: Sequence[Step], inventory: Inventory | None) -> str:
    """Write steps in order, as "one & two → three", with & between steps that run in parallel."""
    groups, pending = list[str](), list(steps)
    while pending:
        group = parallel_group(pending, inventory.access) if inventory else pending[:1]
        groups.append(" & ".join(harmless(str(step)) for step in group))
        pending = pending[len(group) :]
    return " → ".join(groups)


def now_in_words(state: State, inventory: Inventory) -> str:
    """Name the modules that run next, as "weather and trains", or "" at the end of a run."""
    if state.ended is not None or state.waiting:
        return ""
    group = parallel_group(state.pending, inventory.access) if state.pending else ()
    return " and ".join(step.module for step in group) or "planner"


def spent_in_words(usage: Usage, stored: int) -> str:
    """Write "Model: 3 calls, …, 2 from the response store", or "" without any calls or stored replies."""
    parts = [usage.in_words] if usage.calls else []
    parts += [f"{stored} from the response store"] if stored else []
    return f"Model: {', '.join(parts)}" if parts else ""


def settled(
    state: State, inputs: Mapping[str, Any], inventory: Inventory, named_by: str = "--inventory"
) -> State:
    """Decline a run whose answer is not among the choices, and say what else to try without an answer.

    Case and surrounding punctuation are ignored. Modules return replies outside the choices unchanged, since
    a benchmark may have special rules for them. The advice is in terms of command-line options.
    """
    ended, choices, answer = state.ended, inputs.get("choices"), state.answer
    if ended is None:
        return state
    if choices and ended.reason == "answered":
        answers = answer if isinstance(answer, tuple) and answer else (answer,)
        if {_bare(answer_text(each, "")) for each in answers} <= set(map(_bare, choices)):
            return state
        reply = one_line(answer_text(answer, ""), MAX_REPLY_CHARS)
        what = f"the reply {reply!r} is not one of the choices: {'; '.join(choices)}"
        ended = replace(ended, reason="declined", error=Failure(Declined.__name__, what))
    if ended.error is None:
        return state
    hints = list(filter(None, [HINTS.get(ended.error.code, ended.error.hint)]))
    with_model = {offline: name for name, offline in DEFAULTS.values()}.get(inventory.name)
    rejected = ended.reason == "failed" and ended.error.kind == StepRejected.__name__
    if rejected and any(call.cached for call in state.calls):
        hints.append(_RETRY_ADVICE)
    elif ended.reason == "declined" and with_model:
        advice = _MODEL_ADVICE.format(named_by, with_model)
        hints.append(f"Or {advice}" if hints else f"{advice[0].upper()}{advice[1:]}")
    error = replace(ended.error, hint=" ".join(hints))
    return replace(state, ended=replace(ended, error=error))


def _bare(text: str) -> str:
    """Return a text in lower case without surrounding punctuation, unless it is only punctuation."""
    folded = " ".join(text.casefold().split())
    return folded.strip(_EDGE_CHARS) or folded
