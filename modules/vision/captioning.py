"""Captioning models of transformers, each loaded once in this process and asked in batches."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from chameleon.errors import MissingPackage, ModuleError
from chameleon.modules.vision.batching import Batches
from chameleon.modules.vision.devices import device_for, foreseen_device, use_threads
from chameleon.modules.vision.weights import (
    INSTEAD,
    digest_of_weights,
    first_line,
    is_path,
    quiet,
    require_hub,
)
from chameleon.pictures import versions_of

if TYPE_CHECKING:
    from PIL.Image import Image

_PACKAGES = ("torch", "transformers", "PIL")
_ASKED = "Describe this picture in one sentence."
_JOINED = "vision-encoder-decoder"
_PATIENCE = 600.0
"""Seconds for which a model that cannot be loaded is not tried again: a try without a network takes some."""

_Key = tuple[str, str, bool]
_lock = threading.Lock()
_models: dict[_Key, Model] = {}
_failed: dict[_Key, tuple[float, ModuleError]] = {}
_captioners: dict[Captioning, Batches[Image, str]] = {}


@dataclass(frozen=True)
class Captioning:
    """Which model captions, and how. Equal ones share a model and its batches.

    `half` None means half precision on a GPU; `wait` is in seconds.
    """

    model: str
    device: str = "auto"
    half: bool | None = None
    max_tokens: int = 16
    beams: int = 4
    instruction: str = ""
    batch: int = 16
    wait: float = 0.01
    threads: int | None = None

    def is_half(self, device: str) -> bool:
        """Tell whether that device computes in half precision."""
        return device != "cpu" if self.half is None else self.half

    def runtime_info(self) -> dict[str, Any]:
        """Return what the settings come to here; load no model."""
        device = foreseen_device(self.device)
        half = None if device is None else self.is_half(device)
        return {
            "device": device,
            "half": half,
            "weights": digest_of_weights(self.model) if find_spec("huggingface_hub") else None,
            "versions": versions_of("torch", "transformers", "tokenizers", "pillow"),
        }


def require_packages() -> None:
    """Raise `MissingPackage` when one that captioning needs is not installed; nothing is loaded."""
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        named = ", ".join("pillow" if name == "PIL" else name for name in missing)
        raise MissingPackage(
            f"captions need packages that are not installed: {named}",
            hint=f"pip install torch transformers pillow. {INSTEAD}",
        )


def captioner(settings: Captioning) -> Batches[Image, str]:
    """Return a function from a picture to its caption, for many threads; the first call loads the model.

    Raises `MissingPackage`, `InventoryError` for a device that is not there, and `ModuleError` for a model
    that cannot be loaded.
    """
    require_packages()
    with _lock:
        if settings not in _captioners:
            device = device_for(settings.device)
            model = _loaded((settings.model, device, settings.is_half(device)))
            if device == "cpu" or settings.threads is not None:
                use_threads(settings.threads)
            _captioners[settings] = Batches(
                lambda pictures: model.describe(pictures, settings), most=settings.batch, wait=settings.wait
            )
        return _captioners[settings]


def _loaded(key: _Key) -> Model:
    """Return the model, loaded now unless it is there; the caller holds the lock."""
    if key not in _models:
        when, problem = _failed.get(key, (0.0, None))
        if problem is not None and time.monotonic() - when < _PATIENCE:
            raise copy.copy(problem)
        try:
            _models[key] = Model.load(*key)
        except ModuleError as problem:
            _failed[key] = (time.monotonic(), problem)
            raise
    return _models[key]


@dataclass(frozen=True)
class Model:
    """A captioning model with what prepares its pictures and reads its tokens."""

    network: Any
    images: Any
    tokens: Any

    @classmethod
    def load(cls, name: str, device: str, half: bool) -> Model:
        """Load it from a folder, from the hub's cache, or from the hub; `captioner` says what it raises."""
        try:
            with quiet():
                try:
                    loaded = cls._read(name, half, local_files_only=True)
                except OSError:
                    if is_path(name):
                        raise
                    require_hub(name)
                    loaded = cls._read(name, half, local_files_only=False)
        except (ImportError, RuntimeError) as problem:  # a torchvision of another build raises RuntimeError
            raise ModuleError(
                f"transformers cannot load {name}: {first_line(problem)}",
                hint="If torchvision is installed, it must fit torch; captions work without it.",
            ) from problem
        except (OSError, ValueError, KeyError) as problem:
            raise ModuleError(
                f"{name} is no captioning model that transformers can load whole: {first_line(problem)}",
                hint=f"Set model to a folder or a name on the hub that has one. {INSTEAD}",
            ) from problem
        loaded.network.to(device).eval()
        return loaded

    @classmethod
    def _read(cls, name: str, half: bool, **options: Any) -> Model:
        import torch
        from transformers import (
            AutoConfig,
            AutoImageProcessor,
            AutoModelForImageTextToText,
            AutoProcessor,
            AutoTokenizer,
        )

        # An encoder joined to a decoder has no processor of its own.
        joined = AutoConfig.from_pretrained(name, **options).model_type == _JOINED
        images = (AutoImageProcessor if joined else AutoProcessor).from_pretrained(name, **options)
        tokens = AutoTokenizer.from_pretrained(name, **options) if joined else images.tokenizer
        dtype = torch.float16 if half else torch.float32
        return cls(AutoModelForImageTextToText.from_pretrained(name, dtype=dtype, **options), images, tokens)

    def describe(self, pictures: Sequence[Image], settings: Captioning) -> list[str]:
        """Write captions of pictures in RGB by beam search, each as if it were alone in the batch."""
        import torch

        inputs = self._inputs(pictures, settings.instruction).to(self.network.device, self.network.dtype)
        # As published: the limit of an encoder joined to a decoder counts the token that begins a caption.
        limit = "max_length" if self._is_joined else "max_new_tokens"
        try:
            with torch.inference_mode():
                written = self.network.generate(
                    **inputs, num_beams=settings.beams, do_sample=False, **{limit: settings.max_tokens}
                )
        except RuntimeError as problem:  # among others, a GPU that has too little memory
            raise ModuleError(
                f"{settings.model} failed on {len(pictures) if pictures[1:] else 'a'} "
                f"picture{'s' if pictures[1:] else ''}: {first_line(problem)}",
                hint="If memory is short, set a smaller batch, fewer beams, or device: cpu.",
            ) from problem
        asked = inputs.get("input_ids")
        if self._chats and asked is not None and torch.equal(written[:, : asked.shape[1]], asked):
            written = written[:, asked.shape[1] :]
        texts = self.tokens.batch_decode(written, skip_special_tokens=True)
        return [" ".join(text.split()) for text in texts]

    @property
    def _is_joined(self) -> bool:
        return bool(self.network.config.model_type == _JOINED)

    @property
    def _chats(self) -> bool:
        return bool(getattr(self.images, "chat_template", None))

    def _inputs(self, pictures: Sequence[Image], instruction: str) -> Any:
        if self._chats:
            self.tokens.padding_side = (
                "left"  # a decoder goes on from its last token, which must be no padding
            )
            content = [{"type": "image"}, {"type": "text", "text": instruction or _ASKED}]
            text = self.images.apply_chat_template(
                [{"role": "user", "content": content}], add_generation_prompt=True
            )
            each = [[picture] for picture in pictures]
            return self.images(images=each, text=[text] * len(each), padding=True, return_tensors="pt")
        if instruction and not self._is_joined:
            text = [instruction] * len(pictures)
            return self.images(images=list(pictures), text=text, padding=True, return_tensors="pt")
        return self.images(images=list(pictures), return_tensors="pt")
