"""Which models an OpenAI-compatible server offers."""

from __future__ import annotations

import datetime
import difflib
import json
import os
from base64 import b64encode
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from http.client import HTTPException
from typing import Any
from urllib.parse import unquote, urlsplit

from chameleon import bridge
from chameleon.errors import NoModel
from chameleon.llm.deadline import within
from chameleon.llm.failures import why_no_answer
from chameleon.text import one_line, redact

_LIST_SECONDS = 3.0
_LIST_BYTES = 4_000_000
_NO_LISTING = (ValueError, LookupError, TypeError, AttributeError)  # JSON of another form, or none
_MOST_LISTED = 8


@dataclass(frozen=True, slots=True)
class Offered:
    """A model that a server lists, and the day on which it ends, where the server tells it."""

    name: str
    shutdown: datetime.date | None = None


class Offer:
    """The names of a server's models; the server is asked when they are needed, once."""

    def __init__(self, address: str, key: str | None) -> None:
        self._address, self._key = address, key or os.environ.get("OPENAI_API_KEY")

    @cached_property
    def names(self) -> list[str]:
        """List the models; none where the server does not."""
        with suppress(NoModel):  # the list is a courtesy: the error stands without it
            return [each.name for each in offered_models(self._address, self._key)]
        return []

    def lacks(self, name: str) -> bool:
        """Tell whether the server lists its models, and this is none of them."""
        return bool(self.names) and name not in self.names

    def hint(self, wanted: str) -> str:
        """Return a sentence that names the models nearest to the one that was wanted; "" where none is."""
        if not self.names:
            return ""
        nearest = difflib.get_close_matches(wanted, self.names, n=_MOST_LISTED, cutoff=0.3)
        listed = [*nearest, *(name for name in self.names if name not in nearest)][:_MOST_LISTED]
        more = f" and {len(self.names) - len(listed)} more" if len(self.names) > len(listed) else ""
        return f"The server offers: {', '.join(listed)}{more}."


def offered_models(address: str, key: str | None = None, seconds: float = _LIST_SECONDS) -> list[Offered]:
    """Ask an OpenAI-compatible server which models it has; raise `NoModel` when it does not say."""
    import urllib.error
    import urllib.request

    try:
        parts = urlsplit(address.rstrip("/") + "/models")
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.netloc:
        hint = "OPENAI_BASE_URL begins with http:// or https://."
        raise NoModel(f"{redact(address)!r} is not an address", hint=hint)
    login, at, host = parts.netloc.rpartition("@")
    request = urllib.request.Request(parts._replace(netloc=host).geturl())  # noqa: S310 - checked above
    given = f"Basic {b64encode(unquote(login).encode()).decode()}" if at else f"Bearer {key}" if key else ""
    if given:  # unredirected: a redirect to another host must not carry the key there
        request.add_unredirected_header("Authorization", given)

    def listed() -> Any:
        try:
            with urllib.request.urlopen(request, timeout=seconds) as response:  # noqa: S310
                return json.loads(response.read(_LIST_BYTES))
        except urllib.error.HTTPError as error:
            error.close()
            raise

    held = [key] if key else []
    try:
        listing = within(seconds, partial(bridge.in_thread, listed))  # a server may send a byte at a time
        return [
            Offered(one_line(redact(str(entry["id"]), also=held), 200), _day(entry.get("shutdown_date")))
            for entry in listing["data"]
        ]
    except (OSError, HTTPException, RecursionError, *_NO_LISTING) as error:
        server = f"the server at {redact(address)}"
        if isinstance(error, OSError) and not isinstance(error, urllib.error.HTTPError):
            raise NoModel(
                f"{server} cannot be reached ({why_no_answer(error)})",
                hint="Check that it runs and that OPENAI_BASE_URL is right.",
            ) from None
        said = one_line(redact(str(error), also=held))
        raise NoModel(f"{server} does not list its models: {said}") from None


def _day(told: Any) -> datetime.date | None:
    """Read a day as a server tells it: a date, a time, or seconds since 1970."""
    with suppress(TypeError, ValueError, OverflowError, OSError):
        if isinstance(told, (int, float)) and told:
            return datetime.datetime.fromtimestamp(told, datetime.UTC).date()
        return datetime.date.fromisoformat(str(told)[:10])
    return None
