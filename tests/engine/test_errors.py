"""What is said of a package that is not there, or there and broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from chameleon import errors
from chameleon.errors import MissingPackage, require
from chameleon.retrieval.vectors import require_faiss


def failure(module: str, *, imports: bool = False) -> str:
    with pytest.raises(MissingPackage) as caught:
        require("the-package", "tides need", "web", module=module, where="here", imports=imports)
    told = str(caught.value)
    assert told.startswith("here: tides need the package the-package, which ")
    assert told.endswith('. pip install "chameleon-compose[web]"')
    return told


def test_a_package_is_missing_whichever_of_its_parts_is_asked_for() -> None:
    for module in (
        "no_such_package",
        "no_such_package.part",
        "no_such_package.part.of_it",
        "json.no_such_part",
    ):
        assert "which is not installed" in failure(module)
    require("json", "tides need", "web", module="json.decoder", imports=True)


def test_a_broken_package_is_told_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    reasons = ("raise ImportError('libtide.so is missing')", "import libtide_so", "raise OSError('libtide')")
    for number, body in enumerate(reasons):
        (tmp_path / f"broken_{number}.py").write_text(body)
        require("the-package", "tides need", "web", module=f"broken_{number}")
        told = failure(f"broken_{number}", imports=True)
        assert "which cannot be loaded (" in told and "libtide" in told


def test_faiss_is_installed_by_its_own_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "find_spec", lambda name: None)
    with pytest.raises(MissingPackage, match=r"chameleon-compose\[faiss\]"):
        require_faiss()
