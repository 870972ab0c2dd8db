"""Read a model's text in a turn with tools: a call in words or in code, or an answer."""

import json
import re
from collections.abc import Collection
from difflib import get_close_matches

from chameleon.core.events import Step
from chameleon.core.plan_text import ARGUMENTS, NAMING
from chameleon.inventory import Inventory
from chameleon.text import FURTHER_QUESTION, as_name, unwrapped

# How a reply begins that is a call: with JSON, a tag, or name(.
_CALL = re.compile(r"[\s`]*(?:json\b[\s`]*)?(?:[\[{]|<tool_call>|([\w-]+)\s*\()")
# The name in a call: "name": "x", ["x", x( or x{ at the start of a line, or Action: x.
_CALL_NAME = re.compile(
    r"""["']name["']\s*:\s*["']([\w -]+)|\[\s*["']([\w -]+)["']"""
    r"""|^[^\w\n]*(?:action:\s*)?([\w-]+)[`*]*\s?[({]"""
    r"""|^[^\w\n]*action:\s*`?([\w-]+)""",
    re.IGNORECASE | re.MULTILINE,
)
_NAMES_A_MODULE = re.compile(r"""["'](?:module|tool|tool_name|function|action)["']\s*:\s*["']""")
LIKE_A_CALL = re.compile(
    r"""<tool_call>|[\[{]\s*["'{\[]|^[^\w\n]*action\s*:|\w\(\s*\w+\s*=""", re.I | re.MULTILINE
)
_CALL_KEY = re.compile(rf"""["'](?:{"|".join({*NAMING, *ARGUMENTS} - {"name"})})["']\s*:""")
ACTION = re.compile(r"^[^\w\n]*action[^\w\n]*:.*\n[^\w\n]*action.?input\b", re.IGNORECASE | re.MULTILINE)
WORDS = re.compile(r"[\w-]+")
ANSWER = re.compile(
    r"^[ \t*#_>]*(?:(?:the )?(?:final )?answer is|(?:final )?answer)[\s*_]*:[\s*_]*",
    re.IGNORECASE | re.MULTILINE,
)
_BARE_NUMBER = re.compile(r"[-−$€£]*\d[\d.,]*%?")  # with its sign, currency or percent
_ANSWER_KEY = re.compile(r"\{\s*[\"'](?:final[_ ])?(?:answer|result|response|output)[\"']\s*:", re.IGNORECASE)
# A query, not prose that starts with "Select": after FROM comes one word, then the end or a clause.
_SQL = re.compile(
    r"(?:SELECT|select)\s[^.]{1,400}?\s(?:FROM|from)\s+\w+\s*"
    r"(?:\Z|;|\)|(?:WHERE|ORDER|GROUP|LIMIT|JOIN|where|order|group|limit)\b)"
    r"|(?:WITH|with)\s+\w+\s+(?:AS|as)\s*\("
)
_BLOCK = re.compile(r"^[ \t]*```[ \t]*(\w*)[^\S\n]*\n(.*?)(?:^[ \t]*```|\Z)", re.MULTILINE | re.DOTALL)
_LANGUAGES = {"py": "python", "python3": "python", "sqlite": "sql", "sqlite3": "sql", "pandas": "python"}


def call_in_code(text: str, inventory: Inventory) -> tuple[Step, ...]:
    """Return the call in the first block of code, to the module that takes code in its language.

    "NAME: code" and a bare query also count. A block with no language belongs to the only such module.
    """
    modules = {code: name for name, each in inventory.present.items() if (code := each.traits.takes_code)}
    if not modules:
        return ()
    blocks = [(block.start(), block[1].lower(), block[2]) for block in _BLOCK.finditer(text)]
    bare = re.match(rf"\W*(?:({'|'.join(modules.values())})\W*:)?\s*(.*)", text, re.DOTALL)
    if bare and not blocks and (bare[1] or _SQL.match(bare[2])):
        language = inventory.modules[bare[1]].traits.takes_code if bare[1] else "sql"
        blocks = [(0, language, bare[2].strip("`"))]
    answer = ANSWER.search(text)
    for begin, language, code in blocks:
        if answer and text[answer.end() : begin].strip():
            return ()
        only = next(iter(modules.values())) if len(modules) == 1 and not language else None
        name = modules.get(_LANGUAGES.get(language, language), only)
        if name and code.strip():
            return (Step(name, {inventory.takes[name][0]: code.strip()}),)
    return ()


def is_arguments(text: str, inventory: Inventory) -> bool:
    """Return whether a reply is just the arguments of a call, or an SQL query."""
    arguments = {name for names in inventory.takes.values() for name in names}
    if _SQL.match(text):
        return not arguments.isdisjoint(("query", "sql"))
    try:
        data, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    signatures = (each for each in inventory.arguments.values() if each is not None)
    is_mapping = isinstance(data, dict) and bool(data)
    return is_mapping and any({*each.required} <= {*data} <= {*each.names} for each in signatures)


def is_written_call(text: str, names: Collection[str]) -> bool:
    """Return whether a reply in text contains a call, which should have been a native call."""
    if ACTION.search(text):
        return True
    if (begins := _CALL.match(text)) is not None:
        is_called = get_close_matches(as_name(begins[1] or ""), names, n=1, cutoff=0.75)  # or misspelled
        is_named = any(as_name(word) in names for word in WORDS.findall(text))
        if is_called or (begins[1] is None and ("<tool_call>" in text or is_named or _CALL_KEY.search(text))):
            return True
    called = (match[match.lastindex or 0] for match in _CALL_NAME.finditer(text))
    return any(as_name(name) in names for name in called) or _NAMES_A_MODULE.search(text) is not None


def answer_in(text: str) -> str:
    """Return the text after "Answer:" up to an empty line, or else the whole text, as an argument.

    A number followed by words after an empty line is returned by itself. Wrapping marks are removed.
    """
    text = FURTHER_QUESTION.split(text, maxsplit=1)[0]
    labels = [*ANSWER.finditer(text)]
    first, *rest = re.split(r"\n\s*\n", body := text[labels[-1].end() if labels else 0 :].strip())
    is_apart = _BARE_NUMBER.fullmatch(first) and not any(map(str.isdigit, "".join(rest)))
    answer = first if (labels and not first.endswith(":")) or is_apart else body
    answer = answer.removesuffix("**") if labels and answer.count("**") % 2 else answer
    answer = answer if answer[:1] in ("{", "[") and not _ANSWER_KEY.match(answer) else unwrapped(answer)
    return f"${answer}" if answer.startswith("$") else answer  # a literal dollar, not a reference
