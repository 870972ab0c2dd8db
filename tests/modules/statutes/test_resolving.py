"""What references mean from where they stand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from chameleon.modules.statutes.library import Statutes
from chameleon.modules.statutes.resolving import references_in, references_of
from chameleon.modules.statutes.tree import Node
from tests.benchmarks.shared_data import DATA, needs_data, rows
from tests.modules.statutes.samples import STATUTES

LAW = Statutes.of(STATUTES).sections


def at(name: str, sections: Mapping[str, Node] = LAW) -> Node:
    return next(node for section in sections.values() for node in section.nodes if node.name == name)


def meant(text: str, home: str = "") -> list[tuple[str, str]]:
    return [
        (referent.name, referent.lack) for referent in references_in(text, LAW, at(home) if home else None)
    ]


@pytest.mark.parametrize(
    ("home", "text", "found"),
    [
        ("12(a)(1)", "section 14(a)", [("14(a)", "")]),
        ("12(a)", "subsection (b)", [("12(b)", "")]),
        ("12(b)(1)(B)(ii)", "subparagraph (A)", [("12(b)(1)(A)", "")]),
        ("12(b)(1)(A)", "this section", [("12", "")]),
        ("12(b)(2)(i)", "subparagraph (A)", [("12(b)(1)(A)", "")]),
        ("12(b)(1)(B)(ii)", "clause (i)", [("12(b)(1)(B)(i)", "")]),
        (
            "14(a)(2)",
            "subparagraphs (A) through (C) of paragraph (3)",
            [("14(a)(3)(A)", ""), ("14(a)(3)(B)", ""), ("14(a)(3)(C)", "missing")],
        ),
        ("14(b)", "the preceding subsection", [("14(a)", "")]),
        ("14(b)", "the succeeding subsections", [("the succeeding subsections", "missing")]),
        ("14(a)(1)", "the succeeding paragraphs of this subsection", [("14(a)(2)", ""), ("14(a)(3)", "")]),
        ("14(a)(3)(B)", "the preceding paragraphs of this subsection", [("14(a)(1)", ""), ("14(a)(2)", "")]),
        ("14(b)", "this chapter", [("this chapter", "above")]),
        ("13", "section 3 of the Pilots Act of 1931", [("3 of Pilots Act of 1931", "elsewhere")]),
        ("13", "this paragraph", [("this paragraph", "missing")]),
        ("", "sections 12 through 14", [("12", ""), ("13", ""), ("14", "")]),
        ("", "section 99(a)", [("99(a)", "missing")]),
        ("", "section 12(b)(7)", [("12(b)(7)", "missing")]),
        ("", "26 U.S.C. § 12(b)", [("12(b)", "")]),
        ("", "42 U.S.C. § 12(b)", [("12(b) of 42 U.S.C.", "elsewhere")]),
        ("", "section 12(B)", [("12(B)", "missing")]),
        ("", "section 12, paragraph (2) of subsection (b)", [("12", ""), ("12(b)(2)", "")]),
        ("", "Under section 12, does subsection (b) apply?", [("12", ""), ("12(b)", "")]),
        (
            "",
            "section 99, does paragraph (7) of subsection (z) apply?",
            [("99", "missing"), ("paragraph (7)", "missing")],
        ),
        ("", "section 12(a), and paragraph (2) of such subsection", [("12(a)", ""), ("12(a)(2)", "")]),
        ("", "such items are due", []),
        ("12(b)(1)(A)", "such paragraph", [("12(b)(1)", "")]),
        ("", "subsection (a)", [("subsection (a)", "missing")]),
    ],
)
def test_they_mean_what_stands_there(home: str, text: str, found: list[tuple[str, str]]) -> None:
    assert meant(text, home) == found


@pytest.mark.parametrize(
    ("title", "act", "is_own"),
    [
        ("Harbour Fees Act of 1931\n", "the Harbour Fees Act", True),
        ("Harbour Fees Act of 1931\n", "the Harbour Fees Act of 1974", False),
        ("Harbour Fees Act\n", "the Trade Act", False),
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
    lacking = {
        (each.name, each.lack) for text in asked for each in references_in(text, sections) if each.lack
    }
    assert lacking == {("151(d)(5)(A)", "missing")}
    referents = [each for section in sections.values() for each in references_of(section, sections)]
    assert {each.lack for each in referents} == {"", "above", "elsewhere"}
    assert sum(not each.lack for each in referents) > 80
    assert [each.name for each in referents if each.lack == "elsewhere"] == [
        "214(c) of Immigration and Nationality Act",
        "101(a)(15)(H) of Immigration and Nationality Act",
    ]
