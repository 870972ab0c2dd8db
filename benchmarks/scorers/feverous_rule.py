"""How FEVEROUS scores verdicts and their evidence (Aly et al., 2021).

Source: the repository Raldir/FEVEROUS, `evaluation/feverous_scorer.py`.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.predictions import NO, YES, required, verdict_of
from chameleon.evaluation.benchmark import GradedScorer, Problem, Scorer

SUPPORTS, REFUTES, UNKNOWN = "SUPPORTS", "REFUTES", "NOT ENOUGH INFO"
LABELS = (SUPPORTS, REFUTES, UNKNOWN)

Item = tuple[str, str, str]
"""A piece of evidence: its page, its kind ("sentence", "cell"), and its place there ("0", "0_1_0")."""

_IN_TABLES = frozenset({"cell", "item", "table_caption", "header_cell"})
_MAX_TABLE_ITEMS, _MAX_OTHER_ITEMS = 25, 5
_ITEM = re.compile(
    r"(?P<page>.+?)_(?P<kind>sentence|cell|header_cell|table_caption|item|section|title|table|list)"
    r"(?:_(?P<place>\d+(?:_\d+)*))?"
)


class LabelRule(Scorer):
    """FEVEROUS (Aly et al., 2021): label accuracy, three labels in any case; evidence is not looked at."""

    def from_value(self, value: Any, problem: Problem) -> Any:
        """Return the label of a run's verdict: SUPPORTS for yes, true or 1, REFUTES for no, false or 0."""
        return _label_of(value)

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether the prediction, or its label if it has evidence too, is the gold label.

        Oddity of the metric: a space or a full stop next to the label makes it wrong, and so does "NEI".
        """
        label = prediction.get("label") if isinstance(prediction, Mapping) else prediction
        return isinstance(label, str) and label.upper() == problem.gold


class EvidenceRule(GradedScorer):
    """FEVEROUS (Aly et al., 2021): the label together with a whole group of evidence, 0 to 1.

    Of the predicted evidence, the first 25 cells, items of lists, captions and headers count, and the first
    five of all other kinds.
    """

    figures: ClassVar[tuple[str, ...]] = ("FEVEROUS score", "label accuracy", "precision", "recall", "F1")

    def from_run(self, answer: Any, findings: Mapping[str, Any], problem: Problem) -> Any:
        """Return the run's verdict as a label, with the evidence that it wrote to `cache.evidence_items`."""
        return {"label": _label_of(answer), "evidence": findings.get("evidence") or []}

    def grades(self, prediction: Any, problem: Problem) -> Mapping[str, float]:
        """Return the grades of {"label": …, "evidence": […]}, or of only a label; None is neither.

        Precision is the share of predicted items that are in a group of the gold evidence, or 1 without
        predictions; recall is 1 if a whole group is predicted or no evidence is needed, else 0. The FEVEROUS
        score is 1 if the label is right and a whole group is predicted, also for NOT ENOUGH INFO. Raises
        `InputError` if the gold evidence is unknown.

        Oddities of the metric: a repeated item counts twice; an empty group is always predicted; without any
        gold evidence the score is 0 and recall 1.
        """
        reason = "the rule needs the gold evidence, and this row has none"
        groups = required(problem, "evidence", reason, "The scorer label compares only labels.")
        verdict = prediction if isinstance(prediction, Mapping) else {"label": prediction}
        evidence = verdict.get("evidence")
        items = within_limits(map(item_of, evidence if isinstance(evidence, list | tuple) else ()))
        gold_items = {item for group in groups for item in group}
        covered = any(set(group) <= set(items) for group in groups)
        right = LabelRule().right(verdict, problem)
        return {
            "FEVEROUS score": float(right and covered),
            "label accuracy": float(right),
            "precision": sum(item in gold_items for item in items) / len(items) if items else 1.0,
            "recall": float(covered or not groups),
        }

    def overall(self, sums: Mapping[str, float], n: int) -> Mapping[str, float]:
        """Return the means, and the F1 of mean precision and mean recall, or 0 if both are 0."""
        means = {name: sums[name] / n for name in self.figures[:-1]}
        both = means["precision"] + means["recall"]
        return {**means, "F1": 2 * means["precision"] * means["recall"] / both if both else 0.0}


def within_limits(items: Iterable[Item]) -> list[Item]:
    """Return the evidence that counts, in order."""
    room = {True: _MAX_TABLE_ITEMS, False: _MAX_OTHER_ITEMS}
    evidence = []
    for item in items:
        in_table = item[1] in _IN_TABLES
        if room[in_table]:
            room[in_table] -= 1
            evidence.append(item)
    return evidence


def item_of(written: Any) -> Item:
    """Return the item for "Page_kind_place" or [page, kind, place]; a page title may contain "_".

    Anything else becomes an item without a kind, which no gold evidence has.
    """
    if isinstance(written, str):
        match = _ITEM.fullmatch(written)
        return (match["page"], match["kind"], match["place"] or "") if match else (written, "", "")
    if isinstance(written, list | tuple) and len(written) >= 3:
        page, kind, place = map(str, written[:3])
        return page, kind, place
    return (repr(written), "", "")


def _label_of(value: Any) -> Any:
    return {YES: SUPPORTS, NO: REFUTES}.get(verdict_of(value) or "", value)
