"""Judge a case under a tax law by rules, without a model, or decline."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from chameleon import Module, State
from chameleon.errors import Declined
from chameleon.modules.statutes.facts import NAME, read_facts
from chameleon.modules.statutes.facts.forms import YEAR
from chameleon.modules.statutes.income_tax import tax_owed
from chameleon.modules.statutes.library import Statutes
from chameleon.modules.statutes.statements import judge
from chameleon.modules.statutes.statute_answerer import CONTRADICTION, ENTAILMENT, form_of
from chameleon.modules.statutes.tax_law import TaxLaw

_TAX_ASKED = re.compile(
    rf"How much (?:income )?tax(?:es)? does (?P<who>{NAME}) (?:have to pay|owe) (?:in|for) (?P<year>{YEAR})\?"
)


class RuleStatuteAnswerer(Module):
    """Judges cases under an income tax law by rules, without a model. Declines what no rule can judge."""

    reads = ("input.question", "input.text?", "input.statutes?")
    writes = ("cache.answer",)

    def __init__(self, statutes: str | None = None) -> None:
        """`statutes`: a file or folder of statutes; those in the input win.

        All figures are read from the statutes. A sentence of the facts that no rule reads, and a provision
        that is worded otherwise than the rules know, are declined.
        """
        self.statutes = statutes

    def run(self, state: State) -> str:
        question, text = str(state.input["question"]).strip(), str(state.input.get("text") or "").strip()
        if not text:
            raise Declined("there are no facts to judge")
        given = state.input.get("statutes") or self.statutes
        if not given:
            raise Declined(
                "there are no statutes to judge by; give them in the input as `statutes`, or as "
                "the parameter of both `statute_retriever` and `rule_statute_answerer`"
            )
        sections = Statutes.of(given).sections
        facts = read_facts(text)
        if form_of(question) == "verdict":
            return ENTAILMENT if judge(question, facts, sections) else CONTRADICTION
        asked = _TAX_ASKED.fullmatch(question)
        if asked is None:
            raise Declined(
                "rules judge statements, and questions such as 'How much tax does Ann owe in 2017?'"
            )
        return f"${tax_owed(facts, asked['who'], int(asked['year']), TaxLaw(sections))}"

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"answer": output}
