"""What a reading pays for each liberty that it takes; `perf/reader.py` tells what each is good for."""

from __future__ import annotations


class Cost:
    """The costs, by what they are paid for; a reading's are added up."""

    ITEM = 0.01  # each stretch of the question: longer ones win
    FORM = 0.12  # another form of a word: "publisher" for "published"
    IDEA = 0.30  # a word of the same idea: "tall" for "Height"
    PART = 0.25  # the words of a column's name that are not said, if it were all of them
    HELD = 0.30  # a cell that says more than the question, if it were all of it
    SORT = 0.05  # a word for a sort of thing, for the rows: "people" over names
    UNIT = 0.05  # the name of a unit
    VERB = 0.05  # a verb that the table's columns let be said: "sold" beside "Price"
    IMPLIED = 0.10  # a column that no word names and that only one can be: the key, the only amount
    LOOSE = 0.40  # a condition whose column is one of several
    SUBJECT = 0.30  # a word that nothing accounts for, where a question names the rows
    UNKNOWN = 9.0  # a word that nothing accounts for
    NEAR = 0.25  # a reading that costs so much more than the cheapest is no rival of it
    MOST = 0.8  # a reading that costs more is declined
    DOUBT = 4.0  # what would have no confidence at all
    ONE = 0.45  # a count that comes to one: few ask how many where there is one
    NONE = 0.60  # a count that comes to none, or to a part of the cells that say a word
