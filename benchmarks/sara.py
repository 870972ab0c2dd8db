"""SARA: cases under sections of US tax law, judged by statements and by tax (Holzenberger et al., 2020)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.sara_rule import (
    LABELS,
    GptStatutesRule,
    HingeRule,
    LegalbenchRule,
    StatutoryRule,
    dollars,
)
from chameleon.benchmarks.tables.table_benchmark import text_in, wrong
from chameleon.core.module import split_keys
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Benchmark, Problem, Row, Scorer
from chameleon.evaluation.compare import half_width
from chameleon.evaluation.data import beside, readable

KINDS = ("entailment", "numeric")
SECTIONS = ("§1", "§2", "§63", "§68", "§151", "§152", "§3301", "§3306", "§7703")
_STATUTES = ("statutes.json", "statutes/source", "../statutes/source", "../../statutes/source")
_CASES = ("cases", "../cases", ".")
_PART = re.compile(r"^%\s*(Text|Question|Facts|Test)\s*$")  # a heading in the comments of a case
_SPLIT_NAME = re.compile(r"[A-Za-z0-9_]+")  # of a case file, without its suffix
_SECTION = re.compile(r"\bsection\s+([0-9]+)", re.IGNORECASE)


class Sara(Benchmark):
    """Cases under US tax law: is a statement entailed, what tax is owed (Holzenberger et al., 2020).

    Rows are JSON lines (`id`, `kind`, `text`, `question`, `answer`), or the cases of the original release: a
    case file (`cases/s152_d_2_A_pos.pl`), or a split (`splits/train`), whose lines name case files. The
    statutes are next to them: `statutes.json`, or `statutes/source` in the release. Cases without statutes
    can be scored, and run by an inventory that names some.
    """

    name = "sara"
    columns = (*KINDS, *SECTIONS)
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {
        "official": StatutoryRule,
        "hinge": HingeRule,
        "legalbench": LegalbenchRule,
        "gpt_statutes": GptStatutesRule,
    }
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {"kind": KINDS, "section": SECTIONS}

    def rows(self, rows: Iterable[Row], path: Path) -> Iterator[Row]:
        """Yield the rows, each with the path of the statutes next to the file."""
        statutes = beside(path, *_STATUTES)
        for row in _of_the_release(path) or rows:
            yield {**row, "statutes": str(statutes)} if statutes and "question" in row else row

    def recognizes(self, row: Row) -> bool:
        """Return whether the row is a case: facts, a question, and a label or dollars as the answer."""
        if not {"text", "question", "answer"} <= row.keys():
            return False
        answer = row["answer"]
        is_dollars = isinstance(answer, str) and answer.startswith("$") and dollars(answer) is not None
        return answer in LABELS or (is_dollars and row.get("kind") == "numeric")

    def problem(self, row: Row, tables: Mapping[str, Any]) -> Problem:
        """Read the case in a row: `text` has its facts, `question` a statement, `gold` the answer."""
        id = self.required_id(row)
        text, question, gold = (text_in(row, key) for key in ("text", "question", "answer"))
        if gold not in LABELS and dollars(gold) is None:
            raise wrong(row, "answer", f"{LABELS[0]}, {LABELS[1]} or an amount such as $1,234")
        kind = KINDS[gold not in LABELS]
        section = f"§{match[1]}" if (match := _SECTION.search(question)) else ""
        inputs = {"question": question, "text": text}
        statutes = {"statutes": Path(str(row["statutes"]))} if row.get("statutes") else {}
        return Problem(
            id=id,
            input=inputs | statutes,
            gold=gold,
            columns=(kind, *([section] if kind == KINDS[0] and section in SECTIONS else [])),
            detail={"kind": kind, "section": str(row.get("section_mentioned") or "")},
        )

    def check(self, problems: Iterable[Problem], modules: Mapping[str, Any]) -> None:
        """Raise `InputError` for cases without statutes if a module needs them and has none configured."""
        without = [problem.id for problem in problems if not problem.input.get("statutes")]
        asking = [
            name
            for name, module in modules.items()
            if "input.statutes?" in split_keys(module.reads or ()) and not getattr(module, "statutes", None)
        ]
        if without and asking:
            raise InputError(
                f"{len(without):,} cases have no statutes next to them, such as {without[0]}, and "
                f"{' and '.join(asking)} {'is' if len(asking) == 1 else 'are'} given none",
                hint="Put statutes.json (names to texts) next to the cases, or name statutes in the "
                f"inventory: {asking[0]}: {{statutes: PATH}}.",
            )

    def percent(self, column: str, correct: int, n: int) -> str:
        """Write percent with half of the 90% interval, Wilson's as in table 4: "77.50±10.65"."""
        share = super().percent(column, correct, n)
        return f"{share}±{100 * half_width(correct / n, n):.2f}" if n else share


def case_in(text: str, name: str) -> Row:
    """Return the row of a case file; the last word of its question is the answer. Raises `InputError`."""
    parts: dict[str, list[str]] = {}
    at = ""
    for line in text.splitlines():
        if begins := _PART.match(line):
            at = begins[1]
        elif line.startswith("%") and at:
            parts.setdefault(at, []).append(line.lstrip("%").strip())
    facts, question = (" ".join(filter(None, parts.get(part, []))) for part in ("Text", "Question"))
    question_text, _, answer = question.rpartition(" ")
    if not (facts and question_text):
        raise InputError('a case needs "% Text" and "% Question", each with comment lines', where=name)
    kind = KINDS[answer not in LABELS]
    return {"id": name, "kind": kind, "text": facts, "question": question_text, "answer": answer}


def _of_the_release(path: Path) -> Iterator[Row] | None:
    """Yield the case in a case file, or the cases named by a split; None for a file of rows."""
    if path.suffix == ".pl":
        return iter([_read_case(path)])
    if path.suffix or not path.is_file() or (folder := beside(path, *_CASES)) is None:
        return None
    names = path.read_text("utf-8", errors="replace").split()
    if not names or not all(map(_SPLIT_NAME.fullmatch, names)):
        return None
    return (_read_case(folder / f"{name}.pl") for name in names)


def _read_case(file: Path) -> Row:
    with readable(file):
        return case_in(file.read_text("utf-8"), file.stem)
