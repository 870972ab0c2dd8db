"""Reading the facts of a case: times, people, pronouns, and what is left unread."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.modules.statutes.facts import Facts, Income, Kin, Span, read_facts
from chameleon.modules.statutes.facts.times import day

IN_2015 = Span.of_year(2015)


def incomes(text: str) -> list[tuple[str, int, int | None]]:
    facts = read_facts(text)
    assert not facts.unread
    return [(*each.people, int(each.amount), each.span.year) for each in facts.incomes]  # type: ignore[misc]


class TestTimes:
    @pytest.mark.parametrize(
        ("written", "meant"),
        [
            ("Feb 3rd, 1992", date(1992, 2, 3)),
            ("2 Feb 2015", date(2015, 2, 2)),
            ("September 16th, 2017", date(2017, 9, 16)),
            ("Feb 30th, 2015", date(2015, 2, 28)),
            ("Dec 31, 2019", date(2019, 12, 31)),
        ],
    )
    def test_days(self, written: str, meant: date) -> None:
        assert day(written) == meant

    @pytest.mark.parametrize(
        ("when", "span"),
        [
            ("in 2015", IN_2015),
            ("for the year 2015", IN_2015),
            ("during the calendar year 2015", IN_2015),
            ("throughout 2015", IN_2015),
            ("in March 2015", Span(date(2015, 3, 1), date(2015, 3, 31), "year")),
            ("from 2014 to 2016", Span(date(2014, 1, 1), date(2016, 12, 31), "from")),
            ("from May 4th, 2014 to June 5, 2015", Span(date(2014, 5, 4), date(2015, 6, 5), "from")),
            ("since May 4th, 2014", Span(date(2014, 5, 4), date.max, "since")),
            ("since 2014", Span(date(2014, 1, 1), date.max, "since")),
            ("", Span()),
        ],
    )
    def test_stand_anywhere_in_a_clause(self, when: str, span: Span) -> None:
        first = (
            f"{when[:1].upper()}{when[1:]}, Nora earned $12 for work."
            if when
            else "Nora earned $12 for work."
        )
        for text in (first, f"Nora earned $12 for work {when}.", f"Nora {when} earned $12 for work."):
            facts = read_facts(text)
            assert [each.span for each in facts.incomes] == [span] and not facts.unread

    def test_go_back_to_what_was_told_last(self) -> None:
        assert incomes("Nora earned $9 in 2015. That same year, Olaf earned $7.")[1] == ("Olaf", 7, 2015)
        facts = read_facts("Ivo was born on May 4th, 2009 and has lived with Nora since then.")
        assert facts.homes[0].span == Span(date(2009, 5, 4), date.max, "since")

    @pytest.mark.parametrize(
        "text",
        [
            "Nora earned $12 in 2014 or 2015.",
            "Nora earned $12 in 2014 and 2015.",
            "Nora earned $12 until 2015.",
            "In 2014, Nora earned $12 in 2015.",
            "That year, Nora earned $12.",
            "Nora was born on May 4th, 2009, which was before 2015.",
        ],
    )
    def test_that_are_not_clear_are_not_read(self, text: str) -> None:
        assert read_facts(text).unread


class TestAmounts:
    @pytest.mark.parametrize(
        "text",
        [
            "Nora's gross income in 2015 was $1,200.50.",
            "In 2015, Nora's income amounted to $1,200.50.",
            "Nora had an income of $1,200.50 in 2015.",
            "For 2015, Nora reported no income. Nora's income in 2015 was $1,200.50.",
        ],
    )
    def test_are_incomes(self, text: str) -> None:
        assert Income(("Nora",), Fraction(2401, 2), IN_2015) in read_facts(text).incomes

    @pytest.mark.parametrize(
        "text",
        [
            "In 2015, Nora was paid $7, and Olaf had no income.",
            "Nora earned $7 in 2015 while Olaf had no gross income.",
            "Nora was paid $7 in 2015; Olaf did not have any income.",
            "Olaf, who had no income in 2015, is Nora's brother. Nora earned $7 in 2015.",
        ],
    )
    def test_share_the_year_of_a_sentence(self, text: str) -> None:
        found = {each.people: (each.amount, each.span.year) for each in read_facts(text).incomes}
        assert found == {("Nora",): (7, 2015), ("Olaf",): (0, 2015)}

    def test_of_two_people(self) -> None:
        assert incomes("Nora and Olaf's incomes in 2015 were $7 and $8 respectively.") == [
            ("Nora", 7, 2015),
            ("Olaf", 8, 2015),
        ]
        assert read_facts("Nora's and Olaf's income in 2015 was $9.").incomes[0].people == ("Nora", "Olaf")

    def test_keep_what_tells_them_apart(self) -> None:
        facts = read_facts("Nora was paid $7 in 2015 by Acme. In addition, Nora was paid $8 in 2015.")
        assert [(each.source, each.is_more) for each in facts.incomes] == [("by Acme", False), ("", True)]

    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            ("Nora has paid $9 to Olaf for work done in 2015.", "work"),
            ("In 2015, Nora paid Olaf $9 for domestic service.", "domestic"),
            ("Olaf was paid $9 by Nora for agricultural labor in 2015.", "agricultural"),
            (
                "Nora paid wages of $9 to Olaf for work done in 2015, for domestic service in Nora's home.",
                "home",
            ),
            (
                "Nora has paid $9 in cash to Olaf for work done in the year 2015, in Reno, Nevada, USA.",
                "work",
            ),
        ],
    )
    def test_are_wages(self, text: str, kind: str) -> None:
        facts = read_facts(text)
        found = [(each.payer, each.payee, each.amount, each.kind) for each in facts.payments]
        assert found == [("Nora", "Olaf", 9, kind)] and not facts.unread

    @pytest.mark.parametrize(
        "text",
        [
            "Nora's income in 2015 was about $9.",
            "Nora's income in 2015 was not $9.",
            "Nora's income in 2015 was $9, of which Olaf paid $3.",
            "Nora paid $9 to Olaf for work done in 2015, in Toronto, Ontario, Canada.",
            "Nora paid Olaf with eggs for work done in 2015.",
            "If Nora had worked, Nora's income in 2015 would have been $9.",
            "Ida believes Nora earned $9 in 2015.",
        ],
    )
    def test_that_are_not_clear_are_not_read(self, text: str) -> None:
        assert read_facts(text).unread


class TestPeople:
    @pytest.mark.parametrize(
        "text",
        [
            "Ivo is Nora's son.",
            "Ivo is the son of Nora.",
            "Nora has a son, Ivo.",
            "Nora has an only son named Ivo.",
            "Nora's son is Ivo.",
            "Nora is Ivo's mother.",
            "Nora is the mother of Ivo.",
            "Nora's son Ivo earned $9 in 2015.",
            "Nora's son, Ivo, earned $9 in 2015.",
            "Ivo, Nora's son, earned $9 in 2015.",
            "Ivo, who is Nora's son, earned $9 in 2015.",
            "Nora earned $9 in 2015 and has a son, Ivo.",
        ],
    )
    def test_are_kin(self, text: str) -> None:
        facts = read_facts(text)
        assert facts.kin == [Kin("parent", "Nora", "Ivo")] and not facts.unread

    def test_are_kin_since_a_day(self) -> None:
        assert read_facts("Ivo is Nora's father since April 2nd, 1980.").kin == [
            Kin("parent", "Ivo", "Nora", date(1980, 4, 2))
        ]
        assert read_facts("Nora adopted Ivo on April 2nd, 2015.").kin == [
            Kin("parent", "Nora", "Ivo", date(2015, 4, 2))
        ]
        assert read_facts("Nora adopted Ivo.").unread

    @pytest.mark.parametrize(
        "text",
        [
            "Nora and Ivo lived in a house maintained by Nora in 2015.",
            "In 2015, Nora and Ivo lived in the same home, which Nora maintained.",
            "In 2015, Ivo lived with Nora in a house that Nora maintained.",
            "In 2015, Nora maintained a home where she and Ivo lived.",
            "Nora furnished the costs of maintaining the home where Nora and Ivo lived in 2015.",
            "Nora and Ivo shared a flat in 2015, which Nora maintained.",
            "In 2015, Ivo lived at the house that Nora maintained as Nora's principal place of abode.",
        ],
    )
    def test_share_a_home(self, text: str) -> None:
        facts = read_facts(text)
        assert [(each.people, each.span, each.maintained_by) for each in facts.homes] == [
            (frozenset({"Nora", "Ivo"}), IN_2015, "Nora")
        ]
        assert not facts.unread

    def test_are_born_on_days_or_in_years_or_have_an_age(self) -> None:
        births = read_facts("Nora was born on May 4th, 1970. Olaf was born in 1971. Ivo is 9 in 2015.").births
        assert births["Nora"] == (date(1970, 5, 4), date(1970, 5, 4))
        assert births["Olaf"] == (date(1971, 1, 1), date(1971, 12, 31))
        assert births["Ivo"] == (date(2005, 1, 1), date(2006, 12, 31))
        assert read_facts("Nora was born on May 4th, 1970. Nora was born in 1971.").conflicts

    def test_have_a_spouse_without_a_name(self) -> None:
        facts = read_facts("Nora got married on May 4th, 1990. Nora files jointly with her husband in 2015.")
        assert facts.spouses("Nora") == {"Nora_spouse"} == set(facts.joint[0].people) - {"Nora"}


class TestPronouns:
    @pytest.mark.parametrize(
        ("before", "who"),
        [
            ("Nora was born in 1970. She", "Nora"),
            ("Nora is Ivo's mother. She", ""),
            ("Nora is Ivo's mother. He", "Ivo"),
            ("Max is Kim's father. He", ""),
            ("Max is Kim's father. She", "Kim"),
            ("Kim is Max's father. He", ""),
            ("Kim is Pat's husband. She", "Pat"),
            ("Kim is Pat's husband. He", ""),
            ("Nora is Ida's mother. She", ""),
            ("Kim and Pat got married on May 4th, 1990. She", ""),
            ("He", ""),
        ],
    )
    def test_stand_for_the_only_one_who_fits(self, before: str, who: str) -> None:
        facts = read_facts(f"{before} earned $9 in 2015.")
        assert [each.people for each in facts.incomes] == ([(who,)] if who else [])
        assert bool(facts.unread) is not bool(who)

    def test_they_are_the_only_two(self) -> None:
        married = "Nora and Olaf got married on May 4th, 1990. "
        assert read_facts(f"{married}They filed jointly in 2015.").joint[0].people == ("Nora", "Olaf")
        assert read_facts(f"{married}Ida and Ivo are siblings. They filed jointly in 2015.").unread

    def test_her_husband_is_the_only_one(self) -> None:
        once = "Nora married Olaf on May 4th, 1990. "
        again = f"{once}Nora and Olaf were divorced on May 4th, 1999. Nora married Max on May 5th, 1999. "
        last = "Nora's husband had no income in 2015."
        assert read_facts(once + last).incomes[0].people == ("Olaf",)
        assert read_facts(again + last).conflicts

    def test_a_list_with_a_relative_of_one_is_not_guessed(self) -> None:
        assert read_facts("Nora and Olaf's son Ivo earned $9 in 2015.").unread
        facts = read_facts("Nora's and Olaf's son Ivo earned $9 in 2015.")
        assert {each.one for each in facts.kin} == {"Nora", "Olaf"} and not facts.unread


class TestAnyText:
    @pytest.mark.parametrize(
        "text",
        ["Nora sails.", "Nora has no son.", "Ivo is not Nora's son.", "Nora has three children.", "Sails."],
    )
    def test_that_no_form_reads_is_kept(self, text: str) -> None:
        assert read_facts(f"{text} Nora earned $3 in 2015.").unread == [text.rstrip(".")]

    def test_of_great_length_is_kept(self) -> None:
        assert read_facts("Nora earned $3 in 2015" + ", and Olaf earned $4" * 99 + ".").unread

    @given(st.text("NoraOlf 20157$,. 'sheand", max_size=120))
    def test_is_read_or_kept(self, text: str) -> None:
        assert isinstance(read_facts(text), Facts)
