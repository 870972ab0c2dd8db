"""Texts that people read: no secret survives, tokens are estimated well, numbers are as a person writes."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chameleon.figures import in_digits, in_dollars, in_time, with_unit, without_noise
from chameleon.table import Table, to_text
from chameleon.text import beginning, estimated_tokens, one_line, redact

BARS = to_text(Table(["Kite", "Minutes"], [["red", "12"], ["blue", "15"]]))


@pytest.mark.parametrize(
    ("write", "cases"),
    [
        (in_digits, {1234: "1,234", 1234.5: "1,234", 0.35000000000000003: "0.35", 1e-05: "0.00001", 0.0: "0",
                     12.3456: "12.35", float("nan"): "nan"}),
        (in_dollars, {0: "$0.00", 0.00001: "under $0.0001", 0.0012: "$0.0012", 0.35: "$0.35", 0.5: "$0.50",
                      0.99999: "$1.00", 12.5: "$12.50", 1234.5: "$1,234.50"}),
        (in_time, {0: "under 1 ms", 0.012: "12 ms", 0.0949: "95 ms", 0.4: "0.4 s", 59.94: "59.9 s",
                   59.96: "1 min", 200: "3 min 20 s", 3600: "1 h", 7500: "2 h 5 min"}),
        (without_noise, {0.1 + 0.2: "0.3", -0.1 - 0.2: "-0.3", 1 / 3: "0.3333333333333333", 1e-05: "0.00001",
                         15.0: "15", -0.0: "0", 99.99999999999999: "100", 2.0**64: "18446744073709551616",
                         3932.79972191: "3932.79972191", 0.123456789012345: "0.123456789012345",
                         1e16: "10000000000000000", 1e15 + 0.1: "1000000000000000.1",
                         1e14 + 0.3: "100000000000000.3", 1e300: "1e+300", float("inf"): "inf"}),
    ],
)  # fmt: skip
def test_numbers_are_as_a_person_writes_them(write: Any, cases: dict[float, str]) -> None:
    assert {value: write(value) for value in cases} == cases


@pytest.mark.parametrize(
    "text", ["-5 $ -$5", "12.5 $ $12.50", "12.25 € €12.25", "1e+9 $ $1e+9", "7.5 km 7.5 km"]
)
def test_a_unit_stands_where_a_person_writes_it(text: str) -> None:
    number, unit, written = text.split(" ", 2)
    assert with_unit(number, unit) == written


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0), ("the city", 2), ("Constantinople", 3), ("a | b", 3), ("1993", 2), ("in 1993", 4),
        ("12,467", 3), ("-----", 2), ("中文", 2), ("a\n\nb", 3), (BARS, 14),  # as cl100k_base has
    ],
)  # fmt: skip
def test_pieces_of_a_text(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == tokens


@given(st.lists(st.text(st.characters(exclude_characters="\t\n\r"), min_size=1), min_size=1))
def test_lines_add_up(lines: list[str]) -> None:
    each = sum(map(estimated_tokens, lines))
    assert estimated_tokens("\n".join(lines)) == each + len(lines) - 1


@given(st.text(), st.text())
def test_more_text_is_never_fewer_tokens(text: str, more: str) -> None:
    assert estimated_tokens(text) <= estimated_tokens(text + more) <= len(text) + len(more)


@pytest.mark.parametrize(
    ("text", "most", "begun"),
    [
        ("the city of Tartu", 2, "the city"),
        ("the city of Tartu", 4, "the city of Tartu"),
        ("Constantinople", 2, "Constantinop"),  # no word ends before it
        ("in 1993 and 1994", 4, "in 1993"),
        ("a\n\nb c", 2, "a"),
        ("", 1, ""),
    ],
)
def test_the_beginning_ends_with_a_word(text: str, most: int, begun: str) -> None:
    assert beginning(text, most) == begun


def test_blanks_do_not_carry_a_text_past_its_limit() -> None:
    assert len(beginning("a" + " " * 1_000_000 + "b", 10)) <= 80


@given(st.text(), st.integers(1, 30))
def test_a_beginning_keeps_to_the_limit(text: str, most: int) -> None:
    begun = beginning(text, most)
    assert text.startswith(begun) and estimated_tokens(begun) <= most


keys = st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"]), min_size=4, max_size=40)
prose = st.text(max_size=60)


@given(keys, prose, prose, st.sampled_from(["OPENAI_API_KEY", "MY_APIKEY", "x_api_key"]))
def test_the_value_of_a_key_variable_never_survives(key: str, before: str, after: str, name: str) -> None:
    assume(key.strip("*") and key not in "***" and not re.fullmatch(r"[+-]?[\d.,_]+", key))
    cleaned = redact(f"{before}{key}{after}{key}", environ={name: key})
    assert key not in cleaned.replace("***", "\n")


@given(key=keys, before=prose, after=prose)
def test_secrets_that_are_named_never_survive(key: str, before: str, after: str) -> None:
    assume(key.strip("*"))
    assert key not in redact(before + key + after, also=[key], environ={}).replace("***", "\n")


TEMPLATES = [
    "Authorization: Bearer KEY",
    "'authorization': 'Bearer KEY'",
    '{"x-api-key": "KEY"}',
    '{\\"api_key\\": \\"KEY\\"}',
    "token Bearer KEY.",
    "https://user:KEY@host/v1",
    "https://host/v1?api_key=KEY&x=1",
    "https://host/v1?a=1&access_token=KEY",
]


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=8, max_size=40))
def test_headers_addresses_and_queries_are_recognised_without_knowing_the_secret(key: str) -> None:
    for template in TEMPLATES:
        assume(key.lower() not in template.lower())
        cleaned = redact(template.replace("KEY", key), environ={})
        assert key not in cleaned and "***" in cleaned, template


@pytest.mark.parametrize(
    "text",
    [
        "The model `gpt-4.1-mini` does not exist at http://127.0.0.1:8000/v1/models?limit=3 (404)",
        "maximum context length is 8192 tokens; your max_tokens: 512",
        "mail me@example.org about the sky-high task-oriented basic facts",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact(text, environ={"FLAG_TOKEN": "true", "PATH": "/usr/bin", "OPENAI_API_KEY": ""}) == text


@given(prose, st.integers(2, 40))
def test_one_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit and "\n" not in line
