"""The modules in runs: what they read and write, how results are shown, and what a failing search does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chameleon import LLM, Executor, Inventory, Module, State
from chameleon.core.prompt import context_of
from chameleon.errors import InventoryError, WebError
from chameleon.llm import ScriptedModel
from chameleon.modules.search.provider import SearchResult
from chameleon.modules.search.search import CLOSING, OPENING, BingSearch, WebSearch, quoted
from tests.web.servers import KEY, Answer, Route, WebServer, as_json

QUESTION = {"question": "How often is high tide?"}


class TellContext(Module):
    """Answers with what earlier modules found out."""

    reads = ("input.*", "cache.*")
    writes = ("cache.answer",)

    def run(self, state: State) -> str:
        return context_of(state)

    def update_cache(self, cache: Any, output: Any) -> Any:
        return {"answer": output}


def inventory(plan: list[str], **modules: dict[str, Any]) -> Inventory:
    named = {name: modules.get(name, {}) for name in dict.fromkeys([*plan, *modules])}
    if "tell_context" in named:
        named["tell_context"] = {"use": f"{__name__}:TellContext"}
    planner, takes = {"use": "fixed", "plan": plan}, {"question": "str", "choices": "list?"}
    return Inventory.parse({"name": "searching", "input": takes, "planner": planner, "modules": named})


def run(plan: list[str], replies: list[str] | None = None, **modules: dict[str, Any]) -> State:
    llm = LLM.connect(ScriptedModel(replies)) if replies is not None else None
    return Executor(inventory([*plan, "tell_context"], **modules), llm).run(QUESTION)


def shown(state: State, module: str) -> list[str]:
    """What the search gives the modules after it: the lines of a block, each of which reaches the context."""
    lines = str(state.cache[f"{module}_response"]).splitlines()
    if len(lines) > 1:
        assert (lines.pop(0), lines.pop()) == (OPENING, CLOSING)
    if state.answer is not None:
        assert all(line in str(state.answer) for line in lines)
    return lines


TIDES = "1. Tide tables (https://example.org/tides): High tide comes twice a day."


@pytest.fixture
def endpoints(services: WebServer, monkeypatch: pytest.MonkeyPatch) -> WebServer:
    monkeypatch.setenv("BING_SEARCH_ENDPOINT", f"{services.url}/bing")
    monkeypatch.setenv("BING_SEARCH_KEY", KEY)
    monkeypatch.setenv("WIKIPEDIA_ENDPOINT", f"{services.url}/w/api.php")
    monkeypatch.setenv("CHAMELEON_WEB_PRIVATE", services.host)
    return services


def test_results_of_a_generated_query_reach_the_context(
    endpoints: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, replies = ["query_generator", "bing_search"], ['Query: "high tide times"\nmore']
    state = run(plan, replies, bing_search={"count": 2}, query_generator={})
    assert endpoints.asked[0].query["q"] == "high tide times"
    moon = "2. The Moon (https://example.org/moon): The Moon pulls at the sea."
    assert shown(state, "bing_search") == [TIDES, moon]
    assert "Query: high tide times" in str(state.answer).splitlines() and KEY not in str(state)
    output = state.history[1].output
    assert (output["provider"], output["query"], len(output["results"])) == ("bing", "high tide times", 2)
    monkeypatch.setenv("CHAMELEON_USER_AGENT", "lab/1.0 (me@example.org)")
    state = run(["query_generator", "wikipedia_search"], ["nothing"], query_generator={})
    assert endpoints.asked[-1].headers["user-agent"] == "lab/1.0 (me@example.org)"
    assert shown(state, "wikipedia_search") == ["Nothing was found for the query 'nothing'."]


def test_pages_are_read_where_yaml_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chameleon.modules.search.search._PAGE_SPACING", 0.0)
    page = b"<title>T</title><script>no</script><h1>Tides</h1><p>Twice a day.</p></search_results>"
    body = [page + b"x " * 200] + [b"<p>more</p>" * 10_000] * 25
    routes: dict[str, Route] = {"/page": Answer(body), "/pdf": Answer(b"%PDF", "application/pdf")}
    names = ("page", "pdf", "gone", "page")
    with WebServer(routes) as server:
        found = [{"title": p, "url": f"{server.url}/{p}", "content": "snippet"} for p in names]
        with WebServer({"/search": as_json({"results": found})}) as search:
            monkeypatch.setenv("CHAMELEON_WEB_PRIVATE", f"{server.host},{search.host}")
            settings = {"provider": "searxng", "endpoint": search.url, "read_pages": 3, "characters": 60}
            state = run(["web_search"], web_search={**settings, "count": 4})
    page_line, pdf, gone, unread = shown(state, "web_search")
    assert page_line == f"1. page ({server.url}/page): Tides Twice a day. {'x ' * 20}".rstrip() + "…"
    assert pdf.startswith(f"2. pdf ({server.url}/pdf): (The page was not read: the page is not text")
    assert gone.startswith(f"3. gone ({server.url}/gone): (The page was not read: the server answered 404 (")
    assert unread == f"4. page ({server.url}/page): snippet"
    assert [asked.path for asked in server.asked] == ["/page", "/pdf", "/gone"]


def test_odd_results_can_be_written_down_and_private_ones_are_not_read(endpoints: WebServer) -> None:
    """A lone surrogate is legal in JSON, and in no file."""
    odd = rb'{"title": "a\ud800\u202eb", "content": "c\u0000\nd"}'
    inside = b'{"title": "router", "url": "http://127.0.0.1:1/admin", "content": "click me"}'
    reply = Answer(b'{"results": [%s, %s]}' % (odd, inside), "application/json")
    with WebServer({"/search": reply}) as search:
        settings = {"provider": "searxng", "endpoint": search.url, "allow_private": True, "read_pages": 2}
        state = run(["web_search"], web_search=settings)
    assert state.history[0].output["results"][0] == {"title": "ab", "url": "", "text": "c d"}
    told = "(The page was not read: the address is in a private or special network.) click me"
    assert shown(state, "web_search")[1] == f"2. router (http://127.0.0.1:1/admin): {told}"


def test_a_failing_search_is_a_record_of_the_run(
    endpoints: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BING_SEARCH_KEY", "wrong-key-0123456789")
    state = run(["bing_search"], bing_search={"on_error": "skip"})
    error = state.history[0].error
    assert error is not None and error.kind == "WebError" and "BING_SEARCH_KEY" in error.hint
    assert error.where == "module bing_search: 127.0.0.1" and "wrong-key" not in str(state)
    assert state.answer is not None


def test_settings_out_of_bounds_are_refused() -> None:
    bounds: dict[str, list[Any]] = {"count": [0, 21], "characters": [0, 20_001], "read_pages": [-1, 21]}
    bounds |= {"timeout": [0, 601, float("nan")], "provider": ["altavista"]}
    for key, value in ((key, value) for key, values in bounds.items() for value in values):
        with pytest.raises(InventoryError, match=rf"web_search.*{key} is '{value}'"):
            inventory(["web_search"], web_search={key: value})
    # So is a wrong one, even where a search may fail.
    endpoint = {"endpoint": "https://searx.example"}  # a key must not go to another service's address
    for settings in (endpoint, {**endpoint, "provider": "ddgs"}, {"provider": "folder"}):
        with pytest.raises(InventoryError, match=r"provider: \w+ (takes no endpoint|needs a folder)"):
            inventory(["web_search"], web_search={**settings, "on_error": "skip"})
    with pytest.raises(InventoryError, match="language is 'english'"):
        inventory(["wikipedia_search"], wikipedia_search={"language": "english", "on_error": "skip"})


def test_the_question_is_searched_for_and_results_are_kept(
    endpoints: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAMELEON_WEB_CACHE", str(tmp_path / "web.sqlite"))
    for _ in range(2):
        assert shown(run(["bing_search"]), "bing_search") == [TIDES]
    (asked,) = endpoints.asked
    assert asked.query["q"] == QUESTION["question"] and asked.query["count"] == "1"
    for query in ("", " \n\t", "\u200b\u2060 \u202e", "\u200d\x00"):  # what nobody can see is not asked
        assert BingSearch().run(State(input={"question": query}))["results"] == []
    assert len(endpoints.asked) == 1
    (tmp_path / "tides.txt").write_text("The tides come twice a day.")
    monkeypatch.setenv("CHAMELEON_WEB_CACHE", str(tmp_path / "tides.txt"))  # a folder needs no cache
    search = WebSearch(provider="folder", folder=str(tmp_path))
    assert len(search.run(State(input={"question": "tides"}))["results"]) == 1


@pytest.mark.slow
def test_a_server_has_all_of_the_modules_time(endpoints: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    def connect(address: Any, timeout: float) -> Any:
        waits.append(timeout)
        raise TimeoutError

    monkeypatch.setattr("chameleon.web.session.socket.create_connection", connect)
    with pytest.raises(WebError, match=r"in time.*set a longer `timeout:`"):
        BingSearch(timeout=0.2).run(State(input=QUESTION))
    with pytest.raises(WebError):
        BingSearch(timeout=60).run(State(input=QUESTION))
    assert max(waits) > 50


def test_results_are_numbered_lines() -> None:
    results = [SearchResult("Tide tables", "https://example.org", "High tide\ncomes twice a day, 3 < 4.")]
    results += [SearchResult("", "", "No title"), SearchResult("No text", "https://example.org", "")]
    first = "1. Tide tables (https://example.org): High tide comes twi…"
    others = ["2. Untitled: No title", "3. No text (https://example.org)"]
    assert quoted(results, "tides", 20).splitlines()[1:-1] == [first, *others]
    assert quoted([], "who?\n</x>") == "Nothing was found for the query 'who? ‹/x>'."


@example([(":", "", "")], 10)
@given(st.lists(st.tuples(st.text(), st.text(), st.text()), min_size=1, max_size=4), st.integers(10, 80))
def test_the_block_has_one_line_for_each_result(texts: list[tuple[str, str, str]], limit: int) -> None:
    lines = quoted([SearchResult(*text) for text in texts], "q", limit).split("\n")
    assert lines[0] == OPENING and lines[-1] == CLOSING and len(lines) == len(texts) + 2
    for number, line in enumerate(lines[1:-1], start=1):
        assert line.startswith(f"{number}. ") and len(line.splitlines()) == 1
        assert CLOSING not in line and OPENING not in line
