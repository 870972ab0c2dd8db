"""Answer from the passages of a paper, in prose or by a program, and cite the passages it is based on."""

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

from chameleon import Declined, LLMModule, State, StepRejected
from chameleon.core.module import Traits
from chameleon.modules.documents.paper_retriever import passage_source
from chameleon.modules.documents.quotes import FREE, fault_of_numbers, fault_of_quotes, quotes_in
from chameleon.modules.program.programs import ProgramVerifier, program_in
from chameleon.modules.program.python_text import parsed
from chameleon.modules.program.solution_generator import solution_in, stated_answer
from chameleon.quoting import Quoted, block, on_one_line, untagged
from chameleon.sandbox import ExecResult

_PASSAGES_LINE = re.compile(
    r"^[^\w\n]*(?:the |relevant |supporting )*passages?(?:\(s\))?(?: (?:used|cited|needed))?[^\w\n]*:"
    r"(?P<line>[^\n]*(?:\n[ \t]*[-*•][^\n]*)*)",
    re.IGNORECASE | re.MULTILINE,
)
_NONE = re.compile(r"\W*none\b", re.IGNORECASE)
_ASIDE = re.compile(r"\([^()]*\)|\"[^\"\n]*\"|“[^”\n]*”")  # texts in brackets or quotes
_ITEM_BREAK = re.compile(r"\n[ \t]*[-*•][ \t]*|[,;]\s*(?=(?:passage )?\d{1,4}\s*:)", re.IGNORECASE)
_PARAPHRASE = re.compile(r"(?<=\d)\s*(?::|[-–—](?=\s))\s*(?=[^\W\d_]).*")  # "2: the rent is …"
_PARTS = re.compile(r"[,;&+/]|\band\b|(?<=\d)\s+(?=\d)", re.IGNORECASE)
_NUMBERS = re.compile(  # "3" or "passages 3-5"; possessive against slow backtracking
    r"\W*+(?:passages?|nos?\.?|numbers?)?\W*+(\d{1,4})(?![\d.]*\d)"
    r"(?:[^\w–—-]*+(?:-|–|—|to|through)\W*+(\d{1,4})(?![\d.]*\d))?",
    re.IGNORECASE,
)
_COMMENTED = re.compile(r"^(?=[^\w\n]*+passages?\b[^\n=]*:)(?![^\S\n]*+#)", re.IGNORECASE | re.MULTILINE)
_COUNTS = re.compile(r"\bhow many\b", re.IGNORECASE)
_PLURALS = {"list": "a list", "tuple": "a tuple", "set": "a set", "frozenset": "a set", "dict": "a dict"}


class PassageReader(LLMModule):
    """Answers from the passages of a document and cites them; its output also has `sources`."""

    traits = Traits(shows_own_keys=True, non_text=("cache.sources",))
    reads = ("input.question", "input.passages", "input.choices?", "input.unit?", "cache.retrieval_note?")

    def slots(self, state: State) -> dict[str, Any]:
        """Return the slots with the numbered passages, each with its headings and page."""
        entries = []
        for number, passage in enumerate(state.input.get("passages") or (), 1):
            page = f"page {passage['page']}" if passage.get("page") is not None else ""
            place = ", ".join(filter(None, [str(passage.get("title") or ""), page]))
            head = f"Passage {number}: {untagged(on_one_line(place))}" if place else f"Passage {number}:"
            entries.append(f"{head}\n{block('passage', str(passage['text']))}")
        return super().slots(state) | {"found": Quoted("\n".join(entries))}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return dict(output)

    def named(self, reply: str, state: State) -> list[tuple[int, Mapping[str, Any]]]:
        """Return the passages, with numbers, that a reply names in its line "Passages: 1, 3-5".

        Raises:
            Declined: for "none", when the model finds no answer in the passages.
            StepRejected: for a reply without that line or with unknown passage numbers.
        """
        passages = state.input.get("passages") or ()
        lines = [match["line"] for match in _PASSAGES_LINE.finditer(reply)]
        if lines and _NONE.match(lines[-1].strip()):
            hint = "Use words of the document, or name the section."
            raise Declined("the passages found do not answer the question", hint=hint)
        numbers = list(dict.fromkeys(_numbers(lines[-1], len(passages)))) if lines else []
        if not numbers:
            raise StepRejected("the reply names no passage", hint='Write "Passages: " and their numbers.')
        if not all(1 <= number <= len(passages) for number in numbers):
            raise StepRejected(f"the reply names passages that do not exist: there are {len(passages)}")
        return [(number, passages[number - 1]) for number in numbers]


class PaperAnswerer(PassageReader):
    """Reasons from passages of a paper to an answer, and names those it rests on. Follows paper_retriever."""

    prompt = "papers/paper_answerer"
    writes = ("cache.solution", "cache.sources")

    def __init__(self, quotes: bool = True) -> None:
        """Set `quotes`: whether a reply must quote each passage that it names, word for word."""
        self.quotes = quotes

    def interpret(self, text: str, state: State) -> dict[str, Any]:
        """Return the solution and its sources.

        Raises as `named` does, and `StepRejected` for a missing answer, a quote that is in none of the named
        passages, or a number that is neither in them nor calculated from their numbers.
        """
        cited = self.named(text, state)
        solution = solution_in(text, state)
        texts = [f"{each.get('title') or ''}\n{each['text']}" for _, each in cited]
        lines = [match["line"] for match in _PASSAGES_LINE.finditer(text)][-1:]
        if self.quotes and (fault := fault_of_quotes(quotes_in("\n".join(lines)), texts)):
            raise StepRejected(fault, hint='Write "Passages: 2 "a quote from it"", copied exactly.')
        answer = stated_answer(solution) or ""
        inputs = [state.input["question"], *(state.input.get("choices") or ())]
        small = range(13) if _COUNTS.search(state.input["question"]) else ()  # counts need not be in the text
        if fault := fault_of_numbers(solution, answer, [*texts, *inputs], small):
            raise StepRejected(fault, hint='Write each calculation out, such as "4 × 310 = 1240".')
        return {
            "solution": solution,
            "sources": [self.source(each, number, quotes_in(text)) for number, each in cited],
        }

    def source(self, passage: Mapping[str, Any], number: int, quotes: Sequence[str]) -> dict[str, Any]:
        """Return a passage as a source; a table is cited by its quoted rows."""
        if "source" not in passage:
            return passage_source(passage, number)
        table, lines = dict(passage["source"]), str(passage["text"]).split("\n")[1:]
        rows = [n for n, line in enumerate(lines, 1) if any(not fault_of_quotes([q], [line]) for q in quotes)]
        return {**table, "rows": rows or list(range(1, table["of"] + 1))}


class PaperProgramGenerator(PassageReader):
    """Writes a program that sets `ans` from passages of a paper, and names those. Follows paper_retriever."""

    prompt = "papers/program_generator"
    writes = ("cache.program", "cache.sources")

    def interpret(self, text: str, state: State) -> dict[str, Any]:
        """Return the program and its sources, which the reply names in a comment or outside the program.

        Raises as `named` does, and `StepRejected` for a missing program or numbers from elsewhere.
        """
        cited = self.named(text, state)
        program = _COMMENTED.sub("# ", program_in(text))
        texts = [f"{each.get('title') or ''}\n{each['text']}" for _, each in cited]
        constants = (n.value for n in ast.walk(parsed(program)) if isinstance(n, ast.Constant))
        figures = [str(each) for each in constants if type(each) in (int, float)]
        if fault := fault_of_numbers("", "; ".join(figures), [*texts, state.input["question"]], FREE):
            raise StepRejected(fault, hint="Take the numbers from the passages, and name them all.")
        return {"program": program, "sources": [passage_source(each, number) for number, each in cited]}


class PaperProgramVerifier(ProgramVerifier):
    """Checks that the program sets `ans` to one number or text. Follows paper_program_generator."""

    def fault(self, result: ExecResult) -> str:
        if fault := super().fault(result):
            return fault
        value, kind = result.value, _PLURALS.get(result.value_type, "")
        if result.value_type == "complex" or (result.value_type == "float" and isinstance(value, str)):
            kind = "no real number"  # JSON has no NaN or infinity: they arrive as text
        elif isinstance(value, str) and value.strip().lower() in ("nan", "inf", "-inf", "none"):
            kind = f'"{value.strip()}"'
        elif isinstance(value, list | dict):
            kind = kind or "several values"
        return f"the program sets ans to {kind}, and not to one number or text" if kind else ""


def _numbers(text: str, count: int) -> list[int]:
    """Return the passage numbers in a line, or in the list below it, with ranges expanded.

    Brackets, page numbers and paraphrases of a passage ("2: the rent is 900 EUR") are ignored.
    """
    numbers = list[int]()
    for line in _ITEM_BREAK.split(_ASIDE.sub(" ", text)):
        for part in _PARTS.split(_PARAPHRASE.sub("", line)):
            if (match := _NUMBERS.match(part)) is not None:
                first, last = int(match[1]), int(match[2] or match[1])
                numbers += range(first, min(last, count) + 1) if first <= last <= count else [first, last]
    return numbers
