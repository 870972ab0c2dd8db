"""The hosted APIs as dialects of the stand-in: what each refuses, how it reads a request and words a reply.

They refuse in their own words where a client looks for some, else in short.
"""

import json
import re
from collections import namedtuple
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests import hosted_tools
from tests.loopback import chat_completion, chat_usage

Json = dict[str, Any]
Texts = tuple[tuple[str, str], ...]
Rows = Sequence[tuple[Any, ...]]
"""Of faults: whether each is there, and what the `error` of its API is made of."""


@dataclass(frozen=True)
class Rules:
    """What a model takes: at most `max_output` tokens of a reply, `efforts` (levels) of thinking.

    `thinks`: it thinks without being told to. OpenAI's: whether they take `tools` in chat completions while
    they think, the status that refuses `logprobs`, and whether it is an error that thinking uses a limit up.
    Claude's: `types` of thinking, `sampling` if they take any temperature, and the fewest tokens of a prompt
    that is cached. Gemini's: the most `candidates`.
    """

    max_output: int = 65536
    efforts: Sequence[str] = ()
    thinks: bool = False
    tools: bool = True
    logprobs: int = 400
    strict_limit: bool = False
    types: Sequence[str] = ()
    sampling: bool = True
    cached_from: int = 1024
    candidates: int = 1


# The hidden tokens of an effort, in eighths of what is spent by default.
_EIGHTHS = {"none": 0, "minimal": 1, "low": 2, "medium": 8, "high": 16, "xhigh": 32, "max": 64}
_MODELS = yaml.safe_load(Path(__file__).with_name("hosted_models.yaml").read_text("utf-8"))
RULES: Mapping[str, dict[str, Rules]] = {
    provider: {model: Rules(**rules) for model, rules in models.items()}
    for provider, models in _MODELS.items()
}


Usage = namedtuple("Usage", "input cached output reasoning", defaults=(0, 0, 0, 0))
"""Tokens of a reply: `cached` are among `input`, `reasoning` among `output`."""


class Refused(Exception):
    """Ends the work on a request by a status and the JSON of an error, its arguments."""


_ACCEPTED = "messages prompt thinking limit stop choices prefixes kept scope"
Accepted = namedtuple("Accepted", _ACCEPTED, defaults=((), 1, (), (), ""))
"""An accepted request. `prefixes` of its prompt may be in the cache of its `scope`, `kept` go into it."""


Sample = namedtuple("Sample", "text finish output reasoning stop calls", defaults=(None, ()))
"""One reply: `finish` is stop, stop_sequence (with the `stop` that was met) or length."""


def tokens(text: str) -> int:
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


def _messages(system: Any, messages: Sequence[Json], content: str = "content") -> Texts:
    roles = {"developer": "system", "model": "assistant"}
    told = [(str(each.get("role", "tool")), _text(each.get(content, each))) for each in messages]
    first = [("system", _text(system))] if system else []
    return (*first, *((roles.get(role, role), text) for role, text in told))


def _prompt(asked: Json, messages: Texts) -> str:
    return "\n".join([*map(_text, asked.get("tools", ())), *(text for _, text in messages)])


def _unsupported(name: str, hint: str = "", code: str | None = "unsupported_parameter") -> tuple[Any, ...]:
    return f"Unsupported parameter: '{name}' is not supported with this model.{hint}", name, code


def _no_effort(name: str, said: str, efforts: Sequence[str]) -> tuple[Any, ...]:
    listed = ", ".join(f"'{effort}'" for effort in efforts)
    return f"Unsupported value: {said}. Supported values are: {listed}.", name, "unsupported_value"


def _logprobs(text: str) -> Json:
    pieces = [text[start : start + 4] for start in range(0, len(text), 4)]
    rest: Json = {"logprob": -0.1, "bytes": None, "top_logprobs": []}
    return {"content": [{"token": piece, **rest} for piece in pieces], "refusal": None}


class OpenAI:
    """What both APIs of OpenAI share."""

    provider, keys = "openai", ("authorization",)
    no_key = "You didn't provide an API key.", None, None, 401
    too_short = "Could not finish the message because max_tokens or model output limit was reached."
    common = "model parallel_tool_calls prompt_cache_key store stream stream_options temperature tools top_p"

    @staticmethod
    def error(message: str, param: Any = None, code: Any = None, status: int = 400) -> Refused:
        error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
        return Refused(status, {"error": error})

    def call(
        self, asked: Json, messages: Texts, effort: str | None, spent: int, limit: int | None, **more: Any
    ) -> Accepted:
        prompt = _prompt(asked, messages)
        # Prefixes of 1,024 tokens and more are cached, in steps of 128.
        prefixes = tuple(prompt[:end] for end in range(4096, len(prompt) + 1, 512))
        more["scope"] = f"{asked['model']} {asked.get('prompt_cache_key')}"
        spent = spent * _EIGHTHS[effort or "medium"] // 8
        return Accepted(messages, prompt, spent, limit, prefixes=prefixes, kept=prefixes, **more)


class ChatCompletions(OpenAI):
    """`POST /v1/chat/completions`."""

    limits = "max_completion_tokens max_tokens"
    more = "messages n seed stop logprobs reasoning_effort response_format"
    fields = frozenset(f"{OpenAI.common} {limits} {more}".split())

    def faults(self, asked: Json, model: str, rules: Rules | None) -> Rows:
        if rules is None:
            message = f"The model `{model}` does not exist or you do not have access to it."
            return [(True, message, None, "model_not_found", 404)]
        thinks, effort = rules.thinks, asked.get("reasoning_effort", "medium")
        is_thinking, warmth = thinks and effort != "none", asked.get("temperature", 1)
        unknown = asked.keys() - self.fields
        limit = asked.get("max_completion_tokens") or asked.get("max_tokens") or 0
        unrecognized = [*unknown, *([] if thinks else asked.keys() & {"reasoning_effort"})]
        too_large = f"max_tokens is too large: {limit}. This model supports at most {rules.max_output}."
        no_effort = f"'reasoning_effort' does not support '{effort}'", rules.efforts
        not_warm = "'temperature' does not support this value. Only the default (1) value is supported."
        other_api = "Function tools with reasoning_effort are not supported here. Use /v1/responses instead."
        not_allowed = "You are not allowed to request logprobs from this model", None, None, 403
        no_logprobs = not_allowed if rules.logprobs == 403 else _unsupported("logprobs")
        other_limit = " Use 'max_completion_tokens' instead."
        return [
            *((thinks, f"Unknown parameter: '{name}'.", name, "unknown_parameter") for name in unknown),
            *((True, f"Unrecognized request argument supplied: {name}") for name in unrecognized),
            *hosted_tools.faults_of_chat(asked),
            (thinks and "max_tokens" in asked, *_unsupported("max_tokens", other_limit)),
            ({"max_tokens", "max_completion_tokens"} <= asked.keys(), "Both limits at once.", "max_tokens"),
            (limit > rules.max_output, too_large, "max_tokens", "invalid_value"),
            (thinks and "stop" in asked, *_unsupported("stop")),
            (thinks and effort not in rules.efforts, *_no_effort("reasoning_effort", *no_effort)),
            (is_thinking and warmth != 1, not_warm, "temperature", "unsupported_value"),
            (is_thinking and asked.get("top_p", 1) != 1, *_unsupported("top_p")),
            (is_thinking and asked.get("logprobs"), *no_logprobs),
            (is_thinking and "tools" in asked and not rules.tools, other_api, "reasoning_effort"),
        ]

    def read(self, asked: Json, rules: Rules, spent: int) -> Accepted:
        stop = asked.get("stop", ())
        more = {"stop": [stop] if isinstance(stop, str) else stop, "choices": asked.get("n", 1)}
        messages, effort = _messages(None, asked["messages"]), asked.get("reasoning_effort")
        limit = asked.get("max_completion_tokens", asked.get("max_tokens"))
        return self.call(asked, messages, effort, spent, limit, **more)

    def answer(self, asked: Json, model: str, samples: Sequence[Sample], usage: Usage, written: int) -> Json:
        choices = []
        for index, sample in enumerate(samples):
            finish = "length" if sample.finish == "length" else "tool_calls" if sample.calls else "stop"
            message: Json = {"role": "assistant", "content": sample.text, "refusal": None}
            if sample.calls:
                message["content"] = sample.text or None
                message["tool_calls"] = [
                    {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
                    for id, name, arguments in sample.calls
                ]
            logprobs = _logprobs(sample.text) if asked.get("logprobs") else None
            choice = {"index": index, "message": message, "finish_reason": finish, "logprobs": logprobs}
            choices.append(choice)
        cached, thoughts = {"cached_tokens": usage.cached}, {"reasoning_tokens": usage.reasoning}
        details = {"prompt_tokens_details": cached, "completion_tokens_details": thoughts}
        return chat_completion(model, choices, usage=chat_usage(usage.input, usage.output) | details)


class Responses(OpenAI):
    """`POST /v1/responses`."""

    fields = frozenset(f"{OpenAI.common} input include instructions max_output_tokens reasoning text".split())

    def faults(self, asked: Json, model: str, rules: Rules | None) -> Rows:
        if rules is None:
            return [(True, f"The requested model '{model}' does not exist.", "model", "model_not_found")]
        thinks, effort = rules.thinks, asked.get("reasoning", {}).get("effort")
        efforts = (*rules.efforts, "max") if "xhigh" in rules.efforts else rules.efforts
        no_effort = f"'{effort}' is not supported with the '{model}' model"
        is_thinking, unknown = thinks and effort != "none", asked.keys() - self.fields
        warm = [name for name in ("temperature", "top_p") if is_thinking and asked.get(name, 1) != 1]
        return [
            *((True, f"Unknown parameter: '{name}'.", name, "unknown_parameter") for name in unknown),
            *hosted_tools.faults_of_responses(asked),
            (effort and not thinks, *_unsupported("reasoning.effort")),
            (effort and effort not in efforts, *_no_effort("reasoning.effort", no_effort, efforts)),
            *((True, *_unsupported(name, code=None)) for name in warm),
        ]

    def read(self, asked: Json, rules: Rules, spent: int) -> Accepted:
        given, effort = asked["input"], asked.get("reasoning", {}).get("effort")
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        messages = _messages(asked.get("instructions"), items)
        return self.call(asked, messages, effort, spent, asked.get("max_output_tokens"))

    def answer(self, asked: Json, model: str, samples: Sequence[Sample], usage: Usage, written: int) -> Json:
        (sample,) = samples
        cut = sample.finish == "length"
        part: Json = {"type": "output_text", "text": sample.text, "annotations": []}
        message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
        thoughts: Json = {"type": "reasoning", "id": "rs_1", "summary": []}
        if "reasoning.encrypted_content" in asked.get("include", ()):
            thoughts["encrypted_content"] = hosted_tools.SEALED
        calls = [
            {"type": "function_call", "id": f"fc_{id}", "call_id": id, "name": name, "arguments": arguments}
            for id, name, arguments in sample.calls
        ]
        said = [{**message, "content": [part]}] if sample.text or not (cut or calls) else []
        told: Json = {"input_tokens": usage.input, "output_tokens": usage.output}
        told["total_tokens"] = usage.input + usage.output
        told["input_tokens_details"] = {"cached_tokens": usage.cached}
        told["output_tokens_details"] = {"reasoning_tokens": usage.reasoning}
        return {
            **{"id": "resp_1", "object": "response", "created_at": 1, "model": model, "error": None},
            **{"parallel_tool_calls": True, "tool_choice": "auto", "tools": []},
            "status": "incomplete" if cut else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "output": [*([thoughts] if sample.reasoning else []), *said, *calls],
            "usage": told,
        }


class Messages:
    """`POST /v1/messages`."""

    provider, keys = "anthropic", ("x-api-key", "authorization")
    no_key = "x-api-key header is required", 401, "authentication_error"
    common = "model messages system tools tool_choice stream cache_control temperature top_k top_p"
    fields = frozenset(f"{common} max_tokens stop_sequences thinking output_config".split())

    @staticmethod
    def error(message: str, status: int = 400, kind: str = "invalid_request_error") -> Refused:
        error = {"type": kind, "message": message}
        return Refused(status, {"type": "error", "error": error, "request_id": "req_1"})

    def faults(self, asked: Json, model: str, rules: Rules | None) -> Rows:
        if rules is None:
            return [(True, f"model: {model}", 404, "not_found_error")]
        if "max_tokens" not in asked:
            return [(True, "max_tokens: Field required")]
        kind, limit = self._thinking(asked, rules), asked["max_tokens"]
        budget, forced = asked.get("thinking", {}).get("budget_tokens", 1024), asked.get("tool_choice", {})
        effort = asked.get("output_config", {}).get("effort", "")
        is_told, efforts = kind in ("enabled", "adaptive"), ", ".join(sorted(rules.efforts))
        too_large = f"max_tokens: {limit} > {rules.max_output}, which is the maximum allowed number"
        no_kind = f'"thinking.type.{kind}" is not supported for this model.'
        no_effort = f"This model does not support effort level '{effort}'. Supported levels: {efforts}."
        both = "`temperature` and `top_p` cannot both be specified for this model."
        sampled = {name: asked[name] for name in ("temperature", "top_p", "top_k") if name in asked}
        old = [] if rules.sampling else sampled.items() - {("temperature", 1)}
        return [
            *((True, f"{name}: Extra inputs are not permitted") for name in asked.keys() - self.fields),
            (sum(mark for _, mark in self._blocks(asked)) > 4, "At most 4 blocks with cache_control"),
            *hosted_tools.faults_of_messages(asked, kind != "disabled"),
            (limit > rules.max_output, too_large),
            (kind not in (*rules.types, "unasked"), no_kind),
            (effort and not efforts, "This model does not support the effort parameter."),
            (effort and effort not in rules.efforts, no_effort),
            (rules.thinks and kind == "disabled" and effort in ("xhigh", "max"), no_kind),
            (budget < 1024 or (kind == "enabled" and limit <= budget), "budget_tokens: 1024 to `max_tokens`"),
            (is_told and forced.get("type") in ("any", "tool"), "Thinking with a forced tool_choice"),
            (is_told and sampled.get("temperature", 1) != 1, "`temperature` may only be set to 1."),
            (rules.sampling and {"temperature", "top_p"} <= asked.keys(), both),
            *((True, f"`{name}` is deprecated for this model.") for name, _ in old),
        ]

    def _thinking(self, asked: Json, rules: Rules) -> str:
        return str(asked.get("thinking", {}).get("type", "unasked" if rules.thinks else "disabled"))

    def _blocks(self, asked: Json) -> list[tuple[str, bool]]:
        """Return the prompt's blocks in order, each with whether it is marked for the cache."""
        parts: list[Any] = list(asked.get("tools", ()))
        for content in [asked.get("system", []), *(each["content"] for each in asked.get("messages", ()))]:
            parts += [content] if isinstance(content, str) else content
        blocks = [(_text(part), isinstance(part, dict) and "cache_control" in part) for part in parts]
        return [*blocks[:-1], (blocks[-1][0], True)] if "cache_control" in asked else blocks

    def read(self, asked: Json, rules: Rules, spent: int) -> Accepted:
        effort = asked.get("output_config", {}).get("effort", "medium")
        spent = 0 if self._thinking(asked, rules) == "disabled" else spent * _EIGHTHS[effort] // 8
        spent = min(spent, asked.get("thinking", {}).get("budget_tokens", spent))
        blocks = self._blocks(asked)
        ends = ["\n".join(text for text, _ in blocks[: end + 1]) for end in range(len(blocks))]
        marked = [end for end, (_, mark) in zip(ends, blocks, strict=True) if mark]
        kept = tuple(end for end in marked if tokens(end) >= rules.cached_from)
        prefixes = tuple(end for end in ends if kept and len(end) <= len(kept[-1]))
        messages, stop = _messages(asked.get("system"), asked["messages"]), asked.get("stop_sequences", ())
        limit, scope = asked["max_tokens"], asked["model"]
        return Accepted(messages, ends[-1], spent, limit, stop, 1, prefixes, kept, scope)

    def answer(self, asked: Json, model: str, samples: Sequence[Sample], usage: Usage, written: int) -> Json:
        (sample,) = samples
        finish = {"stop": "end_turn", "length": "max_tokens"}.get(sample.finish, sample.finish)
        signed = {"type": "thinking", "thinking": "", "signature": hosted_tools.SIGNED}
        content: list[Json] = [signed] if sample.reasoning else []
        if sample.text:
            content.append(self._forced_tool(asked, sample.text) or {"type": "text", "text": sample.text})
        for id, name, arguments in sample.calls:
            content.append({"type": "tool_use", "id": id, "name": name, "input": json.loads(arguments)})
        if content and content[-1]["type"] == "tool_use" and finish == "end_turn":
            finish = "tool_use"
        told: Json = {"input_tokens": usage.input - usage.cached - written, "output_tokens": usage.output}
        told |= {"cache_read_input_tokens": usage.cached, "cache_creation_input_tokens": written}
        if "adaptive" in RULES["anthropic"][model].types:
            told["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content}
        return {**head, "stop_reason": finish, "stop_sequence": sample.stop, "usage": told}

    def _forced_tool(self, asked: Json, text: str) -> Json | None:
        """Return a call of the tool that the request forces, if the reply is JSON."""
        choice, tools = asked.get("tool_choice", {}), {tool["name"]: tool for tool in asked.get("tools", ())}
        if choice.get("type") in ("any", "tool"):
            with suppress(ValueError):
                given, name = json.loads(text), choice.get("name", next(iter(tools)))
                if not isinstance(given, dict):  # what a model gives a tool is an object
                    given = {tools[name]["input_schema"]["required"][0]: given}
                return {"type": "tool_use", "id": "toolu_1", "name": name, "input": given}
        return None


def _camel_case(value: Any) -> Any:
    """Write names with underscores as Google does, in whatever they name as well."""
    if not isinstance(value, dict):
        return value
    return {re.sub("_(.)", lambda at: at[1].upper(), name): _camel_case(each) for name, each in value.items()}


class GenerateContent:
    """`POST /v1/models/NAME:generateContent`, or `/v1beta`."""

    provider, keys = "google", ("x-goog-api-key",)
    no_key = "Method doesn't allow unregistered callers. Please use API Key.", 403, "PERMISSION_DENIED"

    @staticmethod
    def error(message: str, status: int = 400, kind: str = "INVALID_ARGUMENT") -> Refused:
        return Refused(status, {"error": {"code": status, "message": message, "status": kind}})

    def faults(self, asked: Json, model: str, rules: Rules | None) -> Rows:
        if rules is None:
            message = f"models/{model} is not found, or is not supported for generateContent."
            return [(True, message, 404, "NOT_FOUND")]
        config = _camel_case(asked.get("generationConfig", {}))
        thinking = config.get("thinkingConfig", {})
        level = str(thinking.get("thinkingLevel", "")).lower()
        which = f" {level.upper()}" * bool(rules.efforts)
        signs, many = rules.thinks and bool(rules.efforts), config.get("candidateCount", 1) > rules.candidates
        return [
            *hosted_tools.faults_of_contents(asked, needs_signature=signs),
            (many, "Multiple candidates is not enabled for this model"),
            (config.get("responseLogprobs"), "Logprobs is not enabled for this model"),
            (level and "thinkingBudget" in thinking, "Only one of thinking budget and thinking level."),
            (level and level not in rules.efforts, f"Thinking level{which} is not supported."),
        ]

    def read(self, asked: Json, rules: Rules, spent: int) -> Accepted:
        config = _camel_case(asked.get("generationConfig", {}))
        thinking = config.get("thinkingConfig", {})
        spent = spent * _EIGHTHS[str(thinking.get("thinkingLevel", "medium")).lower()] // 8
        budget = thinking.get("thinkingBudget", -1)
        spent = spent if budget < 0 else min(spent, budget)
        messages = _messages(asked.get("systemInstruction", {}).get("parts"), asked["contents"], "parts")
        stop, choices = config.get("stopSequences", ()), config.get("candidateCount", 1)
        prompt, limit = _prompt(asked, messages), config.get("maxOutputTokens")
        return Accepted(messages, prompt, spent, limit, stop, choices)

    def answer(self, asked: Json, model: str, samples: Sequence[Sample], usage: Usage, written: int) -> Json:
        candidates = []
        for index, sample in enumerate(samples):
            parts: list[Json] = [{"text": sample.text}] if sample.text else []
            for number, call in enumerate(sample.calls):
                part: Json = {"functionCall": {"name": call.name, "args": json.loads(call.arguments)}}
                is_signed = sample.reasoning and not number
                parts.append(part | ({"thoughtSignature": hosted_tools.SEALED} if is_signed else {}))
            content: Json = {"role": "model", **({"parts": parts} if parts else {})}
            finish = "MAX_TOKENS" if sample.finish == "length" else "STOP"
            candidates.append({"content": content, "finishReason": finish, "index": index})
        told = {"promptTokenCount": usage.input, "candidatesTokenCount": usage.output - usage.reasoning}
        told |= {"thoughtsTokenCount": usage.reasoning, "totalTokenCount": usage.input + usage.output}
        told = {name: count for name, count in told.items() if count}  # Google leaves zeros out
        return {"candidates": candidates, "usageMetadata": told, "modelVersion": model}


Api = ChatCompletions | Responses | Messages | GenerateContent
_DIALECTS: Mapping[str, Api] = {
    "/chat/completions": ChatCompletions(),
    "/responses": Responses(),
    "/messages": Messages(),
    ":generateContent": GenerateContent(),
}


def dialect_of(path: str, body: Json) -> tuple[Api | None, str]:
    """Return the API at a path, and the model that is asked for."""
    found = re.fullmatch(r"/v1(?:beta)?(?:/models/([^:]+))?(\D+)", path)
    named, where = found.groups() if found else (None, path)
    return _DIALECTS.get(where), named or str(body.get("model", ""))
