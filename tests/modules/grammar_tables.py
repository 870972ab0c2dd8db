"""Ordinary tables for the grammar's tests: sales, a league, a timetable, a budget, a survey, a stock."""

from chameleon import Table


def _table(text: str, caption: str) -> Table:
    header, *rows = ([cell.strip() for cell in line.split("|")] for line in text.strip().splitlines())
    return Table(header, rows, caption)


SALES = _table(
    """
    Date | Region | Product | Units | Unit price | Revenue
    2024-01-05 | North | Tea | 12 | $4.50 | $54.00
    2024-01-19 | South | Coffee | 8 | $7.25 | $58.00
    2024-02-02 | North | Coffee | 5 | $7.25 | $36.25
    2024-02-14 | West | Tea | 20 | $4.50 | $90.00
    2024-03-01 | North | Cocoa | 9 | $3.00 | $27.00
    2024-03-11 | South | Tea | 15 | $4.50 | $67.50
    2024-03-28 | North | Tea | 6 | $4.50 | $27.00
    """,
    "shop sales",
)
LEAGUE = _table(
    """
    Team | Played | Won | Drawn | Lost | Goals for | Goals against | Points
    Rovers | 10 | 7 | 2 | 1 | 22 | 9 | 23
    Athletic | 10 | 6 | 2 | 2 | 18 | 10 | 20
    United | 10 | 5 | 3 | 2 | 15 | 11 | 18
    Wanderers | 10 | 3 | 3 | 4 | 12 | 14 | 12
    City | 10 | 2 | 2 | 6 | 9 | 19 | 8
    Albion | 10 | 1 | 0 | 9 | 7 | 20 | 3
    """,
    "league",
)
TRAINS = _table(
    """
    Train | Departs | Arrives | Platform | Fare
    Express 1 | 8:15 AM | 9:05 AM | 2 | $12.50
    Local 4 | 8:40 AM | 10:10 AM | 1 | $8.00
    Express 3 | 11:30 AM | 12:22 PM | 2 | $12.50
    Local 6 | 5:45 PM | 7:20 PM | 3 | $8.00
    Night 9 | 11:40 PM | 12:25 AM | 1 | $9.00
    """,
    "timetable",
)
BUDGET = _table(
    """
    Category | January | February | March
    Rent | 1200 | 1200 | 1200
    Food | 430 | 395 | 410
    Transport | 120 | 95 | 130
    Leisure | 80 | 150 | 60
    Total | 1830 | 1840 | 1800
    """,
    "budget",
)
SURVEY = _table(
    """
    Name | Age | City | Favourite colour | Rating | Member
    Ann | 34 | Leeds | Blue | 4 | yes
    Bob | 28 | York | Red | 5 | no
    Cleo | 41 | Leeds | Green | 3 | yes
    Dev | 19 | Hull | Blue | 5 | no
    Eve | 55 | York | Blue | 2 | no
    Finn | 30 | Hull | | 4 | yes
    """,
    "survey",
)
STOCK = _table(
    """
    Product | Price | Stock | Supplier | Weight (kg)
    Laptop | $899.00 | 4 | Acme | 2.1
    Mouse | $19.50 | 120 | Globex | 0.1
    Desk | $240.00 | 9 | Acme | 31
    Chair | $115.25 | 0 | Initech | 12.5
    Lamp | $34.00 | 57 | Globex | 1.8
    """,
    "inventory",
)
FRUIT = _table("Apple | $0.50\nPear | $0.75\nMelon | $2.10", "")
RIDERS = _table(" | Men | Women\nBus | 12 | 18\nTrain | 30 | 25\nCar | 40 | 22", "")
TRADE = _table(
    "Year | Exports | Imports\n2018 | 120 | 140\n2019 | 135 | 150\n2020 | 90 | 110\n2021 | 150 | 155", "trade"
)
MOVIES = _table(
    """
    Title | Director | Year | Genre | Length (min) | Rating
    Red Dawn Rising | Lee | 2012 | Action | 118 | 7.1
    Quiet Rivers | Ortega | 2015 | Drama | 131 | 8.2
    The Last Laugh | Lee | 2016 | Comedy | 97 | 6.4
    Night Circus | Brandt | 2016 | Drama | 109 | 7.7
    Iron Tide | Ortega | 2019 | Action | 142 | 6.9
    """,
    "movies",
)
HOTEL = _table(
    """
    Guest | Nights | Room number | Price per night | Breakfast
    Smith | 3 | 101 | €80 | yes
    Jones | 2 | 102 | €95 | no
    Garcia | 5 | 101 | €80 | yes
    Chen | 1 | 203 | €140 | no
    """,
    "bookings",
)
FLIGHTS = _table(
    """
    Flight | From | To | Departure | Arrival | Seats
    BA1 | London | Paris | 07:30 | 09:45 | 120
    AF2 | Paris | Rome | 10:15 | 12:20 | 150
    LH3 | Berlin | London | 06:50 | 08:00 | 98
    BA4 | London | Berlin | 18:05 | 21:00 | 132
    """,
    "flights",
)
PETS = _table(
    """
    Owner | Pet | Species | Age | Weight
    Maria | Rex | Dog | 5 | 22 kg
    Tom | Misty | Cat | 3 | 4.5 kg
    Maria | Tiger | Cat | 7 | 5 kg
    """,
    "pets",
)
SPENDING = _table(
    """
    Category | Jan | Feb | Mar | Total
    Rent | 1000 | 1000 | 1000 | 3000
    Food | 300 | 280 | 310 | 890
    Fun | 100 | 150 | 90 | 340
    Total | 1400 | 1430 | 1400 | 4230
    """,
    "household budget",
)
CLIMATE = _table(
    "City | January | July\nOslo | -4 | 18\nRome | 8 | 27\nCairo | 14 | 35", "average temperatures in °C"
)
