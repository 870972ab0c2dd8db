"""`Web`: fetch an address, or say in one sentence why not."""

from __future__ import annotations

import importlib.util
import os
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from chameleon.errors import MissingPackage, WebError
from chameleon.retry import Backoff
from chameleon.web.addresses import (
    Resolver,
    check_kind,
    checked_url,
    kind_on_its_face,
    look_up,
    may_be_private,
    origin_of,
)
from chameleon.web.body import BadBody, read_bounded
from chameleon.web.cache import PageCache
from chameleon.web.pace import SHARED_PACE, Pace
from chameleon.web.reply import WebReply, described
from chameleon.web.request import Request, header_of, seconds_asked

REDIRECTS = 5
_BACKOFF = Backoff(retries=2, longest=8.0)
_REDIRECTED = {301, 302, 303, 307, 308}
_WORTH_ANOTHER_TRY = {408, 429, 500, 502, 503, 504}

Attempt = Callable[[float], tuple[WebReply, float | None]]


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how large a fetch may become.

    `seconds` bounds all of it: redirects, retries and waiting for a turn; only the look-up of a name takes
    as long as the system lets it. `silence` bounds the wait for the next byte. `bytes` is what a body may
    unpack to; the rest is cut off.
    """

    seconds: float = 20.0
    silence: float = 10.0
    bytes: int = 2_000_000


@dataclass(frozen=True)
class Web:
    """A client for pages and search services; one instance serves all threads.

    - Only http and https, and only public addresses, checked where the connection is made and on each of at
      most 5 redirects. `private` lists hosts ("host" or "host:port", "*" for all) that may lie in a private
      network; CHAMELEON_WEB_PRIVATE adds to it.
    - Retries what may pass (408, 429, 5xx, broken connections) with growing waits; honours Retry-After.
    - `pace` spaces the requests to one host; `cache` keeps replies with status 200.
    - No cookies, and no proxies from the environment: a proxy would connect where nobody has looked. Each
      request has a connection of its own, whose deadline and checks cannot leak into another.

    Raises `WebError` for everything that goes wrong, and `MissingPackage` without httpx2.
    """

    limits: Limits = Limits()
    private: Sequence[str] = ()
    cache: PageCache | None = None
    pace: Pace = SHARED_PACE
    backoff: Backoff = _BACKOFF
    resolve: Resolver = look_up
    user_agent: str = ""

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
        require_httpx()
        target = checked_url(url)
        if params:
            target = target.copy_merge_params(dict(params))
        request = Request.to(target, {"User-Agent": self.agent, **(headers or {})}, secrets or {}, json)
        return self.kept(
            request.key(self.limits.bytes), lambda deadline: self._follow(request, spacing, deadline)
        )

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
        deadline = time.monotonic() + self.limits.seconds
        tries = 1
        while True:
            reply: WebReply | None = None
            try:
                reply, asked = attempt(deadline)
                if reply.status not in _WORTH_ANOTHER_TRY:
                    return reply
                failure = WebError(f"the server answered {described(reply.status)}", where=reply.host)
            except Fault as fault:
                failure, asked = WebError(fault.what, where=fault.host), None
            wait = self.backoff.wait(tries, asked)
            out_of_time = time.monotonic() + wait >= deadline
            if tries > self.backoff.retries or out_of_time:
                if reply is not None:
                    return reply
                raise failure from None
            self.pace.delay(failure.where, wait)
            self.backoff.sleep(wait)
            tries += 1

    def _follow(self, request: Request, spacing: float, deadline: float) -> tuple[WebReply, float | None]:
        """The reply at the end of the redirects, and the seconds that it asks to wait."""
        for _ in range(REDIRECTS + 1):
            self.wait_for_turn(origin_of(request.url)[1], spacing, deadline)
            answered = self._ask(request, deadline)
            if isinstance(answered, tuple):
                return answered
            request = answered
        raise WebError(f"more than {REDIRECTS} redirects", where=request.url.host)

    def wait_for_turn(self, host: str, spacing: float, deadline: float | None = None) -> None:
        """Sleep until this host may be asked. Raises `WebError` when that would outlast the deadline."""
        wait = self.pace.turn(host, spacing)
        left = self.limits.seconds if deadline is None else deadline - time.monotonic()
        if wait >= left:
            raise WebError("no turn came in time among the requests to this host", where=host)
        if wait > 0:
            self.backoff.sleep(wait)

    def _ask(self, request: Request, deadline: float) -> tuple[WebReply, float | None] | Request:
        """One request: a reply, or the request that it redirects to."""
        import httpcore2

        from chameleon.web.connect import GuardedNetwork

        scheme, host, _ = origin_of(request.url)
        bare_key = bool(request.secrets) and scheme == "http"
        network = GuardedNetwork(deadline, self.resolve, self._private(), only_private=bare_key)
        try:
            with (
                httpcore2.ConnectionPool(trusted_certificates(), network_backend=network) as pool,
                pool.stream(**request.as_sent(self.limits.silence)) as response,
            ):
                location = header_of(response.headers, "location")
                if response.status in _REDIRECTED and location:
                    return request.redirected(response.status, location)
                packing = header_of(response.headers, "content-encoding")
                body, cut = read_bounded(response.iter_stream(), packing, self.limits.bytes)
        except BadBody as problem:
            raise WebError(f"the answer cannot be read: {problem}", where=host) from None
        except httpcore2.TimeoutException:
            raise Fault("the server gave no answer in time", host) from None
        except httpcore2.NetworkError as problem:
            raise Fault(_told(problem), host) from None
        except httpcore2.ProtocolError:  # its text may quote a header, and so a key
            raise Fault("the server broke off or does not speak HTTP", host) from None
        kind = header_of(response.headers, "content-type")[:200]
        reply = WebReply(str(request.url), host, response.status, kind, request.masked(body), cut)
        return reply, seconds_asked(header_of(response.headers, "retry-after"))

    def _private(self) -> list[str]:
        named = os.environ.get("CHAMELEON_WEB_PRIVATE", "")
        return [*self.private, *(name for name in named.replace(",", " ").split())]

    def check_address(self, url: str, *, has_key: bool) -> None:
        """Raise `WebError` for an address that `fetch` would refuse, as far as it tells by itself."""
        scheme, host, port = origin_of(checked_url(url))
        private, bare_key = may_be_private(host, port, self._private()), has_key and scheme == "http"
        kind = kind_on_its_face(host) or ("private" if private else "public")
        check_kind(host, kind, private=private, only_private=bare_key)


class Fault(Exception):
    """A failed request that may succeed when it is made again."""

    def __init__(self, what: str, host: str) -> None:
        super().__init__(what)
        self.what, self.host = what, host


def _told(problem: Exception) -> str:
    """What a broken connection amounts to, from the system's own words."""
    cause: BaseException | None = problem
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"the server's certificate is not valid ({cause.verify_message})"
        if isinstance(cause, OSError) and cause.strerror:
            return f"no connection ({cause.strerror})"
        cause = cause.__cause__ or cause.__context__
    return "the connection broke"


@cache
def trusted_certificates() -> ssl.SSLContext:
    """The system's certificates, or those that SSL_CERT_FILE names; read once, since it takes a while."""
    from httpcore2 import default_ssl_context

    return default_ssl_context()


def _own_name() -> str:
    """Several services refuse clients without a name of their own."""
    try:
        return f"chameleon-compose/{version('chameleon-compose')}"
    except PackageNotFoundError:
        return "chameleon-compose"


def require_httpx() -> None:
    """Raise `MissingPackage` when the client's package is not installed."""
    if importlib.util.find_spec("httpx2") is None:
        raise MissingPackage(
            "the web is asked with the package httpx2, which is not installed",
            hint='pip install "chameleon-compose[web]"',
        )
