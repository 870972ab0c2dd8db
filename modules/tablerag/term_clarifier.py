"""Explain the terms of a table that a reader may not know (TableRAG's terms clarifier)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from chameleon import LLMModule, State, StepRejected

_FENCE = re.compile(r"```[a-zA-Z0-9]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_CURLY_QUOTES = str.maketrans("“”„", '"""')
# What is escaped outside of quotation marks begins no pair.
_PAIR = re.compile(r'\\.|"((?:[^"\\]|\\.)++)"\s*+:\s*+"((?:[^"\\]|\\.)*+)"')
_TERM_KEYS, _MEANING_KEYS = ("term", "name", "word"), ("explanation", "meaning", "definition", "description")


class TermClarifier(LLMModule):
    """Explains names, codes and units in the table that a reader may not know."""

    prompt = "tablerag/term_clarifier"
    reads = ("input.question", "input.table")
    writes = ("cache.terms",)
    takes_cut_off = True  # the terms that were explained in full are of use
    max_rows: int | None = 20

    def parse(self, text: str) -> dict[str, Any]:
        """`terms`: explanations by term; or `text`: a reply that is no JSON, as it is. Never empty."""
        found = terms_in(text)
        if found is not None:
            return {"terms": found}
        kept = _FENCE.sub(r"\1", text).strip()
        if not kept:
            raise StepRejected("the reply explains nothing")
        return {"text": kept, "note": "the reply is no JSON, and is kept as text"}

    def run(self, state: State) -> Any:
        """The terms; a reply that is of no use leaves them empty, with the reason, and ends no run."""
        try:
            return super().run(state)
        except StepRejected as rejection:
            return {"terms": {}, "note": rejection.what}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        """A line for each term, or the text of a reply that is no JSON."""
        terms = output.get("terms", {})
        lines = [f"{term}: {meaning}" for term, meaning in terms.items()]
        return {"terms": "\n".join(lines) or output.get("text", "")}


def terms_in(text: str) -> dict[str, str] | None:
    """The explanations in a reply, by term; None where it holds no JSON, not even in pieces.

    An object, an object in an object ("terms": {…}), a list of {"term": …, "explanation": …}, each also in a
    code fence or among prose. Trailing commas and curly quotes are repaired; of what is cut off or broken
    otherwise the whole pairs are taken.
    """
    fenced = [match.strip() for match in _FENCE.findall(text)]
    for candidate in [*fenced, text]:
        for piece in _pieces(candidate):
            for repaired in (piece, _TRAILING_COMMA.sub(r"\1", piece.translate(_CURLY_QUOTES))):
                try:
                    value = json.loads(repaired)
                except (ValueError, RecursionError):
                    continue
                if (found := _terms(value)) is not None:
                    return found
    pairs = _PAIR.findall(text.translate(_CURLY_QUOTES))
    return {_unescaped(term): _unescaped(meaning) for term, meaning in pairs if term} or None


def _pieces(text: str) -> Iterator[str]:
    """What may be JSON: from the first brace or bracket to the last."""
    for opening, closing in ("{}", "[]"):
        first, last = text.find(opening), text.rfind(closing)
        if 0 <= first < last:
            yield text[first : last + 1]


def _terms(value: Any) -> dict[str, str] | None:
    if isinstance(value, list):
        found: dict[str, str] = {}
        for item in value:
            if not isinstance(item, dict):
                return None
            term, meaning = _first(item, _TERM_KEYS), _first(item, _MEANING_KEYS)
            found |= {term: meaning} if term and meaning else _terms(item) or {}
        return found
    if not isinstance(value, dict):
        return None
    if len(value) == 1 and isinstance(inner := next(iter(value.values())), dict | list):
        return _terms(inner)
    return {_line(term): _meaning(meaning) for term, meaning in value.items() if _meaning(meaning)}


def _first(item: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((_line(item[key]) for key in keys if isinstance(item.get(key), str)), "")


def _meaning(value: Any) -> str:
    """An explanation as a line; what a model nests in it follows with its names."""
    if isinstance(value, dict):
        return "; ".join(
            f"{_line(key)}: {_meaning(inner)}" for key, inner in value.items() if _meaning(inner)
        )
    if isinstance(value, list):
        return ", ".join(filter(None, map(_meaning, value)))
    return "" if value is None else _line(str(value))


def _line(text: str) -> str:
    return " ".join(text.split())


def _unescaped(text: str) -> str:
    try:
        return _line(str(json.loads(f'"{text}"', strict=False)))
    except ValueError:
        return _line(text)
