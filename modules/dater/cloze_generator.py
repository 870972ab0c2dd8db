"""Break a question into sub-questions about numbers (Dater)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chameleon import LLMModule, State
from chameleon.errors import CutOff
from chameleon.llm_module import RAISE_LIMIT
from chameleon.table.formats import Style

if TYPE_CHECKING:
    from chameleon.llm import Reply

GAP = re.compile(r"\{([^{}\n]+)\}")
_COUNTED = "how many"


class ClozeGenerator(LLMModule):
    """Breaks the question into sentences with a gap for a number each, for `cloze_filler`."""

    prompt = "wikitq/dater_cloze"
    reads = ("input.question", "input.table")
    writes = ("cache.cloze",)
    samples = 5
    table_style: Style = "numbered"
    max_rows: int | None = 3

    def run(self, state: State) -> list[str]:
        """The sentences; none where the replies do not agree that something is to be counted."""
        return cloze_of(whole(self.ask(state)))


def whole(replies: Sequence[Reply]) -> list[str]:
    """The texts of the replies that were not cut off. Raises `CutOff` where there is none."""
    texts = [reply.text for reply in replies if not reply.truncated]
    if not texts:
        raise CutOff("the replies were cut off, though asked for with more room", hint=RAISE_LIMIT)
    return texts


def cloze_of(replies: Sequence[str]) -> list[str]:
    """The lines of the first reply, if it asks "how many" once in each, as the other replies mostly do.

    The published condition: so many sub-questions in all replies together that each might have one. Its
    numbers can be counted by SQL; what other sub-questions ask, the table shows better.
    """
    lines = [line.strip() for line in replies[0].splitlines() if line.strip()]
    counts = all(line.lower().count(_COUNTED) == 1 and len(GAP.findall(line)) == 1 for line in lines)
    asked = sum(reply.lower().count(_COUNTED) for reply in replies)
    return lines if counts and asked >= len(replies) else []
