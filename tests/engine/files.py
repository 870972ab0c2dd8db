"""Inventory files and code of one's own, written for a test."""

from pathlib import Path

import pytest

from chameleon import ChameleonError, Inventory

FIXED = "name: mine\nplanner: {use: fixed, plan: [solution_generator, answer_generator]}"
GOOD = f"{FIXED}\nmodules:\n  answer_generator: {{}}\n  solution_generator: {{}}"
TOOL = """
from chameleon import Module

class Tool(Module):
    '''A tool of one's own.'''
    def run(self, state):
        return 1
"""


def pieces(beside: str, name: str) -> list[str]:
    """Return the parts, between lines "---", of a file of that name beside another."""
    return (Path(beside).parent / name).read_text("utf-8").removesuffix("\n").split("\n---\n")


def write(folder: Path, text: str | bytes, name: str = "mine.yaml") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def fault(path: Path) -> str:
    """The one line that loading and checking the file ends with."""
    with pytest.raises(ChameleonError) as error:
        Inventory.load(path).check()
    told = str(error.value)
    assert "\n" not in told and "Traceback" not in told and len(told) < 500
    assert "pydantic" not in told and "errors.pydantic.dev" not in told
    return told
