"""A small income tax law of our own, in the wording of tax codes, with figures that are nobody's."""

LAW = """\
§401. Levy

(a) Married individuals filing joint returns and surviving spouses

A levy on them is determined as follows:

    (i) 10% of taxable income if the taxable income is not over $20,000;

    (ii) $2,000, plus 20% of the excess over $20,000 if the taxable income is over $20,000.

(b) Heads of households

A levy on them is determined as follows:

    (i) 12% of taxable income if the taxable income is not over $15,000;

    (ii) $1,800, plus 24% of the excess over $15,000 if the taxable income is over $15,000.

(c) Unmarried individuals (other than surviving spouses and heads of households)

A levy on them is determined as follows:

    (i) 15% of taxable income if the taxable income is not over $10,000;

    (ii) $1,500, plus 30% of the excess over $10,000 if the taxable income is over $10,000 but not over
    $50,000;

    (iii) $13,500, plus 50% of the excess over $50,000 if the taxable income is over $50,000.

(d) Married individuals filing separate returns

A levy on them is determined as follows:

    (i) 20% of taxable income if the taxable income is not over $10,000;

    (ii) $2,000, plus 40% of the excess over $10,000 if the taxable income is over $10,000.

§402. Deductions

(a) Rules

    (1) Basic standard deduction

    The basic standard deduction is-

        (A) 200 percent of the dollar amount in effect under subparagraph (C) in the case of a joint
        return or a surviving spouse,

        (B) $1,700 in the case of a head of household, or

        (C) $1,000 in any other case.

    (2) Special rules for some years

    In the case of a taxable year beginning after December 31, 2019, and before January 1, 2025-

        (i) by substituting "$4,000" for "$1,700" in subparagraph (B), and

        (ii) by substituting "$3,000" for "$1,000" in subparagraph (C).

(b) More for some

    (1) Additional amounts for the aged

    There is an additional amount of $300 for old people.

    (2) Higher amount for certain unmarried individuals

    Paragraph (1) shall be applied by substituting "$400" for "$300".

§403. Exemptions

(a) Amount

    (1) In general

    The term "exemption amount" means $500.

    (2) Some years

    In the case of a taxable year beginning after December 31, 2019, and before January 1, 2025, the
    term "exemption amount" means zero.

(b) Phaseout

    (1) Percentage

    The term "applicable percentage" means 4 percentage points for each $1,000 (or fraction thereof) of
    the excess, by substituting "$500" for "$1,000" for some. In no event shall the applicable percentage
    exceed 100 percent.

    (2) Amounts

    The term "applicable amount" means-

        (A) $90,000 in the case of a joint return or a surviving spouse,

        (B) $80,000 in the case of a head of household,

        (C) $70,000 in the case of an individual who is not married, and

        (D) ½ the amount applicable under subparagraph (A) in the case of a married individual
        filing a separate return.

§404. Limit

(a) General rule

The amount of the itemized deductions otherwise allowable shall be reduced by the lesser of-

    (1) 5 percent of the excess of income over the applicable amount, or

    (2) 60 percent of the amount of the itemized deductions.

(b) Section not to apply

This section shall not apply to any taxable year beginning after December 31, 2019, and before January 1,
2025.

§405. Relatives

(a) Relationship

An individual bears a relationship to the taxpayer if such individual is-

    (1) a child of the taxpayer or a descendant of such a child,

    (2) a brother, sister, stepbrother, or stepsister,

    (3) the father or mother, or an ancestor of either,

    (4) a stepfather or stepmother,

    (5) a brother or sister of the father or mother of the taxpayer, or

    (6) a fellow lodger.

(b) Home

A child has the same principal place of abode as the taxpayer for more than one-half of the year.

(c) Age

A child is younger than the taxpayer claiming such child and is less than 18 years old at the end of the
taxable year.

§406. Levy on wages

There is a tax, on employers, equal to 5 percent of the total wages.

§407. Wages

(a) Employer

    (1) In general

    The term "employer" means any person who-

        (A) paid wages of $900 or more.

    (2) Agricultural labor

    The term "employer" means any person who-

        (A) paid wages of $8,000 or more for agricultural labor.

    (3) Domestic service

    It is any person who paid wages in cash of $600 or more for such service.

(b) Most

Wages are the remuneration, up to remuneration equal to $2,000 with respect to employment.
"""
