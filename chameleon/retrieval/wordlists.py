"""Lists of English words with a special reading in tables and questions about them."""

from collections.abc import Mapping

from chameleon.table.dates import MONTHS

_STOP = (
    "a an the and or of in on at by for from to with as is are was were be been being am do does did "
    "done has have had having that this these those it its he she him his her hers they them their "
    "theirs we us our i me my you your who whom whose which what when where why how than then there "
    "here if but so not no nor can could will would shall should may might must into onto about between "
    "during per also any each both such own same just only too very s t"
)
STOP_WORDS = frozenset(_STOP.split())
"""Words that are no clue to the subject of a question or a table."""

_WEAK = (
    "table chart list listed column row tell many much number amount total name named differ difference "
    "different various sum value average type kind altogether overall combine combined respectively "
    "according after before last first second third next previous previously follow following later "
    "earlier latest earliest most least more less fewer fewest highest lowest higher lower high low "
    "largest smallest larger smaller biggest greatest greater longest shortest longer shorter better "
    "worst worse half twice once exactly all every none never other another others either neither still "
    "even ever always everyone anyone actually currently time times under over below above among "
    "without within while out up show shown include included including feature featured receive "
    "received earn earned take took get got come came mean appear appears represent make made go went "
    "hold held use used people person"
)
WEAK_WORDS = frozenset(_WEAK.split())
"""Words about the question itself rather than the content of a table; they weigh less in a query."""

_IRREGULAR = (
    "win won winning winner wins|lose lost loss losing losses loser|hold held|take took taken|"
    "begin began begun|come came|go went gone|get got gotten|give gave given|"
    "write wrote written writer|sing sang sung|run ran|make made|lead led|leave left|build built|"
    "become became|fall fell fallen|rise rose risen|spend spent|sell sold|tell told|send sent|"
    "meet met|beat beaten|choose chose chosen|drive drove driven|fly flew flown|know knew known|"
    "see saw seen|speak spoke spoken|man men|woman women|child children|person people|foot feet|"
    "die death died|bear born birth"
)
IRREGULAR: Mapping[str, str] = {
    form: forms.split()[0] for forms in _IRREGULAR.split("|") for form in forms.split()
}
"""Forms that no stemmer unifies, by their first form."""

_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
NUMBERS: Mapping[str, str] = {word: str(number) for number, word in enumerate(_NUMBERS.split())}
"""Number words, as figures."""

MONTH_NAMES: Mapping[str, str] = {"sept": "september"} | {month[:3]: month for month in MONTHS}
"""Abbreviated months, in full."""
