"""The three strategies: what they take of the statutes, what comes along, and what is left out."""

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


class TestMentionedOnly:
    def test_takes_the_provision_with_what_leads_into_it(self) -> None:
        output = found(QUESTION)
        assert output["text"] == CLOSED and ids(output) == [("12(b)(1)(A)", "mentioned")]

    def test_takes_no_provision_for_that_of_another_law(self) -> None:
        output = found("Section 12(b) of the Clean Water Act applies.")
        assert output["unknown"] == ["12(b) of Clean Water Act"]
        assert {why for _, why in ids(output)} == {"whole"}
        assert output["text"].endswith("[Not in the statutes: 12(b) of Clean Water Act.]")

    def test_takes_headings_or_nothing_of_what_it_stands_in(self) -> None:
        assert found(QUESTION, ancestors="headings")["text"] == (
            "§12. Harbour fees\n...\n(b) Amount of the fee\n    (1) In general\n...\n"
            "        (A) $40 in the case of a vessel that is registered, and\n..."
        )
        alone = found(QUESTION, ancestors="none")["text"]
        assert alone.strip(".\n ") == "(A) $40 in the case of a vessel that is registered, and"

    def test_takes_what_a_series_beside_it_leads_in(self) -> None:
        law = "§9. Boats\n(c) All\n    (A) sails, and\n    (B) rows, except-\n    (1) rafts;\n    (2) ice.\n"
        text = found("Section 9(c)(2) applies.", statutes=law)["text"]
        assert "    (A) sails, and\n    (B) rows, except-\n" in text and "(1)" not in text
        assert "(B)" not in found("Section 9(c)(A) applies.", statutes=law)["text"]

    def test_takes_several_in_the_order_of_the_statutes(self) -> None:
        output = found("Sections 14(b) and 12(h) and (a)(2) apply.")
        assert [id for id, _ in ids(output)] == ["14(b)", "12(h)", "12(a)(2)"]
        text = output["text"]
        assert text.index("§14.") < text.index("§12.") < text.index("(2) the master") < text.index("(h) Late")
        assert ids(found("Sections 12(b)(1) and 12(b)(1)(A) apply.")) == [("12(b)(1)", "mentioned")]


class TestTheOthers:
    def test_entire_section(self) -> None:
        output = found(QUESTION, "entire_section")
        assert ids(output) == [("12", "whole")]
        assert output["text"].split() == FEES.split()

    def test_references_go_one_level_on(self) -> None:
        output = found("Section 12(a)(1) applies.", "references")
        assert ids(output) == [("12(a)(1)", "mentioned"), ("14(a)", "referenced")]
        assert "§13" not in output["text"] and "described in subparagraphs" in output["text"]
        within = found("Section 12(b)(1) applies.", "references")
        assert ids(within) == [("12(b)(1)", "mentioned")], "what it stands in adds nothing"


class TestWhatIsNotThere:
    def test_is_told_and_the_nearest_taken(self, caplog: pytest.LogCaptureFixture) -> None:
        output = found("Section 12(b)(7)(A) and section 99 apply.")
        assert output["unknown"] == ["12(b)(7)(A)", "99"] and ids(output) == [("12(b)", "mentioned")]
        assert output["text"].endswith("[Not in the statutes: 12(b)(7)(A), 99.]")
        assert caplog.messages == ["not in the statutes: 12(b)(7)(A), 99; the answer rests on 12(b)"]

    @pytest.mark.parametrize("question", ["How much does Ann owe?", "Does section 99 apply?"])
    def test_leaves_all_statutes(self, question: str) -> None:
        assert ids(found(question)) == [("12", "whole"), ("13", "whole"), ("14", "whole")]

    def test_is_left_out_for_length_and_named(self) -> None:
        output = found("How much does Ann owe?", max_tokens=150)
        assert output["tokens"] <= 150 and "13" in output["left_out"]
        assert output["text"].endswith(f"[Left out for length: {', '.join(output['left_out'])}.]")

    @pytest.mark.parametrize("limit", [1, 60, 150, 700])
    def test_of_any_limit(self, limit: int) -> None:
        output = found("Section 12(b) applies.", "references", max_tokens=limit)
        lines = [line for line in output["text"].splitlines() if line.strip(". ") and line[0] != "["]
        sections = Statutes.of(STATUTES).sections.values()
        known = {line.text.rstrip() for node in sections for line in node.lines}
        assert set(lines) <= known and sum(map(estimated_tokens, lines)) <= limit
        assert bool(output["left_out"]) == (limit < 700)


class TestWhereStatutesAre:
    def test_the_text_may_be_the_statute(self) -> None:
        module = StatuteRetriever()
        state = State(input={"question": "What does subsection (i) say?", "text": FEES})
        output = module.run(state)
        assert ids(output) == [("12(i)", "mentioned")]
        assert module.update_input(state.input, output) == {"text": ""}
        kept = module.update_cache({}, output)
        assert kept["statute"] == output["text"] and kept["retrieved"][0]["id"] == "12(i)"
        assert kept["sources"] == [{"table": "the statutes", "heading": "§12(i)", "lines": [41, 43]}]

    def test_a_file_may_be_a_parameter(self, tmp_path: Path) -> None:
        file = tmp_path / "law.json"
        file.write_text(json.dumps(STATUTES), "utf-8")
        module = StatuteRetriever(statutes=str(file))
        module.check()
        output = module.run(State(input={"question": QUESTION, "text": "The Lark is registered."}))
        assert output["text"] == CLOSED and output["provisions"][0]["source"]["file"] == str(file)
        with pytest.raises(InputError):
            StatuteRetriever(statutes=str(tmp_path / "none")).check()

    def test_there_may_be_none(self) -> None:
        with pytest.raises(InputError, match="no statutes"):
            StatuteRetriever().run(State(input={"question": QUESTION}))


@needs_data
@pytest.mark.parametrize(
    ("strategy", "sizes"),
    [
        ("mentioned_only", (55, 104, 364)),
        ("references", (55, 132, 1780)),
        ("entire_section", (307, 1070, 1795)),
    ],
)
def test_the_sizes_on_the_shared_statements(strategy: Strategy, sizes: tuple[float, ...]) -> None:
    """As told in docs/statutes.md: nothing is left out, and what is mentioned is always there."""
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
