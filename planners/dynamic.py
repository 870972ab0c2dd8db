"""Chain-of-Table's planner: after every operation it asks which one comes next (Wang et al., 2024)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import PositiveInt

from chameleon.core.events import Plan, Step
from chameleon.core.llm_module import AsksModel, Structured, Weights, votes, weights_of
from chameleon.core.planner import Planner
from chameleon.core.prompt import TableView, named_tables, slots_of, table_text
from chameleon.core.state import State
from chameleon.errors import EmptyReply, InventoryError
from chameleon.inventory import Card, Inventory
from chameleon.planners.plan_schema import closed_object
from chameleon.table import Table
from chameleon.table.formats import Style
from chameleon.text import MAX_TEXT_TOKENS, counted

START, END = "start", "end"
MAX_OTHER_TABLES, MAX_CELL_CHARS = 8, 40
"""How many tables besides the first the prompt shows, and how many characters of each cell."""
Link = Mapping[str, Any]
_CALL = re.compile(r"\bf_(\w+)\s*\(|<END>", re.IGNORECASE)


class Dynamic(AsksModel, Planner):
    """Picks the next operation from the current table, until a model ends the chain.

    A module of the chain may return a link, a mapping with `call` (its text in the chain) and, if it was
    refused, `refused`; a module that returns anything else is shown by its name.

    Args:
        follows: which operations may follow which; `start` and `end` are the ends of the chain. An operation
            that was refused or failed is not offered again, nor is one that reads something missing; if only
            one candidate is left, no model is asked.
        then: the modules that answer from the table, run once the chain has ended.
        max_operations: the maximum number of operations in a chain (published: 5).
        samples: with more than one, the next operation is voted on; `weights` sets the weight of each reply
            (`chameleon.core.llm_module.weights_of`).
        structured: as for every part that asks a model.
        table_style, max_rows, max_cell, max_table_tokens: how the table is written into the prompt;
            `max_text_tokens`: how much of each text. Of the input's other `tables` it shows the names,
            columns and two rows.
    """

    prompt = "wikitq/planner"
    returns_full_plan = False

    def __init__(
        self,
        follows: dict[str, list[str]],
        then: list[str],
        *,
        max_operations: PositiveInt = 5,
        samples: PositiveInt = 1,
        weights: Weights = "given",
        table_style: Style = "numbered",
        max_rows: PositiveInt = 100,
        max_cell: PositiveInt | None = None,
        max_table_tokens: PositiveInt | None = None,
        max_text_tokens: PositiveInt = MAX_TEXT_TOKENS,
        structured: Structured = False,
    ) -> None:
        _check_grammar(follows)
        self.structured = structured
        self.follows, self.then = follows, tuple(then)
        self.max_operations, self.samples, self.weights = max_operations, samples, weights
        self.table_view = TableView(table_style, max_rows, max_cell, max_table_tokens, max_text_tokens)

    def replans_after_failure(self, state: State) -> bool:
        """Return whether an operation failed: the chain then continues without it."""
        failed = state.failure
        return failed is not None and failed.step.module in self.operations

    @property
    def operations(self) -> frozenset[str]:
        """Return the modules that a chain may contain."""
        followers = {name for names in self.follows.values() for name in names}
        return frozenset((followers | set(self.follows)) - {START, END})

    @property
    def fixed_plans(self) -> list[list[str]]:
        """Return a plan for each operation, so that all modules they name are checked."""
        return [list(self.then), *([name, *self.then] for name in sorted(self.operations))]

    def propose(self, state: State, inventory: Inventory) -> Plan:
        if any(record.step.module in self.then for record in state.executed):
            return Plan((), self.name)
        chain = list(self._links(state))
        candidates = self._candidates(chain, state, inventory)
        if not set(candidates) - {END}:
            return self._end("nothing else may follow")
        if len(candidates) == 1:
            return Plan((Step(candidates[0]),), self.name, "the only candidate")
        by_name = {card.name: card for card in inventory.cards}
        cards = [by_name[name] for name in candidates if name in by_name]
        chosen = self.choose(state, chain, cards, candidates)
        offered = ", ".join(candidates)
        if chosen is None:
            return self._end(f"the reply names none of {offered}")
        if chosen == END:
            return self._end(f"chosen from {offered}")
        return Plan((Step(chosen),), self.name, f"chosen from {offered}")

    def _end(self, note: str) -> Plan:
        return Plan(tuple(Step(name) for name in self.then), self.name, f"the chain ends: {note}")

    def _links(self, state: State) -> Iterator[Link]:
        """Yield the operations that ran, each with its text in the chain."""
        for record in state.executed:
            name, output = record.step.module, record.output
            if name not in self.operations:
                continue
            link = {"name": name, "call": f"f_{name}()"}
            if record.error is not None:
                link["refused"] = record.error.message
            elif isinstance(output, Mapping):
                link |= {key: output[key] for key in ("call", "refused") if key in output}
            yield link

    def _candidates(self, chain: Sequence[Link], state: State, inventory: Inventory) -> list[str]:
        names = [link["name"] for link in chain if "refused" not in link]
        out = {link["name"] for link in chain if "refused" in link} | set(inventory.left_out)
        out |= {name for name, access in inventory.access.items() if access.missing(state.keys)}
        if len(names) >= self.max_operations:
            return [END]
        return [name for name in self.follows.get(names[-1] if names else START, [END]) if name not in out]

    def choose(
        self, state: State, chain: Sequence[Link], cards: Sequence[Card], names: Sequence[str]
    ) -> str | None:
        """Choose the next operation.

        Args:
            cards: describe the operations.
            names: the operations to choose from, with `END` if the chain may end.

        Returns:
            one of `names`. A reply that names none counts as `END`, as published; None if only these end it.
        """
        others = named_tables(state.input.get("tables") or ())
        slots = slots_of(state, self.table_view) | {
            "candidates": cards,
            "names": names,
            "tables": [self._shown(*each) for each in others[:MAX_OTHER_TABLES]],
            "chain": " ".join(f"{link['call']} ->" for link in chain if "refused" not in link),
        }
        messages = self._template.render(slots)
        schema = closed_object({"next": {"type": "string", "enum": list(names)}}, title="operation")
        try:
            replies = self._replies(messages, self.samples, schema=schema, **self._stop_params)
        except EmptyReply:  # it also names none of them
            return None
        operations = [_next_operation(reply.text, names) for reply in replies]  # None votes for `END`
        voted = votes([name or END for name in operations], weights_of(replies, self.weights))
        chosen = str(voted[0][0])
        return chosen if chosen in operations else None

    def _shown(self, name: str, table: Table) -> dict[str, str]:
        """Write another table in brief: enough to see what its columns could add to this one."""
        cut = self.table_view.limits | {"max_rows": 2, "max_cell": MAX_CELL_CHARS}
        return {
            "name": name,
            "size": counted(len(table.rows), "row"),
            "table": table_text(table, style=self.table_view.style, **cut),
        }


def _check_grammar(follows: Mapping[str, Sequence[str]]) -> None:
    """Raise `InventoryError` for a grammar by which no chain can start or end."""
    if not follows.get(START):
        raise InventoryError("follows has no `start`: the operations that a chain may start with")
    followers = {name for after in follows.values() for name in after}
    if followers <= set(follows):  # an operation without its own line ends the chain
        raise InventoryError(f"no chain can end: nothing leads to `{END}`")


def _next_operation(text: str, candidates: Sequence[str]) -> str | None:
    """Find the first candidate in a chain such as "f_select_row(row 1) -> f_sort_by(x) -> <END>".

    Each part of the chain counts once, by the call it starts with; arguments do not matter. If the text holds
    no call, a candidate's bare name counts. Returns None if it names none.
    """
    calls = [call for part in text.split("->") if (call := _CALL.search(part)) is not None]
    if not calls:
        match = re.search(rf"\b(?:f_)?({'|'.join(map(re.escape, candidates))})\b", text)
        return match[1] if match else None
    names = (call[1] or END for call in calls)
    return next((name for name in names if name in candidates), None)
