"""Words for kin, and first names that are usually a man's or a woman's."""

from __future__ import annotations

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
AGE = r"(?:only |older |younger |elder |eldest |youngest |late |biological )?"
