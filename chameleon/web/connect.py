"""Connections that go only where they may, and end in time.

The address that was checked is the one that is connected to: a name is looked up once, so that a second
answer (DNS rebinding) cannot change the destination. Host and SNI keep the name, so certificates are checked
against it.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterable
from typing import Any

import httpcore2

from chameleon.web.addresses import Resolver, may_be_private, permitted


class GuardedNetwork(httpcore2.NetworkBackend):
    """Opens connections for one request: all its reading and writing ends at `deadline` (monotonic time)."""

    def __init__(
        self, deadline: float, resolve: Resolver, private: Iterable[str], *, only_private: bool = False
    ) -> None:
        self._deadline, self._resolve = deadline, resolve
        self._private, self._only_private = tuple(private), only_private
        self._network = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        private = may_be_private(host, port, self._private)
        try:
            found = self._resolve(host, port)
        except OSError as problem:
            raise httpcore2.ConnectError(f"cannot be found ({problem.strerror})") from problem
        failure: Exception = httpcore2.ConnectError("has no address")
        for address in permitted(host, found, private=private, only_private=self._only_private):
            try:
                left = self._left(timeout, httpcore2.ConnectTimeout)
                stream = self._network.connect_tcp(address, port, left, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as problem:
                failure = problem
            else:
                return _TimedStream(stream, self._left)
        raise failure

    def _left(self, timeout: float | None, expired: type[Exception]) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise expired("out of time")
        return left if timeout is None else min(left, timeout)


class _TimedStream(httpcore2.NetworkStream):
    """A stream whose every step ends at the deadline: a server that drips bytes gains nothing by it."""

    def __init__(
        self,
        stream: httpcore2.NetworkStream,
        left: Callable[[float | None, type[Exception]], float],
    ) -> None:
        self._stream, self._left = stream, left

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._left(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._left(timeout, httpcore2.WriteTimeout))

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        left = self._left(timeout, httpcore2.ConnectTimeout)
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, left), self._left)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
