"""The template engine Chameleon of Zope, whose package has the same import name: files of both mix.

This file needs nothing else of the package, since theirs may lie in the place of any part of it.
"""

from __future__ import annotations

from importlib import metadata

_DISTRIBUTION, _PACKAGE = "Chameleon", "chameleon"


def namesake() -> str:
    """Say what to do where the other Chameleon is installed here, too; "" where it is not."""
    try:
        other = metadata.distribution(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return ""
    tops = (other.read_text("top_level.txt") or "").split()
    files = (str(file) for file in other.files or ())
    if _PACKAGE not in tops and not any(name.startswith(f"{_PACKAGE}/") for name in files):
        return ""
    return (
        f"the template engine {other.metadata['Name']} {other.version} is installed here, too, and its "
        "package lies in the place of this one: keep the two in virtual environments of their own, and "
        "install chameleon-compose anew in one of them"
    )
