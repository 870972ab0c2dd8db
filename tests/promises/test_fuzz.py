"""No mutated input makes a reader of plans, replies, tables, YAML, logs or servers hang or fail."""

import asyncio
import atexit
import gzip
import io
import json
import shutil
import signal
import sqlite3
import sys
import tempfile
import zipfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, AnyStr

import pytest

from chameleon import Inventory
from chameleon.core.llm_module import LLMModule
from chameleon.core.log import EventLog, event_from_json, read_line
from chameleon.core.state import State
from chameleon.errors import ChameleonError
from chameleon.inventory.building import spec_of
from chameleon.inventory.source import GRID, INVENTORY, read_source, shipped_inventories
from chameleon.llm.openai_chat import _collected
from chameleon.llm.openai_replies import StatusError, messages_in
from chameleon.llm.parse_reply import parse_reply
from chameleon.llm.prices import Pricing
from chameleon.table import Table
from chameleon.table.readers import read_tables
from tests.benchmarks.shared_data import DATA, rows
from tests.conftest import PROFILE
from tests.e2e.commands import ROOT
from tests.evaluation.folders import evaluate

CASES = {"modules": 15, "yaml": 15, "table_files": 40, "table_texts": 60}
OTHERS = 150
ROUNDS = 20 if PROFILE == "thorough" else 1
MAX_SECONDS = 5


MAX_CHARS = 100_000
TIMES = (1, 1, 1, 1, 2, 3, 60, 5000)
NUMBERS = (0, -1, 1, 2**31, 2**63, 2**64, 10**400, 10**5000, 0.1, -0.0, 1e308, float("nan"), float("inf"))


@dataclass(frozen=True)
class Target:
    """What is fuzzed: an input is drawn, then read, which may raise `errors` alone."""

    draw: Callable[[Random], Any]
    read: Callable[[Any], object]
    errors: tuple[type[BaseException], ...] = (ChameleonError,)


def mutated(random: Random, examples: Sequence[AnyStr], tokens: Sequence[AnyStr]) -> AnyStr:
    """Return an example with parts of it left out, repeated or replaced: by a token, or of another one."""
    text = random.choice(examples)
    for _ in range(random.choice((0, 1, 1, 2, 3, 6))):
        start, end = sorted(random.randint(0, len(text)) for _ in range(2))
        end = random.choice((start, min(end, start + 8), end))
        other = random.choice(examples)
        begin = random.randint(0, len(other))
        piece = random.choice((random.choice(tokens), text[start:end], other[begin : begin + 40], text[:0]))
        text = (text[:start] + (piece * random.choice(TIMES))[:MAX_CHARS] + text[end:])[:MAX_CHARS]
    return text


def wild(random: Random, texts: Sequence[str], depth: int = 0) -> Any:
    """Return any value that JSON can hold, now and then one that it should not."""
    if random.random() < 0.01:
        levels = random.choice((50, 300, 700))
        return json.loads("[" * levels + "]" * levels)
    kind = random.randrange(4 if depth > 3 else 6)
    if kind < 4:
        text = random.choice(("", random.choice(texts), mutated(random, texts, TOKENS)))
        return random.choice((random.choice((None, True, False)), random.choice(NUMBERS), text, text))
    items = [wild(random, texts, depth + 1) for _ in range(random.randrange(4))]
    return items if kind == 4 else {random.choice(texts)[:50]: item for item in items}


def bent(random: Random, data: Any, texts: Sequence[str]) -> Any:
    if random.random() < 0.04:
        return wild(random, texts)
    if isinstance(data, dict):
        return {key: bent(random, value, texts) for key, value in data.items() if random.random() > 0.03}
    return [bent(random, value, texts) for value in data] if isinstance(data, list) else data


def written(data: Any, write: Callable[[Any], str] = repr) -> bytes:
    """Return data as bytes, integers of any length among them."""
    digits = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return data if isinstance(data, bytes) else write(data).encode("utf-8", "surrogatepass")
    except RecursionError:
        return b"[" * 5000
    finally:
        sys.set_int_max_str_digits(digits)


TOKENS = (
    *("[", "]", "{", "}", "(", ")", '"', "'", "`", "```", "\n", "\n\n", "\r", "\t", " ", ",", ":", "|", "->"),
    *("#", "%", "$", "-", "*", "\\", "/", "<", ">", "&", "=", ".", "1.", "0", "9", "1e999", "NaN", "null"),
    *("\0", "\x1b[31m", "\u202e", "\ud800", "\ufeff", "ß", "İ", "²", "½", "٣", "๓", "𝟘", "Ⅷ", "é", "中"),
    *("Year", "Points", "Venue (city)", "Oslo", "f_col([", "SELECT `Year` FROM w", "df['Points'].sum()"),
    *("The answer is ", "Answer: ", "SELECT ", "f_row(", "row 1", "yes", "no", "and ", "\\boxed{", "&#0;"),
)

TABLE = Table(["Year", "Venue (city)", "Points"], [["2019", "Oslo", "1,200"], ["2020", "Lima | x", "–"]])
PROMPTS = sorted((ROOT / "prompts").rglob("*.md"))
REPLIES = [part for path in PROMPTS for part in path.read_text("utf-8").split("\n\n")]
"""Parts of every prompt: tables, programs, plans and answers in all forms that modules read."""
as_json = partial(written, write=json.dumps)  # also what JSON cannot hold


def folder() -> Path:
    made = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


def modules() -> Target:
    """Everything that asks a model, in all inventories that are shipped, once each; with recorded replies."""
    examples = REPLIES
    if (DATA / "tabfact").is_dir():
        examples = [*REPLIES * 9, *(str(row["output"]) for row in rows("tabfact/recorded.jsonl")[:300])]
    every = [module for name in shipped_inventories() for module in Inventory.load(name).modules.values()]
    asking = {type(module): module for module in every if isinstance(module, LLMModule)}
    given = {"question": "Which year had more points?", "table": TABLE, "other": TABLE, "choices": ("a", "b")}
    state = State().with_fields(input=given, cache={"cloze": ("In {which?} it was.",), "candidates": ()})

    def read(text: str) -> None:
        for module in asking.values():
            with suppress(ChameleonError):
                module.interpret(text, state)

    return Target(lambda random: mutated(random, examples, TOKENS), read)


def table_texts() -> Target:
    examples = [b'[{"a": 1, "b": [2]}, {"c": {"d": null}}]', b'{"a": 1}\n{"b": 2}\n', b"a;b\n1;2\n"]
    examples.append(b"\xff\xfea\0")
    examples += [text.encode() for text in REPLIES]
    examples += [path.read_bytes() for path in sorted((DATA / "everyday/tables").glob("*.csv"))]
    tokens = [token.encode("utf-8", "surrogatepass") for token in TOKENS]

    def draw(random: Random) -> tuple[bytes, str]:
        kind = random.choice(("csv", "tsv", "json", "jsonl", "md", "txt", ""))
        return mutated(random, examples, tokens), kind

    return Target(draw, lambda given: list(read_tables(given[0].replace(b"<", b"("), f"x.{given[1]}")))


def table_files() -> Target:
    """Pages, workbooks and databases: they are read in a process of their own, where any error is told."""
    page = b"<h2>T</h2><table><tr><th colspan=2>A<sup>1</sup></th></tr><tr><td rowspan=3>1<td>2 &amp;</table>"
    tokens = b"""<td> <table> </table> colspan="999" rowspan="0" <sup> <!-- &#x0; <row_r="99999"> ]]> &x; <c>
    <c_r="XFD1"_t="s"><v>9</v></c> \0 \xff </row> 1""".replace(b"_", b" ").split()
    book, base = io.BytesIO(), sqlite3.connect(":memory:")
    made = import_module("openpyxl").Workbook()
    for row in (["A", "B"], [1, 2.5], ["x", None], ["=A1", True]):
        made.worksheets[0].append(row)
    made.save(book)
    parts = {name: zipfile.ZipFile(book).read(name) for name in zipfile.ZipFile(book).namelist()}
    base.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (x'ff'); CREATE VIEW v AS SELECT * FROM t")
    database = base.serialize()

    def draw(random: Random) -> tuple[bytes, str]:
        kind = random.choice(("html", "xlsx", "xlsx", "db", "gz"))
        if kind == "xlsx":
            changed = random.choice(list(parts))
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w") as archive:
                for name, data in parts.items():
                    archive.writestr(name, mutated(random, [data], tokens) if name == changed else data)
            whole = packed.getvalue()
            return (mutated(random, [whole], tokens) if random.random() < 0.1 else whole), kind
        if kind == "db":
            return mutated(random, [database], [b"\0", b"\xff", b"\x7f", b"t"]), kind
        data = mutated(random, [page], tokens)
        return (mutated(random, [gzip.compress(data)], tokens), kind) if kind == "gz" else (data, kind)

    return Target(draw, lambda given: list(read_tables(given[0], f"x.{given[1]}")), (Exception,))


def yaml() -> Target:
    examples = [file.read_text("utf-8") for kind in (INVENTORY, GRID) for file in kind.shipped.values()]
    tokens = (
        *("&a ", "*a", "<<: ", "? ", "!!python/name:os.system ", "!!binary ", "!!timestamp x", "!!set "),
        *("- ", "\n", "  ", "\t", "extends: wikitq\n", "modules:\n", "rules: ", "budget: ", "llm: "),
        *("input: ", "null", "~", "|", ">", "%", "@", ": ", "[", "{", "'", '"', "1e999", ".nan", "0x"),
        *("1:2", "2020-99-99", "\0", "\x85"),
    )
    path = folder() / "mine.yaml"

    def read(text: str) -> None:
        path.write_text(text, "utf-8", errors="surrogatepass")
        for kind in (INVENTORY, GRID):
            with suppress(ChameleonError):
                kind.read(path)
        spec_of(read_source(str(path)))

    return Target(lambda random: mutated(random, examples, tokens), read)


def bent_lines(random: Random, lines: Sequence[bytes]) -> bytes:
    """Return lines of JSON, of which some are other JSON, left out, repeated, or torn."""
    kept = (line for line in lines if random.random() > 0.03)
    drawn = ((each, random.random() < 0.3) for each in kept)
    new = (as_json(bent(random, json.loads(each), REPLIES)) if is_bent else each for each, is_bent in drawn)
    whole = b"\n".join(line.rstrip(b"\n") for line in new) + b"\n"
    return mutated(random, [whole], [b"\n", b"{", b'"', b"\xff", b"1"]) if random.random() < 0.2 else whole


def logs() -> Target:
    path = folder() / "log.jsonl"
    evaluate(path.parent / "run")
    lines = gzip.decompress((path.parent / "run/events.jsonl.gz").read_bytes()).splitlines()
    first = [line for line in lines if json.loads(line)["id"] == json.loads(lines[0])["id"]]
    events = [as_json({k: v for k, v in json.loads(line).items() if k != "id"}) for line in first]

    def read(data: bytes) -> None:
        for line in data.splitlines(keepends=True):
            with suppress(ValueError, RecursionError, ChameleonError):
                event_from_json(read_line(line))
        path.unlink(missing_ok=True)
        path.write_bytes(data)
        log = EventLog(path)
        log.close()
        State.fold(log.events)

    return Target(lambda random: bent_lines(random, events), read)


def servers() -> Target:
    tokens: dict[str, Any] = {"content": [{"token": "hi", "logprob": -0.1, "top_logprobs": []}]}
    counts: dict[str, Any] = {"prompt_tokens": 3, "completion_tokens": 2, "cost": 0.1}
    counts["prompt_tokens_details"] = {"cached_tokens": 1}
    message = {"role": "assistant", "content": [{"type": "text", "text": "hi"}], "refusal": "no"}
    choice = {"message": message, "finish_reason": "stop", "logprobs": tokens}
    reply = {"id": "x", "model": "m", "choices": [choice, choice], "usage": counts}
    delta = {"delta": {"content": "hi"}, "finish_reason": None, "logprobs": tokens}
    piece = {"choices": [delta], "usage": counts}

    def draw(random: Random) -> tuple[bytes, list[bytes]]:
        pieces = [as_json(bent(random, piece, REPLIES)) for _ in range(3)]
        lines = [b"data: " + line + b"\n" for line in (*pieces, b"[DONE]") if random.random() > 0.1]
        return as_json(bent(random, reply, REPLIES)), lines

    async def one_by_one(lines: Sequence[bytes]) -> AsyncIterator[bytes]:
        for line in lines:
            yield line

    def read(given: tuple[bytes, list[bytes]]) -> None:
        streamed: Any = SimpleNamespace(content=one_by_one(given[1]))
        wholes = (json.loads, given[0]), (lambda pieces: asyncio.run(_collected(pieces, print)), streamed)
        for answered, sent in wholes:
            with suppress(ValueError, RecursionError, ConnectionError, StatusError, ChameleonError):
                for said in messages_in(answered(sent)):
                    parse_reply(said, Pricing("openai:gpt-4o"), stops=("\n\n",), secrets=("sk-1",))

    return Target(draw, read)


_EVERY = (modules, table_texts, table_files, yaml, logs, servers)
TARGETS = {made.__name__: made for made in _EVERY}


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_is_a_finding(name: str) -> None:
    """An input is made from the target's name and its number, which a failure shows."""

    def ring(*_: object) -> None:
        pytest.fail(f"it took more than {MAX_SECONDS} s")

    before, target = signal.signal(signal.SIGALRM, ring), TARGETS[name]()
    try:
        for number in range(CASES.get(name, OTHERS) * ROUNDS):
            data = target.draw(Random(f"{name}:{number}"))
            signal.alarm(MAX_SECONDS)
            try:
                target.read(data)
            except target.errors:
                pass
            except BaseException as error:
                error.add_note(f"{name}:{number}: {written(data)[:2000]!r}")
                raise
            finally:
                signal.alarm(0)
    finally:
        signal.signal(signal.SIGALRM, before)
