"""Pictures per second of `image_captioner`: one by one, and in batches from concurrent runs; and neighbours.

    pip install torch transformers pillow rapidocr onnxruntime
    python perf/captioning.py [--pictures 64] [--batch 16] [--small]
    python perf/captioning.py --neighbours [--small]

The model has the class and size of the paper's captioner (ViT-base and GPT-2, 239 million parameters) and
random weights, which are as fast as trained ones: every caption has the full 16 tokens. `--small` makes one
of an eighth of the width, for machines without a GPU. The device is cuda, in half precision, if there is one.

The other tables, which `--neighbours` prints alone, run the captioner and the text detector alone, beside
each other, and one after the other, in turn for every picture; the ratio is that to the slower one. By
default the captioner works on the GPU, if there is one, else on all processors but one, and the text
detector in one thread; a second table has the captioner on all of them. A pair that waits for servers
needs none.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from measuring import Figure, surroundings, table
from PIL import Image, ImageDraw, ImageFont

from chameleon import Executor, Inventory, Module, State
from chameleon.modules.vision.image_captioner import ImageCaptioner
from chameleon.modules.vision.text_detector import TextDetector
from chameleon.planners.fixed import Fixed
from chameleon.steps import PreparedModule

PAIR = ["image_captioner", "text_detector"]
PAPER: dict[str, Any] = {"max_tokens": 16, "beams": 4}


def save_model(folder: Path, small: bool) -> int:
    """Save a model with random weights; returns the number of its parameters."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import (
        GPT2Config,
        PreTrainedTokenizerFast,
        VisionEncoderDecoderConfig,
        VisionEncoderDecoderModel,
        ViTConfig,
        ViTImageProcessor,
    )

    torch.manual_seed(0)
    shape = {"hidden_size": 96, "num_hidden_layers": 6, "num_attention_heads": 6, "intermediate_size": 384}
    text = {"n_embd": 96, "n_layer": 6, "n_head": 6}
    # No end mark: all captions run to the limit, so that batches and single pictures do the same work.
    special = {"decoder_start_token_id": 50256, "pad_token_id": 50256, "eos_token_id": None}
    config = VisionEncoderDecoderConfig.from_encoder_decoder_configs(
        ViTConfig(**(shape if small else {})),
        GPT2Config(**(text if small else {}), eos_token_id=None),
        **special,
    )
    model = VisionEncoderDecoderModel(config)
    for name, value in special.items():
        setattr(model.generation_config, name, value)
    model.save_pretrained(folder)
    tokenizer = Tokenizer(models.WordLevel({f"w{number}": number for number in range(50257)}, unk_token="w0"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="w50256").save_pretrained(folder)
    ViTImageProcessor().save_pretrained(folder)
    return sum(parameter.numel() for parameter in model.parameters())


def make_pictures(folder: Path, number: int) -> list[Path]:
    """Pictures of coloured squares, each with two words on it."""
    chance, font, paths = random.Random(0), ImageFont.load_default(size=28), []
    for index in range(number):
        image = Image.new("RGB", (420, 300), "white")
        draw = ImageDraw.Draw(image)
        for x in range(0, 420, 60):
            draw.rectangle([x, 120, x + 50, 170], fill=tuple(chance.randrange(256) for _ in range(3)))
        draw.text((20, 30), f"Sample {index}", "black", font=font)
        draw.text((20, 220), "Melting point", "black", font=font)
        paths.append(folder / f"{index}.png")
        image.save(paths[-1])
    return paths


def seconds(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def batches(model: str, pictures: Sequence[Path], most: int, repeats: int) -> None:
    states = [State(input={"image": str(path)}) for path in pictures]
    alone, gathered = (ImageCaptioner(model, batch=size, **PAPER) for size in (1, most))
    for module in (alone, gathered):
        PreparedModule(module).ready()
        module.run(states[0])
    captions: dict[str, list[str]] = {}

    def one_by_one() -> None:
        captions["one by one"] = [alone.run(state) for state in states]

    def together() -> None:
        with ThreadPoolExecutor(most) as pool:
            captions["together"] = list(pool.map(gathered.run, states))

    together()
    rates: dict[str, list[float]] = {"one by one": [], f"{most} runs at once": []}
    for _ in range(repeats):
        for name, work in zip(rates, (one_by_one, together), strict=True):
            rates[name].append(len(states) / seconds(work))
    figures = {name: Figure(values) for name, values in rates.items()}
    base = figures["one by one"].median
    rows = [[name, figure.shown(), f"{figure.median / base:.2f}"] for name, figure in figures.items()]
    same = sum(a == b for a, b in zip(captions["one by one"], captions["together"], strict=True))
    table("Captions", ["", "pictures a second: median (least–most)", "times"], rows)
    print(f"{same} of {len(states)} captions are the same both ways")


def neighbours(modules: dict[str, Module], pictures: Sequence[Path], repeats: int, title: str) -> None:
    """What a plan of both takes, beside what each takes alone, and whether the outcome is the same."""
    outcomes: dict[str, list[Any]] = {}

    def runner(name: str, plan: list[str], parallel: bool) -> Callable[[Path], None]:
        inventory = Inventory("pair", Fixed(plan), {name: modules[name] for name in plan})
        executor = Executor(inventory, parallel=parallel)
        kept = outcomes.setdefault(name, [])
        return lambda path: kept.append(executor.run({"image": str(path)}).cache)

    variants = {
        name: runner(name, plan, parallel)
        for name, plan, parallel in (
            ("image_captioner alone", PAIR[:1], True),
            ("text_detector alone", PAIR[1:], True),
            ("both, one after the other", PAIR, False),
            ("both beside each other", PAIR, True),
        )
    }
    taken: dict[str, list[float]] = {name: [] for name in variants}
    for work in variants.values():
        work(pictures[0])
    for _ in range(repeats):
        totals = dict.fromkeys(variants, 0.0)
        for path in pictures:  # what disturbs one picture disturbs it in every variant
            for name, work in variants.items():
                totals[name] += seconds(partial(work, path))
        for name, total in totals.items():
            taken[name].append(total / len(pictures) * 1000)
    figures = {name: Figure(values) for name, values in taken.items()}
    slower = max(figures[name].median for name in list(variants)[:2])
    rows = [[name, figure.shown(), f"{figure.median / slower:.2f}"] for name, figure in figures.items()]
    table(title, ["", "ms a question: median (least–most)", "of the slower one"], rows)
    apart, beside = (outcomes[name] for name in list(variants)[2:])
    same = sum(a == b for a, b in zip(apart, beside, strict=True))
    print(f"{same} of {len(apart)} outcomes are the same both ways")


class _Waits:
    """Takes its time without computing, as a module that asks a server does."""

    def setup(self) -> None:
        pass


class WaitingCaptioner(_Waits, ImageCaptioner):
    """Captions after 200 ms."""

    def run(self, state: State) -> str:
        time.sleep(0.2)
        return "a picture"


class WaitingDetector(_Waits, TextDetector):
    """Detects after 150 ms."""

    def run(self, state: State) -> list[dict[str, Any]]:
        time.sleep(0.15)
        return []


def computing(model: str, pictures: Sequence[Path], repeats: int) -> None:
    """The real pair: as it is by default, and with a captioner that takes every processor."""
    every = os.cpu_count() or 1
    for title, settings in (("by default", {}), (f"threads: {every}", {"threads": every})):
        pair: dict[str, Module] = {
            "image_captioner": ImageCaptioner(model, **PAPER, **settings),
            "text_detector": TextDetector("auto"),
        }
        neighbours(pair, pictures, repeats, f"Neighbours that compute, {title}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pictures", type=int, default=64)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="a model of an eighth of the width")
    parser.add_argument(
        "--neighbours", action="store_true", help="only captioner and text detector as a pair"
    )
    parser.add_argument("--waiting", action="store_true", help="only the pair, waiting for 200 and 150 ms")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pictures = make_pictures(folder, options.pictures)
        waiting: dict[str, Module] = dict(zip(PAIR, (WaitingCaptioner(), WaitingDetector()), strict=True))
        neighbours(waiting, pictures[:5], options.repeats, "Neighbours that wait (200 and 150 ms)")
        if not options.waiting:
            import torch

            size = save_model(folder / "model", options.small)
            device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
            print(f"\nViT and GPT-2 with {size / 1e6:.0f} million random parameters on {device}")
            if not options.neighbours:
                batches(str(folder / "model"), pictures, options.batch, options.repeats)
            computing(str(folder / "model"), pictures[:8], options.repeats)
        print(surroundings(*([] if options.waiting else ["torch", "transformers"])))


if __name__ == "__main__":
    main()
