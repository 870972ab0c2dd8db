"""Models of transformers on this machine; importing this loads torch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from transformers.utils import logging

from chameleon.errors import ModelError
from chameleon.text import one_line, redact


def device() -> str:
    """CUDA or MPS where there is one, else the CPU."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Load a model without progress bars and reports. Raises `ModelError` for whatever goes wrong."""
    shown, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    except ModelError:
        raise
    except Exception as problem:  # the hub, safetensors and torch have errors of their own
        raise ModelError(
            f"the model cannot be loaded: {one_line(redact(str(problem)), 300)}",
            where=name,
            hint="Name a folder that holds it, or a model of the Hugging Face hub.",
        ) from problem
    finally:
        logging.set_verbosity(verbosity)
        if shown:
            logging.enable_progress_bar()
