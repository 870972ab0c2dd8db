"""Requests that go only where they may, end in time, and read no more than is asked for.

The address that was checked is the one that is connected to: a name is looked up once, so that a second
answer (DNS rebinding) cannot change the destination. Host and SNI keep the name, so certificates are checked
against it.
"""

from __future__ import annotations

import gzip
import io
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Collection
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError
from urllib3.util import create_urllib3_context

from chameleon.errors import WebError
from chameleon.web.addresses import Target, check_addresses, checked_url
from chameleon.web.reply import Fault

if TYPE_CHECKING:
    from chameleon.web.client import Web

REDIRECTS = 5
_LATE = "the server gave no answer in time"


class GuardedSession(requests.Session):
    """A session for one request and its redirects: no cookies, nothing of the environment, no proxies.

    `secrets` are the names of headers that hold keys; `deadline` is of `time.monotonic`.
    """

    def __init__(self, web: Web, secrets: Collection[str], spacing: float, deadline: float) -> None:
        super().__init__()
        self.trust_env, self.max_redirects, self.secrets = False, REDIRECTS, secrets
        self.web, self.spacing, self.deadline = web, spacing, deadline
        adapter = _GuardedAdapter(self)
        for scheme in ("http://", "https://"):
            self.mount(scheme, adapter)

    def rebuild_auth(self, prepared_request: requests.PreparedRequest, response: requests.Response) -> None:
        """Check where a redirect leads; keys stay with the origin that they were meant for."""
        left = checked_url(response.url)
        try:
            target = checked_url(str(prepared_request.url))
        except WebError as error:
            raise WebError(f"a redirect was not followed: {error.what}", where=left.host) from None
        prepared_request.url = target.url
        if target.origin != left.origin:
            for name in self.secrets:
                prepared_request.headers.pop(name, None)


class _GuardedAdapter(HTTPAdapter):
    """Sends a request over a connection of its own, and reads the reply before the deadline."""

    def __init__(self, session: GuardedSession) -> None:
        self._session, self._web = session, session.web
        self._socket: socket.socket | None = None  # another handle of the one in use, whoever wraps it in TLS
        super().__init__()

    def init_poolmanager(self, *sizes: Any, **options: Any) -> None:
        super().init_poolmanager(*sizes, **options, ssl_context=trusting())

    def get_connection_with_tls_context(self, request: Any, *args: Any, **options: Any) -> Any:
        target = checked_url(request.url)
        unsafe = target.scheme == "http" and any(name in request.headers for name in self._session.secrets)
        pool: Any = super().get_connection_with_tls_context(request, *args, **options)

        class Guarded(pool.ConnectionCls):  # type: ignore[misc]
            def _new_conn(connection) -> socket.socket:
                return self._opened(target, unsafe)

        pool.ConnectionCls = Guarded
        return pool

    def send(self, request: requests.PreparedRequest, **_: Any) -> requests.Response:  # type: ignore[override]
        """Return the reply with its body; `is_cut` says whether that goes on.

        Raises `Fault`, and `WebError` where another try would not help.
        """
        session, limits, host = self._session, self._web.limits, checked_url(str(request.url)).host
        request.headers.pop("Cookie", None)
        self._web.wait_for_turn(host, session.spacing, session.deadline)
        timer = threading.Timer(self._left, self._break_off)
        timer.daemon = True
        timer.start()
        reply: Any = None
        try:
            wait = min(self._left, limits.silence)
            reply = super().send(request, stream=True, timeout=(wait, wait))
            packing = reply.headers.get("Content-Encoding", "")
            reply._content, reply.is_cut = _read(reply.raw, packing, limits.bytes)
        except (_BadBody, requests.RequestException, HTTPError, OSError, ValueError) as problem:
            is_late = time.monotonic() >= session.deadline
            if isinstance(problem, _BadBody) and not is_late:
                raise WebError(f"the answer cannot be read: {problem}", where=host) from None
            raise Fault(_LATE if is_late else _told(problem), host) from None
        finally:
            timer.cancel()
            for each in (self._socket, None if reply is None else reply.raw, self):
                if each is not None:
                    each.close()  # the adapter too, or its pool would use a connection again
        if time.monotonic() >= session.deadline:
            raise Fault(_LATE, host)
        return cast(requests.Response, reply)

    @property
    def _left(self) -> float:
        return max(self._session.deadline - time.monotonic(), 0.001)

    def _opened(self, target: Target, unsafe: bool) -> socket.socket:
        """Connect to an address of the host, if all of them may be connected to."""
        found = self._web.resolve(target.host, target.port)
        private = target.may_be_private(self._web.private_hosts)
        check_addresses(target.host, found, private=private, only_private=unsafe)
        failure = OSError(0, "it has no address")
        for address in found:
            wait = min(self._web.limits.silence, self._left)
            try:
                opened = socket.create_connection((address, target.port), timeout=wait)
                break
            except OSError as problem:
                failure = problem
        else:
            raise failure
        self._socket = opened.dup()
        if time.monotonic() >= self._session.deadline:  # nobody would break it off any more
            opened.close()
            raise TimeoutError
        return opened

    def _break_off(self) -> None:
        with suppress(OSError, AttributeError):
            self._socket.shutdown(socket.SHUT_RDWR)  # type: ignore[union-attr]


@cache
def trusting() -> ssl.SSLContext:
    """Return the system's certificates and those that SSL_CERT_FILE names; requests adds certifi's."""
    context = create_urllib3_context()
    context.load_default_certs()
    return context


def _told(problem: Exception) -> str:
    """Say what a broken connection amounts to, from the system's own words."""
    cause: BaseException | None = problem
    while cause is not None:
        if isinstance(cause, TimeoutError):
            return _LATE
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"the server's certificate is not valid ({cause.verify_message})"
        if isinstance(cause, OSError) and cause.strerror and not isinstance(cause, ssl.SSLError):
            return f"no connection ({cause.strerror})"
        cause = cause.__cause__ or cause.__context__
    return "the server broke off or does not speak HTTP"  # other words may quote a header, and so a key


class _BadBody(Exception):
    """The body is not what its headers say."""


def _read(raw: Any, packing: str, limit: int) -> tuple[bytes, bool]:
    """Return the unpacked body, and whether it was cut at `limit` bytes.

    What is read from the network and what it unpacks to are both bounded, so that a small bomb and a large
    page end alike. Only gzip is asked for, and any other packing is refused, a doubled one too: unpacking in
    two stages grows by a million.
    """
    packing = packing.strip().lower()
    if packing in ("", "identity"):
        body = io.BufferedReader(raw).read(limit + 1)
    elif packing in ("gzip", "x-gzip"):
        try:
            body = gzip.GzipFile(fileobj=raw).read(limit + 1)
        except EOFError:
            raise _BadBody("its gzip data ends early") from None
        except (gzip.BadGzipFile, zlib.error):
            raise _BadBody("its gzip data is broken") from None
        if raw.tell() > 2 * limit + io.DEFAULT_BUFFER_SIZE:  # members that unpack to nothing
            raise _BadBody("its gzip data is larger than what it may unpack to")
    else:
        raise _BadBody("it is packed in a way that was not asked for")
    return body[:limit], len(body) > limit
