"""Numbers as a person writes them."""

from __future__ import annotations

import pytest

from chameleon.figures import in_digits, in_dollars, in_time, with_unit, without_noise


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234, "1,234"), (1234.5, "1,234"), (0.35000000000000003, "0.35"), (1e-05, "0.00001"), (0.0, "0"),
        (12.3456, "12.35"), (float("nan"), "nan"),
    ],
)  # fmt: skip
def test_measured_numbers_have_few_digits_and_no_exponent(value: float, text: str) -> None:
    assert in_digits(value) == text


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        (0, "$0.00"), (0.00001, "under $0.0001"), (0.0012, "$0.0012"), (0.35, "$0.35"), (0.5, "$0.50"),
        (0.99999, "$1.00"), (12.5, "$12.50"), (1234.5, "$1,234.50"),
    ],
)  # fmt: skip
def test_money_has_two_to_four_digits(cost: float, text: str) -> None:
    assert in_dollars(cost) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "under 1 ms"), (0.012, "12 ms"), (0.0949, "95 ms"), (0.4, "0.4 s"), (59.94, "59.9 s"),
        (59.96, "1 min"), (200, "3 min 20 s"), (3600, "1 h"), (7500, "2 h 5 min"),
    ],
)  # fmt: skip
def test_times_have_the_unit_that_fits(seconds: float, text: str) -> None:
    assert in_time(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 + 0.2, "0.3"), (-0.1 - 0.2, "-0.3"), (1 / 3, "0.3333333333333333"), (1e-05, "0.00001"),
        (15.0, "15"), (-0.0, "0"), (99.99999999999999, "100"),
        (2.0**64, "18446744073709551616"), (3932.79972191, "3932.79972191"),
        (0.123456789012345, "0.123456789012345"),
        (1e16, "10000000000000000"), (1e15 + 0.1, "1000000000000000.1"), (1e14 + 0.3, "100000000000000.3"),
        (1e300, "1e+300"), (float("inf"), "inf"),
    ],
)  # fmt: skip
def test_an_answer_keeps_its_digits_but_for_binary_noise(value: float, text: str) -> None:
    assert without_noise(value) == text


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [
        ("-5", "$", "-$5"), ("12.5", "$", "$12.50"), ("12.25", "€", "€12.25"), ("1e+300", "$", "$1e+300"),
        ("-50", "%", "-50 %"), ("7.5", "km", "7.5 km"),
    ],
)  # fmt: skip
def test_a_unit_stands_where_a_person_writes_it(number: str, unit: str, text: str) -> None:
    assert with_unit(number, unit) == text
