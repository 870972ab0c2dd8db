"""A real browser for tests: Chromium without a window, driven by the DevTools protocol through a pipe."""

from __future__ import annotations

import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
_PATIENCE_S = 60.0


class Browser:
    """One page in a browser. `said` is what the browser told of itself: its events, by method."""

    def __init__(self) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        options = "--headless=new --no-first-run --disable-gpu --disable-dev-shm-usage"
        options += " --remote-debugging-pipe --disable-background-networking"
        options += " --no-sandbox" if os.geteuid() == 0 else ""
        options += f" --user-data-dir={self._profile.name} about:blank"
        # The browser reads its commands from descriptor 3 and writes to 4; a shell puts them there.
        redirect = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        command, none = ["bash", "-c", redirect, str(PROGRAM), *options.split()], subprocess.DEVNULL
        pipes = (to_browser, from_browser)
        self._process = subprocess.Popen(command, pass_fds=pipes, stdout=none, stderr=none)
        for each in pipes:
            os.close(each)
        self._numbers, self._buffer = itertools.count(1), b""
        self._session: dict[str, str] = {}
        self.said: list[tuple[str, dict[str, Any]]] = []
        page = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=page, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        for domain in ("Page", "Network", "Log", "Runtime"):
            self._call(f"{domain}.enable")

    def open(self, file: Path, width: int, height: int, dark: bool = False) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._call("Emulation.setDeviceMetricsOverride", **size)
        self.said.clear()
        self._call("Page.navigate", url=file.resolve().as_uri())
        while not self.of("Page.loadEventFired"):
            self._receive()

    def of(self, method: str) -> list[dict[str, Any]]:
        return [params for name, params in self.said if name == method]

    def evaluate(self, expression: str) -> Any:
        found = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params, **self._session}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        while (reply := self._receive()).get("id") != number:
            pass
        assert "error" not in reply, reply
        return dict(reply["result"])

    def _receive(self) -> dict[str, Any]:
        until = time.monotonic() + _PATIENCE_S
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(until - time.monotonic(), 0))
            part = os.read(self._read, 1 << 20) if ready else b""
            assert part, "the browser does not answer"
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        if "method" in message:
            self.said.append((message["method"], message.get("params", {})))
        return message

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._profile.cleanup()
