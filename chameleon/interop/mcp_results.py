"""The result of a server's tool as a run keeps it: text, JSON, a table, or a picture in a file."""

import base64
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chameleon.core.masking import masked
from chameleon.errors import ChameleonError, ModuleError, StepRejected
from chameleon.table.bars import has_bar, is_rule
from chameleon.table.readers import read_table
from chameleon.table.replies import parse_table
from chameleon.text import clean_cell, mask_known, one_line

_PICTURES = {b"\x89PNG\r\n\x1a\n": ".png", b"\xff\xd8\xff": ".jpg", b"GIF8": ".gif", b"RIFF": ".webp"}
_TABLES = {"text/csv": "csv", "text/tab-separated-values": "tsv"}
_MAX_ERROR_CHARS = 1_000


def output_of(result: Mapping[str, Any], secrets: Sequence[str]) -> Any:
    """Return the output of a step from the JSON result of `tools/call`, with these secrets masked.

    Structured content takes precedence over text; one value is returned by itself, several as a list.

    Raises:
        StepRejected: if the tool failed; the message is the server's.
        ModuleError: if the result is nested too deeply, or a picture or file cannot be read.
    """
    content, structured = result.get("content") or [], result.get("structuredContent")
    items = content if isinstance(content, list) else [content]
    blocks = [each if isinstance(each, dict) else {"type": "text", "text": each} for each in items]
    if result.get("isError"):
        words = " ".join(clean_cell(_text(each)) for each in blocks).strip()
        if not words and structured:
            words = json.dumps(masked(structured, secrets), default=dict, ensure_ascii=False)
        words = one_line(mask_known(words, secrets), _MAX_ERROR_CHARS)
        raise StepRejected(words or "the tool failed without saying why")
    if isinstance(structured, dict) and [*structured.values()] == [content]:
        structured = None  # a copy of the blocks, with pictures as base64
    texts = [_text(block) for block in blocks if block.get("type") == "text"]
    values: list[Any] = []
    if structured is not None:
        is_wrapped = isinstance(structured, dict) and structured.keys() == {"result"}
        values.append(structured["result"] if is_wrapped else structured)
    elif texts:
        values.append(_read("\n\n".join(texts)))
    values += [_value_of(block) for block in blocks if block.get("type") != "text"]
    try:
        return masked(values[0] if len(values) == 1 else values or "", secrets)
    except RecursionError as problem:
        raise ModuleError("the server sent a result that is nested too deeply") from problem


def _text(block: Mapping[str, Any]) -> str:
    return str(block["text"]) if block.get("text") is not None else ""


def _read(text: str) -> Any:
    """Return JSON or a Markdown table if the text is exactly that, else the text."""
    bare = text.strip()
    if bare[:1] in ("{", "["):
        try:
            return json.loads(bare, parse_constant=int)  # rejects NaN and infinity
        except (ValueError, RecursionError):
            return text
    lines = bare.splitlines()
    if len(lines) > 2 and is_rule(lines[1]) and all(map(has_bar, lines)):
        try:
            return parse_table(bare)
        except ChameleonError:
            return text
    return text


def _value_of(block: Mapping[str, Any]) -> Any:
    """Return the value of a non-text block: a table, text, JSON, a picture, or its metadata."""
    resource = block["resource"] if isinstance(block.get("resource"), dict) else block
    kind = str(resource.get("mimeType", "")).partition(";")[0].strip().lower()
    if (text := resource.get("text")) is not None:
        if kind not in _TABLES:
            return _read(str(text))
        try:
            name = f"{Path(str(resource.get('uri', ''))).stem}.{_TABLES[kind]}"
            return read_table(str(text).encode(), name=name)
        except ChameleonError:
            return text
    if kind.startswith("image/"):
        return _picture(resource.get("blob") or resource.get("data"))
    return {key: str(resource[key]) for key in ("type", "uri", "name", "mimeType") if key in resource}


def _picture(encoded: Any) -> Path:
    """Save a picture under its digest, readable only by its owner, and return its path."""
    try:
        data = base64.b64decode(str(encoded), validate=True)
    except ValueError as problem:
        raise ModuleError("the server sent an image that is not base64") from problem
    suffix = next((each for start, each in _PICTURES.items() if data.startswith(start)), None)
    if suffix is None or (suffix == ".webp" and data[8:12] != b"WEBP"):
        raise ModuleError("the server sent an image that is not PNG, JPEG, GIF or WebP")
    folder = Path(os.environ.get("CHAMELEON_RECEIVED") or "~/.cache/chameleon/received").expanduser()
    path = folder / f"{hashlib.sha256(data).hexdigest()}{suffix}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            unfinished = path.with_name(f"{path.name}.{os.getpid()}")
            unfinished.write_bytes(data)
            unfinished.chmod(0o600)
            unfinished.replace(path)  # at once: another process may save or read the same picture
    except OSError as problem:
        raise ModuleError(f"an image cannot be saved: {problem.strerror}", where=str(folder)) from problem
    return path
