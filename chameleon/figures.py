"""Numbers as a person writes them. Scores and figures kept in files do not use this."""

import math
import re
from decimal import Decimal

_MIN_COST = 0.0001  # dollars
_MAX_EXACT = 1e15  # below this a float has digits to spare
_MAX_DIGITS = 12  # significant digits; further ones are dropped if they are rounding noise
_MAX_PLACES = 21
_NOISE_ULPS = 4  # in units of the spacing between floats


def in_digits(value: float, digits: int = 4) -> str:
    """Write a measured number with this many digits, such as "1,234" or "0.35"; never as "1e-05"."""
    if isinstance(value, int) or not math.isfinite(value):
        return f"{value:,}"
    if abs(value) >= 10 ** (digits - 1):
        return f"{round(value):,}"
    rounded = Decimal(f"{value:.{digits}g}").normalize()
    return f"{rounded:,f}" if rounded else "0"


def in_dollars(cost: float) -> str:
    """Write money with two to four decimals: "$12.50", "$0.0012", "under $0.0001"."""
    if 0 < cost < _MIN_COST:
        return f"under ${_MIN_COST}"
    if cost >= 1 or not cost:
        return f"${cost:,.2f}"
    dollars, _, cents = f"{cost:.4f}".rstrip("0").partition(".")
    return f"${dollars}.{cents:0<2}"


def with_unit(number: str, unit: str) -> str:
    """Write a number with its unit: "7 km", "50%", and money as "-$12.50"."""
    if unit not in {*"$€£¥₹"}:  # the signs that go before the number
        return f"{number}{'' if unit == '%' else ' '}{unit}"
    digits = number.removeprefix("-")
    cents = "0" if re.fullmatch(r"\d+\.\d", digits) else ""
    return f"{'-' if number != digits else ''}{unit}{digits}{cents}"


def in_time(seconds: float) -> str:
    """Write a time: "12 ms", "0.4 s", "3 min 20 s", "2 h 5 min"."""
    if seconds < 0.001:
        return "under 1 ms"
    if seconds < 0.095:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 59.95:  # more would be written as 60.0 s
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min" if minutes else f"{hours:,} h"


def without_noise(value: float) -> str:
    """Write a float of an answer: every digit, except for the noise of binary arithmetic.

    0.1 + 0.2 is 0.30000000000000004, and is written 0.3; 1/3 keeps all its digits, and 40.0 is 40. There is
    an exponent only if the number would be longer than 21 characters.
    """
    if not math.isfinite(value):
        return repr(value)
    exact, short = Decimal(repr(value)), Decimal(f"{value:.{_MAX_DIGITS}g}").normalize()
    if value.is_integer():
        exact = Decimal(int(value))
    elif abs(value) < _MAX_EXACT and abs(value - float(short)) <= _NOISE_ULPS * math.ulp(value):
        exact = short
    plain = f"{exact:f}"
    return plain if len(plain) <= _MAX_PLACES else repr(value)
