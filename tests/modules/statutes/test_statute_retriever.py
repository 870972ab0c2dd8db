"""Statutes from files and folders, the three strategies, what comes along, and what is left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chameleon import State
from chameleon.errors import InputError
from chameleon.modules.statutes.library import Statutes
from chameleon.modules.statutes.statute_retriever import StatuteRetriever, Strategy
from chameleon.text import estimated_tokens
from chameleon.values import freeze, to_json
from tests.benchmarks.shared_data import DATA, needs_data, rows
from tests.modules.statutes.samples import FEES, STATUTES


def test_statutes_come_from_a_mapping_a_text_a_file_or_a_folder(tmp_path: Path) -> None:
    whole = "".join(STATUTES.values())
    file, text, folder = tmp_path / "statutes.json", tmp_path / "law.txt", tmp_path / "folder"
    file.write_text(json.dumps(STATUTES), "utf-8")
    text.write_text(whole, "utf-8")
    for given_as in (STATUTES, whole, file, str(file), text):
        assert list(Statutes.of(given_as).sections) == ["12", "13", "14"]
    assert Statutes.of(file).source == dict.fromkeys(STATUTES, str(file))
    folder.mkdir()
    more = {"section7.txt": "(a) Boats\n", ".hidden": "x", "picture.png": "\x89PNG"}
    for name, held in ({f"section{name}": held for name, held in STATUTES.items()} | more).items():
        (folder / name).write_text(held, "utf-8")
    assert list(Statutes.of(folder).sections) == ["12", "13", "14", "7"]


def test_statutes_come_from_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "statutes.json"
    for held in (b"[1]", b"{", b"\xff\xfe"):
        file.write_bytes(held)
        with pytest.raises(InputError):
            Statutes.of(file)
    for bad in (None, "", 7, {"1": 2}, "/nowhere/at-all.json"):
        with pytest.raises(InputError):
            Statutes.of(bad)
    monkeypatch.setattr("chameleon.modules.statutes.library._LARGEST", 9)
    (tmp_path / "law.txt").write_text("§1. Fees\n(a) Boats.\n", "utf-8")
    with pytest.raises(InputError, match="more than 9 bytes"):
        Statutes.of(tmp_path)


def test_troubles_are_told_with_their_place() -> None:
    (told,) = Statutes.of({"1": "§1. Fees\n\n(a) Boats.\n\n(a) Ships.\n"}).troubles
    assert told.startswith("section 1: line 5 ('(a) Ships.'): ")


QUESTION = "Section 12(b)(1)(A) applies to the Lark."
CLOSED = (
    "§12. Harbour fees\n...\n(b) Amount of the fee\n    (1) In general\n"
    '    The term "fee" means-\n        (A) $40 in the case of a vessel that is registered, and\n...\n'
    "    For purposes of this paragraph, winter ends in March.\n..."
)


def found(
    question: str, strategy: Strategy = "mentioned_only", statutes: Any = STATUTES, **options: Any
) -> dict[str, Any]:
    module = StatuteRetriever(strategy, **options)
    facts = "The Lark is exempt under section 14(a)(1)."  # which do not count
    output = module.run(State(input=freeze({"question": question, "statutes": statutes, "text": facts})))
    assert to_json(freeze(output)) == json.loads(json.dumps(output))
    return output


def ids(output: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["id"], each["why"]) for each in output["provisions"]]


def test_the_provision_is_taken_with_what_leads_into_it_its_headings_or_nothing() -> None:
    output = found(QUESTION)
    assert output["text"] == CLOSED and ids(output) == [("12(b)(1)(A)", "mentioned")]
    assert found(QUESTION, ancestors="headings")["text"] == (
        "§12. Harbour fees\n...\n(b) Amount of the fee\n    (1) In general\n...\n"
        "        (A) $40 in the case of a vessel that is registered, and\n..."
    )
    alone = found(QUESTION, ancestors="none")["text"]
    assert alone.strip(".\n ") == "(A) $40 in the case of a vessel that is registered, and"


def test_no_provision_is_taken_for_that_of_another_law() -> None:
    output = found("Section 12(b) of the Clean Water Act applies.")
    assert output["unknown"] == ["12(b) of Clean Water Act"]
    assert {why for _, why in ids(output)} == {"whole"}
    assert output["text"].endswith("[Not in the statutes: 12(b) of Clean Water Act.]")


def test_what_a_series_beside_it_leads_in_is_taken() -> None:
    law = "§9. Boats\n(c) All\n    (A) sails, and\n    (B) rows, except-\n    (1) rafts;\n    (2) ice.\n"
    text = found("Section 9(c)(2) applies.", statutes=law)["text"]
    assert "    (A) sails, and\n    (B) rows, except-\n" in text and "(1)" not in text
    assert "(B)" not in found("Section 9(c)(A) applies.", statutes=law)["text"]


def test_several_are_taken_in_the_order_of_the_statutes() -> None:
    output = found("Sections 14(b) and 12(h) and (a)(2) apply.")
    assert [id for id, _ in ids(output)] == ["14(b)", "12(h)", "12(a)(2)"]
    text = output["text"]
    assert text.index("§14.") < text.index("§12.") < text.index("(2) the master") < text.index("(h) Late")
    assert ids(found("Sections 12(b)(1) and 12(b)(1)(A) apply.")) == [("12(b)(1)", "mentioned")]


def test_an_entire_section_or_references_one_level_on() -> None:
    output = found(QUESTION, "entire_section")
    assert ids(output) == [("12", "whole")] and output["text"].split() == FEES.split()
    output = found("Section 12(a)(1) applies.", "references")
    assert ids(output) == [("12(a)(1)", "mentioned"), ("14(a)", "referenced")]
    assert "§13" not in output["text"] and "described in subparagraphs" in output["text"]
    within = found("Section 12(b)(1) applies.", "references")
    assert ids(within) == [("12(b)(1)", "mentioned")], "what it stands in adds nothing"


def test_what_is_not_there_is_told_and_the_nearest_taken_or_all(caplog: pytest.LogCaptureFixture) -> None:
    output = found("Section 12(b)(7)(A) and section 99 apply.")
    assert output["unknown"] == ["12(b)(7)(A)", "99"] and ids(output) == [("12(b)", "mentioned")]
    assert output["text"].endswith("[Not in the statutes: 12(b)(7)(A), 99.]")
    assert caplog.messages == ["not in the statutes: 12(b)(7)(A), 99; the answer rests on 12(b)"]
    for question in ("How much does Ann owe?", "Does section 99 apply?"):
        assert ids(found(question)) == [("12", "whole"), ("13", "whole"), ("14", "whole")]


@pytest.mark.parametrize("limit", [1, 60, 150, 700])
def test_what_is_left_out_for_length_is_named(limit: int) -> None:
    output = found("Section 12(b) applies.", "references", max_tokens=limit)
    lines = [line for line in output["text"].splitlines() if line.strip(". ") and line[0] != "["]
    known = {line.text.rstrip() for node in Statutes.of(STATUTES).sections.values() for line in node.lines}
    assert set(lines) <= known and sum(map(estimated_tokens, lines)) <= limit
    left_out = output["left_out"]
    assert bool(left_out) == (limit < 700)
    assert not left_out or output["text"].endswith(f"[Left out for length: {', '.join(left_out)}.]")


def test_the_text_may_be_the_statute_and_a_file_a_parameter(tmp_path: Path) -> None:
    module = StatuteRetriever()
    state = State(input={"question": "What does subsection (i) say?", "text": FEES})
    output = module.run(state)
    assert ids(output) == [("12(i)", "mentioned")]
    assert module.update_input(state.input, output) == {"text": ""}
    kept = module.update_cache({}, output)
    assert kept["statute"] == output["text"] and kept["retrieved"][0]["id"] == "12(i)"
    assert kept["sources"] == [{"table": "the statutes", "heading": "§12(i)", "lines": [41, 43]}]
    file = tmp_path / "law.json"
    file.write_text(json.dumps(STATUTES), "utf-8")
    module = StatuteRetriever(statutes=str(file))
    module.check()
    output = module.run(State(input={"question": QUESTION, "text": "The Lark is registered."}))
    assert output["text"] == CLOSED and output["provisions"][0]["source"]["file"] == str(file)
    with pytest.raises(InputError):
        StatuteRetriever(statutes=str(tmp_path / "none")).check()
    with pytest.raises(InputError, match="no statutes"):
        StatuteRetriever().run(State(input={"question": QUESTION}))


# As told in docs/statutes.md.
SIZES = {"mentioned_only": (55, 104, 364), "references": (55, 132, 1780), "entire_section": (307, 1070, 1795)}


@needs_data
@pytest.mark.parametrize(("strategy", "sizes"), SIZES.items())
def test_the_sizes_on_the_shared_statements(strategy: Strategy, sizes: tuple[float, ...]) -> None:
    module = StatuteRetriever(strategy, statutes=str(DATA / "sara/statutes.json"))
    tokens = []
    for case in rows("sara/cases.jsonl"):
        if case["kind"] == "entailment":
            output = module.run(State(input={"question": case["question"], "text": case["text"]}))
            assert not output["left_out"] and not output["troubles"]
            assert set(output["unknown"]) == {"151(d)(5)(A)"} & {case["section_mentioned"]}
            tokens.append(output["tokens"])
    tokens.sort()
    assert (tokens[0], (tokens[87] + tokens[88]) / 2, tokens[-1]) == sizes
