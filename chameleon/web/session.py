"""Requests that go only where they may, end in time, and read no more than needed.

The address that was checked is the one used: a name is resolved once, so that a second answer (DNS rebinding)
cannot change the destination. Host and SNI keep the name, so certificates are checked against it.
"""

import io
import os
import re
import socket
import ssl
import time
import zlib
from collections.abc import Collection
from contextlib import suppress
from email.errors import MultipartInvariantViolationDefect, StartBoundaryNotFoundDefect
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead
from pathlib import Path
from typing import Any

import requests
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict
from requests.utils import DEFAULT_CA_BUNDLE_PATH

from chameleon.errors import WebError
from chameleon.web.addresses import Target, check_addresses, checked_url
from chameleon.web.reply import LATE, Unanswered

REDIRECTS = 5
_MAX_HEAD_BYTES, _FRAMING_BYTES = 131_072, 65_536  # headers; overhead around a small body
_PIECE_BYTES = 8_192
_LENGTH = re.compile(r"\s*([0-9]{1,18})\s*(,\s*\1\s*)*")  # some servers send it twice
_BODY_DEFECTS = {StartBoundaryNotFoundDefect, MultipartInvariantViolationDefect}  # the body is read later
_DEFAULT_PORTS = {"http": 80, "https": 443}


class GuardedSession(requests.Session):
    """A session for one request and its redirects: no cookies, no environment settings, no proxies.

    Args:
        web: the `Web` that decides where it may connect, when, and how much it may read.
        secrets: the names of headers with keys.
        deadline: in terms of `time.monotonic`.
    """

    def __init__(self, web: Any, secrets: Collection[str], spacing: float, deadline: float) -> None:
        super().__init__()
        self.trust_env, self.max_redirects, self.secrets = False, REDIRECTS, secrets
        self.web, self.spacing, self.deadline, self.left = web, spacing, deadline, ""
        self.adapters.clear()
        self.mount("http", _GuardedAdapter(self))

    def rebuild_auth(self, prepared_request: requests.PreparedRequest, response: requests.Response) -> None:
        """Check the target of a redirect; keys are sent only to the original origin."""
        source = checked_url(response.url)
        self.left = source.host
        try:
            target = checked_url(str(prepared_request.url))
        except WebError as error:
            raise WebError(f"a redirect was not followed: {error.what}", where=source.host) from None
        prepared_request.url = target.url
        if target.origin != source.origin:
            for name in self.secrets:
                prepared_request.headers.pop(name, None)

    def seconds_left(self) -> float:
        """Return the seconds until the deadline. Raises TimeoutError after it."""
        if (left := self.deadline - time.monotonic()) <= 0:
            raise TimeoutError
        return left


class _GuardedAdapter(BaseAdapter):
    """Sends each request over its own connection, and reads the reply before the deadline."""

    def __init__(self, session: GuardedSession) -> None:
        super().__init__()
        self._session, self.web = session, session.web

    def send(self, request: requests.PreparedRequest, **_: Any) -> requests.Response:  # type: ignore[override]
        """Return the reply with its body, `is_cut` or not. Raises `Unanswered`, or `WebError` if final."""
        session, target = self._session, checked_url(str(request.url))
        self.web.wait_for_turn(target.host, session.spacing, session.deadline)
        has_key = any(name in request.headers for name in session.secrets)
        try:
            with self._connect(target, only_private=has_key and target.scheme == "http") as connection:
                reply = self._exchange(connection, target, request)
            session.seconds_left()  # raises if it is late
        except _BadReply as problem:
            raise WebError(f"the answer cannot be read: {problem}", where=target.host) from None
        except (HTTPException, OSError, ValueError) as problem:
            raise Unanswered(_reason(problem), where=target.host) from None
        return reply

    def close(self) -> None:
        """Do nothing, because no connection stays open."""

    def _connect(self, target: Target, *, only_private: bool) -> socket.socket:
        """Connect to an address of the host, if all of its addresses are allowed."""
        failure, context = OSError(0, "it has no address"), trusting() if target.scheme == "https" else None
        hosts = self.web.resolve(target.host, target.port)
        private, left = target.may_be_private(self.web.private_hosts), self._session.left
        check_addresses(target.host_and_port, hosts, private=private, only_private=only_private, left=left)
        for number, address in enumerate(hosts):
            # A share of the time each, or a dead address would use up the time of the others.
            share = self._session.seconds_left() / (len(hosts) - number)
            try:
                opened = socket.create_connection((address, target.port), timeout=share)
            except OSError as problem:
                failure = problem
                continue
            opened.settimeout(self._session.seconds_left())  # for the whole handshake
            return context.wrap_socket(opened, server_hostname=target.host) if context else opened
        raise failure

    def _exchange(
        self, connection: socket.socket, target: Target, request: requests.PreparedRequest
    ) -> requests.Response:
        """Send a request over the connection and read the reply, without the body of a redirect."""
        sender = HTTPConnection(target.host, target.port)
        sender.default_port = _DEFAULT_PORTS[target.scheme]
        sender.auto_open, sender.sock = 0, connection  # it never connects by itself
        content: Any = request.body
        with suppress(ConnectionError):  # it may answer before reading everything
            sender.request(str(request.method), request.path_url, content, dict(request.headers))
        limit: int = self.web.limits.bytes
        received = _Bounded(connection, self._session)
        raw = HTTPResponse(received, method=request.method)  # type: ignore[arg-type]
        raw.begin()
        head = raw.headers
        coding = ",".join(head.get_all("Transfer-Encoding", ["chunked"])).strip().lower()
        length = _LENGTH.fullmatch(",".join(head.get_all("Content-Length", ["0"])))
        is_broken = "\0" in "".join(head.values()) or {type(each) for each in head.defects} - _BODY_DEFECTS
        if raw.status < 200 or coding != "chunked" or not length or is_broken:
            raise _BadReply("its headers are not those of a page")
        if "Content-Length" in head and raw.length is None and not raw.chunked:  # it was sent twice
            raw.length = int(length[1])
        received.left = 2 * limit + _FRAMING_BYTES
        reply: Any = requests.Response()
        reply.request, reply.url, reply.status_code = request, request.url, raw.status
        reply.headers = CaseInsensitiveDict(raw.headers.items())
        body = b"" if reply.is_redirect else _body(raw, limit + 1)
        reply.raw, reply.is_cut = io.BytesIO(body[:limit]), len(body) > limit
        response: requests.Response = reply
        return response


@cache
def trusting() -> ssl.SSLContext:
    """Return the TLS context, read once, because that takes 20 ms; all connections share it.

    It trusts only the certificates in SSL_CERT_FILE if that is set, else the system's, else, if the system
    has none, certifi's, which come with requests.
    """
    path = os.environ.get("SSL_CERT_FILE") or None
    try:
        context = ssl.create_default_context(cafile=path)
    except OSError as problem:
        place = problem.filename  # set only for SSLKEYLOGFILE
        what = f"the file in {'SSLKEYLOGFILE' if place else 'SSL_CERT_FILE'} cannot be used"
        raise WebError(what, where=place or path or "") from None
    context.hostname_checks_common_name = False  # only subjectAltName counts, as in browsers
    folder = ssl.get_default_verify_paths().capath
    if not path and not context.get_ca_certs() and not (folder and any(Path(folder).iterdir())):
        context.load_verify_locations(DEFAULT_CA_BUNDLE_PATH)
    return context


def _reason(problem: Exception) -> str:
    """Say why a connection failed, in the system's own words."""
    if isinstance(problem, TimeoutError):
        return LATE
    if isinstance(problem, ssl.SSLCertVerificationError):
        return f"the server's certificate is not valid ({problem.verify_message})"
    if isinstance(problem, OSError) and problem.strerror and not isinstance(problem, ssl.SSLError):
        return f"no connection ({problem.strerror})"
    return "the server closed the connection or does not speak HTTP"  # others may quote a header, and a key


class _BadReply(Exception):
    """The reply does not match its headers, or is far too long."""


class _Bounded(io.RawIOBase):
    """A connection that reads at most `left` bytes, and none after the deadline."""

    def __init__(self, connection: socket.socket, session: GuardedSession) -> None:
        self._connection, self._session, self.left = connection, session, _MAX_HEAD_BYTES

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return the file that `HTTPResponse` reads from, as a socket does."""
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.left <= 0:
            raise _BadReply("it is much longer than the limit")
        self._connection.settimeout(self._session.seconds_left())
        count = self._connection.recv_into(memoryview(buffer)[: self.left])
        self.left -= count
        return count


def _body(reply: HTTPResponse, limit: int) -> bytes:
    """Return up to `limit` bytes of the decompressed body.

    Both the bytes read and the decompressed bytes are limited, so that a small bomb and a large page end
    alike. Only gzip is requested; any other encoding is refused, even double gzip, because decompressing in
    two stages can grow data a millionfold.
    """
    packing = ",".join(reply.headers.get_all("Content-Encoding", [])).strip().lower()
    if packing not in ("", "identity", "gzip", "x-gzip"):
        raise _BadReply("it has a content encoding that was not requested")
    try:
        body = _unpacked(reply, limit) if "gzip" in packing else reply.read(limit)
    except zlib.error:
        raise _BadReply("its gzip data is broken") from None
    if len(body) < limit and reply.length:
        raise IncompleteRead(body, reply.length)
    return body


def _unpacked(reply: HTTPResponse, limit: int) -> bytes:
    """Return up to `limit` bytes of decompressed gzip members; zero bytes may come between and after them.

    The module gzip reads names and zero bytes one at a time, which takes seconds if they never end.
    """
    body, piece, member = bytearray(), reply.read(_PIECE_BYTES), zlib.decompressobj(31)  # with gzip's headers
    is_empty = not piece
    while len(body) < limit and (piece := piece or reply.read(_PIECE_BYTES)):
        if member.eof and not (piece := piece.lstrip(b"\0")):
            continue
        member = zlib.decompressobj(31) if member.eof else member
        body += member.decompress(piece, limit - len(body))
        piece = member.unused_data or member.unconsumed_tail
    if len(body) < limit and not (member.eof or is_empty or reply.length):
        raise _BadReply("its gzip data ends early")
    return bytes(body)
