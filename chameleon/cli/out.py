"""What all commands print goes through here: nothing that a stranger wrote steers the terminal."""

from __future__ import annotations

import json
import sys
from typing import Any

import typer

from chameleon.text import harmless_lines


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text for people, on stdout or, with `err`, on stderr.

    Characters that are invisible or steer a terminal become U+FFFD. Line breaks stay: a name or a reply that
    is to be one line goes through `harmless` before.
    """
    typer.echo(harmless_lines(text), err=err, nl=nl)


def echo_json(value: Any) -> None:
    """Print a value as JSON: letters as they are, and what is invisible or steers a terminal escaped."""
    told = json.dumps(value, ensure_ascii=False)
    typer.echo("".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in told))


def say(text: str) -> None:
    """Tell what is no result: on stderr, so that stdout is the table or the JSON object alone."""
    echo(text, err=True)
    sys.stderr.flush()
