"""One request as it is sent: where to, with what, and what becomes of it on a redirect."""

from __future__ import annotations

import hashlib
import json as json_text
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from chameleon.errors import WebError
from chameleon.text import mask_known
from chameleon.web.addresses import checked_url, origin_of

if TYPE_CHECKING:
    from httpx2 import URL

# Only what we can unpack within bounds; a connection serves one request.
_FIXED = {"Accept-Encoding": "gzip", "Connection": "close"}


@dataclass(frozen=True, slots=True, repr=False)
class Request:
    """`secrets` are the headers that hold keys; its repr is the class's, so that none is ever shown."""

    method: str
    url: URL
    headers: Mapping[str, str]
    secrets: Mapping[str, str]
    content: bytes | None = None

    @classmethod
    def to(cls, url: URL, headers: Mapping[str, str], secrets: Mapping[str, str], json: Any) -> Request:
        """GET, or POST where there is JSON to send. Raises `WebError` for headers that cannot be sent."""
        for name, value in [*headers.items(), *secrets.items()]:
            if not can_be_sent(value):
                raise WebError(f"the header {name} holds characters that cannot be sent", where=url.host)
        if json is None:
            return cls("GET", url, headers, secrets)
        content = json_text.dumps(json).encode()
        return cls("POST", url, {**headers, "Content-Type": "application/json"}, secrets, content)

    def as_sent(self, silence: float) -> dict[str, Any]:
        """The arguments of httpcore's `stream`, each wait bounded by `silence` seconds."""
        host = {"Host": self.url.netloc.decode("ascii")}
        return {
            "method": self.method,
            "url": str(self.url),
            "headers": {**host, **_FIXED, **self.headers, **self.secrets},
            "content": self.content,
            "extensions": {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), silence)},
        }

    def redirected(self, status: int, location: str) -> Request:
        """The request to make instead. Raises `WebError` for an address that is not to be asked.

        Keys stay with the origin that they were meant for, and once left behind they do not come back. A
        POST becomes a GET as browsers do it: on 301, 302 and 303 (RFC 9110, section 15.4).
        """
        from httpx2 import InvalidURL

        try:
            url = checked_url(str(self.url.join(location)))
        except (InvalidURL, ValueError):
            raise WebError("a redirect's address cannot be read", where=self.url.host) from None
        except WebError as error:
            raise WebError(f"a redirect was not followed: {error.what}", where=self.url.host) from None
        secrets = self.secrets if origin_of(url) == origin_of(self.url) else {}
        if self.content is None or status in (307, 308):
            return replace(self, url=url, secrets=secrets)
        headers = {name: value for name, value in self.headers.items() if name != "Content-Type"}
        return Request("GET", url, headers, secrets)

    def key(self, limit: int) -> str:
        """What the cache knows this request by: all but its secrets, and where the body is cut."""
        parts = (self.method, str(self.url), sorted(self.headers.items()), limit)
        digest = hashlib.sha256(repr(parts).encode())
        digest.update(self.content or b"")
        return digest.hexdigest()

    def masked(self, body: bytes) -> bytes:
        """The body without our keys, should the server have echoed one."""
        values = [value for secret in self.secrets.values() for value in (secret, secret.split()[-1])]
        if not any(value.encode() in body for value in values):
            return body
        return mask_known(body.decode("latin-1"), values).encode("latin-1")


def can_be_sent(value: str) -> bool:
    """Whether a header may have this value: in ASCII, on one line."""
    return value.isascii() and value.isprintable()


def header_of(headers: Iterable[tuple[bytes, bytes]], name: str) -> str:
    """A header's value; several of one name are joined by commas."""
    wanted = name.encode()
    return ", ".join(value.decode("latin-1") for key, value in headers if key.lower() == wanted)


def seconds_asked(retry_after: str) -> float | None:
    """The wait that a Retry-After header asks for, in seconds or until a date; None for anything else."""
    if retry_after.strip().isdecimal():
        return float(retry_after[:9])
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
