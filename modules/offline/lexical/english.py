"""The English of statements: words that steer a reading, and words that may stay unread."""

from __future__ import annotations

from chameleon.modules.offline.grammar.lexicon import word_set

SMALL = word_set(
    """a an the of for with to in on at from about by s be is are was were been being am do does did have
    has had having will would can could should may might that which who whom whose what where when it
    he she they them his her its their him there this these those as so also such into onto during
    while and or but if then than out up get gets got i we you our us one very well ever just come
    comes came go goes went per how many"""
)
"""Words that tell nothing by themselves; a reading that depends on one of them uses it."""

MOST = word_set(
    """highest most largest greatest biggest maximum max top longest tallest oldest latest last newest
    heaviest strongest widest deepest farthest furthest richest hottest best"""
)
LEAST = word_set(
    """lowest least fewest smallest minimum min shortest youngest earliest first slowest lightest worst
    narrowest shallowest nearest closest poorest coldest fastest quickest bottom"""
)
IN_TIME = word_set("earliest latest oldest newest youngest first last recent")
MORE = word_set(
    """more higher greater larger bigger longer taller later newer heavier wider deeper over above exceed
    exceeds exceeded after older better farther further outscore outscored"""
)
LESS = word_set(
    """less fewer lower smaller shorter earlier under below before younger lighter worse narrower
    faster slower quicker"""
)
TIMELY = word_set("before after earlier later older younger newer prior")
NEGATIONS = word_set(
    "not never no none neither nor without n't didn't doesn't don't isn't wasn't weren't cannot"
)
WHOLE = word_set("all every each always everyone any entire")
STEERING = (
    MOST
    | LEAST
    | MORE
    | LESS
    | NEGATIONS
    | WHOLE
    | word_set(
        """only except other another both either same different than between until since second third average
    mean total sum combined difference most half majority twice double times least exactly consecutive
    unique alone together next previous following respectively but if while because once tie tied
    equal mostly many few several multiple single never previous prior without against"""
    )
)
"""Words that change what is claimed: a reading that leaves one of them unread is unsure."""

ROW_NOUNS = word_set(
    """game games match matches player players team teams time times race races season seasons year years
    episode episodes person people driver drivers country countries nation nations event events club
    clubs entry entries row rows place places tournament tournaments city cities school schools song
    songs film films album albums show shows title titles member members athlete athletes record
    records competition competitions candidate candidates venue venues date dates round rounds week
    weeks day days one list lists total number amount score scores point points rank position name
    location result"""
)
"""What the rows of tables are often called."""

PLAIN_VERBS = word_set(
    """play plays played playing score scores scored have take takes took taken place hold held receive
    received earn earned finish finished record recorded list listed make made use used show shown
    include included represent represented compete competed participate participated occur occurred
    happen happened run ran feature featured appear appeared reach reached serve served attend
    attended start started end ended belong located call called name named know known give given see
    seen enter entered host hosted set register registered contain complete completed achieve achieved
    total number amount table chart list single when against during over season game time team air
    aired release released write written direct directed"""
)
"""Verbs that join a name to what the table says of it, and change nothing."""

WON, LOST, DRAWN = (
    word_set("win wins won winning victory"),
    word_set("lose loses lost losing loss"),
    word_set("draw drew drawn tie tied"),
)
VERBS = word_set("be is are was were have has had do does did")
"""Verbs that part what a statement is about from what it says of that."""
