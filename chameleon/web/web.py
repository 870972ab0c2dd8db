"""`Web`: fetch an address, or say in one sentence why not."""

from __future__ import annotations

import hashlib
import math
import os
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote_plus

from chameleon.errors import WebError, require
from chameleon.text import mask_known
from chameleon.web.addresses import Resolver, allowed_by, check_kind, checked_url, kind_on_its_face, look_up
from chameleon.web.cache import PageCache
from chameleon.web.reply import Unanswered, WebReply

if TYPE_CHECKING:
    from requests import PreparedRequest
    from urllib3.util import Retry

_NAME = "chameleon-compose"
Attempt = Callable[[float], tuple[WebReply, float | None]]


@dataclass(frozen=True, slots=True)
class WebLimits:
    """Limits of a fetch.

    Attributes:
        seconds: for everything: redirects, retries and waiting for a turn; only name resolution takes as long
            as the system allows.
        bytes: of the decompressed body; the rest is cut off.
        retries: the number of extra attempts if they may help.
    """

    seconds: float = 20.0
    bytes: int = 2_000_000
    retries: int = 2

    def __post_init__(self) -> None:
        if self.retries < 0:
            raise ValueError(f"retries is {self.retries}, but may not be negative")


class HostPace:
    """Hands out turns for each host, spaced by a minimum of seconds, for any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next: dict[str, float] = {}

    def turn(self, host: str, spacing: float, most: float = math.inf) -> float:
        """Take the next turn at this host; return the seconds to wait, outside the lock.

        Args:
            spacing: the minimum number of seconds between this turn and the next.
            most: a turn that starts in this many seconds or later is not taken.
        """
        with self._lock:
            now = time.monotonic()
            begins = max(now, self._next.get(host, now))
            if begins - now < most:
                self._next[host] = begins + spacing
            return begins - now

    def delay(self, host: str, seconds: float) -> None:
        """Allow no request to this host for this many seconds, because it asked for that."""
        with self._lock:
            self._next[host] = max(time.monotonic() + seconds, self._next.get(host, 0.0))


SHARED_PACE = HostPace()
"""Shared in this process, because a host counts all requests from one machine."""


@dataclass(frozen=True)
class Web:
    """A client for pages and search services, using requests; one instance serves all threads.

    - Only http and https, and only public addresses, checked when the connection is made and on each of at
      most 5 redirects.
    - Retries temporary failures (408, 429, 5xx, broken connections) with growing waits; obeys Retry-After.
    - No cookies, and no proxies from the environment, because a proxy would connect to unchecked addresses.
      Each request has its own connection, so deadlines and checks cannot leak from one to another.

    Attributes:
        private: hosts ("host" or "host:port", "*" for all) that may be in a private network;
            CHAMELEON_WEB_PRIVATE adds to them.
        cache: holds the replies passed to `keep`.
        pace: spaces out the requests to one host.
        user_agent: its User-Agent; else CHAMELEON_USER_AGENT, else our name and version.

    Raises:
        WebError: for everything that goes wrong.
        MissingPackage: if requests is not installed.
    """

    limits: WebLimits = WebLimits()
    private: Sequence[str] = ()
    cache: PageCache | None = None
    pace: HostPace = SHARED_PACE
    resolve: Resolver = look_up
    user_agent: str = ""
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    def fetch(
        self,
        url: str,
        *,
        params: Mapping[str, str | int] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | None = None,
        spacing: float = 0.0,
    ) -> WebReply:
        """Return the reply to a GET, or to a POST if `json` is given; any status, after the retries.

        Args:
            params: replace the address's own.
            secrets: headers with keys. They are not sent to another origin on a redirect, nor over plain http
                to a public address, and never cached, logged or shown in an error.
            spacing: the minimum number of seconds between requests to the host.

        Raises:
            WebError: for everything that goes wrong.
        """
        require_requests(imports=True)
        from requests import Request
        from requests.exceptions import InvalidJSONError

        target, secrets = checked_url(url), secrets or {}
        # Several services refuse clients without their own User-Agent.
        agent = self.user_agent or os.environ.get("CHAMELEON_USER_AGENT", "").strip()
        agent = agent or f"{_NAME}/{version(_NAME)}"
        sent = {"User-Agent": agent, "Accept-Encoding": "gzip", "Connection": "close", **(headers or {})}
        for name, value in [*sent.items(), *secrets.items()]:
            if not can_be_sent(value):
                raise WebError(f"the header {name} has characters that cannot be sent", where=target.host)
        method = "GET" if json is None else "POST"
        try:
            address = without(target.url, params or {})
            request = Request(method, address, headers=sent, params=dict(params or {}), json=json).prepare()
        except (InvalidJSONError, TypeError):
            raise WebError("the data to send is not JSON", where=target.host) from None
        except ValueError:  # a host that requests refuses, or text that cannot be in an address
            raise WebError("an address cannot be read", where=target.host) from None
        # The limits are part of the key, because nothing checks them before the cache.
        rules = (self.limits.bytes, sorted(self.private_hosts))
        identity = (method, request.url, sorted(request.headers.items()), request.body, rules)
        request.headers.update(secrets)
        return self.kept(repr(identity), lambda deadline: self._ask(request, secrets, spacing, deadline))

    def kept(self, request: str, attempt: Attempt) -> WebReply:
        """Return the cached reply for a request, or the outcome of the attempts, for `keep`.

        Args:
            request: a text that identifies the request.
            attempt: makes one request before the deadline (in terms of `time.monotonic`); returns the reply
                and the seconds that the server asks to wait, or raises `Unanswered` if a retry may help.
        """
        key = hashlib.sha256(request.encode()).hexdigest()
        if self.cache is not None and (cached := self.cache.get(key)) is not None:
            return cached
        reply = self._with_retries(attempt)
        return replace(reply, kept_as=key) if reply.status == HTTPStatus.OK and not reply.masked else reply

    def keep(self, reply: WebReply) -> None:
        """Cache a useful reply, so that the same request is not sent again."""
        if self.cache is not None and reply.kept_as:
            self.cache.put(reply.kept_as, reply)

    def _with_retries(self, attempt: Attempt) -> WebReply:
        rule, deadline = retries(self.limits.retries), time.monotonic() + self.limits.seconds
        while True:
            reply, retry_after = None, None
            try:
                reply, retry_after = attempt(deadline)
                failure, host = "", reply.host
            except Unanswered as fault:
                failure, host = fault.what, fault.where
            rule = rule.increment()
            wait = max(rule.get_backoff_time(), retry_after or 0.0)
            is_last = rule.total == 0 or time.monotonic() + wait >= deadline
            if reply is not None and (is_last or reply.status not in rule.status_forcelist):
                return reply
            if is_last:
                raise Unanswered(failure, where=host)
            self.pace.delay(host, wait)
            self.sleep(wait)

    def _ask(
        self, request: PreparedRequest, secrets: Mapping[str, str], spacing: float, deadline: float
    ) -> tuple[WebReply, float | None]:
        """Return the reply after any redirects, and the seconds that it asks to wait."""
        from requests import TooManyRedirects

        from chameleon.web.session import REDIRECTS, GuardedSession

        host = checked_url(str(request.url)).host
        try:
            reply: Any = GuardedSession(self, tuple(secrets), spacing, deadline).send(request.copy())
        except TooManyRedirects:
            raise WebError(f"more than {REDIRECTS} redirects", where=host) from None
        except ValueError:  # from requests or urllib, for an invalid location
            raise WebError("a redirect's address cannot be read", where=host) from None
        # In Latin-1 every byte is a character: any body can be searched. "Bearer KEY": KEY alone counts too.
        texts = [reply.url, reply.headers.get("Content-Type", "")[:200], reply.content.decode("latin-1")]
        keys = {key for secret in secrets.values() for key in (secret, *secret.split()[-1:]) if key}
        keys |= {quote(key, safe="") for key in keys}
        masked = any(key in text for key in keys for text in texts)  # the server echoed one
        url, kind, body = (mask_known(text, keys) for text in texts) if masked else texts
        host = checked_url(reply.url).host
        answered = WebReply(url, host, reply.status_code, kind, body.encode("latin-1"), reply.is_cut, masked)
        return answered, seconds_asked(reply.headers.get("Retry-After", ""))

    def wait_for_turn(self, host: str, spacing: float, deadline: float) -> None:
        """Sleep until this host may be asked. Raises `WebError` if that would pass the deadline."""
        left = deadline - time.monotonic()
        if (wait := self.pace.turn(host, spacing, left)) >= left:
            raise WebError("timed out waiting for other requests to this host", where=host)
        if wait > 0:
            self.sleep(wait)

    @property
    def private_hosts(self) -> list[str]:
        """Return the hosts that may be in a private network."""
        return [*self.private, *allowed_by(os.environ.get("CHAMELEON_WEB_PRIVATE", ""))]

    def check_address(self, url: str, *, has_key: bool) -> None:
        """Raise `WebError` for an address that `fetch` would refuse, without resolving its host."""
        target = checked_url(url)
        private = target.may_be_private(self.private_hosts)
        kind = kind_on_its_face(target.host) or ("private" if private else "public")
        only_private = has_key and target.scheme == "http"
        check_kind(target.host_and_port, kind, private=private, only_private=only_private)


def retries(most: int) -> Retry:
    """Return urllib3's retry rule: `most` retries of temporary failures, 0.25 to 8 seconds apart."""
    from urllib3.util import Retry

    again = (408, 429, 500, 502, 503, 504)
    rule = Retry(most + 2, status_forcelist=again, backoff_factor=0.125, backoff_max=8, backoff_jitter=0.25)
    return rule.increment()  # it waits only from the second failure on


def without(url: str, names: Collection[str]) -> str:
    """Return the address without these parameters, which the request replaces."""
    start, mark, query = url.partition("?")
    pairs = [each for each in query.split("&") if unquote_plus(each.partition("=")[0]) not in names]
    return f"{start}{mark}{'&'.join(pairs)}"


def seconds_asked(retry_after: str) -> float | None:
    """Return the wait in a Retry-After header, given in seconds or as a date, or None if invalid."""
    from urllib3.exceptions import InvalidHeader

    try:
        return retries(0).parse_retry_after(retry_after[:100])
    except (InvalidHeader, ValueError, OverflowError):
        return None


def can_be_sent(value: str) -> bool:
    """Return whether a header may have this value: ASCII, on one line, not indented."""
    return value.isascii() and value.isprintable() and not value.startswith(" ")


def require_requests(*, imports: bool = False) -> None:
    """Raise `MissingPackage` if the client's package is not installed; `imports` also loads it."""
    require("requests", "the web is asked with", "web", imports=imports)
