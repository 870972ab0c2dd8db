"""Requests that go only where they may, end in time, and read no more than is asked for.

The address that was checked is the one that is connected to: a name is looked up once, so that a second
answer (DNS rebinding) cannot change the destination. Host and SNI keep the name, so certificates are checked
against it.
"""

from __future__ import annotations

import io
import logging
import os
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Collection
from functools import cache, partial
from http.client import HTTPResponse, IncompleteRead
from pathlib import Path
from typing import Any, cast

import requests
from requests.adapters import HTTPAdapter
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3.exceptions import HTTPError
from urllib3.util import create_urllib3_context
from urllib3.util.response import assert_header_parsing

from chameleon.errors import WebError
from chameleon.web.addresses import check_addresses, checked_url
from chameleon.web.reply import LATE, Unanswered

REDIRECTS = 5
_LONGEST_HEAD, _FRAMING = 131_072, 65_536  # bytes of headers, and of what a small body may be wrapped in
_PIECE = 8_192
_LENGTH = re.compile(r"\s*([0-9]{1,18})\s*(,\s*\1\s*)*")
_asking = threading.local()
# Its debug log tells whole addresses, and some hold a key.
logging.getLogger("urllib3.connectionpool").addFilter(lambda _: not getattr(_asking, "now", False))


class GuardedSession(requests.Session):
    """A session for one request and its redirects: no cookies, nothing of the environment, no proxies.

    `web` is the `Web` that says whom it may connect to, when, and how much it may read; `secrets` are the
    names of headers that hold keys; `deadline` is of `time.monotonic`.
    """

    def __init__(self, web: Any, secrets: Collection[str], spacing: float, deadline: float) -> None:
        super().__init__()
        self.trust_env, self.max_redirects, self.secrets = False, REDIRECTS, secrets
        self.web, self.spacing, self.deadline, self.left = web, spacing, deadline, ""
        self.adapters.clear()
        self.mount("http", _GuardedAdapter(self))

    def rebuild_auth(self, prepared_request: requests.PreparedRequest, response: requests.Response) -> None:
        """Check where a redirect leads; keys stay with the origin that they were meant for."""
        left = checked_url(response.url)
        self.left = left.host
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
        self._session, self.web = session, session.web
        super().__init__()

    def init_poolmanager(self, *sizes: Any, **options: Any) -> None:
        super().init_poolmanager(*sizes, **options, ssl_context=trusting())
        pools: Any = self.poolmanager
        kinds = pools.pool_classes_by_scheme
        pools.pool_classes_by_scheme = {name: partial(self._pool, kind) for name, kind in kinds.items()}

    def cert_verify(self, conn: Any, *_: Any) -> None:
        """Leave trust to our own context: requests would read certifi's list for every connection."""

    def _pool(self, kind: Any, *args: Any, **options: Any) -> Any:
        """Return urllib3's pool, whose connections are made by `_opened` or not at all."""
        pool: Any = kind(*args, **options)

        class Guarded(pool.ConnectionCls):  # type: ignore[misc]
            response_class = partial(_StrictReply, self)

            def _new_conn(connection) -> socket.socket:
                return self._opened()

            def connect(connection) -> None:
                super().connect()
                self._check_guarded()

        pool.ConnectionCls = Guarded
        return pool

    def _check_guarded(self) -> None:
        if not self._is_guarded:
            raise WebError("this version of requests connects past the check of addresses")

    def send(self, request: requests.PreparedRequest, **_: Any) -> requests.Response:  # type: ignore[override]
        """Return the reply with its body, `is_cut` or not. Raises `Unanswered`, or `WebError` for good."""
        session, self._target, self._is_guarded = self._session, checked_url(str(request.url)), False
        host, has_key = self._target.host, any(name in request.headers for name in session.secrets)
        self._unsafe = has_key and self._target.scheme == "http"
        self.web.wait_for_turn(host, session.spacing, session.deadline)
        reply: Any = None
        try:
            _asking.now = True
            reply = super().send(request, stream=True, timeout=self.wait)
            self._check_guarded()
            reply._content, reply.is_cut = b"", False
            if not reply.is_redirect:  # nobody sees its body
                packing = reply.headers.get("Content-Encoding", "")
                reply._content, reply.is_cut = _read(reply.raw, packing, self.web.limits.bytes)
        except (_BadReply, requests.RequestException, HTTPError, OSError, ValueError) as problem:
            if isinstance(problem, _BadReply) and not self.is_late:
                raise WebError(f"the answer cannot be read: {problem}", where=host) from None
            raise Unanswered(LATE if self.is_late else _told(problem), where=host) from None
        finally:
            _asking.now = False
            if reply is not None:
                reply.raw.close()
            self.close()  # or its pool would use a connection again
        if self.is_late:
            raise Unanswered(LATE, where=host)
        return cast(requests.Response, reply)

    @property
    def is_late(self) -> bool:
        return time.monotonic() >= self._session.deadline

    @property
    def wait(self) -> float:
        """Return the seconds that the next byte may take."""
        return max(self._session.deadline - time.monotonic(), 0.001)

    def _opened(self) -> socket.socket:
        """Connect to an address of the host, if all of them may be connected to."""
        target, failure = self._target, OSError(0, "it has no address")
        found = self.web.resolve(target.host, target.port)
        private = target.may_be_private(self.web.private_hosts)
        where, left = target.host_and_port, self._session.left
        check_addresses(where, found, private=private, only_private=self._unsafe, left=left)
        for number, address in enumerate(found):
            share = self.wait / (len(found) - number)  # or a dead address would take the others' time
            try:
                opened = socket.create_connection((address, target.port), timeout=share)
            except OSError as problem:
                failure = problem
                continue
            opened.settimeout(self.wait)  # of a handshake as a whole
            self._is_guarded = True
            return opened
        raise failure


@cache
def trusting() -> ssl.SSLContext:
    """Return what says whom to trust, read once: it takes 20 ms, and all connections share it.

    Trusted are the certificates that SSL_CERT_FILE names, and no others where it is set; else the system's;
    else, where the system has none, certifi's, which requests brings along.
    """
    try:
        context = create_urllib3_context()
    except OSError:
        place = os.environ.get("SSLKEYLOGFILE", "")
        raise WebError("the file that SSLKEYLOGFILE names cannot be written to", where=place) from None
    paths = ssl.get_default_verify_paths()
    if named := os.environ.get(paths.openssl_cafile_env):
        try:
            context.load_verify_locations(named)
        except OSError:
            raise WebError("the file that SSL_CERT_FILE names holds no certificates", where=named) from None
        return context
    context.load_default_certs()
    if not context.get_ca_certs() and not (paths.capath and any(Path(paths.capath).iterdir())):
        context.load_verify_locations(DEFAULT_CA_BUNDLE_PATH)
    return context


def _told(problem: Exception) -> str:
    """Say what a broken connection amounts to, from the system's own words."""
    cause: BaseException | None = problem
    while cause is not None:
        if isinstance(cause, TimeoutError):
            return LATE
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"the server's certificate is not valid ({cause.verify_message})"
        if isinstance(cause, OSError) and cause.strerror and not isinstance(cause, ssl.SSLError):
            return f"no connection ({cause.strerror})"
        cause = cause.__cause__ or cause.__context__
    return "the server broke off or does not speak HTTP"  # other words may quote a header, and so a key


class _BadReply(Exception):
    """The reply is not what its headers say, or breaks the rules of HTTP."""


class _Bounded(io.RawIOBase):
    """A connection of which only so many bytes are read, `left`, and none after the deadline."""

    def __init__(self, raw: Any, connection: socket.socket, adapter: _GuardedAdapter) -> None:
        self._raw, self._connection, self._adapter, self.left = raw, connection, adapter, _LONGEST_HEAD

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self.left <= 0:
            raise _BadReply("it goes on far beyond what may be read")
        if self._adapter.is_late:
            raise TimeoutError
        self._connection.settimeout(self._adapter.wait)
        count: int | None = self._raw.readinto(memoryview(buffer)[: self.left])
        self.left -= count or 0
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _StrictReply(HTTPResponse):
    """Reads a reply and refuses one that two readers could understand differently."""

    def __init__(self, adapter: _GuardedAdapter, connection: Any, *args: Any, **options: Any) -> None:
        super().__init__(connection, *args, **options)
        self._adapter, self._bounded = adapter, _Bounded(self.fp.detach(), connection, adapter)
        self.fp = io.BufferedReader(self._bounded)

    def begin(self) -> None:
        super().begin()
        self._bounded.left, told = 2 * self._adapter.web.limits.bytes + _FRAMING, self.headers
        assert_header_parsing(told)
        coding = ",".join(told.get_all("Transfer-Encoding", ["chunked"])).strip().lower()
        length = _LENGTH.fullmatch(",".join(told.get_all("Content-Length", ["0"])))
        if self.status < 200 or coding != "chunked" or not length or "\0" in "".join(told.values()):
            raise _BadReply("its headers are not those of a page")
        del told["Set-Cookie"], told["Set-Cookie2"]  # none is kept, so none need be read

    def _read_next_chunk_size(self) -> int:
        """Return the size of the next chunk; Python would take "-1", and read until the end."""
        line = self.fp.readline(_PIECE)
        if not line:
            raise IncompleteRead(b"")
        size = line.partition(b";")[0].strip()
        if not re.fullmatch(rb"[0-9a-fA-F]{1,16}", size) or not line.endswith(b"\n"):
            raise _BadReply("the size of one of its chunks is no number")
        return int(size, 16)


def _read(raw: Any, packing: str, limit: int) -> tuple[bytes, bool]:
    """Return the unpacked body, and whether it was cut at `limit` bytes.

    What is read from the network and what it unpacks to are both bounded, so that a small bomb and a large
    page end alike. Only gzip is asked for, and any other packing is refused, a doubled one too: unpacking in
    two stages grows by a million.
    """
    packing = packing.strip().lower()
    if packing not in ("", "identity", "gzip", "x-gzip"):
        raise _BadReply("it is packed in a way that was not asked for")
    try:
        body = _unpacked(raw, limit + 1) if "gzip" in packing else io.BufferedReader(raw).read(limit + 1)
    except zlib.error:
        raise _BadReply("its gzip data is broken") from None
    return body[:limit], len(body) > limit


def _unpacked(raw: Any, most: int) -> bytes:
    """Return what gzip members unpack to, up to `most` bytes; zeros may stand between and after them.

    The module gzip reads names and zeros byte by byte, which takes seconds where they have no end.
    """
    body, piece, member = bytearray(), b"", zlib.decompressobj(31)  # with gzip's headers and sums
    while len(body) < most and (piece := piece or raw.read(_PIECE)):
        if member.eof and not (piece := piece.lstrip(b"\0")):
            continue
        member = zlib.decompressobj(31) if member.eof else member
        body += member.decompress(piece, most - len(body))
        piece = member.unused_data or member.unconsumed_tail
    if len(body) < most and not member.eof and raw.tell():
        raise _BadReply("its gzip data ends early")
    return bytes(body)
