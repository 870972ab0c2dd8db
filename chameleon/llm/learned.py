"""What a server teaches of a model: by what it refuses, and by what it replies."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from chameleon import bridge
from chameleon.llm.capabilities import Capabilities
from chameleon.llm.failures import message_of, says_too_long, status_of
from chameleon.llm.message import Reply
from chameleon.llm.parameters import BUDGETS, Fitted, Learned
from chameleon.llm.refusals import OURS, Refusal, refusal_of
from chameleon.text import one_line, redact

IN_CHAT = "tools in chat completions"
_NOT_IN_CHAT = re.compile(r"function tools\b.*\buse /v1/responses", re.IGNORECASE | re.DOTALL)
_LEAST_SPARE = 1_024  # tokens; to try with less is not worth a request
_PATIENCE_S = 2.0  # a server refuses at once: who has not been refused by then is being answered


def learn_from_error(
    error: Exception,
    learned: Learned,
    known: Capabilities,
    fitted: Fitted,
    *,
    limit: int = 0,
    n: int = 1,
    secrets: Sequence[str] = (),
) -> Learned | None:
    """Return what is known once this error came; None where it is not about a parameter.

    Args:
        known: what is known of the model beforehand.
        fitted: the parameters that were sent.
        limit: the `max_tokens` that was asked for.
        n: how many samples were asked for.
        secrets: what is taken out of the server's words.
    """
    status = status_of(error)
    if status == 400 and IN_CHAT not in learned.without and _NOT_IN_CHAT.search(message_of(error)):
        return replace(learned, without=learned.without | {IN_CHAT})
    refusal = refusal_of(error, {*fitted.sent, *OURS})
    if status in (400, 413, 422) and says_too_long(message_of(error)):
        # Less room beyond the limit that is asked for: the context may have none for it.
        spare = fitted.sent.get("max_tokens", 0) - limit
        if spare <= 0:
            return learned
        less = spare // 4 if spare >= _LEAST_SPARE else 0
        return replace(learned, spare=less if learned.spare is None else min(learned.spare, less))
    if refusal is not None:
        return _learn_refusal(refusal, learned, known, fitted, secrets)
    if n > 1 and status in (400, 403, 422):
        # Whatever it is, that may be ours: each sample alone will tell.
        return replace(learned, without=learned.without | {"n"})
    return None


def _learn_refusal(
    refusal: Refusal, learned: Learned, known: Capabilities, fitted: Fitted, secrets: Sequence[str]
) -> Learned:
    name = refusal.name
    if name in OURS:
        return replace(learned, without=learned.without | {name})
    if refusal.limit_name and learned.limit_name != refusal.limit_name:
        return replace(learned, limit_name=refusal.limit_name)
    if refusal.most_output and fitted.sent[name] > refusal.most_output:
        return replace(learned, most_output=refusal.most_output)
    if name == "reasoning":
        effort = fitted.sent[name]
        is_of_value = refusal.efforts or effort == "none" or effort in refusal.said.lower()
        taken = refusal.efforts or learned.efforts or known.efforts or tuple(BUDGETS)
        left = tuple(each for each in taken if each not in learned.tried | {effort})
        if is_of_value and left and not refusal.is_unknown:
            thinks = learned.thinks or effort == "none"
            return replace(learned, efforts=left, tried=learned.tried | {effort}, thinks=thinks)
    said = "its client does not know it"
    if refusal.by_server:
        said = one_line(redact(refusal.said, also=secrets), 200)
    return replace(learned, refuses={**learned.refuses, name: said})


def learn_from_replies(
    messages: Sequence[Any], replies: Sequence[Reply], n: int, learned: Learned, fitted: Fitted
) -> Learned:
    """Return what is known once these came: whether the model thinks, or gives one sample at a time."""
    counted = [message.usage_metadata for message in messages if message.usage_metadata]
    has_thought = any((usage.get("output_token_details") or {}).get("reasoning") for usage in counted)
    if len(messages) < n and "n" not in learned.without:
        learned = replace(learned, without=learned.without | {"n"})
    is_spent = any(reply.truncated and not reply.text.strip() and not reply.tool_calls for reply in replies)
    if is_spent or (has_thought and "reasoning" not in fitted.sent):
        learned = replace(learned, thinks=True)
    return learned


class Probe:
    """Keeps many requests at once from being refused for the same reason.

    The first request with names that no request has succeeded with goes ahead; others with unproven names
    wait for its end, two seconds at most.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ahead: Future[None] | None = None
        self._proven: frozenset[str] = frozenset()

    @contextmanager
    def turn(self, names: frozenset[str]) -> Iterator[None]:
        """Wait for one's turn; the names are proven where the block ends without an exception."""
        mine = None if names <= self._proven else self._go_ahead(names)
        try:
            yield
            self._proven |= names
        finally:
            if mine is not None:
                self._ahead = None
                mine.set_result(None)

    def _go_ahead(self, names: frozenset[str]) -> Future[None] | None:
        """Wait for whoever is ahead; return what others wait for, where it is one's own turn to go ahead."""
        until = time.monotonic() + _PATIENCE_S
        while not names <= self._proven:
            with self._lock:
                if (ahead := self._ahead) is None:
                    self._ahead = ahead = Future()
                    return ahead
            try:
                bridge.result(ahead, max(0.0, until - time.monotonic()))
            except TimeoutError:
                break
        return None
