"""Costs of the liberties that a reading takes; `perf/reader.py` measures how much each one helps."""


class Cost:
    """Costs by kind of liberty; a reading pays the sum."""

    ITEM = 0.01  # each span of the question, so that longer spans win
    FORM = 0.12  # another form of a word: "publisher" for "published"
    IDEA = 0.30  # a related word: "tall" for "Height"
    PART = 0.25  # words missing from a column's name, times the share that is missing
    HELD = 0.30  # a cell with more words than the question, times their share
    SORT = 0.05  # a general noun for the rows: "people" for a column of names
    UNIT = 0.05  # the name of a unit
    VERB = 0.05  # a verb that the columns make plausible: "sold" with "Price"
    IMPLIED = 0.10  # a column that no word names but that is implied: the key, the only amount
    LOOSE = 0.40  # a condition on one of several possible columns
    SUBJECT = 0.30  # an unexplained word where a question names the rows
    UNKNOWN = 9.0  # an unexplained word
    NEAR = 0.25  # a reading that costs this much more than the cheapest is not a rival
    MOST = 0.8  # a reading that costs more is declined
    DOUBT = 4.0  # the cost at which confidence reaches zero
    ONE = 0.45  # a count of one: people rarely ask "how many" about a single thing
    NONE = 0.60  # a count of zero, or of only some of the cells that contain a word
