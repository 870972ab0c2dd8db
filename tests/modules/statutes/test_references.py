"""References: found as they are written, and what they mean from where they stand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon.modules.statutes.library import Statutes
from chameleon.modules.statutes.references import Citation, citations_in, references_in, references_of
from chameleon.modules.statutes.tree import Node
from tests.benchmarks.shared_data import DATA, needs_data, rows
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
        ("Section 63(c)(2)(A), (B), and (C) apply", ["63(c)(2)(A)", "63(c)(2)(B)", "63(c)(2)(C)"]),
        ("sections 1, 2 and 68(b).", ["1", "2", "68(b)"]),
        ("section 151(c) or (d)(1)", ["151(c)", "151(d)(1)"]),
        ("section 2(a)(1)(A), (2)(B)", ["2(a)(1)(A)", "2(a)(2)(B)"]),
        ("paragraphs (1) – (3)", ["paragraph(1)..3"]),
        ("clause (ii) of subparagraph (A) of section 2(b)", ["2(b)(A)(ii)"]),
        ("paragraph (2)(A) of this subsection", ["this subsection(2)(A)"]),
        ("sections 4(c) and 10(a) of the Sea Act", ["4(c) @ Sea Act", "10(a) @ Sea Act"]),
        ("26 U.S.C. § 152(d)", ["152(d) @ 26 U.S.C."]),
        ("42 USC 152(d), (e)", ["152(d) @ 42 USC", "152(e) @ 42 USC"]),
        ("Under the Clean Water Act, section 152(d)", ["152(d) @ Clean Water Act"]),
        ("the Trade Act's section 5", ["5 @ Trade Act"]),
        ("the Trade Act, section 5 of this title", ["5 @ Trade Act"]),
        ("SECTION 5 OF THE CLEAN WATER ACT", ["5 @ CLEAN WATER ACT"]),
        ("Title 42, section 5, section 6 of 42 U.S.C.", ["5 @ Title 42", "6 @ 42 U.S.C."]),
        ("§152(c)(1)(A)&(B), section 1(a)(1)/(2)", ["152(c)(1)(A)", "152(c)(1)(B)", "1(a)(1)", "1(a)(2)"]),
        ("section 63(c), nor (d)", ["63(c)", "63(d)"]),
        ("section 12A(b) or section 1-101", ["12A(b)", "1-101"]),
        ("under section 7703 for 2 years", ["7703"]),
        ("under section 1 and 2017 is late", ["1"]),
        ("section 152(d) (2) (A), (B)", ["152(d)(2)(A)", "152(d)(2)(B)"]),
        ("section 152(d) (see) (a), 7 (or 8)", ["152(d)"]),
        ("section 1 of paragraph (2), section (a)", ["1", "paragraph(2)"]),
        ("paragraph (1) of such subsection", ["such subsection(1)"]),
        ("a section (see below), $40(a), paragraph by paragraph, clauses", []),
        ("he paid $2,000 (a sum) in 2017 (or 2018)", []),
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
    assert len(citations_in("clause (i) of " * 2000)) > 100


@needs_data
def test_each_question_names_what_it_is_about() -> None:
    cases = rows("sara/cases.jsonl")
    found = [[said(each) for each in citations_in(case["question"])] for case in cases]
    assert found == [[each] if (each := case["section_mentioned"]) else [] for case in cases]
    assert len(found) == 256 and sum(map(len, found)) == 176


def at(name: str, sections: Mapping[str, Node] = LAW) -> Node:
    return next(node for section in sections.values() for node in section.nodes if node.name == name)


MUSEUMS = [("14(a)(3)(B)", ""), ("14(a)(3)(D)", ""), ("14(a)(3)(C)", "missing")]


@pytest.mark.parametrize(
    ("home", "text", "found"),
    [
        ("12(a)", "subsection (b)", [("12(b)", "")]),
        ("12(b)(1)(A)", "this section", [("12", "")]),
        ("12(b)(2)(i)", "subparagraph (A)", [("12(b)(1)(A)", "")]),
        ("14(a)(2)", "subparagraphs (B) through (C) of paragraph (3)", MUSEUMS),
        ("13", "section 3 of the Pilots Act of 1931", [("3 of Pilots Act of 1931", "elsewhere")]),
        ("13", "this paragraph", [("this paragraph", "missing")]),
        ("", "sections 12 through 14", [("12", ""), ("13", ""), ("14", "")]),
        ("", "section 99(a)", [("99(a)", "missing")]),
        ("", "section 12(b)(7)", [("12(b)(7)", "missing")]),
        ("", "26 U.S.C. § 12(b)", [("12(b)", "")]),
        ("", "section 12, paragraph (2) of subsection (b)", [("12", ""), ("12(b)(2)", "")]),
        ("", "section 12(a), and paragraph (2) of such subsection", [("12(a)", ""), ("12(a)(2)", "")]),
        ("", "such items are due", []),
        ("", "subsection (a)", [("subsection (a)", "missing")]),
    ],
)
def test_they_mean_what_stands_there(home: str, text: str, found: list[tuple[str, str]]) -> None:
    referents = references_in(text, LAW, at(home) if home else None)
    assert [(referent.name, referent.lack) for referent in referents] == found


@pytest.mark.parametrize(
    ("title", "act", "is_own"),
    [
        ("Harbour Fees Act of 1931\n", "the Harbour Fees Act", True),
        ("Harbour Fees Act of 1931\n", "the Harbour Fees Act of 1974", False),
        ("", "the Internal Revenue Code", True),
        ("", "the U.S. Code", True),
        ("", "FUTA", True),
        ("", "the Harbour Fees Act", False),
        ("", "the Act", True),
    ],
)
def test_a_law_is_at_hand_where_it_says_its_name(title: str, act: str, is_own: bool) -> None:
    sections = Statutes.of(f"{title}§12. Fees\n(a) Boats.\n§13. Dues\n").sections
    (referent,) = references_in(f"Is it due under section 12(a) of {act}?", sections)
    assert referent.lack == ("" if is_own else "elsewhere")
    assert referent.name == ("12(a)" if is_own else f"12(a) of {act.removeprefix('the ')}")


def test_a_question_about_the_only_statute_may_leave_out_its_section() -> None:
    sections = Statutes.of({"14": STATUTES["14"]}).sections
    (referent,) = references_in("Are museums exempt under subsection (a)(3)?", sections)
    assert referent.name == "14(a)(3)" and not referent.lack
    assert references_in("What does this section say?", sections)[0].name == "14"


def test_a_provision_refers_to_what_its_parts_do() -> None:
    found = [referent.name for referent in references_of(at("12(b)"), LAW)]
    assert found == ["12(b)(1)", "12(b)(1)(A)", "12(b)(1)", "12(b)(1)(A)", "12(b)(1)(B)"]


@needs_data
def test_all_that_the_shared_statutes_and_cases_name_is_there_but_one() -> None:
    sections = Statutes.of(DATA / "sara/statutes.json").sections
    asked = [f"{case['text']} {case['question']}" for case in rows("sara/cases.jsonl")]
    named = [each for text in asked for each in references_in(text, sections)]
    lacking = {(each.name, each.lack) for each in named if each.lack}
    assert lacking == {("151(d)(5)(A)", "missing")}
    referents = [each for section in sections.values() for each in references_of(section, sections)]
    assert {each.lack for each in referents} == {"", "elsewhere"}
    assert sum(not each.lack for each in referents) > 80
    outside = [each.name for each in referents if each.lack]
    assert outside == [f"{part} of Immigration and Nationality Act" for part in ("214(c)", "101(a)(15)(H)")]
