from tests.e2e.conftest import command
from tests.evaluation.folders import whole

__all__ = ["command", "whole"]
