"""Find the provisions that a question is about, by its references and the structure of the statutes."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Literal

from pydantic import PositiveInt

from chameleon import Module, State
from chameleon.core.module import Traits
from chameleon.errors import InputError
from chameleon.modules.statutes.library import Statutes
from chameleon.modules.statutes.references import Referent, references_in, references_of
from chameleon.modules.statutes.tree import Node, StatuteLine
from chameleon.text import estimated_tokens, harmless, one_line

Strategy = Literal["mentioned_only", "entire_section", "references"]
Ancestors = Literal["text", "headings", "none"]
Why = Literal["mentioned", "referenced", "whole"]

SKIPPED = "..."
_LEAD_IN_ENDS = ("-", "–", "—", ":")
_MAX_CHARS = 80

_log = logging.getLogger("chameleon")


class StatuteRetriever(Module):
    """Finds the provisions of a law that the question refers to. For questions about sections of statutes."""

    reads = ("input.question", "input.statutes?", "input.text?")
    writes = ("input.text", "cache.statute", "cache.retrieved", "cache.sources")
    traits = Traits(non_text=("cache.retrieved", "cache.sources"))

    def __init__(
        self,
        strategy: Strategy = "mentioned_only",
        *,
        statutes: str | None = None,
        ancestors: Ancestors = "text",
        max_tokens: PositiveInt = 8000,
    ) -> None:
        """Take settings, all optional.

        A question that names no provision gets all statutes that fit. A provision that is named but does not
        exist is logged as a warning.

        Args:
            strategy: the part of the statutes that the model sees (Mavi et al., 2023): "mentioned_only", the
                provision that the question names, with everything in it; "entire_section", its whole section;
                "references", the provision and the ones it refers to, one level deep.
            statutes: a file or folder of statutes. Statutes in the input take precedence; without either, the
                text of the input is the statute.
            ancestors: what to include from the provisions around a match: "text" (with the words that lead
                into it), "headings", or "none".
            max_tokens: the limit, in estimated tokens.
        """
        self.strategy, self.ancestors = strategy, ancestors
        self.statutes, self.max_tokens = statutes, max_tokens

    def check(self) -> None:
        if self.statutes is not None and not Path(self.statutes).expanduser().exists():
            raise InputError("there are no statutes in it", where=self.statutes)

    def run(self, state: State) -> dict[str, Any]:
        """Return the `text` that was found, and the names of `provisions`, `left_out` and `unknown` ones."""
        statutes, text = state.input.get("statutes") or self.statutes, str(state.input.get("text") or "")
        law = Statutes.of(statutes or text)
        law.check()
        question, sections = str(state.input["question"]), law.sections
        referents = references_in(question, sections)
        excerpt = StatuteExcerpt(self.max_tokens, self.ancestors)
        nodes = self.provisions(referents, sections)
        for node in nodes:
            excerpt.add(node)
        nodes = {node: why for node, why in nodes.items() if excerpt.has(node)}
        unknown = list(dict.fromkeys(referent.name for referent in referents if referent.lack))
        if unknown:
            _log.warning(
                "not in the statutes: %s; the answer rests on %s",
                harmless(one_line(", ".join(unknown), _MAX_CHARS)),
                harmless(one_line(", ".join(node.name for node in nodes), _MAX_CHARS)) or "nothing",
            )
        omissions = (("Not in the statutes", unknown), ("Left out for length", excerpt.left_out))
        notes = [f"[{what}: {', '.join(names)}.]" for what, names in omissions if names]
        return {
            "text": "\n\n".join(filter(None, [excerpt.text(), *notes])),
            "provisions": [
                {"id": node.name, "name": node.heading or node.name, "why": why}
                | {"score": float(why == "mentioned"), "source": law.place(node)}
                for node, why in nodes.items()
            ],
            "left_out": excerpt.left_out,
            "unknown": unknown,
            "tokens": excerpt.tokens,
            "troubles": law.troubles[:20],
            "is_text": not statutes,
        }

    def provisions(self, referents: Sequence[Referent], sections: Mapping[str, Node]) -> dict[Node, Why]:
        """Return the provisions that the references call for, the most important first, and why.

        A missing provision is replaced by the nearest one that would contain it; if everything mentioned is
        missing, every section is returned. A reference to an enclosing provision, such as "this section",
        adds nothing.
        """
        mentioned = _distinct(referent.node for referent in referents if referent.node is not None)
        if not mentioned:
            return dict.fromkeys(sections.values(), "whole")
        if self.strategy == "entire_section":
            return dict.fromkeys((node.section for node in mentioned), "whole")
        reasons: dict[Node, Why] = dict.fromkeys(mentioned, "mentioned")
        if self.strategy == "references":
            targets = _distinct(
                referent.node
                for node in mentioned
                for referent in references_of(node, sections)
                if referent.node is not None and not referent.lack and referent.node not in node.outwards
            )
            reasons |= {node: "referenced" for node in targets if reasons.keys().isdisjoint(node.outwards)}
        return reasons

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        """Return an empty text if the text was the statute, so that prompts show it only once."""
        return {"text": ""} if output["is_text"] else {}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        keys = ("id", "name", "score", "source")
        return {
            "statute": output["text"],
            "retrieved": [{key: each[key] for key in keys} for each in output["provisions"]],
            "sources": [
                {"table": "the statutes", "heading": f"§{each['id']}"} | each["source"]
                for each in output["provisions"]
            ],
        }


@dataclass(slots=True)
class StatuteExcerpt:
    """Lines of statutes within a token budget (estimated).

    Attributes:
        ancestors: the part included from enclosing provisions: their own text with the words around a list
            ("text"), their headings, or nothing.
        left_out: the provisions that did not fit.
    """

    max_tokens: int = 8000
    ancestors: Ancestors = "text"
    tokens: int = 0
    left_out: list[str] = field(default_factory=list)
    numbers: dict[Node, set[int]] = field(default_factory=dict)  # of lines, by section

    def add(self, node: Node, around: Sequence[StatuteLine] | None = None) -> None:
        """Add a provision and its context; part by part if it does not fit as a whole."""
        around = list(self._around(node)) if around is None else around
        if self._take(node, [*around, *node.lines]):
            return
        if not node.children or not self._take(node, [*around, *node.own_lines]):
            self.left_out.append(node.name)
            return
        for child in node.children:
            self.add(child, ())

    def has(self, node: Node) -> bool:
        """Return whether anything of a provision is shown."""
        return any(line.number in self.numbers.get(node.section, ()) for line in node.lines)

    def text(self) -> str:
        """Return the lines by section, with `...` in place of omitted lines."""
        texts = []
        for section, numbers in self.numbers.items():
            lines = [line for line in section.lines if line.content]
            begins = section.own_lines[0].content if section.own_lines else ""
            parts = [] if section.label in begins else [f"§{section.label}"]
            for is_shown, group in groupby(lines, key=lambda line: line.number in numbers):
                parts += [line.text.rstrip().expandtabs(4) for line in group] if is_shown else [SKIPPED]
            texts += ["\n".join(parts)] if numbers else []
        return "\n\n".join(texts)

    def _around(self, node: Node) -> Iterator[StatuteLine]:
        """Yield the lines of enclosing provisions to include with a provision."""
        path = [*node.ancestors, node] if self.ancestors != "none" else []
        for outer, inner in pairwise(path):
            lines = [line for line in outer.own_lines if line.content]
            if self.ancestors == "text":
                yield from lines
                yield from self._lead_in(outer, inner)
            elif lines and (outer.heading or outer is path[0]):
                yield lines[0]

    def _take(self, node: Node, lines: Iterable[StatuteLine]) -> bool:
        here = self.numbers.get(node.section, set())
        new = {line.number: line for line in lines if line.content and line.number not in here}
        cost = sum(estimated_tokens(line.text.rstrip()) + 1 for line in new.values())  # 1 for its line break
        if self.tokens + cost > self.max_tokens:
            return False
        self.tokens += cost
        self.numbers[node.section] = here | new.keys()
        return True

    @staticmethod
    def _lead_in(outer: Node, inner: Node) -> list[StatuteLine]:
        """Return the whole series before a provision that follows one: "(A) … and (B) …, except-"."""
        before = outer.children[: outer.children.index(inner)]
        series = [list(group) for _, group in groupby(before, key=lambda node: node.level)]
        for nodes in reversed(series):
            last = nodes[-1]
            end = next((line.content for line in reversed([*last.lines]) if line.content), "")
            if last.level != inner.level and not last.children and end.endswith(_LEAD_IN_ENDS):
                return [line for node in nodes for line in node.lines]
        return []


def _distinct(nodes: Iterable[Node]) -> list[Node]:
    """Return each node once; leave out nodes that are inside an earlier one."""
    unique = dict[Node, None]()
    for node in nodes:
        if unique.keys().isdisjoint(node.outwards):
            unique[node] = None
    return list(unique)
