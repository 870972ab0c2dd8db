"""What a phrase, a row or a column is about, as words that can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from functools import cache

from chameleon.modules.reports.evidence import years_in
from chameleon.retrieval.lexical.analysis import terms

_UNTELLING = (
    "million millions billion billions thousand thousands dollar dollars usd us cent cents amount amounts "
    "value values figure number percentage point points basis company companys our year years ended ending "
    "end fiscal period december march june september january october approximate approximately recorded "
    "reported respectively 31 30 28 29 27 26 25 24 $ eur euro euros gbp pounds nok sek dkk crowns "
    "kroner chf jpy incurred recognized"
)
_LINKS = re.compile(
    r"\b(?:and|or|per|before|after|not|non|without|less|plus|minus|from|to|than|since|through|until|versus|vs|"
    r"beyond|except|excluding)\b|&"
)
_NOTES = re.compile(r"\(\s*(?:-?[\d.,]+\s*%?|[a-z]|notes? \w+)\s*\)")
_OPPOSITES = re.compile(
    r"\(\s*(?:loss(?:es)?|gains?|expenses?|income|benefits?|decreases?|increases?|deficit|charges?|"
    r"used(?: in)?|provided(?: by)?)\s*\)"
)


@cache
def _untelling() -> frozenset[str]:
    return frozenset(terms(_UNTELLING))


@cache
def total() -> frozenset[str]:
    """The word "total", which may be said of a thing or not."""
    return frozenset(terms("total"))


def content(text: str) -> frozenset[str]:
    """The words of a text that tell things apart: no years, units and words such as "amount".

    Words that join others ("and", "per", "before") are told as "+and": "revenue and cost" is not "cost of
    revenue". Notes, and the other sign of "net income (loss)", are left out.
    """
    bare = without_opposites(_NOTES.sub(" ", text.lower()))
    links = {f"+{'and' if link == '&' else link}" for link in _LINKS.findall(bare)}
    plain = _LINKS.sub(" ", bare)
    return frozenset(
        {term for term in terms(plain) if term not in _untelling() and not years_in(term) and "_" not in term}
        | links
    )


def without_opposites(name: str) -> str:
    """ "net income" for "net income (loss)"."""
    return _OPPOSITES.sub(" ", name.lower())


def fit(
    asked: Set[str], name: Set[str], explained: Set[str] = frozenset(), others: Iterable[Set[str]] = ()
) -> int:
    """How a name fits what is asked for: 2 the same words, 1 the same but for explained ones, 0 not.

    Of the words asked for, those in `explained` (of captions, headings and sections) need not be in the name,
    unless they are themselves the name of another line, one of `others`. "Total" may be there or not.
    """
    if not name or not asked:
        return 0
    if asked == name:
        return 2
    if name - asked - total():
        return 0
    rest = asked - name - total()
    if any(other and other <= rest for other in others):
        return 0
    return int(rest <= explained)
