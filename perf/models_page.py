"""The page of `models.py`: a table for each set of problems, and a picture of right, declined and wrong."""
from pathlib import Path
from typing import Any
from collections.abc import Sequence

def write_page(folder: Path, cells: Sequence[Any]) -> None:
    pass
