"""Load captioning models of transformers, each once per process."""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING, Any

from chameleon.errors import InventoryError, ModuleError
from chameleon.modules.vision.weights import INSTEAD, Weights
from chameleon.text import one_line

if TYPE_CHECKING:
    from PIL.Image import Image

_ENCODER_DECODER = "vision-encoder-decoder"
_REQUEST = "Describe this picture in one sentence."
"""The prompt for chat models; other models need none."""

_lock = threading.Lock()
_captioners: dict[tuple[str, str], Captioner] = {}


def captioner(model: str, device: str = "auto") -> Captioner:
    """Return the model, loaded once per device. Raises `InventoryError` (unknown device) or `ModuleError`."""
    with _lock:
        key = model, device_for(device)
        if key not in _captioners:
            _captioners[key] = Captioner(*key)
        return _captioners[key]


def device_for(device: str) -> str:
    """Return the torch device; "auto" is CUDA, MPS or the CPU. Raises `InventoryError` if unavailable."""
    import torch

    if device == "auto":
        current = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
        return "cpu" if current is None else current.type
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as problem:
        what = f"the device {device!r} is not available: {one_line(str(problem), 200)}"
        raise InventoryError(what, hint="Set device to auto, cuda, cuda:NUMBER, mps or cpu.") from problem
    return device


class Captioner:
    """A captioning model from a folder or the hub; half precision except on the CPU. Raises `ModuleError`."""

    def __init__(self, model: str, device: str) -> None:
        from transformers.utils import logging as transformers_logging

        # Keep hints and progress bars off the terminal, and do not let a service convert weights.
        transformers_logging.set_verbosity_error()
        transformers_logging.disable_progress_bar()
        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
        os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "1")
        self.model, self.device = model, device
        self._turn = threading.Lock()
        try:
            self._load()
        except (ImportError, RuntimeError) as problem:  # RuntimeError: torchvision does not match torch
            what = f"transformers cannot load {model}: {one_line(str(problem), 200)}"
            hint = "If torchvision is installed, it must match torch; if memory is short, set device: cpu."
            raise ModuleError(what, hint=hint) from problem
        except (OSError, ValueError, KeyError) as problem:
            fault = one_line(str(problem), 200)
            what = f"{model} is not a captioning model that transformers can load: {fault}"
            hint = f"Set model to a folder, or a name on the hub, that has one. {INSTEAD}"
            raise ModuleError(what, hint=hint) from problem

    def _load(self) -> None:
        try:
            self._read(local_files_only=True)
        except OSError:
            weights = Weights(self.model)
            if weights.is_folder:
                raise
            weights.require_hub()
            self._read(local_files_only=False)

    def _read(self, *, local_files_only: bool) -> None:
        import torch
        from transformers import (
            AutoConfig,
            AutoImageProcessor,
            AutoModelForImageTextToText,
            AutoProcessor,
            AutoTokenizer,
        )

        def read(kind: Any, **options: Any) -> Any:
            return kind.from_pretrained(self.model, local_files_only=local_files_only, **options)

        # An encoder-decoder pair, such as ViT and GPT-2, has no processor.
        self.joins_models = read(AutoConfig).model_type == _ENCODER_DECODER
        self.processor = read(AutoImageProcessor if self.joins_models else AutoProcessor)
        self.tokenizer = read(AutoTokenizer) if self.joins_models else self.processor.tokenizer
        self.is_chat_model = bool(getattr(self.processor, "chat_template", None))
        if self.is_chat_model and hasattr(self.processor.image_processor, "do_image_splitting"):
            self.processor.image_processor.do_image_splitting = False  # one sentence needs no close look
        half = torch.bfloat16 if self.is_chat_model else torch.float16
        dtype = torch.float32 if self.device == "cpu" else half
        self.network = read(AutoModelForImageTextToText, dtype=dtype).to(self.device).eval()

    def describe(self, picture: Image, *, max_tokens: int = 64, beams: int = 1) -> str:
        """Return the caption of a picture in RGB, by beam search. Threads take turns."""
        try:
            with self._turn:
                return self._generate(picture, max_tokens, beams)
        except RuntimeError as problem:
            what = f"{self.model} failed on {self.device}: {one_line(str(problem), 200)}"
            hint = "If memory is short, set fewer beams, or device: cpu."
            raise ModuleError(what, hint=hint) from problem

    def _generate(self, picture: Image, max_tokens: int, beams: int) -> str:
        import torch

        prompt_tokens = 0
        if self.is_chat_model:
            content = [{"type": "image", "image": picture}, {"type": "text", "text": _REQUEST}]
            inputs = self.processor.apply_chat_template(
                [[{"role": "user", "content": content}]],
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
            )
            prompt_tokens = inputs["input_ids"].shape[1]
        else:
            inputs = self.processor(images=[picture], return_tensors="pt")
        # As published: the limit of an encoder-decoder pair includes the token that starts a caption.
        limit = "max_length" if self.joins_models else "max_new_tokens"
        options = {"num_beams": beams, "do_sample": False, limit: max_tokens}
        with torch.inference_mode():
            output = self.network.generate(**inputs.to(self.network.device, self.network.dtype), **options)
        text = self.tokenizer.decode(output[0, prompt_tokens:], skip_special_tokens=True)
        return " ".join(text.split())
