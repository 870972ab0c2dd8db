"""Over TLS the checked address is connected to, and the name is what the certificate must be for."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import certifi
import pytest

from chameleon.errors import WebError
from chameleon.web import Web, WebLimits
from chameleon.web.session import trusting
from tests.web.servers import Answer, WebServer, moved

NAME = "search.example"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate for `search.example`, signed by itself."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate, and is not here")
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    names = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}", "-days", "2"]
    made = [*command, *names, "-keyout", file, "-out", f"{file}.cert"]
    subprocess.run(made, check=True, capture_output=True)
    file.write_text(file.read_text() + Path(f"{file}.cert").read_text())
    return file


@pytest.fixture
def _trusting(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    trusting.cache_clear()
    yield
    trusting.cache_clear()


def client(server: WebServer) -> Web:
    """Every name leads to this machine, as after a look-up."""
    private = [f"{NAME}:{server.port}", f"other.example:{server.port}"]
    limits = WebLimits(seconds=5, retries=0)
    return Web(limits, private, resolve=lambda host, port: ["127.0.0.1"])


@pytest.mark.usefixtures("_trusting")
def test_a_certificate_for_another_name_is_refused(certificate: Path) -> None:
    with WebServer({"/": Answer(b"hello")}, certificate) as server:
        with pytest.raises(WebError, match="certificate is not valid"):
            client(server).fetch(f"https://other.example:{server.port}/")
        assert server.names == ["other.example"] and not server.asked


def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: Path) -> None:
    with WebServer({"/": Answer(b"hello")}, certificate) as server:
        with pytest.raises(WebError, match="certificate is not valid"):
            client(server).fetch(f"https://{NAME}:{server.port}/")
        assert not server.asked


@pytest.mark.usefixtures("_trusting")
def test_a_key_is_not_sent_on_when_a_redirect_leaves_tls(certificate: Path) -> None:
    with WebServer({"/": Answer(b"open")}) as plain:
        with WebServer({"/": moved(f"http://{NAME}:{plain.port}/")}, certificate) as server:
            private = [f"{NAME}:{server.port}", f"{NAME}:{plain.port}"]
            web = Web(WebLimits(seconds=5), private, resolve=lambda host, port: ["127.0.0.1"])
            assert web.fetch(f"https://{NAME}:{server.port}/", secrets={"X-Key": "k"}).body == b"open"
        assert "x-key" not in plain.asked[0].headers


@pytest.mark.usefixtures("_trusting")
def test_the_trusted_are_read_once_and_exactly_those_that_are_named(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WebServer({"/": Answer(b"hello")}, certificate) as server:
        for _ in range(2):
            assert client(server).fetch(f"https://{NAME}:{server.port}/").body == b"hello"
    assert server.names == [NAME] * 2 and server.asked[0].headers["host"] == f"{NAME}:{server.port}"
    (only,) = trusting().get_ca_certs()
    assert only["subject"] == ((("commonName", NAME),),) and trusting.cache_info().misses == 1
    assert not trusting().hostname_checks_common_name  # the names of a certificate count alone
    trusting.cache_clear()
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.with_name("none.pem")))
    with pytest.raises(WebError, match="SSL_CERT_FILE"):
        trusting()


def test_certifis_are_trusted_if_the_system_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    (folder := tmp_path / "certificates").mkdir()
    nothing = ssl.DefaultVerifyPaths(None, str(folder), "SSL_CERT_FILE", "", "SSL_CERT_DIR", "")
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: nothing)
    loaded: list[str] = []
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda self, purpose: None)
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda self, file: loaded.append(file))
    trusting.__wrapped__()
    assert loaded == [certifi.where()]
    (folder / "0a1b2c3d.0").touch()  # the system's, which are read as they are needed
    trusting.__wrapped__()
    assert len(loaded) == 1
