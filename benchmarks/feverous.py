"""FEVEROUS: is a claim supported or refuted by tables and texts of Wikipedia (Aly et al., 2021)."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.feverous_rule import LABELS, UNKNOWN, EvidenceRule, Item, LabelRule, item_of
from chameleon.benchmarks.scorers.verdicts import TableragLabelRule
from chameleon.benchmarks.tables.table_benchmark import SIZES, TableBenchmark, text_in, texts_in, wrong
from chameleon.core.state import State
from chameleon.evaluation.benchmark import Problem, Row, Scorer

_SHORT_LABELS = {UNKNOWN: "NEI"}
_COLUMNS = tuple(_SHORT_LABELS.get(label, label) for label in LABELS)
_SMALL_SET = "small set"


class Feverous(TableBenchmark):
    """Is a claim supported or refuted by tables and texts of Wikipedia (Aly et al., 2021).

    Rows come from the original release (`claim`, `label`, `evidence`; without tables, so they can be scored
    but not run), or JSON lines with a table each (`claim`, `label`, `table`, `context`), of which TableRAG's
    small set is counted separately. Predictions are rows with `predicted_label` and `predicted_evidence`, as
    for the original script, or others.
    """

    name = "feverous"
    columns = (*_COLUMNS, *SIZES)
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {
        "label": LabelRule,
        "official": EvidenceRule,
        "tablerag": TableragLabelRule,
    }
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "label": _COLUMNS,
        "TableRAG's choice": (_SMALL_SET,),
        **TableBenchmark.groups,
    }
    known_by = ({"claim", "label"},)
    question_key = "claim"

    def rows(self, rows: Iterable[Row], path: Path) -> Iterator[Row]:
        """Skip the blank row at the beginning of release files, and join the predictions."""
        for row in rows:
            if "claim" in row and not (row["claim"] or row.get("id")):
                continue
            if "predicted_label" in row:
                evidence = row.get("predicted_evidence", [])
                yield {**row, "prediction": {"label": row["predicted_label"], "evidence": evidence}}
            else:
                yield row

    def problem(self, row: Row, tables: Mapping[str, Any]) -> Problem:
        """Return the problem in a row; `detail` has the gold evidence as groups of items, None if unknown."""
        label = text_in(row, "label").upper()
        if label not in LABELS:
            raise wrong(row, "label", f"one of {', '.join(LABELS)}")
        texts = filter(str.strip, texts_in(row, "context", default=[]))
        passages = [{"title": "", "text": text} for text in texts]
        if isinstance(row.get("table"), Mapping):
            row = {**row, "table": {**row["table"], "passages": passages}}
        columns = (_SHORT_LABELS.get(label, label), *([_SMALL_SET] if row.get("in_small") is True else []))
        return self.over_table(row, tables, label, columns, evidence=_groups(row))

    def found(self, state: State) -> Mapping[str, Any]:
        """Return the evidence in `cache.evidence_items`, each "Page_kind_place" or the three."""
        evidence = state.cache.get("evidence_items")
        return {} if evidence is None else {"evidence": evidence}


def _groups(row: Row) -> list[list[Item]] | None:
    """Read the gold evidence: groups with their items as "content", or as lists; None without a key."""
    if "evidence" not in row:
        return None
    evidence: list[Any] = row["evidence"] if isinstance(row["evidence"], list) else [None]
    groups: list[Any] = [group.get("content") if isinstance(group, Mapping) else group for group in evidence]
    if not all(isinstance(group, list) for group in groups):
        raise wrong(row, "evidence", "a list of groups")
    item_groups = [[item_of(item) for item in group] for group in groups]
    if not all(kind for group in item_groups for _, kind, _ in group):
        raise wrong(row, "evidence", 'groups of items such as "Page_sentence_0"')
    return item_groups
