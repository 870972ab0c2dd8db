"""Text functions for every package: mask secrets, shorten to a line, suggest names, count tokens."""

import difflib
import json
import os
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from html import escape
from itertools import chain, islice, starmap

MASK = "***"

_WRAPPING = re.compile(
    r"(?:```|~~~)\w*\n(.*?)\n(?:```|~~~)|<answer>(.*)</answer>|\$?\\boxed\{([^{}]*)\}\$?|`([^`]+)`"
    r"|\"([^\"]+)\"|“([^”]+)”|\*\*([^*]+)\*\*",
    re.DOTALL,
)
_MAX_WRAPS = 5  # one inside another
FURTHER_QUESTION = re.compile(r"(?<=\S)[^\S\n]*\n[^\S\n]*\n\s*(?:Question|Q)\s*:")
"""Where a model continues after its answer with a made-up question."""
# The call of a tool, name(key=value), or the start of one as a JSON object.
_CALL = re.compile(
    r"[a-z][\w.-]{2,}\(\s*[A-Za-z_]\w*\s*[=:][^()]*\)\Z"
    r"|\[?\s*\{\s*[\"'](?:name|module|tool|tool_name|function|action)[\"']\s*:[^{}]{0,80}"
    r",\s*[\"'](?:args|arguments|parameters|input|action_input)[\"']\s*:"
)
_UNKNOWN_ANSWER = re.compile(
    r"i (?:do not|don['’]t|cannot|can['’]t|can not) (?:know|tell|say|answer|determine)\b"
    r"|(?:it|this|that) (?:cannot|can['’]t|can not) be (?:determined|answered|told)\b"
    r"|(?:the )?(?:table|data|tools?|text) (?:does|do)(?: not|n['’]t) (?:say|tell|contain|hold|show|give)\b"
    r"|there is (?:no|not enough) (?:information|data)\b",
    re.IGNORECASE,
)
# "I cannot say exactly, but …" is an answer.
_CONTRAST, _MAX_DECLINE_CHARS = re.compile(r"\b(?:but|however|though)\b", re.IGNORECASE), 200
_NON_NUMBER = re.compile(r"NaN|nan|[-−+]?(?:inf|Infinity|infinity|∞)")

_KEY_VARIABLE = re.compile(r"(^|_)API_?KEY$", re.IGNORECASE)
# PWD itself is the working directory, not a secret.
_SECRET_VARIABLE = re.compile(
    r"(_KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|_PWD|(^|_)(PASS|PAT)|_AUTH|CREDS?|CREDENTIALS?)$",
    re.IGNORECASE,
)
# Secrets by the shape of their value: JSON Web Tokens, private keys, tokens of GitHub, GitLab, Slack, AWS.
_SECRET_SHAPES = (
    r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:.|\n)*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    r"\bgithub_pat_\w{20,}",
    r"\bxox[a-z]-[\w-]{10,}",
    r"\b(?:sk|pk|rk|gsk|xai|hf|pplx|gh[oprsu]|glpat|nvapi)[-_][\w*-]{12,}",
    r"\bAIza[\w-]{30,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
)
_SECRET_SHAPE = re.compile("|".join(_SECRET_SHAPES))
_NUMBER = re.compile(r"\s*[+-]?[\d.,_]+\s*")
# The secret part of a value: in Azure's connection strings, passwords in addresses.
_SECRET_PARTS = re.compile(r"AccountKey=([^;\s]+)|://[^\s/?#@:]*:([^\s/?#@]+)@", re.IGNORECASE)
# Shorter values ("true", "none") are settings, not secrets, and masking them would hide ordinary words.
_MIN_KEY_CHARS, _MIN_SECRET_CHARS, _MIN_IN_REPLY_CHARS = 4, 8, 12
# Dummy keys for a local server that needs none.
_DUMMY_KEYS = frozenset(("anything", "dummy", "empty", "fake", "local", "none", "not-needed", "null", "test"))

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
    (re.compile(r"(?i)(\b[a-z][a-z0-9+.-]{0,30}://)[^\s/?#\"'@]+(?:@[^\s/?#\"'@]+)*@"), rf"\1{MASK}@"),
    # ?api_key=abc · &access_token=abc
    (
        re.compile(
            r"(?i)([?&][\w.-]{0,60}(?:key|token|secret|password|passwd|signature|sig|auth)[\w.-]{0,60}=)[^&\s#\"']+"
        ),
        rf"\1{MASK}",
    ),
    (re.compile(r"(?i)\b(AccountKey=)[^;\s]+"), rf"\1{MASK}"),
    # For example in "Incorrect API key provided: sk-…".
    (_SECRET_SHAPE, MASK),
)


_SPACES = re.compile(r"\s+")
_BREAKS = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")

MAX_TEXT_TOKENS = 6_000
"""The limit of one text in a prompt, unless the inventory sets another: about eight printed pages."""

_MAX_TOKEN_CHARS = 8  # with a space; a run of spaces counts as one token, however long
_TOKEN = re.compile(
    r"[A-Za-z]{1,6}"  # names of people and places split into pieces, common words do not
    r"|[0-9]{1,3}"
    r"| (?=[0-9])|[ ]{2,}|[\t\n\r]+"  # the space before a word or sign is part of its token
    r"|[!-/:-@\[-`{-~]{1,3}"
    r"|[^\x00-\x7f]"
)


def is_address(source: str) -> bool:
    """Return whether this is the address of a database rather than a path."""
    return re.match(r"[a-z][\w+]+:/", source, re.IGNORECASE) is not None


def redact(text: str, *, also: Iterable[str] = (), environ: Mapping[str, str] | None = None) -> str:
    """Replace every secret in `text` by `***`.

    Secrets are the values of environment variables named like one (`*_API_KEY`, `*_TOKEN`, …), authorization
    headers, passwords in addresses, key-like query parameters and strings shaped like a provider's key.

    Args:
        also: further secrets.
        environ: the variables to use instead of this process's.
    """
    for secret in known_secrets(also, environ):
        text = text.replace(secret, MASK)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


def mask_known(text: str, secrets: Iterable[str]) -> str:
    """Replace only these secrets, for text that is an answer.

    A server may echo the key in its reply. Values shorter than 12 characters, and numbers, are kept, because
    an answer may contain the same word as the dummy key of a local server.
    """
    for secret in secrets:
        if len(secret) >= _MIN_IN_REPLY_CHARS and not _NUMBER.fullmatch(secret):
            text = text.replace(secret, MASK)
    return text


def known_secrets(also: Iterable[str] = (), environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """List the known secrets, longest first: in `also` and in environment variables.

    A variable holds a secret by its name or by the shape of its value; a number never is one.
    """
    secrets = {secret for secret in also if len(secret) >= _MIN_KEY_CHARS}
    secrets.update(*starmap(_secrets_in, (os.environ if environ is None else environ).items()))
    secrets |= {secret.strip() for secret in secrets if len(secret.strip()) >= _MIN_KEY_CHARS}
    return tuple(sorted((each for each in secrets if each.lower() not in _DUMMY_KEYS), key=len, reverse=True))


@lru_cache(maxsize=1_000)  # each run checks all variables
def _secrets_in(name: str, value: str) -> frozenset[str]:
    is_key = _KEY_VARIABLE.search(name) is not None
    min_chars = _MIN_KEY_CHARS if is_key else _MIN_SECRET_CHARS
    is_named = (is_key or _SECRET_VARIABLE.search(name)) and not _NUMBER.fullmatch(value)
    values = [value] if is_named or _SECRET_SHAPE.search(value) else []
    parts = chain(values, *_SECRET_PARTS.findall(value))
    return frozenset(part for part in parts if len(part) >= min_chars)


def one_line(text: str, limit: int = 300) -> str:
    """Shorten text to one line of at most `limit` characters; redact first, or half a key may remain."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def html_rows(rows: Iterable[tuple[str, object]]) -> str:
    """Write names and values as an HTML table for notebooks, skipping empty values."""
    filled = [(name, one_line(harmless(str(value)))) for name, value in rows if value not in (None, "", ())]
    cells = (f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in filled)
    return f"<table>{''.join(cells)}</table>"


def clean_cell(text: str) -> str:
    """Write a cell on one line: trimmed, tabs and line breaks as one space, other control characters dropped.

    Everything else is unchanged. Half a surrogate pair, which no file could hold, becomes U+FFFD.
    """
    text = text.strip()
    if text.isprintable():
        return text
    text = _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", _CONTROLS.sub("", text))
    return _SPACES.sub(lambda run: " " if _BREAKS.search(run[0]) else run[0], text).strip()


def harmless(text: str) -> str:
    """Return the text on one line, with invisible and terminal control characters replaced by U+FFFD."""
    return _visible(clean_cell(text))


def harmless_lines(text: str) -> str:
    """Make each line of a text harmless; line breaks and indents stay, tabs become spaces."""
    return text if text.isprintable() else "\n".join(map(_visible, text.expandtabs(4).split("\n")))


def _visible(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        " " if character.isspace() else character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )


def did_you_mean(name: str, names: Collection[str]) -> str:
    """Return a hint with the nearest valid name, or "" if none is near."""
    by_form = {as_name(other): other for other in names}
    close = difflib.get_close_matches(as_name(name), by_form, n=1)
    return f"Did you mean {by_form[close[0]]!r}?" if close else ""


def nearest(name: str, names: Collection[str]) -> str:
    """Return a hint with the nearest valid name, or all of them if none is near."""
    if hint := did_you_mean(name, names):
        return hint
    options = sorted(names)
    return f"There are: {', '.join(options[:20])}{' …' if len(options) > 20 else ''}."


def with_article(noun: str) -> str:
    """Return a noun with its article: "a list", "an int"; plurals have none."""
    article = "" if noun == "choices" else "an " if noun[:1].lower() in "aeio" else "a "
    return article + noun


def type_in_words(value: object) -> str:
    """Return the type of a value with its article: "an int"."""
    return with_article(type(value).__name__)


def shared_start(a: str, b: str) -> int:
    """Return how many leading characters two texts share, by bisection, because comparing slices is fast."""
    lengths = range(1, min(len(a), len(b)) + 1)
    return bisect_left(lengths, True, key=lambda length: a[:length] != b[:length])


def as_name(name: str) -> str:
    """Write a name in snake_case: "Row-Lookup " as `row_lookup`."""
    return re.sub(r"[^a-z0-9]+", "_", snake_case(name.strip())).strip("_")


def snake_case(name: str) -> str:
    """Write `RowLookup` as `row_lookup`, `LLMFilter` as `llm_filter`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def estimated_tokens(text: str) -> int:
    """Estimate the tokens that a GPT-like model counts in a table written as text, without a tokenizer.

    Words count one for every six letters, numbers one for every three digits and one for the space before
    them, runs of punctuation one for every three, and every non-ASCII character one. Compared with
    cl100k_base (GPT-3.5 and GPT-4), over the tables of WikiTQ, TabFact and FeTaQA with bars: the median ratio
    of estimate to count is 1.00, 0.96 and 1.03, and nine tables in ten are between 0.88 and 1.12. Prose, with
    more common words, is over-estimated by a quarter.
    """
    return len(_TOKEN.findall(text))


def beginning(text: str, max_tokens: int) -> str:
    """Return the longest start of the text with at most `max_tokens` estimated tokens, cut at a word's end.

    The rest is not read, so a text of megabytes costs no more than its start.
    """
    part = text[: max_tokens * _MAX_TOKEN_CHARS]
    over = next(islice(_TOKEN.finditer(part), max_tokens, None), None)
    part = part[: over.start()] if over else part
    if len(part) == len(text):
        return text
    if not (part[-1:].isspace() or text[len(part)].isspace()):
        words = part.rsplit(maxsplit=1)
        part = words[0] if len(words) == 2 else part
    return part.rstrip()


def counted(number: int, name: str) -> str:
    """Write a number with its noun: "1 problem", "2,000 problems", "3 replies"."""
    several = f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    return f"{number:,} {name if number == 1 else several}"


def unwrapped(text: str) -> str:
    r"""Return an answer without its wrapping: fences, tags, JSON of one value, \boxed{}, quotes."""
    for _ in range(_MAX_WRAPS):
        text = text.strip()
        if wrapped := _WRAPPING.fullmatch(text):
            text = next(filter(None, wrapped.groups()), "")
        elif text.startswith(("{", "[")):
            text = _one_value(text) or text
    return text


def _one_value(text: str) -> str:
    """Return the single value of a JSON text, or its values joined with bars; "" for other text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    while isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    values = value if isinstance(value, list) else [value]
    return " | ".join(map(str, values)) if all(isinstance(each, str | int | float) for each in values) else ""


def no_answer(text: str) -> str:
    """Say why a model's text cannot be an answer (a tool call, NaN), or return "" if it may be one."""
    plain = text.strip(" \t\n`*\"'.")
    if _NON_NUMBER.fullmatch(plain):
        return f"{plain} is not a real number"
    return "the answer is the call of a tool" if _CALL.match(plain) or plain == "<END>" else ""


def says_unknown(text: str) -> bool:
    """Return whether an answer only says that there is no answer."""
    plain = text.strip(" \t\n*\"'“”")
    is_all = len(plain) <= _MAX_DECLINE_CHARS and not _CONTRAST.search(plain)
    return is_all and _UNKNOWN_ANSWER.match(plain) is not None
