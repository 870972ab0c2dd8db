from tests.e2e.conftest import command

__all__ = ["command"]
