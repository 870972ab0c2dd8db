"""Which query is asked of which provider, what is said when none can be, and a folder of documents."""

from pathlib import Path
from typing import Any

import pytest

from chameleon import StepRejected
from chameleon.errors import InputError, InventoryError, MissingPackage
from chameleon.modules.knowledge.knowledge import QueryGenerator
from chameleon.modules.search.folder import DocumentFolder
from chameleon.modules.search.providers_of_search import SearchSettings, choose_provider
from chameleon.modules.search.services import SERVICES
from chameleon.web import Web
from tests.modules.search.conftest import WITH_KEY
from tests.web.servers import KEY


def chosen(name: str = "auto", web: Web | None = None, **settings: Any) -> Any:
    return choose_provider(SearchSettings(name, **settings), web or Web())  # type: ignore[arg-type]


def test_auto_takes_the_first_that_is_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BING_SEARCH_KEY", "k")
    names = ("BING_SEARCH_ENDPOINT", "SEARXNG_URL", "TAVILY_API_KEY", "BRAVE_API_KEY")
    for variable, name in zip(names, ("bing", "searxng", "tavily", "brave"), strict=True):
        monkeypatch.setenv(variable, "https://b.example")
        assert chosen().name == name
    assert chosen(folder="docs").name == "folder"


def test_what_is_missing_is_an_error_that_names_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {name: SERVICES[name].key_variable for name in WITH_KEY} | {"searxng": "SEARXNG_URL"}
    for name in ("auto", *variables):
        with pytest.raises(InventoryError) as caught:
            chosen(name).check()
        told = {each for each in (*variables.values(), "[ddgs]", "folder") if each in str(caught.value)}
        assert told == {variables[name]} if name in variables else len(told) == 6
    monkeypatch.setenv("BING_SEARCH_KEY", KEY)
    with pytest.raises(InventoryError, match=r"BING_SEARCH_ENDPOINT is not set.*`endpoint:`"):
        chosen("bing").check()
    with pytest.raises(InventoryError, match="BING_SEARCH_KEY is set, and BING_SEARCH_ENDPOINT is not"):
        chosen("auto")


@pytest.mark.usefixtures("keys")
def test_the_check_refuses_what_a_run_would_and_names_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = {"https://169.254.169.254/": "special network", "https://me:word@search.example/": "user name"}
    for endpoint, fault in bad.items():
        for name in ("bing", "brave", "searxng", "wikipedia"):
            told = rf"^endpoint .the endpoint of {name}.*{fault}"
            with pytest.raises(InventoryError, match=told) as caught:
                chosen(name, endpoint=endpoint, allow_private=True).check()
            assert "word@" not in str(caught.value) and KEY not in str(caught.value)
        monkeypatch.setenv("SEARXNG_URL", endpoint)
        with pytest.raises(InventoryError, match=rf"^SEARXNG_URL .the endpoint of searxng.*{fault}"):
            chosen("searxng").check()
    for endpoint in ("http://localhost:8080/x", "http://10.1.2.3/x", "http://[::1]:8080/x"):
        chosen("searxng", endpoint=endpoint, allow_private=True).check()
        with pytest.raises(InventoryError, match=r"private .*allow_private.*CHAMELEON_WEB_PRIVATE"):
            chosen("searxng", endpoint=endpoint).check()
    monkeypatch.setenv("CHAMELEON_WEB_PRIVATE", "localhost:8080")
    chosen("searxng", endpoint="http://localhost:8080/x").check()


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("name", WITH_KEY)
def test_no_key_is_sent_in_the_clear(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    public, named = "http://8.8.8.8/", "http://search.lan/"
    for endpoint, allowed in ((public, True), (public, False), (named, False)):
        with pytest.raises(InventoryError, match="would be sent unencrypted") as caught:
            chosen(name, endpoint=endpoint, allow_private=allowed).check()
        assert "https" in caught.value.hint and KEY not in str(caught.value)
    chosen(name, endpoint=named, allow_private=True).check()
    chosen(name, endpoint="https://search.lan/").check()
    for private in ("search.lan", "*"):
        monkeypatch.setenv("CHAMELEON_WEB_PRIVATE", private)
        chosen(name, endpoint=named).check()
    chosen("searxng", endpoint="http://search.example").check()


def test_a_key_that_no_header_can_hold_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("schlüssel-0123456789", "two\nlines-0123456789"):
        monkeypatch.setenv("BRAVE_API_KEY", key)
        with pytest.raises(InventoryError, match=r"^BRAVE_API_KEY has characters") as caught:
            chosen("brave").check()
        assert "0123456789" not in str(caught.value)


def test_an_address_may_hold_a_query_which_is_told_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BING_SEARCH_KEY", KEY)
    for name, path, address in (
        ("bing", "/custom?customconfig=7", "/custom?customconfig=7"),
        ("searxng", "?language=de", "/search?language=de"),
        ("searxng", "/x/search/", "/x/search/"),
        ("searxng", "/research", "/research/search"),
    ):
        found = chosen(name, endpoint=f"https://search.example:8443{path}")
        found.check()
        assert found.address == f"https://search.example:8443{address}"
        assert found.runtime_info() == {"provider": name, "host": "search.example"}
    assert chosen("searxng", endpoint="http://search").address == "http://search/search"


def test_a_language_without_a_wikipedia_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen("wikipedia", language="zh-yue").address == "https://zh-yue.wikipedia.org/w/api.php"
    for language in ("evil.example/", "english", "EN", " "):
        with pytest.raises(InventoryError, match=r"^language is .* not a language of Wikipedia.*endpoint"):
            chosen("wikipedia", language=language)
    monkeypatch.setenv("WIKIPEDIA_ENDPOINT", "https://wiki.example/api.php")
    assert chosen("wikipedia").address == "https://wiki.example/api.php"
    assert chosen("wikipedia", language="de").address == "https://de.wikipedia.org/w/api.php"


@pytest.mark.usefixtures("keys")
def test_without_a_package_the_pip_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chameleon.errors.find_spec", lambda name: None)
    for name, extra in (("brave", "web"), ("ddgs", "ddgs")):
        with pytest.raises(MissingPackage, match=rf"pip install .*\[{extra}\]"):
            chosen(name).check()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    documents, secret = tmp_path / "documents", tmp_path / "outside" / "secret.txt"
    tides = (
        "# Tides\n\nThe Moon pulls at the sea, and so high tide comes twice a day.\n\n" + "Boats wait. " * 300
    )
    metals = "<h1>Metals</h1><script>magnet</script><p>A magnet attracts <b>iron</b> and steel.</p>"
    held = {"sea/tides.md": tides, "metals.html": metals, "broken.pdf": "magnet", "magnet.png": "magnet"}
    files = {secret: "magnet outside", **{documents / name: text for name, text in held.items()}}
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (documents / "birds.txt").write_bytes("Möwen nest on cliffs.".encode("latin-1"))
    for link, target in (("link.txt", secret), ("folder", secret.parent), ("circle", documents)):
        (documents / link).symlink_to(target)
    return documents


def test_the_passage_that_fits_is_found(folder: Path) -> None:
    documents = DocumentFolder(folder)
    best, *_ = documents.search("What does a magnet attract?", 3)
    assert (best.title, best.url, best.text) == ("Metals", "metals.html", "A magnet attracts iron and steel.")
    (tides,) = documents.search("when is high tide", 1)
    assert (tides.title, tides.url) == ("Tides", "sea/tides.md")
    assert "The Moon pulls at the sea" in tides.text and len(tides.text) < 1_300
    assert documents.search("möwen", 3)[0].url == "birds.txt"
    assert [each.url for each in documents.search("magnet outside", 9)] == ["metals.html"]
    assert documents.search("zebra?", 3) == [] and documents.search("", 3) == []


def test_a_folder_without_documents_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no folder"):
        DocumentFolder(tmp_path / "none").check()
    with pytest.raises(InputError, match="no texts or documents"):
        DocumentFolder(tmp_path / "empty").check()
    (tmp_path / "empty" / "a.pdf").write_text("x")
    monkeypatch.setattr("chameleon.errors.find_spec", lambda name: None if name == "pypdfium2" else name)
    with pytest.raises(MissingPackage, match=r"PDF files .*pip install .*\[papers\]"):
        DocumentFolder(tmp_path / "empty").check()
    with pytest.raises(InventoryError, match="needs a folder"):
        choose_provider(SearchSettings("folder"), Web())


def test_other_documents_have_another_digest(folder: Path) -> None:
    documents = DocumentFolder(folder)
    first = documents.runtime_info()
    assert (first["documents"], first["folder"], len(first["sha256"])) == (4, "documents", 64)
    (folder / "magnet.png").write_text("what is not searched does not count")
    assert documents.runtime_info() == first
    (folder / "birds.txt").write_bytes("Möven nest on cliffs.".encode("latin-1"))
    second = documents.runtime_info()
    (folder / "sea" / "tides.md").rename(folder / "tides.md")
    assert len({each["sha256"] for each in (first, second, documents.runtime_info())}) == 3


QUERIES = {
    'Query: "tides twice a day"': "tides twice a day",
    "search query:  tides\ttwice \n\nBecause …": "tides twice",
    "\n\n- capital of Estonia\n": "capital of Estonia",
    "“Tartu population”": "Tartu population",
    'who wrote "Kalevipoeg"': 'who wrote "Kalevipoeg"',
}


def test_the_query_is_read_from_the_reply_of_a_model() -> None:
    assert {reply: QueryGenerator().parse(reply) for reply in QUERIES} == QUERIES
    for reply in ("", "\n \n", '""', "Query:", "---"):
        with pytest.raises(StepRejected):
            QueryGenerator().parse(reply)
