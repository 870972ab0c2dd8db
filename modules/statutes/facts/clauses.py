"""Sentences taken apart into clauses of one fact each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chameleon.modules.statutes.facts.forms import pattern_of

_SENTENCE = re.compile(r"(?<=[.])\s+(?=[A-Z])")
_AT_HOME = r"\1", r"\2 and \3 have the same principal place of abode in \4"
_BORN = r"\1", r"\2 was born \3"
# A form of a sentence, and the clauses that it comes to.
_PARTS = tuple(
    (pattern_of(form), parts)
    for form, *parts in (
        (
            r"(.+?)(?:,? and (?:(?:they|she|he) )?|, and {N} )(?:both |each )?(?:take|takes|took) "
            r"(?:the|their|her|his) standard deduction(?: in {Y})?",
            r"\1",
            "They take the standard deduction",
        ),
        (r"(.*\b(?:{CHILD}|brother|sister),? ({N})),? (?:(?:who )?was )?born (?:on )?({D})", *_BORN),
        (r"(({N}) is {N}(?: and {N})?'s {CHILD}),? born (?:on )?({D})", *_BORN),
        (
            r"(({N}) has a {CHILD}, ({N})), who was born (?:on )?({D}),? "
            r"and has lived at \2's place since then",
            r"\1",
            r"\3 was born \4",
            r"\2 and \3 live in a home maintained by \2 since \4",
        ),
        (
            r"(({N}) has a {CHILD}, ({N})), who has the same {PLACE} as (?:her|him) in ({Y})"
            r"(?: and is not married)?",
            *_AT_HOME,
        ),
        (
            r"(({N}) has a {CHILD}, ({N})), who in ({Y}) lives with (?:her|him) "
            r"at the {HOME} (?:she|he) maintains as {HER} home",
            r"\1",
            r"In \4, \2 and \3 lived in a house maintained by \2",
        ),
        (
            r"(({N}) adopted ({N}) on ({D})) and \3 has lived with \2 since, in a {HOME} that \2 maintains",
            r"\1",
            r"\2 and \3 live in a house maintained by \2 since \4",
        ),
        (
            r"({N}), ({N})'s (father|mother), has the same {PLACE} as \2 since ({Y}), "
            r"and has had no income since",
            r"\1 is \2's \3",
            r"\1 had no income from \4 to 9999",
        ),
        (r"({N} was born (?:on )?{D}),? and ({N} was born (?:on )?{D})", r"\1", r"\2"),
        (r"(({N}) and {N} got married on {D}), and have a {CHILD} ({N})", r"\1", r"Their son \3"),
        (
            r"({N} married {N} on {DAY} ({Y})),? and they file a joint return that same year",
            r"\1",
            r"They file a joint return in \2",
        ),
        (
            r"({N} and {N} (?:have been married since|got married on) {D}|{N} married {N} on {D}),? "
            r"and they (.+)",
            r"\1",
            r"They \2",
        ),
        (
            r"((?:In {Y}, )?{N} has (?:also )?paid {M} into a retirement fund for {N}, and {M} "
            r"into health insurance for ({N})), who is ({N}'s (?:father|mother)) and has retired in {Y}",
            r"\1",
            r"\2 is \3",
        ),
        (
            r"({N}) has paid ({M}) to {HER} (father|mother|son|daughter|brother|sister) ({N}) (for .+)",
            r"\4 is \1's \3",
            r"\1 has paid \2 to \4 \5",
        ),
    )
)


def clauses_of(text: str) -> Iterator[str]:
    """The clauses of a text, in order, without full stops."""
    for sentence in _SENTENCE.split(text.strip()):
        yield from _taken_apart(sentence.strip().removesuffix("."))


def _taken_apart(sentence: str) -> Iterator[str]:
    for pattern, parts in _PARTS:
        if found := pattern.fullmatch(sentence):
            for part in parts:
                yield from _taken_apart(found.expand(part))
            return
    if sentence:
        yield sentence
