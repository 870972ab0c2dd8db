"""How an interpreter for programs is started: bare, and without the engine in it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_INSIDE = Path(__file__).with_name("inside")

# Loads the folder `inside` as a package of its own: the engine is not imported on the other side, and
# neither the caller's directory nor its PYTHONPATH can put another module in its place.
_BOOT = """
import sys, importlib.util as u
folder = sys.argv[1]
s = u.spec_from_file_location("inside", folder + "/__init__.py", submodule_search_locations=[folder])
m = u.module_from_spec(s); sys.modules["inside"] = m; s.loader.exec_module(m)
from inside import {entry}
{entry}.main()
"""
# As `-I`, which would also ignore the hash seed; the environment is ours alone.
_FLAGS = ("-s", "-P", "-B", "-X", "utf8")
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_MAX_THREADS": "1",
}
if sys.platform == "win32":  # without it Python finds no source of randomness there
    ENVIRONMENT["SYSTEMROOT"] = os.environ.get("SYSTEMROOT", "")


def command(entry: str, *arguments: str) -> list[str]:
    """The command line that runs `main` of `inside/<entry>.py`."""
    return [sys.executable, *_FLAGS, "-c", _BOOT.format(entry=entry), str(_INSIDE), *arguments]
