"""Citations of provisions, found as they are written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon.modules.statutes.library import Statutes
from chameleon.modules.statutes.references import Citation, citations_in
from chameleon.modules.statutes.resolving import references_in
from chameleon.modules.statutes.tree import path_name
from tests.benchmarks.shared_data import needs_data, rows
from tests.modules.statutes.samples import STATUTES

LAW = Statutes.of(STATUTES).sections


def said(citation: Citation) -> str:
    """A citation in short: "paragraph(2)(A)..C", "12(b)", "this paragraph"."""
    head = citation.section or (f"{citation.relation} " if citation.relation else "") + citation.level
    text = head + "".join(f"({label})" for label in citation.labels)
    text += f"..{citation.through}" if citation.through else ""
    return text + (f" @ {citation.act}" if citation.act else "")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("section 152(d)(2)(A) through (G)", ["152(d)(2)(A)..G"]),
        ("Section 63(c)(2)(A), (B), and (C) apply", ["63(c)(2)(A)", "63(c)(2)(B)", "63(c)(2)(C)"]),
        ("this paragraph", ["this paragraph"]),
        ("paragraphs (1) and (2)", ["paragraph(1)", "paragraph(2)"]),
        ("sections 1, 2 and 68(b).", ["1", "2", "68(b)"]),
        ("section 151(c) or (d)(1)", ["151(c)", "151(d)(1)"]),
        ("section 2(a)(1)(A), (2)(B)", ["2(a)(1)(A)", "2(a)(2)(B)"]),
        ("subparagraphs (A) through (C) of paragraph (2)", ["paragraph(2)(A)..C"]),
        ("paragraphs (1) – (3)", ["paragraph(1)..3"]),
        ("subparagraph (H) of section 152(d)(2)", ["152(d)(2)(H)"]),
        ("clause (ii) of subparagraph (A) of section 2(b)", ["2(b)(A)(ii)"]),
        ("paragraph (2)(A) of this subsection", ["this subsection(2)(A)"]),
        (
            "sections 4(c) and 10(a)(15)(H) of the Trade and Ships Act",
            ["4(c) @ Trade and Ships Act", "10(a)(15)(H) @ Trade and Ships Act"],
        ),
        ("26 U.S.C. § 152(d)", ["152(d) @ 26 U.S.C."]),
        ("42 USC 152(d), (e)", ["152(d) @ 42 USC", "152(e) @ 42 USC"]),
        ("Under the Clean Water Act, section 152(d)", ["152(d) @ Clean Water Act"]),
        ("the Trade Act's section 5", ["5 @ Trade Act"]),
        ("the Trade Act, section 5 of this title", ["5 @ Trade Act", "this title"]),
        ("SECTION 5 OF THE CLEAN WATER ACT", ["5 @ CLEAN WATER ACT"]),
        ("Title 42, section 5, section 6 of 42 U.S.C.", ["5 @ Title 42", "6 @ 42 U.S.C."]),
        ("§152(c)(1)(A)&(B), section 1(a)(1)/(2)", ["152(c)(1)(A)", "152(c)(1)(B)", "1(a)(1)", "1(a)(2)"]),
        ("section 63(c), nor (d)", ["63(c)", "63(d)"]),
        ("for section 63, subsection (c) applies", ["63", "subsection(c)"]),
        ("sec. 12(a)", ["12(a)"]),
        ("section 12A(b) or section 1-101", ["12A(b)", "1-101"]),
        ("sections 1 through 4", ["1..4"]),
        (
            "the preceding paragraph, the succeeding paragraphs of this subsection",
            ["preceding paragraph", "succeeding paragraph"],
        ),
        ("this chapter", ["this chapter"]),
        ("under section 7703 for 2 years", ["7703"]),
        ("under section 1 and 2017 is late", ["1"]),
        ("section 152(d) (2) (A), (B)", ["152(d)(2)(A)", "152(d)(2)(B)"]),
        ("section 152(d) (see) (a), 7 (or 8)", ["152(d)"]),
        ("such subsection, such paragraphs", ["such subsection", "such paragraph"]),
        ("paragraph (1) of such subsection", ["such subsection(1)"]),
        ("subsection (a) and subsection (b) of section 2", ["subsection(a)", "2(b)"]),
        ("a section (see below), $40(a), paragraph by paragraph, clauses", []),
        ("he paid $2,000 (a sum) in 2017 (or 2018)", []),
        ("that part of it, the preceding sentence", []),
        ("a sum (section 12(b)) or (12(a))", ["12(b)", "12(a)"]),
    ],
)
def test_citations_are_found_as_they_are_written(text: str, found: list[str]) -> None:
    citations = citations_in(text)
    assert [said(each) for each in citations] == found
    assert all(each.text == text[each.start : each.end] for each in citations)


_NAMED = ["section 1", "(a)", "paragraph ", "(2)", "§", "12(b)", "Trade Act, ", "42 U.S.C. ", "SECTION one"]
_BETWEEN = [" and ", ", ", " through ", " of ", "this ", "-", "the Act", ".", "'s ", "&", "sub. "]


@settings(max_examples=60)
@given(st.text(max_size=80) | st.lists(st.sampled_from([*_NAMED, *_BETWEEN])).map("".join))
def test_any_text_is_read(text: str) -> None:
    citations = citations_in(text)
    assert all(each.text == text[each.start : each.end] for each in citations)
    starts = [each.start for each in citations]
    assert starts == sorted(starts)
    references_in(text, LAW)
    references_in(text, LAW, next(node for node in LAW["12"].nodes if node.name == "12(b)(1)(B)(ii)"))


def test_endless_nesting_is_read() -> None:
    assert len(citations_in("clause (i) of " * 2000)) > 100


_LABELS = st.tuples(
    st.sampled_from("abcdefghz"),
    st.integers(1, 99).map(str),
    st.sampled_from("ABCDEFGHZ"),
    st.sampled_from(["i", "iv"]),
)


@settings(max_examples=40)
@given(st.integers(1, 9999), _LABELS, st.integers(0, 4), st.sampled_from(["section ", "§", "§ ", "Section "]))
def test_written_paths_come_back(section: int, labels: tuple[str, ...], deep: int, word: str) -> None:
    name = path_name((str(section), *labels[:deep]))
    (citation,) = citations_in(f"It is due under {word}{name}, for 3 years.")
    assert said(citation) == name


@needs_data
def test_each_question_names_what_it_is_about() -> None:
    cases = rows("sara/cases.jsonl")
    found = {case["id"]: [said(each) for each in citations_in(case["question"])] for case in cases}
    assert found == {
        case["id"]: [case["section_mentioned"]] if case["section_mentioned"] else [] for case in cases
    }
    assert len(found) == 256 and sum(map(len, found.values())) == 176
