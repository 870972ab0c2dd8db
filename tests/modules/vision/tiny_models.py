"""Captioning models of a few thousand parameters, made and saved by the tests, with words for tokens."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers as hf
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

SIDE, WIDTH = 32, 32
SHAPE: dict[str, Any] = {"num_hidden_layers": 2, "num_attention_heads": 4}
SHAPE |= {"hidden_size": WIDTH, "intermediate_size": WIDTH}
IMAGES: dict[str, Any] = {"image_size": SIDE, "patch_size": 8}
LIVELY: dict[str, Any] = {"initializer_range": 0.6}  # what random weights write should depend on the picture
WORDS = ["<|endoftext|>", *(f"word{number}" for number in range(60))]


def _ends(*names: str) -> dict[str, Any]:
    """All these tokens are the end mark."""
    return {f"{name}_token_id": 0 for name in names}


def save_vit_gpt2(folder: Path) -> Path:
    """A ViT that a GPT-2 looks at: the class of the paper's captioner. Returns the folder."""
    torch.manual_seed(5)
    encoder = hf.ViTConfig(**{**SHAPE, "hidden_size": 48, "intermediate_size": 96}, **IMAGES, **LIVELY)
    sizes = {"vocab_size": len(WORDS), "n_positions": 64, "n_embd": 48, "n_layer": 2, "n_head": 4}
    decoder = hf.GPT2Config(**sizes, **_ends("bos", "eos"), **LIVELY)
    special = _ends("decoder_start", "pad", "eos")
    config = hf.VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder, **special)
    model = hf.VisionEncoderDecoderModel(config)
    for name, value in special.items():
        setattr(model.generation_config, name, value)
    for part in (model, _tokenizer(), _image_processor()):
        part.save_pretrained(folder)
    return folder


def save_blip(folder: Path) -> Path:
    """A small BLIP, a model with a processor of its own. Returns the folder."""
    torch.manual_seed(5)
    text = {**SHAPE, **LIVELY, "vocab_size": len(WORDS), "encoder_hidden_size": WIDTH}
    text |= _ends("bos", "eos", "sep", "pad")
    config = hf.BlipConfig(vision_config={**SHAPE, **IMAGES, **LIVELY}, text_config=text)
    hf.BlipForConditionalGeneration(config).save_pretrained(folder)
    hf.BlipProcessor(_image_processor(), _tokenizer(framed=True)).save_pretrained(folder)
    return folder


CHAT_TEMPLATE = (  # says what that of SmolVLM says
    "<|im_start|>{% for message in messages %}{{ message['role'] | capitalize }}:"
    "{% for part in message['content'] %}{{ part['text'] if part['type'] == 'text' else '<image>' }}"
    "{% endfor %}"
    "<end_of_utterance>\n{% endfor %}{% if add_generation_prompt %}Assistant:{% endif %}"
)


def save_idefics3(folder: Path) -> Path:
    """A SigLIP that a Llama reads: the class of SmolVLM, a model to chat with. Returns the folder."""
    torch.manual_seed(5)
    marks = ["<|im_start|>", "<end_of_utterance>", "<fake_token_around_image>", "<image>", "<global-img>"]
    marks += [f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)]
    tokenizer = _tokenizer(marks=marks)
    text = {**SHAPE, **LIVELY, "model_type": "llama", "num_key_value_heads": 2, "vocab_size": len(tokenizer)}
    text |= _ends("bos", "eos", "pad")
    images = {"scale_factor": 2, "image_token_id": tokenizer.convert_tokens_to_ids("<image>")}
    vision = {**SHAPE, **LIVELY, **IMAGES}
    config = hf.Idefics3Config(vision_config=vision, text_config=text, **images, **_ends("pad"))
    hf.Idefics3ForConditionalGeneration(config).save_pretrained(folder)
    shown = Idefics3ImageProcessorPil(size={"longest_edge": 4 * SIDE}, max_image_size={"longest_edge": SIDE})
    processor = hf.Idefics3Processor(shown, tokenizer, image_seq_len=4, chat_template=CHAT_TEMPLATE)
    processor.save_pretrained(folder)
    return folder


def _tokenizer(framed: bool = False, marks: Sequence[str] = ()) -> Any:
    """One token a word; `framed` puts the end mark before and after a text, as BERT's tokenizers do."""
    end = WORDS[0]
    numbers = {word: at for at, word in enumerate([*WORDS, *marks])}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token=end))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if framed:
        framing = processors.TemplateProcessing(single=f"{end} $A {end}", special_tokens=[(end, 0)])
        tokenizer.post_processor = framing
    ends = {f"{name}_token": end for name in ("bos", "eos", "pad", "unk")}
    more = {"additional_special_tokens": list(marks)}
    return hf.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **ends, **more)


def _image_processor() -> Any:
    return hf.ViTImageProcessor(size={"height": SIDE, "width": SIDE})
