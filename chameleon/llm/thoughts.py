"""Remove thoughts and chat-template marks from the text of a reply: they are not part of the answer.

Servers without a parser for the model leave them in the text: `<think>` and similar, Mistral's `[THINK]`,
Kimi's `◁think▷`, the channels of harmony (gpt-oss), and the token that ends a turn.
"""

import re

_NAMES = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning)\s?"
_OPENS = (
    rf"<{_NAMES}>|\[THINK\]|◁think▷|<\|START_THINKING\|>"
    r"|<\|channel\|>(?:analysis|commentary)[^<]{0,40}<\|message\|>"
)
_CLOSES = rf"</{_NAMES}>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>|<\|channel\|>final[^<]{{0,40}}<\|message\|>"
_ENDS = r"(?:<[|｜][\w▁]{1,40}[|｜]>|<(?:end|start)_of_turn>|<[be]os>)(?:assistant\b\n?)?"
_TAG = re.compile(rf"(?P<opens>{_OPENS})|(?P<closes>{_CLOSES})|(?P<ends>{_ENDS})", re.IGNORECASE)
_END_MARKS = ("</s>", "[/INST]")
_MENTION = re.compile(r"\s*(?:and|or|,|/)\s*")  # "<think> and </think>"
_PREFACE = re.compile(r"\s*(?:[^\W\d]+\W+){0,2}[^\W\d]+\s*[.!,:…]\s*")  # "Sure."
_CUT_TAG = re.compile(r"<[^<>\n]{0,40}|<\|channel\|>[^<]{0,60}(?:<[^<>]{0,12})?|\[[^\]\n]{0,7}|◁[^▷\n]{0,8}")
MARKS, _MAX_TAG_CHARS = "<[◁", 100  # MARKS: the first characters of tags


def spoken(text: str) -> str:
    """Return a reply without its thoughts, wherever they are, and without marks of a chat template.

    Unclosed thoughts count if they start a line or run past its end; a closing tag by itself ends thoughts
    that the prompt opened; "<think> and </think>" are two words.
    """
    parts, begin, since = list[str](), 0, None
    for tag in _TAG.finditer(text):
        if since is not None:
            if not tag["closes"]:
                continue
            if not _MENTION.fullmatch(text, since.end(), tag.start()):
                parts.append(text[begin : since.start()])
                begin = tag.end()
            since = None
        elif tag["opens"]:
            since = tag
        elif tag["closes"] or not text[begin : tag.start()].strip():
            parts, begin = [] if tag["closes"] else parts, tag.end()
        else:  # the turn ended; the model made up another one after it
            parts.append(text[begin : tag.start()])
            begin = len(text)
            break
    tail = text[begin:]
    if since is not None:
        begins_line = not text[: since.start()].rpartition("\n")[2].strip()
        if begins_line or parts or "\n" in text[since.end() :]:
            tail = text[begin : since.start()]
    if parts and _PREFACE.fullmatch(parts[0]) and re.search(r"\w", "".join([*parts[1:], tail])):
        parts = parts[1:]
    reply = "".join([*parts, tail])
    if (ended := reply.rstrip()).endswith(_END_MARKS):
        reply = ended[: -len(next(filter(ended.endswith, _END_MARKS)))].rstrip()
    return reply if begin == 0 and since is None else reply.lstrip()


def settled(text: str) -> str:
    """Return a growing text without an end that may become a tag, and without open thoughts."""
    window = range(max(0, len(text) - _MAX_TAG_CHARS), len(text))
    end = next((each for each in window if text[each] in MARKS and _CUT_TAG.fullmatch(text, each)), len(text))
    *_, last = [None, *_TAG.finditer(text, 0, end)]
    return text[: last.start()] if last is not None and last["opens"] else text[:end]
