"""A strict stand-in for the hosted APIs of OpenAI, Anthropic and Google, for tests of the real clients.

    with HostedServer(reply, thinking=800) as server:   # reply(asked): a text, or `Calls` of tools
        ChatOpenAI(model="gpt-5-mini", base_url=server.openai_url, api_key="k").invoke("hello")
        assert server.requests[0].usage == (2, 0, 801, 800)

It refuses what they refuse, one fault a request, in the words that their pages and users' reports quote; a
comment marks words by analogy. Four characters make a token. A model that thinks spends `thinking` hidden
tokens first, more or less by its effort; a limit that they use up leaves no text. Nothing streams.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tests import hosted_tools
from tests.hosted_tools import Called, Calls
from tests.local_server import JsonHandler, LocalServer, in_turn

Json = dict[str, Any]


@dataclass(frozen=True)
class Rules:
    """What a model takes: at most `max_output` tokens of a reply, `efforts` (levels) of thinking.

    `thinks`: it thinks without being told to. OpenAI's refuse sampling and logprobs while they think.

    - OpenAI: `tools`: it takes function tools in chat completions while it thinks. `logprobs_status`: that of
      their refusal. `strict_limit`: a limit that thinking uses up is an error.
    - Claude: `types` of thinking. `sampling`: it takes any temperature, top_p and top_k. `cached_from`: the
      fewest tokens of a prompt that is cached.
    - Gemini: the most `candidates`. `no_logprobs`: the words by which it refuses logprobs.
    """

    max_output: int = 65536
    efforts: tuple[str, ...] = ()
    thinks: bool = False
    tools: bool = True
    logprobs_status: int = 400
    strict_limit: bool = False
    types: tuple[str, ...] = ()
    sampling: bool = True
    cached_from: int = 1024
    candidates: int = 1
    no_logprobs: str = "Logprobs is not enabled for this model"


_LUNA = Rules(128000, ("none", "low", "medium", "high", "xhigh"), thinks=True, tools=False)
_CLAUDE_4 = Rules(64000, types=("enabled", "disabled"))
_OPUS = Rules(
    128000, ("low", "medium", "high", "xhigh", "max"), types=("adaptive", "disabled"), sampling=False
)
_GEMINI_2 = "Logprobs is not enabled for models/gemini-2.5-flash"
RULES: Mapping[str, Mapping[str, Rules]] = {
    "openai": {
        "gpt-4.1-mini": Rules(32768),
        "gpt-4o-mini": Rules(16384),
        "gpt-5-mini": Rules(128000, ("minimal", "low", "medium", "high"), True, logprobs_status=403),
        "gpt-6-luna": _LUNA,
        "gpt-5.6-sol": _LUNA,
        "o4-mini": Rules(100000, ("low", "medium", "high"), True, True, 403, strict_limit=True),
    },
    "anthropic": {
        "claude-sonnet-4-5": _CLAUDE_4,
        "claude-haiku-4-5": replace(_CLAUDE_4, cached_from=4096),
        "claude-haiku-5-5": replace(_OPUS, thinks=True),
        "claude-opus-4-8": _OPUS,
        "claude-opus-5": replace(_OPUS, thinks=True, cached_from=512),
    },
    "google": {
        "gemini-2.5-flash": Rules(thinks=True, candidates=8, no_logprobs=_GEMINI_2),
        "gemini-3-flash-preview": Rules(efforts=("minimal", "low", "medium", "high"), thinks=True),
        "gemini-3.5-flash-lite": Rules(efforts=("minimal", "low", "medium", "high")),
        "gemini-3.8-flash": Rules(efforts=("low", "medium", "high"), thinks=True),
    },
}
# The hidden tokens of an effort, in eighths of what is spent by default.
_EIGHTHS = {"none": 0, "minimal": 1, "low": 2, "medium": 8, "high": 16, "xhigh": 32, "max": 64}


class Usage(NamedTuple):
    """Tokens of a reply: `cached` are among `input`, `reasoning` among `output`."""

    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0


@dataclass(frozen=True)
class Asked:
    """What a reply function is asked: texts by role (system first), the number of the choice, the JSON."""

    model: str
    messages: tuple[tuple[str, str], ...]
    sample: int
    body: Json


@dataclass(frozen=True)
class Seen:
    """A request and its answer: `error` is the JSON of a refusal, `usage` that of status 200."""

    path: str
    model: str
    body: Json
    headers: Mapping[str, str]
    status: int
    error: Json | None = None
    usage: Usage | None = None


ReplyFunction = Callable[[Asked], str | Calls]


class _Fault(NamedTuple):
    """The answer to a request that is refused."""

    status: int
    body: Json


class _Refused(Exception):
    """Ends the work on a request by a fault, its argument."""


@dataclass(frozen=True)
class _Call:
    """An accepted request. `prefixes` of its prompt may be in the cache of its `scope`, `kept` go into it."""

    messages: tuple[tuple[str, str], ...]
    prompt: str
    thinking: int
    limit: int | None
    stop: tuple[str, ...] = ()
    choices: int = 1
    prefixes: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    scope: str = ""


class _Sample(NamedTuple):
    """One reply: `finish` is stop, stop_sequence (with the `stop` that was met) or length."""

    text: str
    finish: str
    output: int
    reasoning: int
    stop: str | None = None
    calls: tuple[Called, ...] = ()


_Samples = Sequence[_Sample]


def _tokens(text: str) -> int:
    return -(-len(text) // 4)


def _text(content: Any) -> str:
    """Return the text of a message's content, in the form of any of the APIs."""
    if isinstance(content, str) or content is None:
        return content or ""
    if isinstance(content, list):
        return "\n".join(_text(part) for part in content)
    if "text" in content:
        return str(content["text"])
    if content.get("type") in ("image", "image_url", "input_image") or "inlineData" in content:
        return "[picture]"
    return json.dumps({name: value for name, value in content.items() if name != "cache_control"})


def _messages(system: Any, messages: Sequence[Json], content: str = "content") -> tuple[tuple[str, str], ...]:
    roles = {"developer": "system", "model": "assistant"}
    told = [(str(each.get("role", "tool")), _text(each.get(content, each))) for each in messages]
    first = [("system", _text(system))] if system else []
    return (*first, *((roles.get(role, role), text) for role, text in told))


def _prompt(asked: Json, messages: tuple[tuple[str, str], ...]) -> str:
    return "\n".join([*map(_text, asked.get("tools", ())), *(text for _, text in messages)])


def _listed(values: Sequence[str]) -> str:
    return ", ".join(f"'{value}'" for value in values[:-1]) + f", and '{values[-1]}'"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _openai(message: str, param: str | None = None, code: str | None = None, status: int = 400) -> _Fault:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return _Fault(status, {"error": error})


def _unsupported(param: str, hint: str = "", code: str | None = "unsupported_parameter") -> _Fault:
    return _openai(f"Unsupported parameter: '{param}' is not supported with this model.{hint}", param, code)


def _logprobs(text: str, top: int) -> list[Json]:
    pieces = [text[start : start + 4] for start in range(0, len(text), 4)]
    told = [{"token": piece, "logprob": -0.1, "bytes": list(piece.encode())} for piece in pieces]
    return [{**each, "top_logprobs": [each][:top]} for each in told]


class _OpenAI:
    """What both APIs of OpenAI share."""

    provider = "openai"
    keys = ("authorization",)
    common = _words(
        """model frequency_penalty metadata moderation parallel_tool_calls presence_penalty prompt_cache_key
        prompt_cache_options prompt_cache_retention safety_identifier service_tier store stream stream_options
        temperature tool_choice tools top_logprobs top_p user"""
    )
    no_key = _openai(
        "You didn't provide an API key. You need to provide your API key in an Authorization header using "
        "Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
        status=401,
    )
    too_short = _openai(
        "Could not finish the message because max_tokens or model output limit was reached. Please try again "
        "with higher max_tokens."
    )

    def _call(
        self, asked: Json, messages: tuple[tuple[str, str], ...], effort: str | None, spent: int
    ) -> _Call:
        prompt = _prompt(asked, messages)
        # Prefixes of 1,024 tokens and more are cached, in steps of 128.
        prefixes = tuple(prompt[:end] for end in range(4096, len(prompt) + 1, 512))
        scope = f"{asked['model']} {asked.get('prompt_cache_key')}"
        spent = spent * _EIGHTHS[effort or "medium"] // 8
        return _Call(messages, prompt, spent, None, prefixes=prefixes, kept=prefixes, scope=scope)


class _ChatCompletions(_OpenAI):
    """`POST /v1/chat/completions`."""

    fields = _OpenAI.common | _words(
        """messages audio function_call functions logit_bias logprobs max_completion_tokens max_tokens n
        modalities prediction reasoning_effort response_format seed stop verbosity web_search_options"""
    )

    def faults(self, asked: Json, model: str, rules: Rules | None) -> Iterator[_Fault]:
        if rules is None:
            message = f"The model `{model}` does not exist or you do not have access to it."
            yield _openai(message, code="model_not_found", status=404)
            return
        for name in asked:
            if name not in self.fields and rules.thinks:
                yield _openai(f"Unknown parameter: '{name}'.", name, "unknown_parameter")
            if name not in self.fields or (name == "reasoning_effort" and not rules.thinks):
                yield _openai(f"Unrecognized request argument supplied: {name}")
        for message, param in hosted_tools.faults_of_chat(asked):
            yield _openai(message, param, "invalid_value" if param else None)
        if "max_tokens" in asked and rules.thinks:
            yield _unsupported("max_tokens", " Use 'max_completion_tokens' instead.")
        if "max_tokens" in asked and "max_completion_tokens" in asked:
            message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
            yield _openai(message, "max_tokens", "invalid_parameter_combination")
        limit = self._limit(asked)
        if limit is not None and limit > rules.max_output:  # of models that think by analogy
            message = f"max_tokens is too large: {limit}. This model supports at most {rules.max_output} "
            message += f"completion tokens, whereas you provided {limit}."
            yield _openai(message, "max_tokens", "invalid_value")
        if "stop" in asked and rules.thinks:
            yield _unsupported("stop")
        effort = asked.get("reasoning_effort", "medium")
        if effort not in rules.efforts and rules.thinks:
            message = f"Unsupported value: 'reasoning_effort' does not support '{effort}' with this model. "
            message += f"Supported values are: {_listed(rules.efforts)}."
            yield _openai(message, "reasoning_effort", "unsupported_value")
        if rules.thinks and effort != "none":
            yield from self._faults_of_thinking(asked, rules)

    def _faults_of_thinking(self, asked: Json, rules: Rules) -> Iterator[_Fault]:
        if (temperature := asked.get("temperature", 1)) != 1:
            message = f"Unsupported value: 'temperature' does not support {temperature} with this model. "
            message += "Only the default (1) value is supported."
            yield _openai(message, "temperature", "unsupported_value")
        for name, default in {"top_p": 1, "presence_penalty": 0, "frequency_penalty": 0}.items():
            if asked.get(name, default) != default:
                yield _unsupported(name)
        if asked.get("logprobs") and rules.logprobs_status == 403:
            yield _openai("You are not allowed to request logprobs from this model", status=403)
        if asked.get("logprobs"):
            yield _unsupported("logprobs")
        if asked.get("tools") and not rules.tools:
            message = f"Function tools with reasoning_effort are not supported for {asked['model']} in "
            message += "/v1/chat/completions. To use function tools, use /v1/responses or set "
            yield _openai(f"{message}reasoning_effort to 'none'.", "reasoning_effort")

    def call(self, asked: Json, rules: Rules, spent: int) -> _Call:
        call = self._call(asked, _messages(None, asked["messages"]), asked.get("reasoning_effort"), spent)
        stop = asked.get("stop", ())
        stops = (stop,) if isinstance(stop, str) else tuple(stop)
        return replace(call, limit=self._limit(asked), stop=stops, choices=asked.get("n", 1))

    def _limit(self, asked: Json) -> int | None:
        limit: int | None = asked.get("max_completion_tokens", asked.get("max_tokens"))
        return limit

    def answer(self, asked: Json, model: str, samples: _Samples, usage: Usage, written: int) -> Json:
        choices = []
        for index, sample in enumerate(samples):
            finish = "length" if sample.finish == "length" else "stop"
            message: Json = {"role": "assistant", "content": sample.text, "refusal": None}
            if sample.calls:
                functions = [{"name": call.name, "arguments": call.arguments} for call in sample.calls]
                named = zip(sample.calls, functions, strict=True)
                message["content"] = sample.text or None
                message["tool_calls"] = [
                    {"id": call.id, "type": "function", "function": function} for call, function in named
                ]
                finish = "tool_calls" if finish == "stop" else finish
            told = _logprobs(sample.text, asked.get("top_logprobs", 0))
            logprobs = {"content": told, "refusal": None} if asked.get("logprobs") else None
            choice = {"index": index, "message": message, "finish_reason": finish, "logprobs": logprobs}
            choices.append(choice)
        told_usage = {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
            "prompt_tokens_details": {"cached_tokens": usage.cached},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
        }
        head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model}
        return {**head, "choices": choices, "usage": told_usage}


class _Responses(_OpenAI):
    """`POST /v1/responses`."""

    fields = _OpenAI.common | _words(
        """input background context_management conversation include instructions max_output_tokens reasoning
        max_tool_calls previous_response_id prompt text truncation"""
    )

    def faults(self, asked: Json, model: str, rules: Rules | None) -> Iterator[_Fault]:
        for name in asked:
            if name not in self.fields:
                yield _openai(f"Unknown parameter: '{name}'.", name, "unknown_parameter")
        if rules is None:
            yield _openai(f"The requested model '{model}' does not exist.", "model", "model_not_found")
            return
        for message, param in hosted_tools.faults_of_responses(asked):
            yield _openai(message, param)
        effort = asked.get("reasoning", {}).get("effort")
        if effort and not rules.thinks:
            yield _unsupported("reasoning.effort")
        efforts = (*rules.efforts, "max") if "xhigh" in rules.efforts else rules.efforts
        if effort and effort not in efforts:
            message = f"Unsupported value: '{effort}' is not supported with the '{model}' model. "
            message += f"Supported values are: {_listed(efforts)}."
            yield _openai(message, "reasoning.effort", "unsupported_value")
        for name in ("temperature", "top_p"):
            if rules.thinks and effort != "none" and asked.get(name, 1) != 1:
                yield _unsupported(name, code=None)

    def call(self, asked: Json, rules: Rules, spent: int) -> _Call:
        given, effort = asked["input"], asked.get("reasoning", {}).get("effort")
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        call = self._call(asked, _messages(asked.get("instructions"), items), effort, spent)
        return replace(call, limit=asked.get("max_output_tokens"))

    def answer(self, asked: Json, model: str, samples: _Samples, usage: Usage, written: int) -> Json:
        sample = samples[0]
        cut = sample.finish == "length"
        status = "incomplete" if cut else "completed"
        part: Json = {"type": "output_text", "text": sample.text, "annotations": []}
        message = {"type": "message", "id": "msg_1", "role": "assistant", "status": status, "content": [part]}
        thoughts: list[Json] = (
            [{"type": "reasoning", "id": "rs_1", "summary": []}] if sample.reasoning else []
        )
        if "reasoning.encrypted_content" in asked.get("include", ()):
            thoughts = [{**each, "encrypted_content": hosted_tools.SEALED} for each in thoughts]
        calls = [
            {"type": "function_call", "id": f"fc_{call.id}", "call_id": call.id, "status": "completed"}
            | {"name": call.name, "arguments": call.arguments}
            for call in sample.calls
        ]
        said = [message] if sample.text or not (cut or calls) else []
        return {
            **{"id": "resp_1", "object": "response", "created_at": 1, "model": model},
            **{"status": status, "incomplete_details": {"reason": "max_output_tokens"} if cut else None},
            **{"error": None, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []},
            "output": [*thoughts, *said, *calls],
            "usage": {
                "input_tokens": usage.input,
                "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": 0},
                "output_tokens": usage.output,
                "output_tokens_details": {"reasoning_tokens": usage.reasoning},
                "total_tokens": usage.input + usage.output,
            },
        }


def _anthropic(message: str, status: int = 400, kind: str = "invalid_request_error") -> _Fault:
    error = {"type": kind, "message": message}
    return _Fault(status, {"type": "error", "error": error, "request_id": "req_1"})


class _Messages:
    """`POST /v1/messages`."""

    provider = "anthropic"
    keys = ("x-api-key", "authorization")
    no_key = _anthropic("x-api-key header is required", 401, "authentication_error")
    fields = _words(
        """model max_tokens messages cache_control container diagnostics inference_geo metadata output_config
        service_tier speed stop_sequences stream system temperature thinking tool_choice tools top_k top_p
        user_profile_id workspace_id"""
    )

    def faults(self, asked: Json, model: str, rules: Rules | None) -> Iterator[_Fault]:
        if "max_tokens" not in asked:
            yield _anthropic("max_tokens: Field required")
        for name in asked:
            if name not in self.fields:
                yield _anthropic(f"{name}: Extra inputs are not permitted")
        if (marks := sum(marked for _, marked in self._blocks(asked))) > 4:
            yield _anthropic(f"A maximum of 4 blocks with cache_control may be provided. Found {marks}.")
        if asked.get("thinking", {}).get("budget_tokens", 1024) < 1024:
            yield _anthropic("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
        if rules is None:
            yield _anthropic(f"model: {model}", 404, "not_found_error")
            return
        is_thinking = self._thinking(asked, rules) != "disabled"
        for told in hosted_tools.faults_of_messages(asked, is_thinking):
            yield _anthropic(told)
        if (limit := asked["max_tokens"]) > rules.max_output:
            message = f"max_tokens: {limit} > {rules.max_output}, which is the maximum allowed number of "
            yield _anthropic(f"{message}output tokens for {model}")
        yield from self._faults_of_thinking(asked, rules)
        if rules.sampling and "temperature" in asked and "top_p" in asked:
            message = "`temperature` and `top_p` cannot both be specified for this model. "
            yield _anthropic(f"{message}Please use only one.")
        for name in ("temperature", "top_p", "top_k"):
            if not rules.sampling and name in asked and (name, asked[name]) != ("temperature", 1):
                yield _anthropic(f"`{name}` is deprecated for this model.")

    def _faults_of_thinking(self, asked: Json, rules: Rules) -> Iterator[_Fault]:
        kind, effort = self._thinking(asked, rules), asked.get("output_config", {}).get("effort")
        if kind == "adaptive" and kind not in rules.types:
            yield _anthropic("adaptive thinking is not supported on this model")
        if kind not in (*rules.types, "unasked"):
            message = f'"thinking.type.{kind}" is not supported for this model. Use "thinking.type.adaptive" '
            yield _anthropic(f'{message}and "output_config.effort" to control thinking behavior.')
        if effort and not rules.efforts:
            yield _anthropic("This model does not support the effort parameter.")
        if effort and effort not in rules.efforts:
            message = f"This model does not support effort level '{effort}'. Supported levels: "
            yield _anthropic(f"{message}{', '.join(sorted(rules.efforts))}.")
        if rules.thinks and kind == "disabled" and effort in ("xhigh", "max"):
            yield _anthropic(f"output_config.effort '{effort}' is not supported when thinking is disabled.")
        if kind == "enabled" and asked["max_tokens"] <= asked["thinking"].get("budget_tokens", 0):
            yield _anthropic("`max_tokens` must be greater than `thinking.budget_tokens`.")
        if kind in ("enabled", "adaptive") and asked.get("tool_choice", {}).get("type") in ("any", "tool"):
            yield _anthropic("Thinking may not be enabled when tool_choice forces tool use.")
        if kind in ("enabled", "adaptive") and asked.get("temperature", 1) != 1:
            message = "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode."
            yield _anthropic(message)

    def _thinking(self, asked: Json, rules: Rules) -> str:
        return str(asked.get("thinking", {}).get("type", "unasked" if rules.thinks else "disabled"))

    def _blocks(self, asked: Json) -> list[tuple[str, bool]]:
        """Return the prompt's blocks in order, each with whether it is marked for the cache."""
        parts: list[Any] = list(asked.get("tools", ()))
        for content in [asked.get("system", []), *(each["content"] for each in asked.get("messages", ()))]:
            parts += [content] if isinstance(content, str) else content
        blocks = [(_text(part), isinstance(part, dict) and "cache_control" in part) for part in parts]
        return [*blocks[:-1], (blocks[-1][0], True)] if "cache_control" in asked else blocks

    def call(self, asked: Json, rules: Rules, spent: int) -> _Call:
        effort = asked.get("output_config", {}).get("effort", "medium")
        spent = 0 if self._thinking(asked, rules) == "disabled" else spent * _EIGHTHS[effort] // 8
        spent = min(spent, asked.get("thinking", {}).get("budget_tokens", spent))
        blocks = self._blocks(asked)
        ends = ["\n".join(text for text, _ in blocks[: end + 1]) for end in range(len(blocks))]
        marked = [end for end, (_, mark) in zip(ends, blocks, strict=True) if mark]
        kept = tuple(end for end in marked if _tokens(end) >= rules.cached_from)
        prefixes = tuple(end for end in ends if kept and len(end) <= len(kept[-1]))
        messages, stop = _messages(asked.get("system"), asked["messages"]), asked.get("stop_sequences", ())
        call = _Call(messages, ends[-1], spent, asked["max_tokens"], tuple(stop))
        return replace(call, prefixes=prefixes, kept=kept, scope=asked["model"])

    def answer(self, asked: Json, model: str, samples: _Samples, usage: Usage, written: int) -> Json:
        sample = samples[0]
        finish = {"stop": "end_turn", "length": "max_tokens"}.get(sample.finish, sample.finish)
        signed = {"type": "thinking", "thinking": "", "signature": hosted_tools.SIGNED}
        content: list[Json] = [signed] if sample.reasoning else []
        if sample.text:
            content.append(self._forced_tool(asked, sample.text) or {"type": "text", "text": sample.text})
        for call in sample.calls:
            given = json.loads(call.arguments)
            content.append({"type": "tool_use", "id": call.id, "name": call.name, "input": given})
        if content and content[-1]["type"] == "tool_use" and finish == "end_turn":
            finish = "tool_use"
        told: Json = {
            "input_tokens": usage.input - usage.cached - written,
            "cache_read_input_tokens": usage.cached,
            "cache_creation_input_tokens": written,
            "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
            "output_tokens": usage.output,
        }
        if "adaptive" in RULES["anthropic"][_named(model)].types:
            told["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content}
        return {**head, "stop_reason": finish, "stop_sequence": sample.stop, "usage": told}

    def _forced_tool(self, asked: Json, text: str) -> Json | None:
        """Return a call of the tool that the request forces, if the reply is JSON."""
        choice = asked.get("tool_choice", {})
        if choice.get("type") not in ("any", "tool"):
            return None
        try:
            given = json.loads(text)
        except ValueError:
            return None
        name = choice.get("name", asked["tools"][0]["name"])
        if not isinstance(given, dict):  # what a model gives a tool is an object
            schema = next(tool["input_schema"] for tool in asked["tools"] if tool["name"] == name)
            given = {schema["required"][0]: given}
        return {"type": "tool_use", "id": "toolu_1", "name": name, "input": given}


def _google(message: str, status: int = 400, kind: str = "INVALID_ARGUMENT") -> _Fault:
    return _Fault(status, {"error": {"code": status, "message": message, "status": kind}})


def _camel_case(fields: Json) -> Json:
    return {re.sub("_(.)", lambda found: found[1].upper(), name): value for name, value in fields.items()}


class _GenerateContent:
    """`POST /v1/models/NAME:generateContent`, or `/v1beta`."""

    provider = "google"
    keys = ("x-goog-api-key",)
    no_key = _google(
        "Method doesn't allow unregistered callers (callers without established identity). Please use API "
        "Key or other form of API consumer identity to call this API.",
        403,
        "PERMISSION_DENIED",
    )

    def faults(self, asked: Json, model: str, rules: Rules | None) -> Iterator[_Fault]:
        if rules is None:
            message = f"models/{model} is not found for API version v1beta, or is not supported for "
            yield _google(f"{message}generateContent.", 404, "NOT_FOUND")
            return
        for told in hosted_tools.faults_of_contents(
            asked, needs_signature=rules.thinks and bool(rules.efforts)
        ):
            yield _google(told)
        config, thinking = self._configs(asked)
        count = config.get("candidateCount", 1)
        if count > rules.candidates == 1:
            yield _google("Multiple candidates is not enabled for this model")
        if config.get("responseLogprobs"):
            yield _google(rules.no_logprobs)
        level = str(thinking.get("thinkingLevel", ""))
        if level and "thinkingBudget" in thinking:
            yield _google("You can only set only one of thinking budget and thinking level.")
        if level and not rules.efforts:
            yield _google("Thinking level is not supported for this model.")
        if level and level.lower() not in rules.efforts:
            message = f"Thinking level {level.upper()} is not supported for this model. "
            yield _google(f"{message}Please retry with other thinking level.")

    def _configs(self, asked: Json) -> tuple[Json, Json]:
        """Return the configurations of generation and of thinking, whose names may have underscores."""
        config = _camel_case(asked.get("generationConfig", {}))
        return config, _camel_case(config.get("thinkingConfig", {}))

    def call(self, asked: Json, rules: Rules, spent: int) -> _Call:
        config, thinking = self._configs(asked)
        spent = spent * _EIGHTHS[str(thinking.get("thinkingLevel", "medium")).lower()] // 8
        if thinking.get("thinkingBudget", -1) >= 0:
            spent = min(spent, thinking["thinkingBudget"])
        messages = _messages(asked.get("systemInstruction", {}).get("parts"), asked["contents"], "parts")
        stop, choices = tuple(config.get("stopSequences", ())), config.get("candidateCount", 1)
        return _Call(messages, _prompt(asked, messages), spent, config.get("maxOutputTokens"), stop, choices)

    def answer(self, asked: Json, model: str, samples: _Samples, usage: Usage, written: int) -> Json:
        candidates = []
        for index, sample in enumerate(samples):
            parts: list[Json] = [{"text": sample.text}] if sample.text else []
            for number, call in enumerate(sample.calls):
                given = {"name": call.name, "args": json.loads(call.arguments)}
                is_signed = sample.reasoning and not number
                parts.append(
                    {"functionCall": given} | ({"thoughtSignature": hosted_tools.SEALED} if is_signed else {})
                )
            content: Json = {"role": "model", **({"parts": parts} if parts else {})}
            finish = "MAX_TOKENS" if sample.finish == "length" else "STOP"
            candidates.append({"content": content, "finishReason": finish, "index": index})
        told = {
            "promptTokenCount": usage.input,
            "candidatesTokenCount": usage.output - usage.reasoning,
            "thoughtsTokenCount": usage.reasoning,
            "totalTokenCount": usage.input + usage.output,
        }
        told = {name: count for name, count in told.items() if count}  # Google leaves zeros out
        return {"candidates": candidates, "usageMetadata": told, "modelVersion": model}


_Api = _ChatCompletions | _Responses | _Messages | _GenerateContent
_PATHS: Mapping[str, _Api] = {
    "/v1/chat/completions": _ChatCompletions(),
    "/v1/responses": _Responses(),
    "/v1/messages": _Messages(),
}
_OF_GOOGLE, _GENERATE = re.compile(r"/v1(?:beta)?/models/(.+):generateContent"), _GenerateContent()


def _named(model: str) -> str:
    """Return a model's name without the date of a snapshot."""
    return re.sub(r"-\d{4}-?\d{2}-?\d{2}$", "", model)


class HostedServer(LocalServer):
    """Serves the hosted APIs on 127.0.0.1, by the RULES of the models.

    A list of replies is given in turn, the last again and again.
    """

    def __init__(
        self,
        reply: ReplyFunction | Sequence[str | Calls] = lambda asked: "ok",
        *,
        thinking: int = 800,
    ) -> None:
        super().__init__(_Handler)
        self._reply = reply if callable(reply) else in_turn(reply)
        self.thinking = thinking
        self._seen: dict[int, Seen] = {}
        self._arrived = self._called = 0
        self._cache: set[int] = set()
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """The root: the base address of Anthropic's and Google's clients, and the proxy's."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai_url(self) -> str:
        """The base address of OpenAI's clients, with /v1."""
        return f"{self.url}/v1"

    @property
    def requests(self) -> list[Seen]:
        """The requests that were answered, in order of arrival."""
        with self._lock:
            return [self._seen[arrival] for arrival in sorted(self._seen)]

    def forget(self) -> None:
        """Forget the requests and what was cached, as a new server would."""
        with self._lock:
            self._seen.clear()
            self._cache.clear()

    @property
    def served(self) -> list[Seen]:
        """The requests that got a reply."""
        return [seen for seen in self.requests if seen.status == 200]

    @property
    def refused(self) -> list[Seen]:
        """The requests that were refused for what they ask (400, or 403 as for logprobs)."""
        return [seen for seen in self.requests if seen.status in (400, 403)]

    def tokens(self, model: str | None = None) -> Usage:
        """Return the sums of the tokens of all replies, or of one model's."""
        told = [seen.usage for seen in self.served if seen.usage and model in (None, seen.model)]
        return Usage(*(sum(column) for column in zip(*told, strict=True)))

    def answer(self, path: str, headers: Mapping[str, str], body: Json) -> tuple[int, Json]:
        """Answer and record a request."""
        with self._lock:
            self._arrived += 1
            arrival = self._arrived
        of_google = _OF_GOOGLE.fullmatch(path)
        model = of_google[1] if of_google else str(body.get("model", ""))
        usage = error = None
        try:
            api = _GENERATE if of_google else _PATHS.get(path)
            if api is None:
                raise _Refused(_openai(f"Invalid URL (POST {path})", status=404))
            status, (reply, usage) = 200, self._served(api, model, headers, body)
        except _Refused as refused:
            status, reply = refused.args[0]
            error = reply
        with self._lock:
            self._seen[arrival] = Seen(path, model, body, headers, status, error, usage)
        return status, reply

    def _served(self, api: _Api, model: str, headers: Mapping[str, str], body: Json) -> tuple[Json, Usage]:
        if not any(headers.get(name, "").removeprefix("Bearer").strip() for name in api.keys):
            raise _Refused(api.no_key)
        asked = {name: value for name, value in body.items() if value is not None}
        rules = RULES[api.provider].get(_named(model))
        for fault in api.faults(asked, model, rules):
            raise _Refused(fault)
        if asked.get("stream"):
            raise _Refused(_openai("This stand-in does not stream.", status=501))
        assert rules is not None
        call = api.call(asked, rules, self.thinking if rules.thinks or rules.types else 0)
        samples = [
            self._sample(call, rules, Asked(model, call.messages, i, body)) for i in range(call.choices)
        ]
        with self._lock:
            found = [prefix for prefix in call.prefixes if hash((call.scope, prefix)) in self._cache]
            self._cache.update(hash((call.scope, prefix)) for prefix in call.kept)
        cached = max(map(_tokens, found), default=0)
        written = max(0, max(map(_tokens, call.kept), default=0) - cached)
        output, reasoning = sum(each.output for each in samples), sum(each.reasoning for each in samples)
        usage = Usage(_tokens(call.prompt), cached, output, reasoning)
        return api.answer(asked, model, samples, usage, written), usage

    def _sample(self, call: _Call, rules: Rules, asked: Asked) -> _Sample:
        room = None if call.limit is None else call.limit - call.thinking
        if room is not None and room <= 0:
            if rules.strict_limit:
                raise _Refused(_OpenAI.too_short)
            return _Sample("", "length", call.thinking + room, call.thinking + room)
        said, calls = self._reply(asked), tuple[Called, ...]()
        if isinstance(said, Calls):
            with self._lock:
                before, self._called = self._called, self._called + len(said.calls)
            calls, said = said.called(before), said.text
        text, finish, met = said, "stop", None
        if ends := [(text.find(stop), stop) for stop in call.stop if stop in text]:
            end, met = min(ends)
            text, finish = text[:end], "stop_sequence"
        if room is not None and _tokens(text) > room:
            text, finish, met = text[: room * 4], "length", None
        written = _tokens(text) + sum(_tokens(each.name + each.arguments) for each in calls)
        return _Sample(text, finish, call.thinking + written, call.thinking, met, calls)


class _Handler(JsonHandler):
    owner: HostedServer

    def do_GET(self) -> None:
        """List the models of OpenAI, as `GET /v1/models` does."""
        if self.lowered().get("authorization"):
            self.send(
                200, {"object": "list", "data": [{"id": name, "object": "model"} for name in RULES["openai"]]}
            )
        else:
            self.send(401, _OpenAI.no_key.body)

    def do_POST(self) -> None:
        self.send(*self.owner.answer(urlsplit(self.path).path, self.lowered(), self.body()))
