"""Take secrets out of text before anybody reads it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

MASK = "***"

_KEY_VARIABLE = re.compile(r"_API_?KEY$", re.IGNORECASE)
_SECRET_VARIABLE = re.compile(r"(_KEY|_TOKEN|_SECRET|_PASSWORD|_CREDENTIALS?)$", re.IGNORECASE)
# Shorter values ("true", "none") are settings rather than secrets, and would blot out ordinary words.
_SHORTEST_KEY, _SHORTEST_SECRET, _SHORTEST_IN_REPLY = 4, 8, 12

_PATTERNS = (
    # Authorization: Bearer abc · "x-api-key": "abc" · api_key='abc'
    (
        re.compile(
            r"(?i)\b((?:proxy-)?authorization|(?:x-)?(?:goog-)?api[-_]?key|x-auth-token)"
            r"(\\?[\"']?\s*[:=]\s*\\?[\"']?)(?:(?:bearer|basic|token)\s+)?[^\s\"',;}\\]+"
        ),
        rf"\1\2{MASK}",
    ),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=*-]{8,}"), rf"\1 {MASK}"),
    # scheme://user:password@host
    (re.compile(r"(?i)(\b[a-z][a-z0-9+.-]*://)[^\s/?#\"'@]+(?:@[^\s/?#\"'@]+)*@"), rf"\1{MASK}@"),
    # ?api_key=abc · &access_token=abc
    (
        re.compile(
            r"(?i)([?&][\w.-]*(?:key|token|secret|password|passwd|signature|sig|auth)[\w.-]*=)[^&\s#\"']+"
        ),
        rf"\1{MASK}",
    ),
    # The shapes of well-known providers' keys, as in "Incorrect API key provided: sk-…".
    (re.compile(r"\b(?:sk|pk|rk|gsk|xai|hf|pplx|ghp|nvapi)[-_][\w*-]{12,}"), MASK),
    (re.compile(r"\bAIza[\w-]{30,}"), MASK),
)


def redact(text: str, *, also: Iterable[str] = (), environ: Mapping[str, str] | None = None) -> str:
    """Replace every secret in `text` by `***`.

    Secrets are the values of environment variables that are named like one (`*_API_KEY`, `*_TOKEN`, …),
    the strings in `also`, authorization headers, passwords in addresses, key-like query parameters and
    strings that are shaped like a provider's key.
    """
    for secret in known_secrets(also, environ):
        text = text.replace(secret, MASK)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


def mask_known(text: str, secrets: Iterable[str]) -> str:
    """Replace these secrets, and nothing else: for text that is somebody's answer.

    A server may echo the key into its reply. Values shorter than 12 characters are left, since words of an
    answer may equal the dummy keys of local servers.
    """
    for secret in secrets:
        if len(secret) >= _SHORTEST_IN_REPLY:
            text = text.replace(secret, MASK)
    return text


def known_secrets(also: Iterable[str] = (), environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The secrets that we hold ourselves, the longest first: those in `also` and in environment variables."""
    secrets = {secret for secret in also if len(secret) >= _SHORTEST_KEY}
    for name, value in (os.environ if environ is None else environ).items():
        is_key = _KEY_VARIABLE.search(name) is not None
        shortest = _SHORTEST_KEY if is_key else _SHORTEST_SECRET
        if len(value) >= shortest and (is_key or _SECRET_VARIABLE.search(name)):
            secrets.add(value)
    secrets |= {secret.strip() for secret in secrets if len(secret.strip()) >= _SHORTEST_KEY}
    return tuple(sorted(secrets, key=len, reverse=True))


def one_line(text: str, limit: int = 300) -> str:
    """Shorten text to one line of at most `limit` characters; redact first, or half a key may survive."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
