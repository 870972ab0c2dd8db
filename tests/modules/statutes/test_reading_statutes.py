"""Statutes and references: every line in one node, the text again from the tree, and what is meant where."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon.modules.statutes.library import Statutes
from chameleon.modules.statutes.parser import parse
from chameleon.modules.statutes.references import Citation, citations_in, references_in, references_of
from chameleon.modules.statutes.tree import Node, Statute
from tests.benchmarks.shared_data import DATA, needs_data, rows
from tests.modules.statutes.samples import EXEMPT, FEES, PILOTS, STATUTES

LEVELS = ("subsection", "paragraph", "subparagraph", "clause", "subclause", "item")
LABELS = "abcdefghijk", "123456789", "ABC", ("i", "ii", "iii"), ("I", "II", "III"), ("aa", "bb", "cc")
_WORDS = ("boat", "harbour", "fee", "the master", "any vessel", "a licence", "shall pay", "owes", "not less")
SEVERAL = st.lists(st.sampled_from(_WORDS), min_size=2, max_size=6)
SENTENCES = SEVERAL.map(lambda words: " ".join(words).capitalize() + ".")
HEADINGS = st.sampled_from(("Fees", "Harbours", "In general and Fees", "Boats of 1990"))


@dataclass
class Provision:
    """What a statute is written from; `flush` is text after the provisions in it."""

    label: str
    level: str
    heading: str
    text: str
    inner: list["Provision"] = field(default_factory=list)
    flush: str = ""


@st.composite
def provisions(draw: st.DrawFn, depth: int = 0) -> list[Provision]:
    """A series of one level, which may skip levels and, within it, labels."""
    level = draw(st.integers(depth, min(depth + 1, len(LEVELS) - 1)))
    labels = LABELS[level][: draw(st.integers(2, 11 if depth == 0 else 3))]
    dropped = draw(st.integers(2, 20))
    found = []
    for label in (label for place, label in enumerate(labels) if place != dropped):
        is_outer = level + 1 < len(LEVELS) and draw(st.integers(0, 2)) == 0
        inner = draw(provisions(level + 1)) if is_outer else []
        heading, flush = draw(st.just("") | HEADINGS), draw(st.just("") | SENTENCES) if inner else ""
        found.append(Provision(label, LEVELS[level], heading, draw(SENTENCES), inner, flush))
    return found


def statute(series: list[Provision], unit: int, blanks: bool) -> str:
    """The text of section 12 with these provisions, each indented by `unit` more than what it stands in."""
    lines = ["§12. Harbour fees"]

    def write(series: list[Provision], pad: str) -> None:
        for each in series:
            texts = [text for text in (each.heading, each.text) if text]
            lines.append(f"{pad}({each.label}) {texts[0]}")
            lines.extend(pad + text for text in texts[1:])
            write(each.inner, pad + " " * unit)
            lines.extend([pad + each.flush] if each.flush else [])

    write(series, "")
    return ("\n\n" if blanks else "\n").join(lines) + "\n"


def node(found: Statute, name: str) -> Node:
    return next(each for each in found.root.nodes if each.name == name)


def keeps_all(found: Statute, text: str) -> bool:
    """Whether each line is in one node, and the tree gives the text."""
    numbers = [line.number for each in found.root.nodes for line in each.own_lines]
    every = list(range(1, len(text.splitlines()) + 1))
    return "".join(line.text for line in found.root.lines) == text and sorted(numbers) == every


def second_edition(text: str) -> str:
    """The same statute with two blanks a level and no blank lines."""
    lines = (line for line in text.splitlines() if line.strip())
    return "".join(re.sub("^ +", lambda blanks: blanks[0][::2], line) + "\n" for line in lines)


def shape(found: Statute) -> list[tuple[str, str, str, str]]:
    return [(each.name, each.level, each.heading, each.wording) for each in found.root.nodes]


def test_a_heading_and_a_sentence_over_several_lines_are_told_apart() -> None:
    found = parse("§1. Fees\n(a) Boats of the harbour\npay a fee.\n(b) Ships\nEach pays a fee.\n")
    assert [each.heading for each in found.root.children[0].children] == ["", "Ships"]
    assert node(found, "1(a)").wording == "Boats of the harbour pay a fee."


def test_sections_begin_in_several_ways_and_one_may_have_its_name_alone() -> None:
    text = f"HARBOUR CODE\n\n{FEES}\n{PILOTS}{EXEMPT}"
    found = parse(text)
    assert [section.label for section in found.root.children] == ["12", "13", "14"]
    assert keeps_all(found, text) and not found.troubles
    assert [line.content for line in found.root.own_lines if line.content] == ["HARBOUR CODE"]
    for line in ("§ 12 Fees", "SEC. 12. Fees", "Sec. 12: Fees", "§12", "§12. — Fees", "§12—Fees"):
        (section,) = parse(f"{line}\n\n(a) Oars\n").root.children
        assert (section.label, section.heading) == ("12", "Fees" if "F" in line else "")
    found = parse("Boats\n\n(a) Oars\n\n    (1) of wood\n", "7A")
    names = [node.name for node in found.root.nodes if node.path]
    assert names == ["7A", "7A(a)", "7A(a)(1)"] and not found.troubles


SIDE_BY_SIDE = "(a) All\n    (A) sails, and\n    (B) rows, except-\n    (1) rafts;\n    (2) buoys.\n"
ON_ONE_LINE = "(a)(1) A.\n    (2) B.\n        (A)(i) C.\n            (ii) D.\n    (3) E.\n(b)(1)(A) F.\n"
TO_H = "".join(f"({letter}) Oars.\n" for letter in "abcdefgh")
MUSEUMS = "(a) Vessels\n(1) boats;\n(2) ships\n(A) schools,\n(B) clubs.\n(b) Title\nFlush.\n"


@pytest.mark.parametrize(
    ("text", "found", "told"),
    [
        (SIDE_BY_SIDE, "a aA aB a1 a2", []),
        (ON_ONE_LINE, "a a1 a2 a2A a2Ai a2Aii a3 b b1 b1A", []),
        (MUSEUMS, "a a1 a2 a2A a2B b", []),  # without any indentation
        ("(a) A.\n    (1) B.\n      (2) C.\n    (3) D.\n(b) E.\n", "a a1 a2 a3 b", [4]),
        ("...\n(a) A\n* * *\n    (2) B\n…\n        (B) All.\n", "a a2 a2B", [5, 7]),
        ("(a) Oars\n\nSection 2 applies to oars.\n§ 3 applies as well.\n", "a", []),
        ("(a) A.\n    (1) B.\n        (A) C.\n            (1) D.\n", "a a1 a1A a1A1", [5]),
        ("(a) X.\n(a) Y.\n", "a a", [3]),
        ("(a) A boat under paragraph (1) or\n(2) of this subsection.\n(b) Fee.\n", "a b", [3]),
        ("(a) A fee is due which\n(3) says.\n", "a", [3]),
        ("(a) Fees of this section\n    (1) Oar.\n", "a a1", []),
        (f"{TO_H}(i) Long.\n(ii) Short.\n", "a b c d e f g h hi hii", []),
        (f"{TO_H}(i) Long.\n(j) Sails.\n", "a b c d e f g h i j", []),
    ],
)
def test_what_does_not_fit_is_placed_by_numbers_and_told(text: str, found: str, told: list[int]) -> None:
    text = f"§5. Fees\n{text}"
    read = parse(text)
    placed = ["".join(name.path[1:]) for name in read.root.children[0].nodes][1:]
    assert " ".join(placed) == found
    assert keeps_all(read, text) and [int(each.split()[1]) for each in read.troubles] == told


def test_what_is_like_a_label_is_told_and_a_text_in_brackets_is_not() -> None:
    for line in ("(b} Rafts", "1. Rafts", "b. Rafts", "[e] Rafts", "- **(b)** Rafts", "(1] x"):
        text = f"§9. Fees\n(a) Boats.\n{line}\n(g) Ships.\n"
        found = parse(text)
        assert keeps_all(found, text) and [each.split()[1] for each in found.troubles] == ["3"]
    for line in ("(other than rafts) pays", "(a sum of money) is due", "boats, e.g. rafts"):
        assert not parse(f"§9. Fees\n(a) Boats\n{line}\n").troubles
    assert parse("Boats pay.\n").troubles == ("there is no section, and no label such as (a)",)
    assert "there is a section 1 before it" in parse("§1. Fees\n§1. Fees\n").troubles[0]


def test_long_texts_are_read() -> None:
    deep = "".join(f"{' ' * depth}(a) Boats.\n" for depth in range(300))
    wide = "(a) Boats.\n" + "    It is due.\n" * 4_000 + "    (1) Oars.\n" * 1_000
    odd = "(a)" * 4_000 + "\n" + "(a) " + "section " * 4_000 + "\n(b) x" + "[" * 9_000
    for text in (f"§1. Fees\n{wide}", f"§1. Fees\n{deep}", odd):
        assert keeps_all(parse(text, "1"), text)


@settings(max_examples=15)
@given(provisions(), st.sampled_from([2, 4]), st.booleans())
def test_any_provisions_are_given_back(series: list[Provision], unit: int, blanks: bool) -> None:
    text = statute(series, unit, blanks)
    found = parse(text)
    assert keeps_all(found, text) and not found.troubles

    def same(made: list[Provision], nodes: list[Node]) -> None:
        assert [each.label for each in made] == [each.label for each in nodes]
        for each, read in zip(made, nodes, strict=True):
            assert read.level == each.level or len(made) == 1
            assert read.heading == each.heading
            assert read.wording == " ".join(filter(None, [each.heading, each.text, each.flush]))
            same(each.inner, read.children)

    same(series, found.root.children[0].children)


@settings(max_examples=40)
@given(st.text("(aiAI12)§ .\n\t\r-x", max_size=120), st.sampled_from(["", "5"]))
def test_any_text_is_kept(text: str, name: str) -> None:
    assert keeps_all(parse(text, name), text)


@needs_data
def test_the_shared_statutes_lose_no_line_and_have_no_trouble_in_either_edition() -> None:
    for name, text in json.loads((DATA / "sara/statutes.json").read_text("utf-8")).items():
        found, other = parse(text, name), second_edition(text)
        again = parse(other, name)
        assert shape(again) == shape(found) and not [*found.troubles, *again.troubles]
        assert keeps_all(found, text) and keeps_all(again, other)


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
    references_in(text, LAW, at("12(b)(1)(B)(ii)"))


def test_a_phrase_without_an_end_is_read() -> None:
    assert len(citations_in("clause (i) of " * 2000)) > 100


@needs_data
def test_each_question_names_what_it_is_about() -> None:
    cases = rows("sara/cases.jsonl")
    found = [[said(each) for each in citations_in(case["question"])] for case in cases]
    assert found == [[each] if (each := case["section_mentioned"]) else [] for case in cases]
    assert len(found) == 256 and sum(map(len, found)) == 176


def at(name: str, sections: Mapping[str, Node] = LAW) -> Node:
    return next(node for section in sections.values() for node in section.nodes if node.name == name)


PARTS = [("14(a)(3)(B)", ""), ("14(a)(3)(D)", ""), ("14(a)(3)(C)", "missing")]


@pytest.mark.parametrize(
    ("home", "text", "found"),
    [
        ("12(a)", "subsection (b)", [("12(b)", "")]),
        ("12(b)(1)(A)", "this section", [("12", "")]),
        ("12(b)(2)(i)", "subparagraph (A)", [("12(b)(1)(A)", "")]),
        ("14(a)(2)", "subparagraphs (B) through (C) of paragraph (3)", PARTS),
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
    ("title", "own", "others"),
    [
        ("Harbour Fees Act of 1931\n", ["Harbour Fees Act"], ["Harbour Fees Act of 1974"]),
        ("", ["Internal Revenue Code", "U.S. Code", "FUTA", "Act"], ["Harbour Fees Act"]),
    ],
)
def test_a_law_is_at_hand_where_it_says_its_name(title: str, own: list[str], others: list[str]) -> None:
    sections = Statutes.of(f"{title}§12. Fees\n(a) Boats.\n§13. Dues\n").sections
    for act in (*own, *others):
        the = "" if act == "FUTA" else "the "
        (referent,) = references_in(f"Is it due under section 12(a) of {the}{act}?", sections)
        lack = "elsewhere" if act in others else ""
        assert (referent.name, referent.lack) == (f"12(a) of {act}" if lack else "12(a)", lack)


def test_a_question_about_the_only_statute_may_leave_out_its_section() -> None:
    sections = Statutes.of({"14": STATUTES["14"]}).sections
    (referent,) = references_in("Are museums exempt under subsection (a)(3)?", sections)
    assert referent.name == "14(a)(3)" and not referent.lack
    assert references_in("What does this section say?", sections)[0].name == "14"


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
