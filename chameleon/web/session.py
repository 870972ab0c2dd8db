"""Requests that go only where they may, end in time, and read no more than is asked for.

The address that was checked is the one that is connected to: a name is looked up once, so that a second
answer (DNS rebinding) cannot change the destination. Host and SNI keep the name, so certificates are checked
against it.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import certifi
import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, NewConnectionError
from urllib3.util import create_urllib3_context

from chameleon.errors import WebError
from chameleon.web.addresses import checked_url, may_be_private, origin_of, permitted

if TYPE_CHECKING:
    from chameleon.web.client import Web

REDIRECTS = 5
_PIECE = 1 << 16
_GZIP = 16 + zlib.MAX_WBITS


class Fault(Exception):
    """A failed request that may succeed when it is made again."""

    def __init__(self, what: str, host: str) -> None:
        super().__init__(what)
        self.what, self.host = what, host


class GuardedSession(requests.Session):
    """A session for one request and its redirects: no cookies, nothing of the environment, no proxies.

    `secrets` are the names of headers that hold keys; `deadline` is of `time.monotonic`.
    """

    def __init__(self, web: Web, secrets: Collection[str], spacing: float, deadline: float) -> None:
        super().__init__()
        self.trust_env, self.max_redirects, self.secrets = False, REDIRECTS, secrets
        self.web, self.spacing, self.deadline = web, spacing, deadline
        self._adapter = _GuardedAdapter(self)

    def get_adapter(self, url: str | bytes) -> HTTPAdapter:
        """Return the one adapter for all schemes: it refuses those that are not asked."""
        return self._adapter

    def rebuild_auth(self, prepared_request: requests.PreparedRequest, response: requests.Response) -> None:
        """Check where a redirect leads; keys stay with the origin that they were meant for."""
        host = origin_of(checked_url(str(response.url)))[1]
        try:
            target = checked_url(str(prepared_request.url))
        except WebError as error:
            raise WebError(f"a redirect was not followed: {error.what}", where=host) from None
        prepared_request.url = target.url
        if origin_of(target) != origin_of(checked_url(str(response.url))):
            for name in self.secrets:
                prepared_request.headers.pop(name, None)


class _GuardedAdapter(HTTPAdapter):
    """Sends a request over a connection of its own, and reads the reply before the deadline."""

    def __init__(self, session: GuardedSession) -> None:
        self._session, self._bare_key = session, False
        self._twins: list[socket.socket] = []  # of the sockets in use, whoever wraps them in TLS
        super().__init__()

    def init_poolmanager(self, *sizes: Any, **options: Any) -> None:
        super().init_poolmanager(*sizes, **options, ssl_context=trusted_certificates())

    def get_connection_with_tls_context(self, *asked: Any, **options: Any) -> Any:
        pool = super().get_connection_with_tls_context(*asked, **options)
        kind = _Secured if pool.scheme == "https" else _Plain
        pool.ConnectionCls = partial(kind, opened=self._opened)
        return pool

    def cert_verify(self, conn: Any, url: Any, verify: Any, cert: Any) -> None:
        """Ask for a certificate that `trusted_certificates` vouches for."""
        conn.cert_reqs = "CERT_REQUIRED"

    def send(self, request: requests.PreparedRequest, **_: Any) -> requests.Response:  # type: ignore[override]
        """Return the reply with its body; `is_cut` says whether that goes on. Raises `Fault` and `WebError`."""
        session, limits = self._session, self._session.web.limits
        scheme, host, _port = origin_of(checked_url(str(request.url)))
        self._bare_key = scheme == "http" and any(name in request.headers for name in session.secrets)
        request.headers.pop("Cookie", None)
        session.web.wait_for_turn(host, session.spacing, session.deadline)
        left = session.deadline - time.monotonic()
        late = threading.Event()
        timer = threading.Timer(max(left, 0), self._end, [late])
        timer.daemon = True
        timer.start()
        reply: Any = None
        try:
            wait = max(min(left, limits.silence), 0.001)
            reply = super().send(request, stream=True, timeout=(wait, wait))
            packing = reply.headers.get("Content-Encoding", "")
            pieces = reply.raw.stream(_PIECE, decode_content=False)
            reply._content, reply.is_cut = read_bounded(pieces, packing, limits.bytes)
        except BadBody as problem:
            raise WebError(f"the answer cannot be read: {problem}", where=host) from None
        except (requests.RequestException, HTTPError, OSError, ValueError) as problem:
            slow = late.is_set() or isinstance(problem, requests.Timeout | TimeoutError)
            said = "the server gave no answer in time" if slow else _told(problem)
            raise Fault(said, host) from None
        finally:
            timer.cancel()
            self._end(None)
            if reply is not None:
                reply.raw.close()
            self.close()
        if late.is_set():
            raise Fault("the server gave no answer in time", host)
        return reply

    def _opened(self, connection: HTTPConnection) -> socket.socket:
        """Connect to an address of the host, if all of them may be connected to."""
        web, host, port = self._session.web, connection.host, connection.port or connection.default_port
        try:
            found = web.resolve(host.strip("[]"), port)
        except OSError as problem:
            raise NewConnectionError(connection, f"cannot be found ({problem.strerror})") from problem
        private = may_be_private(host, port, web.private_hosts)
        failure = OSError("has no address")
        for address in permitted(host, found, private=private, only_private=self._bare_key):
            try:
                left = min(web.limits.silence, self._session.deadline - time.monotonic())
                opened = socket.create_connection((address, port), timeout=max(left, 0.001))
            except OSError as problem:
                failure = problem
            else:
                self._twins.append(opened.dup())
                return opened
        raise NewConnectionError(connection, str(failure)) from failure

    def _end(self, late: threading.Event | None) -> None:
        """Break the connection off, or only forget it where it is not `late`."""
        if late is not None:
            late.set()
        for twin in self._twins:
            with suppress(OSError):
                if late is not None:
                    twin.shutdown(socket.SHUT_RDWR)
                else:
                    twin.close()


class _Plain(HTTPConnection):
    def __init__(self, *args: Any, opened: Callable[[HTTPConnection], socket.socket], **options: Any) -> None:
        super().__init__(*args, **options)
        self._opened = opened

    def _new_conn(self) -> socket.socket:
        return self._opened(self)


class _Secured(_Plain, HTTPSConnection):
    pass


@cache
def trusted_certificates() -> ssl.SSLContext:
    """Return certifi's certificates, the system's, and those that SSL_CERT_FILE names; read once."""
    context = create_urllib3_context()
    context.load_default_certs()
    context.load_verify_locations(certifi.where())
    return context


def _told(problem: Exception) -> str:
    """Say what a broken connection amounts to, from the system's own words."""
    cause: BaseException | None = problem
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"the server's certificate is not valid ({cause.verify_message})"
        if isinstance(cause, OSError) and cause.strerror and not isinstance(cause, ssl.SSLError):
            return f"no connection ({cause.strerror})"
        cause = cause.__cause__ or cause.__context__
    return "the server broke off or does not speak HTTP"  # other words may quote a header, and so a key


class BadBody(Exception):
    """The body is not what its headers say."""


def read_bounded(chunks: Iterable[bytes], encoding: str, limit: int) -> tuple[bytes, bool]:
    """Return the unpacked body and whether it was cut at `limit` bytes.

    What is read from the network and what it unpacks to are both bounded, so that a small bomb and a large
    page end alike. `encoding` is the header Content-Encoding; only gzip is asked for, and any other is
    refused, a doubled one too: unpacking in two stages grows by a million. Raises `BadBody`.
    """
    if encoding.strip().lower() in ("gzip", "x-gzip"):
        chunks = _unpacked(chunks, limit)
    elif encoding.strip().lower() not in ("", "identity"):
        raise BadBody("it is packed in a way that was not asked for")
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > limit:
            return bytes(body[:limit]), True
    return bytes(body), False


def _unpacked(chunks: Iterable[bytes], limit: int) -> Iterable[bytes]:
    """Yield what gzip members unpack to, never more than `limit` + 1 bytes at a time."""
    packed = 0
    stream = zlib.decompressobj(_GZIP)
    for chunk in chunks:
        packed += len(chunk)
        left = chunk
        while left:
            if stream.eof:  # another member follows
                stream = zlib.decompressobj(_GZIP)
            try:
                yield stream.decompress(left, limit + 1)
            except zlib.error:
                raise BadBody("its gzip data is broken") from None
            left = stream.unconsumed_tail or stream.unused_data
        if packed > 2 * limit:  # members that unpack to nothing could go on for ever
            raise BadBody("its gzip data is larger than what it may unpack to")
    if packed and not stream.eof:
        raise BadBody("its gzip data ends early")
