"""Find the provisions that a question is about, by its references and the statutes' own structure."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import PositiveInt

from chameleon import Module, State
from chameleon.errors import InputError
from chameleon.modules.statutes.library import Statutes
from chameleon.modules.statutes.selection import (
    Ancestors,
    Shown,
    Strategy,
    asked,
    shown,
    unknown_in,
    wanted,
)
from chameleon.modules.statutes.tree import Node
from chameleon.text import harmless

_TOLD, _LONGEST = 3, 80
_LAYOUT = (
    'Sections begin with lines such as "§12. Fees" or "Section 12. Fees", and what stands in them with '
    'labels such as (a), (1), (A): "Article 1" with "1." and "2." is not understood.'
)

_log = logging.getLogger("chameleon")


class StatuteRetriever(Module):
    """Finds the provisions of a law that the question refers to. For questions about sections of statutes."""

    reads = ("input.question", "input.statutes?", "input.text?")
    writes = ("input.text", "cache.statute", "cache.retrieved", "cache.sources")
    wordless = ("cache.retrieved", "cache.sources")

    def __init__(
        self,
        strategy: Strategy = "mentioned_only",
        *,
        statutes: str | None = None,
        ancestors: Ancestors = "text",
        facts: bool = False,
        max_tokens: PositiveInt = 8000,
    ) -> None:
        """`strategy`: what of the statutes is given to the model (Vaibhav et al., 2023).

        - "mentioned_only": the provision that the question names, with all that stands in it;
        - "entire_section": its whole section;
        - "references": the provision, and those that it refers to, one level on.

        `statutes`: a file or folder of statutes; those in the input win, and where there are neither, the
        text of the input is the statute. `ancestors`: what comes along of what a provision stands in: "text"
        with what leads into it, "headings", or "none". `facts`: whether what the facts refer to is retrieved
        as well. `max_tokens`: how much text, in estimated tokens. A question that names no provision gets
        all statutes, as far as they fit. What is named and is not there is logged as a warning.
        """
        self.strategy: Strategy = strategy
        self.ancestors: Ancestors = ancestors
        self.statutes, self.facts, self.max_tokens = statutes, facts, max_tokens

    def check(self) -> None:
        if self.statutes is not None and not Path(self.statutes).expanduser().exists():
            raise InputError("there are no statutes there", where=self.statutes)

    def run(self, state: State) -> dict[str, Any]:
        """`text`: what was found; `provisions`, `left_out` and `unknown` by name; `troubles` of parsing."""
        given, text = state.input.get("statutes") or self.statutes, str(state.input.get("text") or "")
        law = Statutes.of(given or text)
        if not any(line.content for each in law.statutes for line in each.root.lines):
            raise InputError(
                "there is no text in the statutes", hint="Give statutes: as `statutes`, or as the text."
            )
        if not any(section.label or section.children for section in law.sections.values()):
            raise InputError(
                "the text has no sections and no labels such as (a)",
                hint=f"{_LAYOUT} Statutes are given as `statutes`, or as the text.",
            )
        question = str(state.input["question"])
        targets = asked(question, text if self.facts and given else "", law.sections)
        found = shown(
            wanted(targets, law.sections, self.strategy), unknown_in(targets), self.ancestors, self.max_tokens
        )
        if found.unknown:
            _tell_unknown(question, tuple(found.unknown), tuple(each.node.name for each in found.shown))
        return {
            "text": with_notes(found),
            "provisions": [
                {"id": each.node.name, "name": each.node.heading or each.node.name, "why": each.why}
                | {"score": float(each.why == "mentioned"), "source": _place(each.node, law)}
                for each in found.shown
            ],
            "left_out": found.left_out,
            "unknown": found.unknown,
            "tokens": found.tokens,
            "troubles": law.troubles[:20],
            "is_text": not given,
        }

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        """Where the text was the statute, what was found takes its place, and prompts show it once."""
        return {"text": ""} if output["is_text"] else {}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        kept = ("id", "name", "score", "source")
        return {
            "statute": output["text"],
            "retrieved": [{key: each[key] for key in kept} for each in output["provisions"]],
            "sources": [
                {"table": "the statutes", "heading": f"§{each['id']}"} | each["source"]
                for each in output["provisions"]
            ],
        }


def with_notes(found: Shown) -> str:
    """The text, and what a reader should know is not in it."""
    notes = []
    if found.unknown:
        notes.append(f"[Not in the statutes: {', '.join(found.unknown)}.]")
    if found.left_out:
        notes.append(f"[Left out for length: {', '.join(found.left_out)}.]")
    return "\n\n".join(filter(None, [found.text, *notes]))


@lru_cache(maxsize=256)
def _tell_unknown(question: str, names: Sequence[str], shown: Sequence[str]) -> None:
    """Log what a question names and the statutes lack, once while the question is remembered."""
    rest = _listed(shown) or "nothing"
    _log.warning(
        "not in the statutes: %s; the answer to %r rests on %s", _listed(names), _short(question), rest
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _TOLD:,} more" if len(names) > _TOLD else ""
    return harmless(", ".join(names[:_TOLD])) + more


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _place(node: Node, law: Statutes) -> dict[str, Any]:
    """The file, where there is one, and the first and the last line."""
    numbers = [line.number for line in node.lines]
    lines = {"lines": [min(numbers), max(numbers)]} if numbers else {}
    file = law.source[node.section.label]
    return ({"file": file} if file else {}) | lines
