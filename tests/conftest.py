"""Every test runs offline, without the developer's keys, and with a response store of its own."""

import gc
import ipaddress
import os
import platform
import re
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import certifi
import pytest
from hypothesis import HealthCheck, settings

from tests.loopback import LoopbackServer

# How long an example takes says more of the machine than of the code.
_anywhere = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", _anywhere, max_examples=25)
settings.register_profile("thorough", _anywhere, max_examples=300)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")
settings.load_profile(PROFILE)
thorough = pytest.mark.skipif(PROFILE != "thorough", reason="it takes long: scripts/full_tests.sh runs it")
"""Marks a test that measures again what others show in small."""

# Hundreds of processes import the same files: what is compiled is kept, whatever the environment says.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

_PRIVATE_VARIABLE = re.compile(
    r"(_API_KEY|_API_BASE|_BASE_URL|_ENDPOINT|_TOKEN|_CREDENTIALS)$|_PROXY$"
    r"|^(OPENAI_|ANTHROPIC_|GEMINI_|GOOGLE_|AZURE_|OLLAMA_|CHAMELEON_|LANGSMITH_|LANGCHAIN_)"
    r"|^(BING_SEARCH_|SEARXNG_|WIKIPEDIA_)",
    re.IGNORECASE,
)


class NetworkForbidden(Exception):
    """A test tried to leave this machine."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="record what prompts say anew")


# Folders and files of tests that all start processes, or take many seconds together.
SLOW = """
served promises modules/vision cli/test_terminal.py
evaluation/test_report_browser.py evaluation/test_stopping.py interop/test_mcp_http.py interop/test_ray.py
modules/compose/test_mcp_server.py modules/compose/test_nested_runs.py modules/search/test_search.py
test_docs_blocks.py test_docs_site.py test_documents.py test_notebooks.py
test_tools_page.py
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow = [Path(__file__).parent / each for each in SLOW.split()]
    for item in items:
        if any(item.path.is_relative_to(each) for each in slow):
            item.add_marker(pytest.mark.slow)


_quick = False  # whether the test that runs is in the quick group
MAX_SLEEP = 0.1  # seconds that a test of the quick group may sleep at once
PROCESS_EVENTS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system")
SANDBOX = f"{os.sep}chameleon{os.sep}sandbox{os.sep}"


class TooSlow(BaseException):
    """A test of the quick group started a process or slept: mark it with `@pytest.mark.slow`."""


def _forbid_processes(event: str, _: object) -> None:
    if _quick and event in PROCESS_EVENTS:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and SANDBOX not in frame.f_code.co_filename:
            frame = frame.f_back
        if frame is None:
            raise TooSlow(f"{event}: mark this test as slow")


def _sleep(seconds: float, sleep: Callable[[float], None] = time.sleep) -> None:
    if _quick and seconds > MAX_SLEEP and threading.current_thread() is threading.main_thread():
        raise TooSlow(f"time.sleep({seconds}): mark this test as slow")
    sleep(seconds)


platform.processor()  # it starts `uname`, once, for clients that tell servers of this machine
sys.addaudithook(_forbid_processes)
time.sleep = _sleep  # before anything takes it from there


@pytest.fixture(autouse=True)
def _quick_group(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hold a test without the mark `slow` to what the quick group may do."""
    global _quick
    _quick = request.node.get_closest_marker("slow") is None
    yield
    _quick = False


def pytest_collection_finish() -> None:
    """Spare the collector of garbage what lives as long as the session: modules and thousands of tests."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Let what was spared be collected in its order: packages complain of what they leave behind."""
    gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def _no_public_authorities() -> Iterator[None]:
    """Leave out the certificates of the public web: nothing asks for it, and each client would read them."""
    public, load = {certifi.where(), *ssl.get_default_verify_paths()}, ssl.SSLContext.load_verify_locations

    def load_own(context: ssl.SSLContext, cafile: Any = None, capath: Any = None, cadata: Any = None) -> None:
        if (cafile or capath) not in public:
            load(context, cafile, capath, cadata)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ssl.SSLContext, "load_verify_locations", load_own)
        yield


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forbid connections to anything but this machine, in this process."""

    def guarded(connect: Callable[..., Any]) -> Callable[..., Any]:
        def checked(self: socket.socket, address: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(str(address[0])):
                raise NetworkForbidden(f"a test tried to connect to {address[0]}")
            return connect(self, address)

        return checked

    look_up = socket.getaddrinfo

    def checked_look_up(host: Any, *args: Any, **options: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        is_number = options.get("flags", 0) & socket.AI_NUMERICHOST  # asks nobody
        if name and not is_number and not _is_loopback(name):
            raise NetworkForbidden(f"a test tried to look up {name}")
        return look_up(host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", checked_look_up)
    monkeypatch.setattr(socket.socket, "connect", guarded(socket.socket.connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(socket.socket.connect_ex))


@pytest.fixture(scope="session")
def _folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give each test a folder of its own, which is made where something is written."""
    folder = tmp_path_factory.mktemp("tests")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, _folders: Iterator[Path]) -> None:
    """Forget the developer's keys and settings, and keep replies in a temporary place."""
    for name in list(os.environ):
        if _PRIVATE_VARIABLE.search(name):
            monkeypatch.delenv(name)
    folder = next(_folders)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))  # where a developer's own settings are not
    monkeypatch.setenv("CHAMELEON_WEB_CACHE", "off")
    monkeypatch.setenv("CHAMELEON_DOCUMENTS", "off")
    monkeypatch.setenv("CHAMELEON_STORE", str(folder / "responses.sqlite"))


@pytest.fixture
def loopback(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., LoopbackServer]]:
    """Start OpenAI-compatible servers: `loopback(reply, …)`; OPENAI_BASE_URL points to the last one."""
    servers: list[LoopbackServer] = []

    def start(*args: Any, **options: Any) -> LoopbackServer:
        servers.append(LoopbackServer(*args, **options))
        servers[-1].__enter__()
        monkeypatch.setenv("OPENAI_BASE_URL", servers[-1].url)
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of shared test data beside the checkout; tests that need it are skipped without it."""
    folder = (Path(__file__).parents[1] / ".." / "shared" / "data").resolve()
    if not folder.is_dir():
        pytest.skip("the shared test data is not here")
    return folder


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have files read in this process, where a test can change what their readers rest on."""

    def called(function: Any, *arguments: Any, name: str, data: bytes | None = None) -> Any:
        return function(*(arguments if data is None else (data, *arguments)))

    monkeypatch.setattr("chameleon.sandbox.bounded.called", called)
