"""Words for kin, and first names that are usually a man's or a woman's."""

from __future__ import annotations

import re

_MALE = "father stepfather grandfather son stepson grandson brother stepbrother half-brother husband"
_FEMALE = (
    "mother stepmother grandmother daughter stepdaughter granddaughter sister stepsister half-sister wife"
)
_NEUTRAL = "parent stepparent grandparent child stepchild grandchild sibling stepsibling spouse"
_MEN = (
    "Adam Albert Andrew Anthony Arthur Benjamin Bob Brian Carl Dan Daniel David Dennis Donald Edward "
    "Edwin Eric Frank Fred Gary George Gerald Gregory Harold Harry Henry Howard Hugo Isaac Ivan Jack "
    "Jacob James Jeffrey Jerry Jim Joe John Joseph Joshua Karl Keith Kenneth Kevin Larry Lawrence Louis "
    "Mark Martin Matthew Michael Mike Nathan Nicholas Oliver Oscar Otto Patrick Paul Peter Philip Ralph "
    "Raymond Richard Robert Roger Ronald Roy Scott Stephen Steven Theodore Thomas Timothy Tom Victor "
    "Walter William "
)
_WOMEN = (
    "Agnes Alice Amanda Amy Angela Anna Anne Barbara Bertha Betty Brenda Carol Carolyn Catherine "
    "Christine Clara Cynthia Deborah Diana Diane Donna Doris Dorothy Edith Elizabeth Ellen Emily Emma "
    "Ethel Eva Eve Florence Gloria Grace Hannah Heather Helen Ida Irene Jane Janet Jennifer Jessica Joan "
    "Judith Julia Julie Karen Katherine Laura Linda Lisa Margaret Maria Marie Martha Mary Megan Michelle "
    "Nancy Nora Olivia Pamela Patricia Rachel Rebecca Rose Ruth Sandra Sarah Sharon Sophia Stephanie "
    "Susan Teresa Victoria Virginia "
)
SPOUSES = ("husband", "wife", "spouse")
GENDERS = {**dict.fromkeys(_MALE.split(), "male"), **dict.fromkeys(_FEMALE.split(), "female")}
"""What a kin word tells of the gender of a person."""
USUAL = {**dict.fromkeys(_MEN.split(), "male"), **dict.fromkeys(_WOMEN.split(), "female")}
"""The usual gender of a name; what is told of a person comes first."""
KIN = rf"(?:{'|'.join(sorted([*GENDERS, *_NEUTRAL.split()], key=len, reverse=True))})"
_AGES = "older |younger |elder |eldest |youngest "
AGE = rf"(?:only |biological |{_AGES})?"
"""What may stand before a kin word without changing who is kin of whom."""
AMONG_SEVERAL = re.compile(rf"\b(?:{_AGES})")
"""A kin word that tells one of several."""
_PLACES = ("parent", "child", "sibling")
KIN_OF_ANY_GENDER = {
    **{
        f"{prefix}{word}": f"{prefix}{_PLACES[i // 2]}"
        for prefix in ("", "step", "grand", "half-")
        for i, word in enumerate(["father", "mother", "son", "daughter", "brother", "sister"])
    },
    **{each: each for each in _NEUTRAL.split()},
    **dict.fromkeys(SPOUSES, "spouse"),
}
"""The kin word for any gender that goes with each."""
