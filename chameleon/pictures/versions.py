"""The versions of packages on which what is seen in a picture depends."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def versions_of(*packages: str) -> dict[str, str]:
    """The versions of those that are installed, by name; nothing is imported."""
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
