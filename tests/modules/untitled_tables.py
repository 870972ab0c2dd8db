"""Tables without a title, whose numbers only the question and its story name."""

from __future__ import annotations

from chameleon import Table


def _table(text: str, caption: str = "") -> Table:
    header, *rows = ([cell.strip() for cell in line.split("|")] for line in text.strip("\n").splitlines())
    return Table(header, rows, caption)


PLOT = _table("Stem | Leaf\n1 | 2, 5\n2 | 0, 0, 7\n3 | 1")
DOG_WEIGHTS = _table("Stem | Leaf\n1 | 2, 5\n2 | 0, 0, 7\n3 | 1", "Dog weights (kg)")
AID = _table("Country | 1990 | 2000\nChad | 5 | 9\nMali | 7 | 8\nTogo | 3 | 4")
EXPORTS = _table("Country | 1990 | 2000\nChad | 5 | 9\nMali | 7 | 8\nTogo | 3 | 4", "Exports (millions)")
MELONS = _table("Melon | 2015 | 2016\nGalia | $4 | $6\nCrenshaw | $9 | $7")
TOWNS = _table("Town | Population\nAyr | 818\nBude | 149\nCrail | 555")
PETS = _table("Pet | Number of cases\nCats | 300\nDogs | 500\nOther | 200")
DRIVERS = _table("Driver | Minutes\nIda | 40\nJon | 60")
HATS = _table("Number of hats | Frequency\n0 | 4\n1 | 7\n2 | 5\n3 | 7")
GOALS = _table("Number of goals | Frequency\n0 | 4\n1 | 7")
SCORES = _table("Score | Frequency\n5 | 4\n6 | 9\n7 | 2")
SPINS = _table("Number spun | Frequency\n1 | 8\n2 | 3\n3 | 6")
LAKES = _table("Lake | Ducks | Swans\nAva | 5 | 7\nBo | 9 | 1")
DEEP_LAKES = _table("Lake | Ducks | Depth\nAva | 5 | 7\nBo | 9 | 1")
CLASSES = _table("Teacher | Boys | Girls\nMs. Orr | 5 | 7\nMr. Poe | 9 | 1")
BEACH = _table("Activity | Parents | Children\nWalking | 5 | 7\nEating lunch | 9 | 1")
COINS = _table("Name | Coins\nLisa | 50\nSam | 70\nTom | 30")
CHANGES = _table("Option | Change in price\nAdd a case | $60\nTake a used one | -$75")
TOLLS = _table("Bridge | Car | Truck\nEast | $5 | $9\nWest | $6 | $7")
TAKINGS = _table("Restaurant | Cheese pies | Veggie pies\nAl | $9 | $7\nBo | $14 | $19")
MAGAZINES = _table("Month | Number of magazines\nMay | 30\nJune | 20")
STUB = _table(
    """
Employee | Pay period |
Ida Berg | May 1-15 |
Total earnings | | $900.00
Federal income tax | $100.00 |
Other taxes | $50.00 |
Total taxes | | ?
Pay after taxes | | ?
"""
)
WITH_BONUS = _table("Item | Amount\nWages | $900\nBonus before taxes | $50\nIncome tax | $100")
WITH_INSURANCE = _table("Item | Amount\nEarnings | $900\nIncome tax | $100\nHealth insurance | $50")
WITH_REFUND = _table("Item | Amount\nWages | $900\nIncome tax | $100\nTax refund | $20")
ROLLS = _table(" | Not spicy | Spicy\nTuna | 4 | 3\nEel | 2 | 1")
SCREWS = _table("size 2 screws | $5/pound\nsize 4 screws | $4/pound\nsize 5 screws | $8/pound")
TOYS = _table("jet ski | $8,000\ngolf cart | $1,000\natlas | $30")
MULTIPLES = _table("2 | 10\n3 | 15\n6 | 30")
NO_MULTIPLES = _table("x | y\n3 | 15\n6 | 31")
LUNCH = _table("Sandwich | Lower school students | Upper school students\nHam | 4 | 9\nEgg | 7 | 3")
SHOPS = _table("Shop | Opened | Staff\nMore Tea | 2001 | 9\nLess Milk | 2005 | 4")
RECORD = _table(
    """
Date | Description | Received | Expenses | Available Funds
 | Balance: end of May | | | $40.00
6/3 | mowing lawns | $12.50 | | $52.50
6/14 | comic book | | $4.25 | $48.25
6/14 | kite | | $8.00 | $40.25
6/29 | washing cars | $20.00 | | $60.25
"""
)
UNCLEAR_DATES = _table("Date | Item | Amount\n3/4 | pen | 2\n4/3 | ink | 5")
WEEKS = _table("Week | Kilometres\n1 | 12\n2 | 15\n3 | 9\n4 | 21")
BENS_WEEKS = _table("Week | Kilometres\n1 | 12\n2 | 15", "Ben's runs")
RUNS = _table("Week | Kilometres\n1 | 12\n2 | 15", "Running log")
GRADES = _table("Grade | Boys | Girls\n5 | 12 | 14\n6 | 10 | 9\n7 | 8 | 16")
ROOMS = _table("Room | Seats | Price ($)\n7 | 30 | 40\n12 | 45 | 60\n21 | 12 | 25")
GAMES = _table("Game | Goals | Shots\n1 | 5 | 10\n2 | 1 | 9\n3 | 0 | 4")
