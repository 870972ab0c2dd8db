"""Statutes in Markdown: what stands behind the decoration is parsed, and the text is kept."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon.modules.statutes.parser import parse
from tests.modules.statutes.generated import Provision, provisions, statute
from tests.modules.statutes.trees import keeps_all, names, node

_TREE = ["7", "7(a)", "7(a)(1)", "7(a)(1)(A)", "7(a)(1)(B)", "7(a)(2)", "7(b)"]


@pytest.mark.parametrize(
    "text",
    [
        (
            "## § 7. Tolls\n- **(a)** Rates\n  - **(1)** Cars\n    - (A) Big\n    - (B) Small\n"
            "  - (2) Vans\n- (b) Dues\n"
        ),
        "> § 7. Tolls\n> (a) Rates\n>   (1) Cars\n>     (A) Big\n>     (B) Small\n>   (2) Vans\n> (b) Dues\n",
        (
            "# § 7. Tolls #\n## (a) Rates\n### (1) Cars\n#### (A) Big\n#### (B) Small\n### (2) Vans\n"
            "## (b) Dues\n"
        ),
        "## § 7. Tolls\n### (a) Rates\n- (1) Cars\n  - (A) Big\n  - (B) Small\n- (2) Vans\n### (b) Dues\n",
        "## § 7. Tolls\n### (a) Rates\n(1) Cars\n(A) Big\n(B) Small\n(2) Vans\n### (b) Dues\n",
        "## § 7. Tolls\n### (a) Rates\n#### (1) Cars\n- (A) Big\n- (B) Small\n#### (2) Vans\n### (b) Dues\n",
        "**§ 7. Tolls**\n\n(a) Rates\n* (1) Cars\n  * (A) Big\n  * (B) Small\n* (2) Vans\n\n**(b) Dues**\n",
        (
            "**Sec. 7.** Tolls\n*(a)* Rates\n__(1)__ Cars\n(**A**) Big\n`(B)` Small\n\\(2\\) Vans\n"
            "***(b)*** Dues\n"
        ),
        (
            "* § 7. Tolls\n  * (a) Rates\n    + (1) Cars\n      - (A) Big\n      - (B) Small\n"
            "    + (2) Vans\n  * (b) Dues\n"
        ),
    ],
)
def test_decoration_is_seen_through(text: str) -> None:
    found = parse(text)
    assert names(found) == _TREE and keeps_all(found, text) and not found.troubles
    assert found.sections[0].heading == "Tolls" and node(found, "7(b)").wording == "Dues"


def test_text_belongs_to_what_it_stands_under() -> None:
    text = (
        "# Harbour law\n\n## § 7. Tolls\n\n### (a) Rates\n\nThe rate is:\n\n- (1) cars\nand vans;\n"
        "  - (A) $5;\n\n"
        "Dues are late after a day.\n\n### (b) Dues\n\n**None**.\n\n* * *\n\n## § 8. Boats\n\n"
        "(a) **Pay.** *All* do.\n"
    )
    found = parse(text)
    assert node(found, "7(a)").heading == "Rates"
    assert node(found, "7(a)").wording == "The rate is: Dues are late after a day."
    assert node(found, "7(a)(1)").wording == "cars and vans;"
    assert node(found, "7(b)").own_lines[2].text == "**None**.\n"
    assert node(found, "8(a)").wording == "Pay. All do."
    assert keeps_all(found, text) and not found.troubles


def test_a_bullet_beside_plain_labels_is_told() -> None:
    found = parse("§9. Fees\n(a) Boats.\n- (b) Fees\n(g) Ships.\n")
    assert names(found) == ["9", "9(a)", "9(b)", "9(g)"]
    assert [each.line for each in found.troubles] == [3]


@pytest.mark.parametrize(
    "line", ["* * *", "*Note* that", "- none", "2 * 3 * 4", "a_b_c", "-----", "[see there](y)"]
)
def test_what_has_no_label_stays_as_it_is(line: str) -> None:
    found = parse(f"§9. Fees\n(a) Boats.\n{line}\n")
    assert node(found, "9(a)").own_lines[-1].content == line and not found.troubles


@pytest.mark.parametrize(
    "line",
    [
        "- a) Vans",
        "- b. Vans",
        "**b)** Vans",
        "**2.** Vans",
        "- [ ] (b) Vans",
        "&nbsp;(b) Vans",
        "| (b) | Vans |",
        "<b>(b)</b> Vans",
        "1. (b) Vans",
    ],
)
def test_what_is_no_plain_label_is_told(line: str) -> None:
    text = f"## § 7. Tolls\n(a) Cars\n{line}\n(c) Carts\n"
    found = parse(text)
    assert names(found) == ["7", "7(a)", "7(c)"] and [each.line for each in found.troubles] == [3]


def test_links_and_anchors_are_seen_through() -> None:
    found = parse("## [§ 7. Tolls](#s7) {#s7}\n[(a)](#a) Cars\n- [**(1)**](#a1) Vans\n")
    assert names(found) == ["7", "7(a)", "7(a)(1)"] and found.sections[0].heading == "Tolls"


def _bulleted(text: str) -> str:
    """A plain statute as a list in Markdown, its text indented as far as the text of its items."""
    lines = []
    for number, line in enumerate(text.splitlines()):
        plain = line.lstrip()
        pad = line[: len(line) - len(plain)]
        label, _, rest = plain.partition(" ")
        if number == 0 or not plain:
            lines.append(f"## {plain}" if plain else "")
        else:
            lines.append(f"{pad}- **{label}** {rest}" if label.startswith("(") else f"{pad}  {plain}")
    return "\n".join(lines) + "\n"


@settings(max_examples=25)
@given(provisions(), st.sampled_from([2, 4]), st.booleans())
def test_a_list_has_the_tree_of_the_plain_text(series: list[Provision], unit: int, blanks: bool) -> None:
    plain = statute(series, unit, blanks)
    text = _bulleted(plain)
    found = parse(text)
    assert names(found) == names(parse(plain)) and keeps_all(found, text)
    assert [each.heading for each in found.root.nodes] == [each.heading for each in parse(plain).root.nodes]


@pytest.mark.parametrize(
    "line",
    [
        "*" * 50_000,
        "(a) " + "*a " * 20_000,
        "> " * 30_000,
        "(a) " + "_x" * 20_000,
        "# " + "#" * 50_000,
        "[(a)](" * 9_000,
        "<" * 50_000,
    ],
)
def test_long_lines_are_read(line: str) -> None:
    text = f"§9. Fees\n{line}\n"
    assert keeps_all(parse(text), text)


@pytest.mark.parametrize("line", ["§ 7 — Tolls", "## Sec. 7 – Tolls", "**Section 7** - Tolls", "§7 -- Tolls"])
def test_a_section_may_be_told_from_its_heading_by_a_dash(line: str) -> None:
    found = parse(f"{line}\n(a) Cars\n")
    assert names(found) == ["7", "7(a)"] and found.sections[0].heading == "Tolls"
