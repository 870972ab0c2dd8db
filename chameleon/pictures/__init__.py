"""Open pictures, bound their size, and read the text in them with an OCR engine."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version


def versions_of(*packages: str) -> dict[str, str]:
    """Return the versions of those that are installed, by name; nothing is imported."""
    found = {}
    for package in packages:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found
