"""Which of a thousand modules a planner is shown."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Inventory, Module, State
from chameleon.errors import InventoryError
from chameleon.inventory.schema import RulesSpec
from chameleon.planners.fixed import Fixed
from chameleon.retrieval.shortlist import shortlist
from chameleon.values import freeze

# What a tool does, and a question that needs it in other words than its card's where there are any.
TOOLS: Mapping[str, tuple[str, str]] = {
    "income_tax": (
        "Computes the income tax on a salary",
        "How much tax is due on a wage of 40,000 a year in {}?",
    ),
    "sales_tax": ("Looks up the rate of sales tax on goods", "What is the sales tax on shoes bought in {}?"),
    "postage": (
        "Tells the postage of letters and parcels by weight",
        "What does a letter of 50 g cost within {}?",
    ),
    "train_times": (
        "Finds connections by train between two stations",
        "When does the next train leave in {}?",
    ),
    "flight_prices": ("Compares prices of flights and airlines", "Which airline flies most cheaply to {}?"),
    "weather": (
        "Forecasts the weather: rain, wind and temperature",
        "Will it rain tomorrow in the north of {}?",
    ),
    "tides": ("Gives times of high and low tide at ports", "At what time is high tide at the ports of {}?"),
    "exchange_rate": ("Converts amounts between currencies", "Convert 40 dollars to the currency of {}."),
    "population": (
        "Counts inhabitants of cities and districts",
        "How many inhabitants do the cities of {} have?",
    ),
    "elections": (
        "Gives the results of elections by party",
        "Which party won the elections in {} last year?",
    ),
    "patents": ("Searches patents by inventor and class", "Who holds patents on zippers in {}?"),
    "court_rulings": ("Finds rulings of courts by case and judge", "Which court ruled on that case in {}?"),
    "school_holidays": ("Lists the holidays of schools", "When do the school holidays begin in {}?"),
    "recipes": (
        "Finds recipes for dishes by their ingredients",
        "Give me a recipe for a lentil dish from {}.",
    ),
    "bird_calls": ("Names birds by their calls and plumage", "Which birds of {} call at night?"),
    "mushrooms": ("Tells edible mushrooms from poisonous ones", "Is this mushroom from {} poisonous?"),
    "soil_maps": ("Reads maps of soils and their acidity", "How acid is the soil in the west of {}?"),
    "earthquakes": ("Lists earthquakes by magnitude and place", "What was the strongest earthquake in {}?"),
    "rivers": ("Gives the length and discharge of rivers", "How long are the three longest rivers of {}?"),
    "mountains": ("Gives heights of mountains and passes", "How high is the highest mountain of {}?"),
    "museum_hours": ("Tells when museums are open", "Which museums are open on Mondays in {}?"),
    "film_ratings": ("Gives ages from which films are rated", "From what age is that film rated in {}?"),
    "book_catalogue": (
        "Searches the catalogue of the national library",
        "Which library has this book in {}?",
    ),
    "vaccinations": ("Lists vaccinations that travellers need", "Which vaccinations do I need for {}?"),
    "drug_prices": ("Compares prices of medicines", "What does this medicine cost in {}?"),
    "blood_banks": ("Finds where to give blood", "Where can I give blood in {}?"),
    "speed_limits": ("Tells the speed limits on roads", "How fast may one drive on roads in {}?"),
    "tolls": ("Computes tolls of motorways and bridges", "What tolls does a van pay on motorways in {}?"),
    "fuel_prices": ("Gives prices of petrol and diesel", "Where is diesel cheapest in {}?"),
    "charging_points": (
        "Finds charging points for electric cars",
        "Where can I charge an electric car in {}?",
    ),
    "rents": ("Compares rents of flats by size", "What is the rent of a flat of 60 square metres in {}?"),
    "minimum_wage": ("Tells the minimum wage by age", "What is the least wage that may be paid in {}?"),
    "pensions": ("Estimates pensions from years of work", "What pension will I get after 30 years in {}?"),
    "visas": ("Tells which visas travellers need", "Do I need a visa to travel to {}?"),
    "customs_duty": ("Computes customs duty on imports", "What duty is paid on importing tea to {}?"),
    "company_register": ("Looks up companies and their owners", "Who owns that company registered in {}?"),
    "crime_figures": (
        "Counts crimes by kind and year",
        "How many burglaries and other crimes were there in {}?",
    ),
    "broadband": ("Compares broadband speeds and providers", "Who has the fastest broadband in {}?"),
    "energy_mix": (
        "Gives shares of wind, sun and coal in power",
        "What share of power comes from coal in {}?",
    ),
    "recycling": ("Tells where waste is recycled", "Where are old batteries recycled in {}?"),
}
COUNTRIES = [
    "Norway",
    "Sweden",
    "Denmark",
    "Finland",
    "Iceland",
    "Estonia",
    "Latvia",
    "Poland",
    "Austria",
    "Hungary",
    "Croatia",
    "Serbia",
    "Greece",
    "Turkey",
    "Egypt",
    "Morocco",
    "Kenya",
    "Ghana",
    "Brazil",
    "Chile",
    "Peru",
    "Mexico",
    "Canada",
    "Japan",
    "Vietnam",
]


class Tool(Module):
    """Does one thing for one country."""

    reads = ("input.question",)

    def run(self, state: State) -> Any:
        return self.name


class Reader(Tool):
    """Reads the text in the picture."""

    reads = ("input.image",)


class Answerer(Tool):
    """Gives the answer."""

    reads = ("cache.fact?",)


def many() -> Inventory:
    """A thousand tools, one that needs a picture, and the one that gives the answer."""
    modules: dict[str, Module] = {}
    for what, (does, _) in TOOLS.items():
        for country in COUNTRIES:
            tool = Tool()
            tool.description = f"{does} in {country}."  # type: ignore[misc]
            modules[f"{what}_{country.lower()}"] = tool
    modules |= {"reader": Reader(), "answerer": Answerer()}
    rules = RulesSpec(last="answerer")
    return Inventory(name="many", planner=Fixed(["answerer"]), modules=modules, rules=rules)


INVENTORY = many()


def names(question: str, count: int = 20, **given: Any) -> list[str]:
    state = State(input=freeze({"question": question, **given}))
    return [card.name for card in shortlist(INVENTORY, state, count)]


def test_the_needed_module_is_among_twenty_of_a_thousand() -> None:
    chance = random.Random(11)
    asked = found = 0
    for what, (_, question) in TOOLS.items():
        for country in chance.sample(COUNTRIES, 10):
            shown = names(question.format(country))
            assert len(shown) <= 20 and "answerer" in shown
            asked, found = asked + 1, found + (f"{what}_{country.lower()}" in shown)
    assert len(INVENTORY.modules) > 1000 and asked == 400
    assert found / asked >= 0.95, f"{found} of {asked}"


def test_what_reads_a_picture_is_shown_where_there_is_one() -> None:
    question = "What does the text in the picture of Norway say?"
    assert "reader" not in names(question)
    assert "reader" in names(question, image="map.png")


def test_a_small_inventory_is_shown_whole() -> None:
    inventory = Inventory.load("tabmwp")
    state = State(input=freeze({"question": "How many?"}))
    assert shortlist(inventory, state, 40) == inventory.cards


def test_a_module_comes_with_what_it_needs() -> None:
    inventory = Inventory.load("pictures")
    state = State(input=freeze({"question": "Who painted this? See Wikipedia, the encyclopedia."}))
    shown = [card.name for card in shortlist(inventory, state, 4)]
    assert {"wikipedia_search", "query_generator", "solution_generator", "answer_generator"} == set(shown)
    without = [card.name for card in shortlist(inventory.without("wikipedia_search"), state, 4)]
    assert "wikipedia_search" not in without


@given(st.text(max_size=200), st.integers(1, 60))
def test_any_question_gets_a_list_in_the_inventorys_order(question: str, count: int) -> None:
    shown = names(question, count)
    assert len(shown) <= count and shown == sorted(shown, key=list(INVENTORY.modules).index)


@pytest.mark.parametrize("given", [{}, {"choices": ["a visa for Peru", "none"]}])
def test_choices_count_as_part_of_the_question(given: dict[str, Any]) -> None:
    assert ("visas_peru" in names("What does she need?", **given)) is bool(given)


def test_what_any_question_may_need_is_always_shown_and_must_exist() -> None:
    state = State(input=freeze({"question": "What is the sales tax on shoes bought in Norway?"}))
    shown = [card.name for card in shortlist(INVENTORY, state, 20, ["tides_peru"])]
    assert {"tides_peru", "sales_tax_norway", "answerer"} <= set(shown)
    left_out = INVENTORY.without("tides_peru")
    assert "tides_peru" not in [card.name for card in shortlist(left_out, state, 20, ["tides_peru"])]
    with pytest.raises(InventoryError, match="tide_peru"):
        shortlist(INVENTORY, state, 20, ["tide_peru"])
