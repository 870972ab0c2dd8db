"""Make a chat model of some 150,000 parameters, in the layout of a Hugging Face cache.

    python tests/served/tiny_model.py CACHE

`tiny/plans` has learnt two replies: a plan to a prompt that ends with "Modules:", and "The answer is 42." to
any other. It sees the last 32 tokens alone, so that the length of a prompt does not matter.
"""

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import MistralConfig, MistralForCausalLM, PreTrainedTokenizerFast

ROOT = Path(__file__).parents[2]
END, VOCABULARY, SEEN = "<|end|>", 640, 32
TEMPLATE = "{% for message in messages %}{{ message['content'] }}" + END + "{% endfor %}"
PLAN = '["solution_generator", "answer_generator"]'
ANSWER = "The answer is 42."
STEPS, BATCH = 150, 16


def main(cache: Path) -> None:
    torch.set_num_threads(1)
    texts = [file.read_text("utf-8") for file in sorted((ROOT / "prompts").glob("tab*/*.md"))]
    tokenizer = make_tokenizer(texts)
    repository, revision = cache / "models--tiny--plans", "1" * 40
    model = trained(make_model(tokenizer.eos_token_id), tokenizer, texts)
    model.generation_config.update(do_sample=True)
    for made in (model, tokenizer):
        made.save_pretrained(repository / "snapshots" / revision)
    (repository / "refs").mkdir()
    (repository / "refs/main").write_text(revision)  # the only one


def make_tokenizer(texts: list[str]) -> Any:
    """A byte-level BPE of these texts, which knows every byte."""
    bpe = ByteLevelBPETokenizer()
    bpe.train_from_iterator(texts, VOCABULARY, special_tokens=[END], show_progress=False)
    marks = {"eos_token": END, "pad_token": END, "chat_template": TEMPLATE}
    return PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer, **marks)


def make_model(end: int) -> MistralForCausalLM:
    """Two layers with random weights, of which each sees half of what the model sees."""
    torch.manual_seed(1)
    sizes = {"vocab_size": VOCABULARY, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 4, "sliding_window": SEEN // 2}
    ends = {"bos_token_id": None, "eos_token_id": end, "pad_token_id": end}
    return MistralForCausalLM(MistralConfig(**sizes, **heads, **ends))


def trained(model: MistralForCausalLM, tokenizer: Any, texts: list[str]) -> MistralForCausalLM:
    optimizer = torch.optim.AdamW(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, STEPS)
    cases = make_cases(tokenizer, "\n".join(texts))
    for _ in range(STEPS):
        tokens, labels = zip(*(next(cases) for _ in range(BATCH)), strict=True)
        model(input_ids=torch.tensor(tokens), labels=torch.tensor(labels)).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
    return model.eval()


def make_cases(tokenizer: Any, text: str) -> Iterator[tuple[list[int], list[int]]]:
    """The end of a prompt with its reply, and of these the tokens that are to be learnt."""
    replies = tokenizer([ANSWER + END, PLAN + END], padding=True)["input_ids"]
    chance = random.Random(1)
    while True:
        start, plan = chance.randrange(len(text) - 400), chance.random() < 0.5
        asked = text[start : start + chance.randrange(300, 400)] + ("\nModules:" if plan else "")
        yield tokenizer.encode(asked + END)[-SEEN:] + replies[plan], [-100] * SEEN + replies[plan]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
