"""`Web`: fetch an address, or say in one sentence why not."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from chameleon.errors import MissingPackage, WebError
from chameleon.text import mask_known
from chameleon.web.addresses import Resolver, check_kind, checked_url, kind_on_its_face, look_up
from chameleon.web.cache import PageCache
from chameleon.web.reply import WebReply

if TYPE_CHECKING:
    from requests import PreparedRequest
    from urllib3.util import Retry

Attempt = Callable[[float], tuple[WebReply, float | None]]


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how large a fetch may become.

    `seconds` bounds all of it: redirects, retries and waiting for a turn; only the look-up of a name takes
    as long as the system lets it. `silence` bounds the wait for the next byte. `bytes` is what a body may
    unpack to; the rest is cut off. `retries` is how often more a request is made where that may help.
    """

    seconds: float = 20.0
    silence: float = 10.0
    bytes: int = 2_000_000
    retries: int = 2


class Pace:
    """Gives out turns for each host, at least so many seconds apart, however many threads ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next: dict[str, float] = {}

    def turn(self, host: str, spacing: float) -> float:
        """Take the next turn at this host; return the seconds to wait until it comes.

        `spacing` is the least number of seconds between this turn and the next. The wait is left to the
        caller, so that nobody sleeps while holding the lock.
        """
        with self._lock:
            now = time.monotonic()
            begins = max(now, self._next.get(host, now))
            self._next[host] = begins + spacing
            return begins - now

    def delay(self, host: str, seconds: float) -> None:
        """Let nobody ask this host before so many seconds have passed: it asked for that."""
        with self._lock:
            later = time.monotonic() + seconds
            self._next[host] = max(later, self._next.get(host, later))


SHARED_PACE = Pace()
"""Of this process: a host counts all requests of one machine, whichever module makes them."""


@dataclass(frozen=True)
class Web:
    """A client for pages and search services, by requests; one instance serves all threads.

    - Only http and https, and only public addresses, checked where the connection is made and on each of at
      most 5 redirects. `private` lists hosts ("host" or "host:port", "*" for all) that may lie in a private
      network; CHAMELEON_WEB_PRIVATE adds to it.
    - Retries what may pass (408, 429, 5xx, broken connections) with growing waits; honours Retry-After.
    - `pace` spaces the requests to one host; `cache` keeps replies with status 200.
    - No cookies, and no proxies from the environment: a proxy would connect where nobody has looked. Each
      request has a connection of its own, whose deadline and checks cannot leak into another.

    Raises `WebError` for everything that goes wrong, and `MissingPackage` without requests.
    """

    limits: Limits = Limits()
    private: Sequence[str] = ()
    cache: PageCache | None = None
    pace: Pace = SHARED_PACE
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
        """The reply to GET, or to POST where `json` is given; any status, after the retries.

        `secrets` are headers that hold keys: they go to no other origin on a redirect, never over plain http
        to a public address, and into no cache, log or error. `spacing` is the least number of seconds between
        requests to the host.
        """
        require_requests()
        from requests import Request

        target = checked_url(url)
        sent = {"User-Agent": self.agent, "Accept-Encoding": "gzip", "Connection": "close", **(headers or {})}
        for name, value in [*sent.items(), *(secrets or {}).items()]:
            if not can_be_sent(value):
                raise WebError(
                    f"the header {name} holds characters that cannot be sent", where=target.host or ""
                )
        method = "GET" if json is None else "POST"
        open_part = Request(method, target.url, headers=sent, params=dict(params or {}), json=json).prepare()
        key = _key(open_part, self.limits.bytes)
        open_part.headers.update(secrets or {})
        return self.kept(key, lambda deadline: self._ask(open_part, secrets or {}, spacing, deadline))

    @property
    def agent(self) -> str:
        """How we present ourselves: `user_agent`, else CHAMELEON_USER_AGENT, else our name and version."""
        return self.user_agent or os.environ.get("CHAMELEON_USER_AGENT") or _own_name()

    def kept(self, key: str, attempt: Attempt) -> WebReply:
        """What the cache holds for this key, else what the attempts end with: `fetch` for other clients.

        `attempt` makes one request that is over by the deadline (of `time.monotonic`); it returns the reply
        and the seconds that it asks to wait, or raises `Fault` where another try may do.
        """
        if self.cache is not None and (kept := self.cache.get(key)) is not None:
            return kept
        reply = self._with_retries(attempt)
        if self.cache is not None and reply.status == 200:
            self.cache.put(key, reply)
        return reply

    def _with_retries(self, attempt: Attempt) -> WebReply:
        from chameleon.web.session import Fault

        rule, deadline = retries(self.limits.retries), time.monotonic() + self.limits.seconds
        while True:
            reply, asked = None, None
            try:
                reply, asked = attempt(deadline)
                failure, host = "", reply.host
            except Fault as fault:
                failure, host = fault.args
            wait = max(rule.get_backoff_time(), asked or 0.0)
            is_last = rule.total == 0 or time.monotonic() + wait >= deadline
            if reply is not None and (is_last or reply.status not in rule.status_forcelist):
                return reply
            if is_last:
                raise WebError(failure, where=host)
            rule = rule.increment()
            self.pace.delay(host, wait)
            self.sleep(wait)

    def _ask(
        self, request: PreparedRequest, secrets: Mapping[str, str], spacing: float, deadline: float
    ) -> tuple[WebReply, float | None]:
        """Return the reply at the end of the redirects, and the seconds that it asks to wait."""
        from requests import TooManyRedirects

        from chameleon.web.session import REDIRECTS, GuardedSession

        host = checked_url(str(request.url)).host
        try:
            reply: Any = GuardedSession(self, tuple(secrets), spacing, deadline).send(request.copy())
        except TooManyRedirects:
            raise WebError(f"more than {REDIRECTS} redirects", where=host) from None
        except ValueError:  # requests' own and urllib's, of a location that is none
            raise WebError("a redirect's address cannot be read", where=host) from None
        kind, body = (
            reply.headers.get("Content-Type", "")[:200],
            _masked(reply.content, list(secrets.values())),
        )
        answered = WebReply(
            reply.url, checked_url(reply.url).host, reply.status_code, kind, body, reply.is_cut
        )
        return answered, seconds_asked(reply.headers.get("Retry-After", ""))

    def wait_for_turn(self, host: str, spacing: float, deadline: float | None = None) -> None:
        """Sleep until this host may be asked. Raises `WebError` when that would outlast the deadline."""
        wait = self.pace.turn(host, spacing)
        left = self.limits.seconds if deadline is None else deadline - time.monotonic()
        if wait >= left:
            raise WebError("no turn came in time among the requests to this host", where=host)
        if wait > 0:
            self.sleep(wait)

    @property
    def private_hosts(self) -> list[str]:
        """The hosts that may lie in a private network."""
        named = os.environ.get("CHAMELEON_WEB_PRIVATE", "")
        return [*self.private, *(name for name in named.replace(",", " ").split())]

    def check_address(self, url: str, *, has_key: bool) -> None:
        """Raise `WebError` for an address that `fetch` would refuse, as far as it tells by itself."""
        target = checked_url(url)
        private = target.may_be_private(self.private_hosts)
        kind = kind_on_its_face(target.host) or ("private" if private else "public")
        only_private = has_key and target.scheme == "http"
        check_kind(target.host, kind, private=private, only_private=only_private)


def retries(most: int) -> Retry:
    """Return urllib3's rule: what is tried again, so often, and the waits in between, up to 8 seconds."""
    from urllib3.util import Retry

    again = (408, 429, 500, 502, 503, 504)
    return Retry(most, status_forcelist=again, backoff_factor=0.25, backoff_max=8, backoff_jitter=0.25)


def seconds_asked(retry_after: str) -> float | None:
    """The wait that a Retry-After header asks for, in seconds or until a date; None for anything else."""
    from urllib3.exceptions import InvalidHeader

    try:
        return retries(0).parse_retry_after(retry_after[:100])
    except (InvalidHeader, ValueError, OverflowError):
        return None


def can_be_sent(value: str) -> bool:
    """Whether a header may have this value: in ASCII, on one line."""
    return value.isascii() and value.isprintable()


def _key(request: PreparedRequest, limit: int) -> str:
    """What the cache knows a request by: all but its secrets, and where the body is cut."""
    parts = (request.method, request.url, sorted(request.headers.items()), request.body, limit)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _masked(body: bytes, secrets: Sequence[str]) -> bytes:
    """The body without our keys, should the server have echoed one."""
    values = [value for secret in secrets for value in (secret, secret.split()[-1])]
    if not any(value.encode() in body for value in values):
        return body
    return mask_known(body.decode("latin-1"), values).encode("latin-1")


def _own_name() -> str:
    """Several services refuse clients without a name of their own."""
    try:
        return f"chameleon-compose/{version('chameleon-compose')}"
    except PackageNotFoundError:
        return "chameleon-compose"


def require_requests() -> None:
    """Raise `MissingPackage` when the client's package is not installed."""
    if importlib.util.find_spec("requests") is None:
        raise MissingPackage(
            "the web is asked with the package requests, which is not installed",
            hint='pip install "chameleon-compose[web]"',
        )
