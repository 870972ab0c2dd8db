"""A strict stand-in for the hosted APIs of OpenAI, Anthropic and Google, for tests of the real clients.

    with HostedServer(lambda asked: "a text, or `Calls` of tools") as server:
        ChatOpenAI(model="gpt-5-mini", base_url=server.openai_url, api_key="k").invoke("hello")

It refuses what they refuse, one fault a request (`hosted_apis`). Four characters make a token. A model that
thinks spends `thinking` hidden tokens first, more or less by its effort; a limit that they use up leaves no
text. Nothing streams.
"""

import threading
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from tests import hosted_apis
from tests.hosted_apis import RULES, Accepted, Api, Json, OpenAI, Refused, Rules, Sample, Usage, tokens
from tests.hosted_tools import Called, Calls
from tests.local_server import JsonHandler, LocalServer, in_turn

Asked = namedtuple("Asked", "model messages sample body")
"""What a reply function is asked: texts by role (system first), the number of the choice, the JSON."""


Seen = namedtuple("Seen", "path model body headers status error usage", defaults=(None, None))
"""A request and its answer: `error` is the JSON of a refusal, `usage` that of status 200."""


ReplyOf = Callable[[Asked], str | Calls]


class HostedServer(LocalServer):
    """Serves the hosted APIs on 127.0.0.1, by the RULES of the models; a list of replies is given in turn."""

    def __init__(self, reply: ReplyOf | Sequence[str | Calls] = lambda asked: "ok", *, thinking: int = 800):
        super().__init__(_Handler)
        self._reply = reply if callable(reply) else in_turn(reply)
        self.thinking = thinking
        self._seen: dict[int, Seen] = {}
        self._arrived = self._called = 0
        self._cache: set[int] = set()
        self._lock = threading.Lock()

    @property
    def openai_url(self) -> str:
        """The base address of OpenAI's clients, with /v1."""
        return f"{self.url}/v1"

    @property
    def requests(self) -> list[Seen]:
        """The requests that were answered, in order of arrival."""
        with self._lock:
            return [self._seen[arrival] for arrival in sorted(self._seen)]

    @property
    def served(self) -> list[Seen]:
        """The requests that got a reply."""
        return [seen for seen in self.requests if seen.status == 200]

    @property
    def refused(self) -> list[Seen]:
        """The requests that were refused for what they ask (400, or 403 as for logprobs)."""
        return [seen for seen in self.requests if seen.status in (400, 403)]

    def forget(self) -> None:
        """Forget the requests and what was cached, as a new server would."""
        with self._lock:
            self._seen.clear()
            self._cache.clear()

    def tokens(self, model: str | None = None) -> Usage:
        """Return the sums of the tokens of all replies, or of one model's."""
        told = [seen.usage for seen in self.served if seen.usage and model in (None, seen.model)]
        return Usage(*(sum(column) for column in zip(*told, strict=True)))

    def answer(self, path: str, headers: Mapping[str, str], body: Json) -> tuple[int, Json]:
        """Answer and record a request."""
        with self._lock:
            self._arrived += 1
            arrival = self._arrived
        api, model = hosted_apis.dialect_of(path, body)
        usage = error = None
        try:
            status, (reply, usage) = 200, self._served(api, model, headers, body)
        except Refused as refused:
            status, reply = refused.args
            error = reply
        with self._lock:
            self._seen[arrival] = Seen(path, model, body, headers, status, error, usage)
        return status, reply

    def _served(self, api: Api | None, model: str, headers: Mapping[str, str], body: Json) -> Any:
        if api is None:
            raise OpenAI.error("Invalid URL", status=404)
        if not any(headers.get(name, "").removeprefix("Bearer").strip() for name in api.keys):
            raise api.error(*api.no_key)
        asked = {name: value for name, value in body.items() if value is not None}
        rules = RULES[api.provider].get(model)
        for is_there, *told in api.faults(asked, model, rules):
            if is_there:
                raise api.error(*told)
        if asked.get("stream"):
            raise OpenAI.error("This stand-in does not stream.", status=501)
        assert rules is not None
        call = api.read(asked, rules, self.thinking if rules.thinks or rules.types else 0)
        asked_for = [Asked(model, call.messages, sample, body) for sample in range(call.choices)]
        samples = [self._sample(call, rules, each) for each in asked_for]
        with self._lock:
            found = [prefix for prefix in call.prefixes if hash((call.scope, prefix)) in self._cache]
            self._cache.update(hash((call.scope, prefix)) for prefix in call.kept)
        cached = max(map(tokens, found), default=0)
        written = max(0, max(map(tokens, call.kept), default=0) - cached)
        output, reasoning = sum(each.output for each in samples), sum(each.reasoning for each in samples)
        usage = Usage(tokens(call.prompt), cached, output, reasoning)
        return api.answer(asked, model, samples, usage, written), usage

    def _sample(self, call: Accepted, rules: Rules, asked: Asked) -> Sample:
        room = None if call.limit is None else call.limit - call.thinking
        if room is not None and room <= 0:
            if rules.strict_limit:
                raise OpenAI.error(OpenAI.too_short)
            return Sample("", "length", call.thinking + room, call.thinking + room)
        said, calls = self._reply(asked), list[Called]()
        if isinstance(said, Calls):
            with self._lock:
                before, self._called = self._called, self._called + len(said.calls)
            calls, said = said.called(before), said.text
        text, finish, met = said, "stop", None
        if ends := [(text.find(stop), stop) for stop in call.stop if stop in text]:
            end, met = min(ends)
            text, finish = text[:end], "stop_sequence"
        if room is not None and tokens(text) > room:
            text, finish, met = text[: room * 4], "length", None
        written = tokens(text) + sum(tokens(each.name + each.arguments) for each in calls)
        return Sample(text, finish, call.thinking + written, call.thinking, met, calls)


class _Handler(JsonHandler):
    owner: HostedServer

    def do_GET(self) -> None:
        """List the models of OpenAI, as `GET /v1/models` does."""
        if not self.lowered().get("authorization"):
            return self.send(*OpenAI.error(*OpenAI.no_key).args)
        return self.send(200, {"object": "list", "data": [{"id": name} for name in RULES["openai"]]})

    def do_POST(self) -> None:
        self.send(*self.owner.answer(urlsplit(self.path).path, self.lowered(), self.body()))
