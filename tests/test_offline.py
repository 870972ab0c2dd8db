"""The switch that keeps every test on this machine."""

from __future__ import annotations

import os
import socket
import urllib.error
import urllib.request

import pytest

from tests.conftest import _PRIVATE_VARIABLE, NetworkForbidden
from tests.loopback import LoopbackServer


def test_no_test_reaches_the_network() -> None:
    with socket.socket() as ours, pytest.raises(NetworkForbidden, match=r"192\.0\.2\.1"):
        ours.connect(("192.0.2.1", 80))
    with socket.socket() as ours, pytest.raises(NetworkForbidden):
        ours.connect_ex(("192.0.2.1", 80))
    with pytest.raises(NetworkForbidden, match=r"look up api\.openai\.com"):
        socket.create_connection(("api.openai.com", 443))


def test_this_machine_is_reachable() -> None:
    with LoopbackServer() as server, urllib.request.urlopen(server.url + "/models") as response:
        assert response.status == 200
    with LoopbackServer(models=None) as server, pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(server.url + "/models")
    caught.value.close()


def test_no_test_sees_the_developers_keys() -> None:
    assert not [name for name in os.environ if name.endswith("_API_KEY") or name.startswith("OPENAI_")]
    assert os.environ["CHAMELEON_STORE"].endswith("responses.sqlite")


def test_what_stands_in_the_developers_environment_is_forgotten() -> None:
    names = "OPENAI_BASE_URL ANTHROPIC_API_KEY GOOGLE_GENAI_USE_VERTEXAI GOOGLE_APPLICATION_CREDENTIALS "
    for name in f"{names} MISTRAL_BASE_URL OLLAMA_HOST http_proxy NO_PROXY CHAMELEON_MODEL".split():
        assert _PRIVATE_VARIABLE.search(name), name
