"""Captioning models of a few thousand parameters, made and saved by the tests, with words for tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SIDE = 32
WORDS = ["<|endoftext|>", *(f"word{number}" for number in range(60))]


def save_vit_gpt2(folder: Path, *, width: int = 48, seed: int = 5) -> Path:
    """A ViT that a GPT-2 looks at: the class of the paper's captioner. Returns the folder."""
    import torch
    from transformers import GPT2Config, VisionEncoderDecoderConfig, VisionEncoderDecoderModel, ViTConfig

    torch.manual_seed(seed)
    lively: dict[str, Any] = {
        "initializer_range": 0.6
    }  # what random weights write should depend on the picture
    encoder = ViTConfig(
        hidden_size=width, num_hidden_layers=2, num_attention_heads=4, intermediate_size=2 * width,
        image_size=SIDE, patch_size=8, **lively,
    )  # fmt: skip
    decoder = GPT2Config(
        vocab_size=len(WORDS), n_positions=64, n_embd=width, n_layer=2, n_head=4,
        bos_token_id=0, eos_token_id=0, **lively,
    )  # fmt: skip
    special = {"decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 0}
    config = VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder, **special)
    model = VisionEncoderDecoderModel(config)
    for name, value in special.items():
        setattr(model.generation_config, name, value)
    model.save_pretrained(folder)
    _tokenizer().save_pretrained(folder)
    _image_processor().save_pretrained(folder)
    return folder


def save_blip(folder: Path, *, width: int = 32, seed: int = 5) -> Path:
    """A small BLIP, a model with a processor of its own. Returns the folder."""
    import torch
    from transformers import BlipConfig, BlipForConditionalGeneration, BlipProcessor

    torch.manual_seed(seed)
    shape = {
        "hidden_size": width,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": width,
    }
    config = BlipConfig(
        vision_config={**shape, "image_size": SIDE, "patch_size": 8, "initializer_range": 0.6},
        text_config={
            **shape, "vocab_size": len(WORDS), "encoder_hidden_size": width, "initializer_range": 0.6,
            "bos_token_id": 0, "eos_token_id": 0, "sep_token_id": 0, "pad_token_id": 0,
        },
    )  # fmt: skip
    BlipForConditionalGeneration(config).save_pretrained(folder)
    BlipProcessor(_image_processor(), _tokenizer(framed=True)).save_pretrained(folder)
    return folder


def _tokenizer(framed: bool = False) -> Any:
    """One token a word; `framed` puts the end mark before and after a text, as BERT's tokenizers do."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    end = WORDS[0]
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token=end))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if framed:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{end} $A {end}", special_tokens=[(end, 0)]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=end, eos_token=end, pad_token=end, unk_token=end
    )


def _image_processor() -> Any:
    from transformers import ViTImageProcessor

    return ViTImageProcessor(size={"height": SIDE, "width": SIDE})
