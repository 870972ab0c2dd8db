"""Which sandbox a machine gets, and what happens where it cannot have it."""

from __future__ import annotations

import re
import sys

import pytest

from chameleon.errors import InputError, MissingPackage, SandboxUnavailable
from chameleon.sandbox import Guarantees, Layer, make_sandbox
from chameleon.sandbox.inside import seccomp
from chameleon.sandbox.sealed_process import why_unusable

needs_linux = pytest.mark.skipif(bool(why_unusable()), reason=why_unusable() or "it can run")


@needs_linux
def test_linux_gets_the_sealed_sandbox_and_every_layer_is_reported() -> None:
    with make_sandbox() as sandbox:
        guarantees = sandbox.guarantees()
        assert guarantees.tier == sandbox.run("ans = 1").tier == "sealed"
    assert {layer.name for layer in guarantees.layers if layer.active} >= {"seccomp", "rlimits"}
    names = {layer.name for layer in guarantees.layers}
    assert {"seccomp", "rlimits", "namespaces", "chroot", "landlock", "no_new_privs", "capabilities"} <= names


@needs_linux
def test_a_required_layer_that_is_missing_stops_everything() -> None:
    with pytest.raises(SandboxUnavailable, match=r"'moat' is required.*monty"):
        make_sandbox("sealed", require=("seccomp", "moat"))


def test_no_filter_for_this_machine_stops_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp.platform, "machine", lambda: "riscv64")
    with pytest.raises(SandboxUnavailable, match=r"riscv64.*monty"):
        make_sandbox("sealed")


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_other_systems_get_monty(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    pytest.importorskip("pydantic_monty")
    monkeypatch.setattr(sys, "platform", platform)
    with make_sandbox() as sandbox:
        assert sandbox.guarantees().tier == "monty"


def test_monty_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    with pytest.raises(MissingPackage, match="pip install"):
        make_sandbox("monty")


def test_kinds_that_do_not_exist() -> None:
    for kind in ("docker", "monty+sealed"):
        with pytest.raises(InputError, match=rf"no sandbox '{re.escape(kind)}'.*auto, sealed, monty"):
            make_sandbox(kind)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="workers"):
        make_sandbox(workers=0)


def test_guarantees_read_well() -> None:
    guarantees = Guarantees("sealed", (Layer("seccomp", True, "allow-list"), Layer("moat", False)))
    assert str(guarantees) == "sealed:\n  yes  seccomp  allow-list\n  no   moat"
