"""Captioning models of transformers, each loaded once in this process and asked in batches."""

from __future__ import annotations

import copy
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from chameleon.device import Batched, loaded
from chameleon.errors import InventoryError, ModuleError
from chameleon.modules.vision.weights import INSTEAD, Weights
from chameleon.text import one_line

if TYPE_CHECKING:
    from PIL.Image import Image

Item = TypeVar("Item")
Result = TypeVar("Result")
_HAS_AFFINITY = hasattr(os, "sched_getaffinity")
_JOINED = "vision-encoder-decoder"
_ASKED = "Describe this picture in one sentence."
"""Of a model to chat with; others caption without being asked."""
_PATIENCE = 600.0
"""Seconds for which a model that cannot be loaded is not tried again: a try without a network takes some."""


@dataclass(frozen=True)
class Captioning:
    """Which model captions, and how; equal ones share a model and its batches."""

    model: str
    device: str = "auto"
    max_tokens: int = 64
    beams: int = 1
    batch: int = 16
    threads: int | None = None


class Batches(Generic[Item, Result]):
    """A function of many items that threads call with one each; it runs on what has come together.

    One batch runs at a time, in the thread of one of its callers; what comes meanwhile is the next batch.

    - `work`: takes items, returns as many results in their order. What it raises, the caller gets.
    - `most`: the largest batch.
    """

    def __init__(self, work: Callable[[Sequence[Item]], Sequence[Result]], most: int) -> None:
        self._work, self._most = work, most
        self._waiting: deque[tuple[Item, Future[Result]]] = deque()
        self._turn = threading.Lock()

    def __call__(self, item: Item) -> Result:
        """Return the result for one item; block until the batch that it is in has run."""
        future: Future[Result] = Future()
        self._waiting.append((item, future))
        while not future.done():
            with self._turn:
                if not future.done():
                    most = min(self._most, len(self._waiting))
                    self._run([self._waiting.popleft() for _ in range(most)])
        return future.result()

    def _run(self, batch: Sequence[tuple[Item, Future[Result]]]) -> None:
        try:
            results = self._work([item for item, _ in batch])
            for (_, future), result in zip(batch, results, strict=True):
                future.set_result(result)
        except Exception as problem:
            if len(batch) == 1:
                batch[0][1].set_exception(problem)
                return
            for each in batch:  # one odd item must not spoil those that it came with
                self._run([each])
        finally:  # Ctrl-C goes on from here; the callers in other threads must not wait for ever
            for _, future in batch:
                future.cancel()


_lock = threading.Lock()
_captioners: dict[Captioning, tuple[float, Batches[Image, str] | ModuleError]] = {}


def captioner(settings: Captioning) -> Batches[Image, str]:
    """Return a function from a picture to its caption, for many threads; the first call loads the model.

    On the CPU torch gets `threads` threads, in this whole process; by default it leaves one processor free.
    Raises `InventoryError` for a device that is not there, and `ModuleError` for a model that cannot be
    loaded, which is remembered for ten minutes.
    """
    import torch

    with _lock:
        when, found = _captioners.get(settings, (0.0, None))
        if found is None or (isinstance(found, ModuleError) and time.monotonic() - when > _PATIENCE):
            device = device_for(settings.device)
            try:
                model = Model.load(settings.model, device, settings.batch)
                found = Batches(lambda pictures: model.describe(pictures, settings), settings.batch)
            except ModuleError as problem:
                found = problem
            if device == "cpu" or settings.threads is not None:
                # In a container a process may use fewer than there are. Where torch has them all, its threads
                # wait for each other at every operation while a text detector beside it has one.
                processors = len(os.sched_getaffinity(0)) if _HAS_AFFINITY else os.cpu_count() or 1
                free = max(1, min(torch.get_num_threads(), processors - 1))
                torch.set_num_threads(settings.threads or free)
            _captioners[settings] = time.monotonic(), found
    if isinstance(found, ModuleError):
        raise copy.copy(found)
    return found


def device_for(wanted: str) -> str:
    """Return the device of torch to use, with auto the accelerator that is there, else the CPU.

    Raises `InventoryError` for one that is not there.
    """
    import torch

    if wanted == "auto":
        there = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
        return "cpu" if there is None else there.type
    try:
        torch.empty(0, device=wanted)
    except (RuntimeError, AssertionError) as problem:
        raise InventoryError(
            f"there is no device {wanted!r} here: {one_line(str(problem), 200)}",
            hint="Set device to auto, cuda, cuda:NUMBER, mps or cpu.",
        ) from problem
    return wanted


@dataclass(frozen=True)
class Model:
    """A captioning model with what prepares its pictures and reads its tokens; on a GPU in half precision."""

    network: Any
    images: Any
    tokens: Any
    batched: Batched

    @classmethod
    def load(cls, name: str, device: str, batch: int = 16) -> Model:
        """Load it from a folder, from the hub's cache, or from the hub. Raise `ModuleError`.

        Where it does not fit into the memory of the device, it is on the CPU.
        """
        from transformers.utils import logging as said

        # Its hints and bars do not belong on the terminal; nor is a service to convert older models' weights.
        said.set_verbosity_error()
        said.disable_progress_bar()
        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
        os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "1")
        try:
            try:
                network, images, tokens = _read(name, device, local_files_only=True)
            except OSError:
                if Weights(name).is_folder:
                    raise
                Weights(name).require_hub()
                network, images, tokens = _read(name, device, local_files_only=False)
        except (ImportError, RuntimeError) as problem:  # a torchvision of another build raises RuntimeError
            raise ModuleError(
                f"transformers cannot load {name}: {one_line(str(problem), 200)}",
                hint="If torchvision is installed, it must fit torch; captions work without it.",
            ) from problem
        except (OSError, ValueError, KeyError) as problem:
            raise ModuleError(
                f"{name} is no captioning model that transformers can load: {one_line(str(problem), 200)}",
                hint=f"Set model to a folder or a name on the hub that has one. {INSTEAD}",
            ) from problem
        loaded(name, lambda place: _moved(network, place), device).eval()
        batched = Batched(name, batch, network.device.type, lambda: _moved(network, "cpu"))
        return cls(network, images, tokens, batched)

    def describe(self, pictures: Sequence[Image], settings: Captioning) -> list[str]:
        """Write captions of pictures in RGB by beam search, each as if it were alone in the batch."""

        def written(batch: int) -> list[str]:
            starts = range(0, len(pictures), batch)
            return [text for at in starts for text in self._written(pictures[at : at + batch], settings)]

        try:
            return self.batched(written, len(pictures))
        except RuntimeError as problem:
            raise ModuleError(
                f"{settings.model} failed on {len(pictures)} picture(s): {one_line(str(problem), 200)}",
                hint="If memory is short, set a smaller batch, fewer beams, or device: cpu.",
            ) from problem

    def _written(self, pictures: Sequence[Image], settings: Captioning) -> list[str]:
        import torch

        network, asked = self.network, 0
        if getattr(self.images, "chat_template", None):
            words = {"type": "text", "text": _ASKED}
            shown = ([{"type": "image", "image": picture}, words] for picture in pictures)
            inputs = self.images.apply_chat_template(
                [[{"role": "user", "content": content}] for content in shown],
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
                processor_kwargs={"padding": True},
            )
            asked = inputs["input_ids"].shape[1]
        else:
            inputs = self.images(images=list(pictures), return_tensors="pt")
        # As published: the limit of an encoder joined to a decoder counts the token that begins a caption.
        limit = "max_length" if network.config.model_type == _JOINED else "max_new_tokens"
        options = {"num_beams": settings.beams, "do_sample": False, limit: settings.max_tokens}
        with torch.inference_mode():
            found = network.generate(**inputs.to(network.device, network.dtype), **options)
        texts = self.tokens.batch_decode(found[:, asked:], skip_special_tokens=True)
        return [" ".join(text.split()) for text in texts]


def _read(name: str, device: str, **options: Any) -> tuple[Any, Any, Any]:
    """Return a network, what prepares its pictures, and its tokenizer."""
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
    half = torch.float16
    if getattr(images, "chat_template", None):
        half, tokens.padding_side = torch.bfloat16, "left"
        if hasattr(images.image_processor, "do_image_splitting"):
            images.image_processor.do_image_splitting = False  # a sentence needs no close look at each part
    dtype = torch.float32 if device == "cpu" else half
    return AutoModelForImageTextToText.from_pretrained(name, dtype=dtype, **options), images, tokens


def _moved(network: Any, device: str) -> Any:
    """Move a network, in place; the CPU computes in full precision."""
    return network.to(device).float() if device == "cpu" else network.to(device)
