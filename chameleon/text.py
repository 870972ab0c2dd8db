"""What all rooms do to text: keep secrets out of it, keep it on a line, name what is near, count tokens."""

from __future__ import annotations

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

_WRAPPED = re.compile(
    r"(?:```|~~~)\w*\n(.*?)\n(?:```|~~~)|<answer>(.*)</answer>|\$?\\boxed\{([^{}]*)\}\$?|`([^`]+)`"
    r"|\"([^\"]+)\"|“([^”]+)”|\*\*([^*]+)\*\*",
    re.DOTALL,
)
_MOST_WRAPS = 5
FURTHER_QUESTION = re.compile(r"(?<=\S)[^\S\n]*\n[^\S\n]*\n\s*(?:Question|Q)\s*:")
"""Where a model goes on after its answer with a question of its own making."""
_CALLED = re.compile(
    r"[a-z][\w.-]{2,}\(\s*[A-Za-z_]\w*\s*[=:][^()]*\)\Z"
    r"|\[?\s*\{\s*[\"'](?:name|module|tool|tool_name|function|action)[\"']\s*:[^{}]{0,80}"
    r",\s*[\"'](?:args|arguments|parameters|input|action_input)[\"']\s*:"
)
_UNKNOWN = re.compile(
    r"i (?:do not|don['’]t|cannot|can['’]t|can not) (?:know|tell|say|answer|determine)\b"
    r"|(?:it|this|that) (?:cannot|can['’]t|can not) be (?:determined|answered|told)\b"
    r"|(?:the )?(?:table|data|tools?|text) (?:does|do)(?: not|n['’]t) (?:say|tell|contain|hold|show|give)\b"
    r"|there is (?:no|not enough) (?:information|data)\b",
    re.IGNORECASE,
)
_GOES_ON, _LONGEST_DECLINE = re.compile(r"\b(?:but|however|though)\b", re.IGNORECASE), 200
_NO_NUMBER = re.compile(r"NaN|nan|[-−+]?(?:inf|Infinity|infinity|∞)")

_KEY_VARIABLE = re.compile(r"(^|_)API_?KEY$", re.IGNORECASE)
# PWD itself is the working folder.
_SECRET_VARIABLE = re.compile(
    r"(_KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|_PWD|(^|_)(PASS|PAT)|_AUTH|CREDS?|CREDENTIALS?)$",
    re.IGNORECASE,
)
# Values of secrets by their shape: a JSON Web Token, a private key, tokens of GitHub, GitLab, Slack and AWS.
_SHAPES = (
    r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:.|\n)*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    r"\bgithub_pat_\w{20,}",
    r"\bxox[a-z]-[\w-]{10,}",
    r"\b(?:sk|pk|rk|gsk|xai|hf|pplx|gh[oprsu]|glpat|nvapi)[-_][\w*-]{12,}",
    r"\bAIza[\w-]{30,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
)
_SHAPE = re.compile("|".join(_SHAPES))
_NUMBER = re.compile(r"\s*[+-]?[\d.,_]+\s*")
# The part of a value that is the secret: Azure's connection strings, passwords in addresses.
_SECRET_PARTS = re.compile(r"AccountKey=([^;\s]+)|://[^\s/?#@:]*:([^\s/?#@]+)@", re.IGNORECASE)
# Shorter values ("true", "none") are settings rather than secrets, and would blot out ordinary words.
_SHORTEST_KEY, _SHORTEST_SECRET, _SHORTEST_IN_REPLY = 4, 8, 12
# What people give a server of their own that asks for no key.
_NO_KEYS = frozenset(("anything", "dummy", "empty", "fake", "local", "none", "not-needed", "null", "test"))

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
    # As in "Incorrect API key provided: sk-…".
    (_SHAPE, MASK),
)


_SPACES = re.compile(r"\s+")
_BREAKS = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")

MAX_TEXT_TOKENS = 6_000
"""Of one text in a prompt, unless the inventory says otherwise: some eight printed pages."""

_LONGEST_TOKEN = 8  # characters, counted with a blank; a run of blanks counts as one token however long
_TOKEN = re.compile(
    r"[A-Za-z]{1,6}"  # names of people and places fall into pieces, common words do not
    r"|[0-9]{1,3}"
    r"| (?=[0-9])|[ ]{2,}|[\t\n\r]+"  # the space before a word or sign is part of its token
    r"|[!-/:-@\[-`{-~]{1,3}"
    r"|[^\x00-\x7f]"
)


def is_address(source: str) -> bool:
    """Tell whether this is the address of a database rather than a path."""
    return re.match(r"[a-z][\w+]+:/", source, re.IGNORECASE) is not None


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

    A server may echo the key into its reply. Values shorter than 12 characters, and numbers, are left, since
    words of an answer may equal the dummy keys of local servers.
    """
    for secret in secrets:
        if len(secret) >= _SHORTEST_IN_REPLY and not _NUMBER.fullmatch(secret):
            text = text.replace(secret, MASK)
    return text


def known_secrets(also: Iterable[str] = (), environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """List the secrets that we hold, the longest first: those in `also` and in environment variables.

    A variable holds one by its name, or by the shape of its value; a number is none.
    """
    secrets = {secret for secret in also if len(secret) >= _SHORTEST_KEY}
    secrets.update(*starmap(_held, (os.environ if environ is None else environ).items()))
    secrets |= {secret.strip() for secret in secrets if len(secret.strip()) >= _SHORTEST_KEY}
    return tuple(sorted((each for each in secrets if each.lower() not in _NO_KEYS), key=len, reverse=True))


@lru_cache(maxsize=1_000)  # each run looks at all variables
def _held(name: str, value: str) -> frozenset[str]:
    is_key = _KEY_VARIABLE.search(name) is not None
    shortest = _SHORTEST_KEY if is_key else _SHORTEST_SECRET
    is_named = (is_key or _SECRET_VARIABLE.search(name)) and not _NUMBER.fullmatch(value)
    whole = [value] if is_named or _SHAPE.search(value) else []
    parts = chain(whole, *_SECRET_PARTS.findall(value))
    return frozenset(part for part in parts if len(part) >= shortest)


def one_line(text: str, limit: int = 300) -> str:
    """Shorten text to one line of at most `limit` characters; redact first, or half a key may survive."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def html_rows(rows: Iterable[tuple[str, object]]) -> str:
    """Write names and what they are as a table of HTML, for notebooks; what is empty is left out."""
    filled = [(name, one_line(harmless(str(value)))) for name, value in rows if value not in (None, "", ())]
    cells = (f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in filled)
    return f"<table>{''.join(cells)}</table>"


def clean_cell(text: str) -> str:
    """Write a cell on one line: trimmed, tabs and line breaks as one space, other control characters dropped.

    Everything else is kept as it is. Half of a surrogate pair, which no file could hold, becomes U+FFFD.
    """
    text = text.strip()
    if text.isprintable():
        return text
    text = _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", _CONTROLS.sub("", text))
    return _SPACES.sub(lambda run: " " if _BREAKS.search(run[0]) else run[0], text).strip()


def harmless(text: str) -> str:
    """Return the text on one line with all that is invisible or steers a terminal replaced by U+FFFD."""
    return _visible(clean_cell(text))


def harmless_lines(text: str) -> str:
    """Make each line of a text harmless; its breaks and indents stay, tabs become spaces."""
    return text if text.isprintable() else "\n".join(map(_visible, text.expandtabs(4).split("\n")))


def _visible(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        " " if character.isspace() else character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )


def did_you_mean(name: str, names: Collection[str]) -> str:
    """Return a hint with the nearest valid name; "" when none is near."""
    by_form = {as_name(other): other for other in names}
    close = difflib.get_close_matches(as_name(name), by_form, n=1)
    return f"Did you mean {by_form[close[0]]!r}?" if close else ""


def nearest(name: str, names: Collection[str]) -> str:
    """Return a hint with the nearest valid name, or all of them when none is near."""
    if near := did_you_mean(name, names):
        return near
    listed = sorted(names)
    return f"There are: {', '.join(listed[:20])}{' …' if len(listed) > 20 else ''}."


def with_article(noun: str) -> str:
    """Return a noun with its article: "a list", "an int"; what is many has none."""
    article = "" if noun == "choices" else "an " if noun[:1].lower() in "aeio" else "a "
    return article + noun


def type_in_words(value: object) -> str:
    """Return the type of a value with its article: "an int"."""
    return with_article(type(value).__name__)


def shared_start(a: str, b: str) -> int:
    """Return how many characters two texts begin with alike, by bisection: comparing slices is fast."""
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

    Words count one for every six letters begun, numbers one for every three digits and one for the space
    before them, runs of signs one for every three, and every character beyond ASCII one. Against
    cl100k_base (GPT-3.5 and GPT-4), over the tables of WikiTQ, TabFact and FeTaQA in bars: the median of
    estimate by count is 1.00, 0.96 and 1.03, and nine tables in ten lie between 0.88 and 1.12. Prose, whose
    words are commoner, is over-estimated by a quarter.
    """
    return len(_TOKEN.findall(text))


def beginning(text: str, max_tokens: int) -> str:
    """Return the longest beginning of the text with at most so many estimated tokens, cut where a word ends.

    What lies beyond is not looked at, so a text of megabytes costs no more than its beginning.
    """
    part = text[: max_tokens * _LONGEST_TOKEN]
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
    r"""Return an answer without what it is wrapped in: fences, tags, JSON of one value, \boxed{}, quotes."""
    for _ in range(_MOST_WRAPS):
        text = text.strip()
        if wrapped := _WRAPPED.fullmatch(text):
            text = next(filter(None, wrapped.groups()), "")
        elif text.startswith(("{", "[")):
            text = _one_value(text) or text
    return text


def _one_value(text: str) -> str:
    """Return the one value of a JSON text, or its values with bars between; "" for another text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    while isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    values = value if isinstance(value, list) else [value]
    return " | ".join(map(str, values)) if all(isinstance(each, str | int | float) for each in values) else ""


def no_answer(text: str) -> str:
    """Say why what a model gives as its answer is none: the call of a tool, NaN; "" for one that may be."""
    plain = text.strip(" \t\n`*\"'.")
    if _NO_NUMBER.fullmatch(plain):
        return f"{plain} is no real number"
    return "the answer is the call of a tool" if _CALLED.match(plain) or plain == "<END>" else ""


def says_unknown(text: str) -> bool:
    """Tell whether an answer only says that there is none."""
    plain = text.strip(" \t\n*\"'“”")
    is_alone = len(plain) <= _LONGEST_DECLINE and not _GOES_ON.search(plain)
    return is_alone and _UNKNOWN.match(plain) is not None
