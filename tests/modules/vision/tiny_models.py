"""Captioning models of a few thousand parameters, made and saved by the tests, with words for tokens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

SIDE = 32
HEADS = {"num_hidden_layers": 2, "num_attention_heads": 4}
WORDS = ["<|endoftext|>", *(f"word{number}" for number in range(60))]


def save_vit_gpt2(folder: Path, width: int = 48) -> Path:
    """A ViT that a GPT-2 looks at: the class of the paper's captioner. Returns the folder."""
    import torch
    from transformers import GPT2Config, VisionEncoderDecoderConfig, VisionEncoderDecoderModel, ViTConfig

    torch.manual_seed(5)
    # What random weights write should depend on the picture.
    lively: dict[str, Any] = {"initializer_range": 0.6}
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


def save_blip(folder: Path, width: int = 32) -> Path:
    """A small BLIP, a model with a processor of its own. Returns the folder."""
    import torch
    from transformers import BlipConfig, BlipForConditionalGeneration, BlipProcessor

    torch.manual_seed(5)
    shape: dict[str, Any] = {**HEADS, "hidden_size": width, "intermediate_size": width}
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


CHAT_TEMPLATE = (  # says what that of SmolVLM says
    "<|im_start|>{% for message in messages %}{{ message['role'] | capitalize }}:"
    "{% for part in message['content'] %}{{ part['text'] if part['type'] == 'text' else '<image>' }}"
    "{% endfor %}"
    "<end_of_utterance>\n{% endfor %}{% if add_generation_prompt %}Assistant:{% endif %}"
)


def save_idefics3(folder: Path, width: int = 32) -> Path:
    """A SigLIP that a Llama reads: the class of SmolVLM, a model to chat with. Returns the folder."""
    import torch
    from transformers import Idefics3Config, Idefics3ForConditionalGeneration, Idefics3Processor
    from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

    torch.manual_seed(5)
    marks = ["<|im_start|>", "<end_of_utterance>", "<fake_token_around_image>", "<image>", "<global-img>"]
    marks += [f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)]
    tokenizer = _tokenizer(marks=marks)
    shape: dict[str, Any] = {**HEADS, "hidden_size": width, "intermediate_size": width}
    shape["initializer_range"] = 0.6
    config = Idefics3Config(
        vision_config={**shape, "image_size": SIDE, "patch_size": 8},
        text_config={
            **shape, "model_type": "llama", "num_key_value_heads": 2, "vocab_size": len(tokenizer),
            "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0,
        },
        scale_factor=2, image_token_id=tokenizer.convert_tokens_to_ids("<image>"), pad_token_id=0,
    )  # fmt: skip
    Idefics3ForConditionalGeneration(config).save_pretrained(folder)
    images = Idefics3ImageProcessorPil(size={"longest_edge": 4 * SIDE}, max_image_size={"longest_edge": SIDE})
    Idefics3Processor(images, tokenizer, image_seq_len=4, chat_template=CHAT_TEMPLATE).save_pretrained(folder)
    return folder


def _tokenizer(framed: bool = False, marks: Sequence[str] = ()) -> Any:
    """One token a word; `framed` puts the end mark before and after a text, as BERT's tokenizers do."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    end = WORDS[0]
    numbers = {word: at for at, word in enumerate([*WORDS, *marks])}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token=end))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if framed:
        framing = processors.TemplateProcessing(single=f"{end} $A {end}", special_tokens=[(end, 0)])
        tokenizer.post_processor = framing
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=end, eos_token=end, pad_token=end, unk_token=end,
        additional_special_tokens=list(marks),
    )  # fmt: skip


def _image_processor() -> Any:
    from transformers import ViTImageProcessor

    return ViTImageProcessor(size={"height": SIDE, "width": SIDE})
