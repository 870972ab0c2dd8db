"""Telling a test file's own interpreters from those that other files started in the same process."""

from __future__ import annotations

import psutil

_strangers: set[int] = set()


def know_strangers() -> None:
    """Remember the child processes that are there already."""
    _strangers.update(process.pid for process in psutil.Process().children())


def own_children() -> list[psutil.Process]:
    """The processes started since: zygotes, each a child that waits for the real one."""
    return [process for process in psutil.Process().children() if process.pid not in _strangers]
