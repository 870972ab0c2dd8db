"""Plain questions over small tables: what is answered, and what is easily misread and declined (None)."""

from __future__ import annotations

from pathlib import Path

import pytest

from chameleon.errors import Declined
from chameleon.modules.offline.judge import answer
from chameleon.table import Table, read_table


def table(text: str, caption: str) -> Table:
    header, *rows = ([cell.strip() for cell in line.split("|")] for line in text.strip().splitlines())
    return Table(header, rows, caption)


STAFF = table(
    """
    Name | Department | Team | Salary | Age | Hired | Remote | Manager
    Ann | Sales | red | 52000 | 34 | 2015-03-01 | yes | Cleo
    Ben | Sales | blue | 48000 | 41 | 2012-07-15 | no | Cleo
    Cleo | Management | red | 90000 | 50 | 2005-01-10 | no |
    Dan | IT | green | 61000 | 29 | 2019-11-04 | yes | Eva
    Eva | IT | red | 75000 | 45 | 2010-05-20 | yes | Cleo
    Finn | IT | blue | 58000 | 33 | 2018-02-12 | no | Eva
    """,
    "staff",
)
SALES = table(
    """
    Date | Product | Region | Units | Unit price ($) | Revenue ($)
    2024-01-05 | Lamp | North | 10 | 20.00 | 200.00
    2024-01-17 | Chair | South | 4 | 55.50 | 222.00
    2024-02-03 | Table | North | 2 | 150.00 | 300.00
    2024-02-21 | Lamp | South | 6 | 20.00 | 120.00
    2024-03-08 | Chair | North | 8 | 55.50 | 444.00
    """,
    "sales",
)
NUMBERED = table(
    """
    # | Fruit | Price
    1 | apple | 2
    2 | pear | 3
    3 | plum | 4
    """,
    "fruits",
)
PARTS = table(
    """
    Order | Customer | Product | Date
    1001 | Acme | Desk lamp | 2024-01-15
    1002 | Echo | Desk | 2024-03-18
    1003 | Echo | Projector | 2024-05-21
    """,
    "parts",
)
PLANTS = table(
    """
    Plant | Kind | Height | Price
    Rose | shrub | 150 cm | US$ 12.00
    Fern | perennial | 80 cm | US$ 6.20
    Tulip | bulb | 40 cm | US$ 0.80
    Oak | tree | 25 m | US$ 39.00
    Birch | tree | 15 m | US$ 29.90
    """,
    "plants",
)
RACE = table(
    """
    Rider | Time | Wins
    Ugo Rossi | 4:05:10 | 3
    Jan Maes | 4:05:42 | 1
    Luc Petit | 4:06:20 | 0
    """,
    "race",
)
RAIN = table(
    """
    City | Date | Rain (mm) | Wind (km/h)
    Oslo | 2024-01-10 | 0.0 | 12
    Rome | 2024-01-10 | 8.0 | 15
    Rome | 2024-04-10 | 2.1 | 22
    """,
    "rain",
)
MONTHLY = table(
    """
    Month | Region | Units | Revenue
    2024-01 | North | 120 | 1450.50
    2024-01 | West | 60 | 720
    2024-02 | North | 130 | 1600
    2024-02 | West | 75 | 900.25
    """,
    "monthly",
)
YEARS = table(
    """
    Month | Region | Units | Revenue
    2024-01 | North | 120 | 2440.50
    2024-01 | West | 60 | 1160.25
    2024-02 | North | 130 | 2600
    2024-02 | West | 75 | 1500
    2025-01 | North | 150 | 3000
    2025-01 | West | 70 | 1850
    """,
    "years",
)


TEMPS = table(
    """
    City | Date | Min temp | Max temp | Sender | Receiver
    Oslo | 2024-01-01 | -12 | -3 | Ann | Bob
    Oslo | 2024-01-02 | -7 | 1 | Bob | Cem
    Bergen | 2024-02-01 | -1 | 4 | Ann | Cem
    Tromso | 2024-03-01 | -15 | -8 | Bob | Ann
    """,
    "temps",
)
ORDERS = table(
    """
    order_id | order_date | customer | product | qty | total | status | shipped_date
    10021 | 2024-01-03 | Blue Fox | Desk Lamp | 4 | 100.00 | shipped | 2024-01-05
    10022 | 2024-01-04 | Anna Weber | Office Chair | 1 | 162.00 | shipped | 2024-01-09
    10023 | 2024-01-10 | Blue Fox | Desk | 2 | 600.00 | cancelled |
    10024 | 2024-02-01 | Nordlys | Desk Lamp | 10 | 237.50 | shipped | 2024-02-02
    10025 | 2024-02-14 | Anna Weber | Monitor Arm | 2 | 160.00 | returned | 2024-02-16
    10027 | 2024-03-02 | Nordlys | Desk | 1 | 300.00 | open |
    """,
    "orders",
)
PEOPLE = table(
    """
    Town | County | 2000 | 2010 | 2020
    Ash | North | 8000 | 9000 | 9500
    Birch | South | 14000 | 15500 | 16000
    """,
    "population",
)


@pytest.mark.parametrize(
    ("over", "question", "expected"),
    [
        (SALES, "What is the unit price of a lamp?", "20.00"),
        (TEMPS, "Which cities had a min temp below -10?", "Oslo; Tromso"),
        (TEMPS, "How many rows with max temp over -4?", "3"),
        (TEMPS, "How many rows between January 2 and February 1?", "2"),
        (TEMPS, "How many rows between January and February?", "3"),
        (TEMPS, "Who sent to Ann?", None),
        (PARTS, "What was the first product ordered by Echo?", "Desk"),
        (PARTS, "What is the first order of Echo?", "1002"),
        (STAFF, "Who is best liked?", None),
        (STAFF, "Who is the oldest at swimming?", None),
        (STAFF, "Who is the youngest woman?", None),
        (NUMBERED, "What is the sum of #?", None),
        (NUMBERED, "What is the average Price?", "3"),
        (TEMPS, "Which city is second to last?", None),
        (ORDERS, "Which customers have more than one order?", "Blue Fox; Anna Weber; Nordlys"),
        (ORDERS, "Which customers have more than 2 orders?", None),
        (ORDERS, "Which product has 2 orders?", "Desk Lamp; Desk"),
        (ORDERS, "How many desk lamps were ordered?", "14"),
        (ORDERS, "How many open orders are there?", "1"),
        (ORDERS, "Who has open orders?", "Nordlys"),
        (ORDERS, "Who cancelled?", None),
        (ORDERS, "Which customers are there?", "Blue Fox; Anna Weber; Nordlys"),
        (ORDERS, "Which customer bought the most bananas?", None),
        (ORDERS, "How many orders were shipped?", None),
        (ORDERS, "How many orders have not been shipped?", "2"),
        (SALES, "Which sale was the most expensive?", None),
        (STAFF, "Which managers are remote?", None),
        (ORDERS, "What did Nordlys order?", None),
        (ORDERS, "Who never ordered a desk?", None),
        (ORDERS, "Which orders were not shipped in February?", None),
        (ORDERS, "Who is the customer of order 10024 and what did they order?", None),
        (
            ORDERS,
            "Highest total by product",
            "Desk Lamp: 237.50; Office Chair: 162.00; Desk: 600.00; Monitor Arm: 160.00",
        ),
        (ORDERS, "How much did Anna Weber spend?", "322.00"),
        (ORDERS, "What is the total of shipped orders?", "499.50"),
        (ORDERS, "Which customer has the second highest total?", None),
        (PEOPLE, "What is the total population?", None),
        (PEOPLE, "What is the total population in 2020?", "25500"),
        (STAFF, "Who earns the most except Cleo?", "Eva"),
        (STAFF, "Who is managed by Eva?", None),
        (STAFF, "Who does Eva manage?", None),
        (STAFF, "Who has Eva as manager?", "Dan; Finn"),
        (STAFF, "Who is the manager of Eva?", "Cleo"),
        (STAFF, "How many people do not have Eva as manager?", None),
        (STAFF, "Which team has more than two people?", "red"),
        (MONTHLY, "How often did Revenue rise?", None),
        (RAIN, "Which city had wind over 20 km/h?", "Rome"),
        (SALES, "How many units were sold after February?", "8"),
        (STAFF, "Who was hired last before 2015?", "Ben"),
        (STAFF, "Who joined first, Ann or Ben?", "Ben"),
        (STAFF, "How many people are red or remote?", None),
        (STAFF, "Are all red people in Sales?", None),
        (STAFF, "Are Ann and Dan in Sales?", None),
        (STAFF, "Is Ann the oldest?", None),
        (STAFF, "Did Ann win?", None),
        (STAFF, "Does Cleo have a manager?", None),
        (STAFF, "Is Ann in Sales?", None),
        (STAFF, "Who in IT has the lowest salary?", "Finn"),
        (STAFF, "How old is the manager of Dan?", None),
        (STAFF, "Which departments have no remote people?", None),
        (STAFF, "How many teams have no one in IT?", None),
        (STAFF, "How many times more does Cleo earn than Ben?", None),
        (RACE, "Who has the best time?", "Ugo Rossi"),
        (RACE, "Who has a better time, Luc Petit or Jan Maes?", "Jan Maes"),
        (RACE, "Who is second last?", None),
        (RACE, "What was the last win?", None),
        (STAFF, "Who is the second to last hired?", None),
        (STAFF, "Who is the second oldest?", "Eva"),
        (SALES, "Which month had the highest revenue?", None),
        (STAFF, "What year was Eva hired?", "2010"),
        (STAFF, "What month was Eva hired in?", "May"),
        (STAFF, "Who has the same team as Ann?", None),
        (SALES, "How many sales were there?", "5"),
        (RAIN, "When did it last rain in Rome?", None),
        (STAFF, "Who met Dan?", None),
        (STAFF, "Who manages Dan?", "Eva"),
        (PLANTS, "What is the total price of the trees?", "US$ 68.90"),
        (PLANTS, "What is the average height of the trees?", "20 m"),
        (PLANTS, "What is the total price of the rose and the fern?", "US$ 18.20"),
        (PLANTS, "Which kind is the most common?", "tree"),
        (PLANTS, "Which plant comes next after the fern?", None),
        (PLANTS, "How much money is left of $20 after a rose?", None),
        (PLANTS, "What is the range of the prices?", None),
        (PLANTS, "What is the price by kind?", None),
        (YEARS, "Which region had the highest revenue?", "North"),
        (YEARS, "What is the rate of change of revenue from January to February 2024?", None),
        (table("Rice | $2\nPeas | $3\nCorn | $1", "prices"), "How much is corn?", None),
        (table("Stem | Leaf\n5 | 0, 1\n6 | 3, 3", "farms"), "How many farms have fewer than 60 cows?", None),
        (MONTHLY, "How many units were sold in February?", "205"),
        (MONTHLY, "Which region had the highest revenue in January 2024?", "North"),
        (MONTHLY, "How many units were sold after January 2024?", "205"),
        (MONTHLY, "How many rows have revenue above 1000?", "2"),
        (MONTHLY, "What percentage of total units came from North?", None),
        (MONTHLY, "What is the revenue per unit in West?", None),
        (MONTHLY, "What is the average revenue per unit in West?", None),
        (YEARS, "How many months had revenue above 2500?", "2"),
        (YEARS, "In how many months did North sell more than 120 units?", "2"),
        (YEARS, "For how many months did West sell at least 70 units?", "2"),
        (YEARS, "What is the average monthly revenue?", None),
        (YEARS, "What is the average monthly revenue in 2024?", None),
        (YEARS, "What is the average revenue per month?", None),
        (YEARS, "What was the total revenue in January?", None),
        (YEARS, "What was the total revenue in February?", "4100"),
        (
            table("City | Year | Goals\nRome | 2019 | 4\nRome | 2020 | 5\nOslo | 2020 | 7", "goals"),
            "In how many years did Rome have more than 3 goals?",
            "2",
        ),
    ],
)
def test_plain_questions(over: Table, question: str, expected: str | None) -> None:
    if expected is not None:
        assert "; ".join(answer(question, over).result.values) == expected
        return
    with pytest.raises(Declined):
        answer(question, over)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("order_id | unit_price | total\n101 | 30 | 30\n102 | 25 | 100", "Which order cost the most?"),
        (
            "Trip | Start | End | Length (m)\nAlps | 2024-01-02 | 2024-01-09 | 900",
            "How long was the Alps trip?",
        ),
        ("Shop | Amount\nRewe | -20.50\nJob | 2000.00", "How much did I spend at Rewe?"),
        ("Name | Price | Price (2)\nA | 3 | 3\nB | 4 | 4", "What is the total price?"),
        ("Order | Returned\nA1 | yes\nA2 | no", "Who returned A1?"),
        ("Stock | Price per share\nX | 10.5\nY | 20.0", "What is the total price per share?"),
        ("Name | Salary\nAnn | 5\nBen | 7", "How much more does Ann earn than Ann?"),
    ],
)
def test_what_a_column_may_not_mean_is_declined(text: str, question: str) -> None:
    with pytest.raises(Declined):
        answer(question, table(text, "orders"))


def test_a_row_called_all_is_one_of_the_rows_where_it_sums_nothing_up() -> None:
    text = "Product | Shop | Units\nTide | North | 3\nAll | South | 4\nAriel | North | 9\nTotal | | 16"
    assert answer("How many units are there in total?", table(text, "sold")).result.values == ("16",)
    summed = "Class | Tickets | Won\nAll | 7 | 9\nFirst | 3 | 5\nSecond | 4 | 4"
    assert answer("What is the total of tickets?", table(summed, "classes")).result.values == ("7",)


def test_figures_after_a_year_are_months_where_one_of_them_is_no_season() -> None:
    months = table("Month | Goals\n2011-12 | 4\n2012-01 | 7\n2012-02 | 3", "months")
    assert answer("How many goals were there in December 2011?", months).result.values == ("4",)
    seasons = table("Season | Goals\n2011-12 | 4\n2012-13 | 7\n2013-14 | 3", "seasons")
    assert answer("How many goals were there in 2012-13?", seasons).result.values == ("7",)


GERMAN = Path(__file__).with_name("german")


@pytest.mark.parametrize("line", (GERMAN / "questions.tsv").read_text("utf-8").splitlines())
def test_questions_in_german_need_no_more_than_a_file_of_words(line: str) -> None:
    name, question, expected = line.split("\t")
    over = read_table(GERMAN / f"{name}.csv").with_caption(name)
    try:
        found = ", ".join(answer(question, over).result.values)
    except Declined:
        found = ""
    assert found == expected
