"""Which columns the words of a question call for: of a game there are a date, an opponent and a score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from chameleon.retrieval.lexical.analysis import terms

# Words of questions, then words of column names that tables about such things have. Written by hand from
# what tables of sports, elections, films and places look like.
_CALLS_FOR = """
game match play against : opponent score result date attendance venue team
attendance crowd spectator : attendance crowd opponent
medal medalist gold silver bronze : gold silver bronze nation total rank
country : country nation nationality
nation : country nationality
election elect vote voter candidate majority ballot : party candidate votes
democrat democratic republican incumbent reelect congress : party incumbent candidates district result
award nominate nomination nominee : award category result nominated work year
role act actor actress film movie television appear star : role title year notes film
episode air season series : title air written directed viewers episode
direct director write writer : directed written title air
song single album release chart : title album label song year format
lap race driver grid qualify constructor retire : driver laps time grid constructor points team
race racer finish : time position rank
metre meter freestyle olympics swimmer athlete : time rank lane nationality event
draft pick : round pick player position college
tournament surface clay : tournament surface opponent outcome score
club goal league : club season league goals apps
win winner : winner result w
lose : loser result l
tie draw drawn : draw d
year when : year date
who player : name player position
where location : venue location city place
town city : city location
population : population area
station channel frequency : frequency callsign
school college university : school college institution location enrollment
score : score result points
place rank : position rank place
coach : coach manager
long length : length time distance
building tower tall : height floors name
"""
_STOPPED = ("who", "when", "where", "against")  # words that are no terms, and yet call for columns


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Mapping[str, float]]:
    """Of each term the terms of columns that it calls for, each with its share of 1."""
    found: dict[str, list[str]] = {}
    for line in _CALLS_FOR.strip().splitlines():
        asked, called = line.split(" : ")
        for word in asked.split():
            key = word if word in _STOPPED else terms(word)[0]
            known = found.setdefault(key, [])
            known += [term for term in terms(called) if term != key and term not in known]
    return {key: dict.fromkeys(called, 1 / len(called)) for key, called in found.items()}


def called_for(question: str, asked: Iterable[str]) -> dict[str, float]:
    """The terms of columns that a question with the terms `asked` calls for, with weights from 0 to 1.

    A word's weight is shared by the columns that it calls for; a column that several words call for has the
    largest. What the question says itself is left out.
    """
    table, said = _table(), set(asked)
    words = set(question.lower().split())
    found: dict[str, float] = {}
    for key in [*said.intersection(table), *(word for word in _STOPPED if word in words)]:
        for term, share in table[key].items():
            if term not in said:
                found[term] = max(found.get(term, 0.0), share)
    return found
