"""A server's reply: bytes, with what is known about them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import responses
from typing import Any

from chameleon.errors import WebError

LATE = "the server gave no answer in time"


class Unanswered(WebError):
    """A server that cannot be reached, broke off or was too slow: a retry may help."""


@dataclass(frozen=True, slots=True)
class WebReply:
    """A reply with any status.

    Attributes:
        cut: whether the body was longer than the limit.
        masked: whether it contained a key.
        kept_as: its key for `Web.keep`, or "" for a reply that is not cached.
    """

    url: str
    host: str
    status: int
    content_type: str
    body: bytes
    cut: bool = False
    masked: bool = False
    kept_as: str = field(default="", repr=False)

    def expect_ok(self, hints: Mapping[int, str] | None = None) -> None:
        """Raise `WebError` with host and status unless it is 200; `hints` say what to do, by status.

        The body is left out: error pages quote keys, and error texts reach prompts.
        """
        if self.status != HTTPStatus.OK:
            hint = (hints or {}).get(self.status, "")
            raise WebError(f"the server answered {described(self.status)}", where=self.host, hint=hint)

    def data(self, hints: Mapping[int, str] | None = None) -> Any:
        """Return the JSON of an OK reply. Raises `WebError` for another status or invalid JSON.

        The hint of status 200 is for a page of another type.
        """
        self.expect_ok(hints)
        kind = self.content_type.partition(";")[0].strip().lower()
        if kind and "json" not in kind and kind != "text/plain":
            name = "".join(c for c in kind[:40] if c.isalnum() or c in "/+-.") or "an unnamed type"
            hint = (hints or {}).get(HTTPStatus.OK, "")
            raise WebError(f"the server answered with {name} instead of JSON", where=self.host, hint=hint)
        if self.cut:
            raise WebError(f"the answer is longer than {len(self.body):,} bytes", where=self.host)
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise WebError("the server answered with broken JSON", where=self.host) from None


def described(status: int) -> str:
    """Return a status with its standard phrase, "404 (Not Found)": the server's own is not shown."""
    return f"{status} ({responses[status]})" if status in responses else str(status)
