"""Which settings of a folder's `chameleon.toml` count: a folder is a stranger's until its user agrees to it.

What is harmless counts at once. What names code, files or addresses is asked about at a terminal, once for a
file as it is, as direnv does; the answer is kept in the user's configuration directory.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from chameleon.cli.out import asked, echo, is_attended
from chameleon.core.seal import config_dir
from chameleon.text import harmless

_AGREED = "agreed.json"  # digests of settings files, by their paths


def is_agreed(file: Path, digest: str) -> bool:
    """Tell whether the user has agreed to this file with this content."""
    return _agreed().get(str(file)) == digest


def agree(file: Path, digest: str, settings: Mapping[str, Any]) -> bool:
    """Ask whether settings of a file may count, and keep a yes; without a terminal they do not count."""
    listed = "".join(f"\n  {key} = {written(value)}" for key, value in settings.items())
    echo(f"{harmless(str(file))} has settings that can run code, or read and write files:{listed}", err=True)
    if not is_attended():
        hint = "Agree to them once at a terminal, or give them on the command line."
        echo(f"These settings are not used. {hint}", err=True)
        return False
    echo("`chameleon check FILE --no-import` shows what an inventory would run.", err=True)
    question = "Did you write or review this file? Use these settings from now on? [y]es, [n]o: "
    if asked(question).strip() not in ("y", "yes"):
        echo("These settings are not used.", err=True)
        return False
    folder = config_dir()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = folder / f"{_AGREED}.new"
    new.write_text(json.dumps({**_agreed(), str(file): digest}, indent=1), "utf-8")
    new.replace(folder / _AGREED)
    return True


def written(value: Any) -> str:
    """Write a value of a settings file as it may be written there, on one line."""
    return harmless(json.dumps(value, ensure_ascii=False, default=str))


def _agreed() -> Mapping[str, str]:
    with suppress(OSError, ValueError, RecursionError):
        data = json.loads((config_dir() / _AGREED).read_text("utf-8"))
        if isinstance(data, dict):
            return data
    return {}
