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
_PATIENCE = 60.0


class Browser:
    """One page in a browser. `requests` are the addresses it asked for, `console` what it complained of."""

    def __init__(self) -> None:
        assert PROGRAM is not None
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        quiet = [
            "--headless=new",
            f"--user-data-dir={self._profile.name}",
            "--no-first-run",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
        ]
        # The browser reads its commands from descriptor 3 and writes to 4; a shell puts them there.
        redirect = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", redirect, PROGRAM, "--remote-debugging-pipe", *root, *quiet, "about:blank"],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._numbers = itertools.count(1)
        self._buffer = b""
        self._session: str | None = None
        self.requests: list[str] = []
        self.console: list[str] = []
        self._loaded = 0
        try:
            page = self._call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self._call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
            for domain in ("Page", "Network", "Log", "Runtime"):
                self._call(f"{domain}.enable")
        except BaseException:
            self.close()
            raise

    def open(self, file: Path, width: int, height: int, dark: bool = False) -> None:
        """Load a file in a window of that size (on a narrow one as on a phone), by day or by night."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        loaded = self._loaded
        self._call("Page.navigate", url=file.resolve().as_uri())
        deadline = time.monotonic() + _PATIENCE
        while self._loaded == loaded:
            self._receive(deadline)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, asked from outside the page."""
        found = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        deadline = time.monotonic() + _PATIENCE
        while True:
            reply = self._receive(deadline)
            if reply.get("id") == number:
                assert "error" not in reply, reply
                result: dict[str, Any] = reply["result"]
                return result

    def _receive(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(deadline - time.monotonic(), 0))
            part = os.read(self._read, 1 << 20) if ready else b""
            assert part, "the browser does not answer"
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        event, params = message.get("method"), message.get("params", {})
        if event == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif event == "Log.entryAdded":
            self.console.append(params["entry"]["text"])
        elif event == "Page.loadEventFired":
            self._loaded += 1

    def close(self) -> None:
        """End the browser that this one has started, and drop its profile."""
        self._process.terminate()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._profile.cleanup()
