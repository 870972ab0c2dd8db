"""libyaml and Python read the same: data, places, and what is wrong."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import chameleon
from chameleon.yaml_text import _InPython, _read, read_yaml

HOME = Path(chameleon.__file__).parent
FILES = [*HOME.glob("*/**/*.yaml"), *HOME.glob("prompts/**/*.md")]
SHIPPED = {file: file.read_text("utf-8").partition("\n---\n")[0] for file in FILES}

pytestmark = pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML has no libyaml here")


def told(read: Callable[[Any, Callable[[yaml.Node], None]], Any], text: Any) -> Any:
    """Return the data with the lines of all nodes that have a text, or None for what is no YAML."""
    lines: list[tuple[str, int]] = []

    def look(node: yaml.Node) -> None:
        lines.append((node.tag, node.start_mark.line if node.value else 0))
        for each in node.value if isinstance(node, yaml.CollectionNode) else ():
            for part in each if isinstance(each, tuple) else (each,):
                look(part)

    try:
        return repr(read(text, look)), lines
    except yaml.YAMLError:
        return None


def test_shipped_files_are_read_alike() -> None:
    assert len(SHIPPED) > 150
    for file, text in SHIPPED.items():
        assert told(read_yaml, text) == told(_read, _InPython(text)) is not None, file


@given(st.text("ab:{}[],|>- \n\"'#1.~&*", max_size=40))
def test_made_texts_are_read_alike(text: str) -> None:
    """Whatever Python reads; libyaml lets a few more pass, such as a tab within a text."""
    slow = told(_read, _InPython(text))
    assert slow is None or slow == told(read_yaml, text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: *b", "found undefined alias 'b'"),
        ("a: @b", "found character '@'"),
        ("a: !!timestamp 1", "not a valid timestamp"),
        ("a: \udcff", "unacceptable character"),
        ("a: !!python/name:os.system", "could not determine a constructor"),
    ],
)
def test_errors_say_what_is_wrong(text: str, problem: str) -> None:
    with pytest.raises(yaml.YAMLError, match=problem):
        read_yaml(text)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["[" * 999_999, "- " * 400_000, "{a: " * 200_000, "? " * 400_000])
def test_what_nests_without_end_is_refused(text: str) -> None:
    """In a process of its own: libyaml by itself ends it."""
    code = "import sys; from chameleon.yaml_text import read_yaml; read_yaml(sys.stdin.read())"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and done.stderr.endswith("YAMLError: it is nested too deeply\n")
