"""Small papers, ours, and what is asked of them without a model: the answer, or part of why it is declined.

Each paper is followed by lines "question -> answer" or "question -> [part of the reason]"; " @ " and words
of the source's heading may follow an answer.
"""

from __future__ import annotations

MARKS = """<h1>Terms</h1><p>1.1 Berth fee: $5<sup>2</sup></p><p>1.2 Toll: EUR 40<sup>1</sup></p>
<p>1.3 Range: 10<sup>6</sup></p><p>1.4 Area: 90 m<sup>2</sup></p><p>Fees follow.</p>
<table><tr><th></th><th>2023</th><th>2022</th></tr>
<tr><td>Dues</td><td>88<sup>(2)</sup></td><td>77</td></tr>
<tr><td>Rents</td><td>22<sup>2</sup></td><td>11</td></tr>
<tr><td>Fines</td><td>44<sup><a href="#f">3</a></sup></td><td>33</td></tr>
<tr><td>Quay hire</td><td>66 (1)</td><td>(55)</td></tr>
<tr><td>Boats lent</td><td>(1) 1,250</td><td>12 (34)</td></tr>
<tr><td>Loss</td><td>(312) (1)</td><td>$(40)</td></tr></table>"""

PERIODS = """# Results

## Quarter

| | Q4 2023 | FY 2022 |
|---|---|---|
| Revenue | 100 | 380 |

## Plans

| | Forecast 2025 | Budget 2024 | 2021 |
|---|---|---|---|
| Profit | 70 | 60 | 50 |

## Fleet

| | 2024 | Change from 2023 |
|---|---|---|
| Boats | 12 | 2 |

## Months

| | Three months ended June 30, 2021 | Three months ended June 30, 2020 |
|---|---|---|
| Dues | 5 | 6 |

## Balance

| | December 31, 2011 | June 30, 2010 |
|---|---|---|
| Cash | 400 | 200 |

## Debt

| | December 31, 2011 | December 31, 2010 |
|---|---|---|
| Loans | 40 | 20 |

## Year

| | Year ended June 30, 2019 | Year ended June 30, 2018 |
|---|---|---|
| Wages | 8 | 9 |

## Restated

| | 2017 | 2017 restated | 2016 |
|---|---|---|---|
| Grants | 3 | 4 | 5 |

## Shares of crew

Table 1: Crew, three months to June

| | 2015 | 2014 |
|---|---|---|
| Bonuses | 3 | 4 |
"""

CONTENTS = """# Harbour rules

Fees ........ 12
Insurance sum ....... 14
Notice period . . . . . 30
Ladders ..... 4.50 EUR

# Rules

Mooring is free in May.
"""

UNITS = """<h1>Report (in millions)</h1><h2>Staff</h2><table><tr><th></th><th>2023</th><th>2022</th></tr>
<tr><td>Employees</td><td>310</td><td>290</td></tr><tr><td>Average age</td><td>41</td><td>40</td></tr>
<tr><td>Year founded</td><td>1998</td><td>1998</td></tr><tr><td>Revenue</td><td>75</td><td>70</td></tr>
<tr><td>Tax rate (%)</td><td>22</td><td>21</td></tr><tr><td>Widgets</td><td>5</td><td>6</td></tr></table>
<h2>Cash</h2><table><caption>Balance, in thousands</caption><tr><th></th><th>2023</th><th>2022</th></tr>
<tr><td>Cash</td><td>310</td><td>290</td></tr><tr><td>Shares outstanding</td><td>100</td><td>90</td></tr>
<tr><td>Vessels</td><td>12</td><td>11</td></tr><tr><td>Deposits</td><td>EUR 40</td><td>EUR 30</td></tr>
<tr><td>Dividend per share</td><td>1.25</td><td>1.10</td></tr></table>
<h2>Income</h2><table><caption>(in millions, except share and per share amounts)</caption>
<tr><th></th><th>2023</th><th>2022</th></tr><tr><td>Net sales</td><td>$ 75</td><td>$ 70</td></tr>
<tr><td>Earnings per share:</td><td></td><td></td></tr><tr><td>Basic</td><td>$1.25</td><td>$1.10</td></tr>
<tr><td>Diluted</td><td>1.20</td><td>1.05</td></tr><tr><td>Shares issued</td><td>5,000</td><td>4,000</td></tr>
<tr><td>Goodwill</td><td>9</td><td>8</td></tr></table>"""

ANNEXES = """Lease of a flat

1 Rent
The rent is EUR 900. The tenant keeps the flat in good order and lets the landlord in at any hour.
2 Deposit
The deposit is EUR 1,800. The tenant keeps the flat in good order and lets the landlord in.
3 Notice
Notice is six weeks. It is given by letter.

Annex A
Keys: 4
Annex B
Lamps: 9
"""

PORTS = """# Ports

| Port | Depth | Berths | Opened | Rate |
|---|---|---|---|---|
| Arvik | 9 m | 12 | 1 May 1998 | 4% |
| Tern | 7 m | 8 | 1971 | 5% |

## Ships

| Ship | Length |
|---|---|
| Alba | 40 m |
| Brant | 35 m |
"""

KEYED = """# Deed

## Parties

| Landlord | Foss AS |
|---|---|
| Rent | EUR 900 |
| Term | 3 years |
| Start | 1 May 2024 |

## Boat

| Item | Amount |
|---|---|
| Length | 40 m |
| Beam (1) | 9 m |

## Fees

| Fee | 2024 |
|---|---|
| Mooring | 40 |

## Harbours

| Harbour | State |
|---|---|
| Arvik | 9 m |
| Tern | closed |
"""

FORMS = """<h2>Boat</h2><table><tr><th>Length</th><td>40 m</td></tr><tr><th>Beam</th><td>9 m</td></tr></table>
<h2>Fees</h2><dl><dt>Deposit</dt><dd>EUR 500</dd><dt>Toll:</dt><dd>EUR 40</dd>
<dt>Key</dt><dd>5</dd><dd>6</dd></dl>"""

CLAUSES = """# Lease

2.1 The garage rent is EUR 60.

2.2 Late fee EUR 10 per day

2.3 Cleaning is 900 EUR a month.

2.4 The bond is 2,700 EUR. It is repaid within 30 days.

2.5 The toll is EUR 40. Members pay EUR 20.

2.6 The water charge is EUR 5. However, none is due in May.

2.7 Parking fee EUR 60, or EUR 50 if paid early

3.1 The notice period is three months.

3.2 Renewal period ninety days

3.3 The grace period is thirty (30) days.

3.4 The term is about five years.

3.5 The old levy was EUR 3.

3.6 The price cap is EUR 5 million.

3.7 The cure period is
ten business days.

3.8 Quiet hours: 22:00 to 06:00
"""

YEARS = """# Report

| | 2024 | 2023 |
|---|---|---|
| Revenue | 120 | 100 |
| Margin | 12.5% | 11% |
| Other costs | (7) | — |
| Net income | 9 | 8 |
| Income tax | 2 | 1 |
| Grants | 5 | 4 |
| Total grants | 6 | 5 |
| Number of ports | 3 | 2 |

## Notes

1. Gains
2. Losses

**1. Scope.** The supplier maintains the crane.

- 3.1 The crane fee is EUR 4,000.
- 3.2 The hoist fee is EUR 50.
"""

MARKDOWN = """# Rates

Day | Fee
:-- | --:
Weekday | EUR 90
Sunday | EUR 140

# Boats

Boat | Beam
-|-
Alba \\| II | 9 m
Brant | 8 m
"""

PRICES = """# Café

## Prices

| Item | Price (EUR) | Weight (g) |
|---|---|---|
| Croissant | 1.90 | 80 |
| Rye bread | 3.40 | 750 |

## Bonds

| Bond | Price (EUR) | Price (USD) |
|---|---|---|
| North | 101 | 110 |

## Results

| | 2024 | 2023 |
|---|---|---|
| Dividend per share (pence) | 6.8 | 6.1 |
| Net debt (restated) | 12 | 14 |"""


CASES: dict[str, tuple[str, str]] = {
    "marks.html": (
        MARKS,
        """What is the berth fee? -> $5
What is the toll? -> EUR 40
What is the area? -> 90 m²
What is the range? -> 10⁶
What were the dues in 2023? -> 88
What were the rents in 2023? -> 22
What were the fines in 2023? -> 44
What were the quay hire in 2023? -> 66
What were the quay hire in 2022? -> -55
What were the boats lent in 2023? -> [is not one short value: "(1) 1,250"]
What were the boats lent in 2022? -> [is not one short value: "12 (34)"]
What was the loss in 2023? -> -312
What was the loss in 2022? -> -$40""",
    ),
    "periods.md": (
        PERIODS,
        """What was the revenue in 2023? -> [no column is certain to be that of 2023]
What was the revenue in Q4 2023? -> 100 @ Quarter
What was the revenue in 2022? -> 380
What was the profit in 2025? -> [no column is certain]
What was the profit in 2024? -> [no column is certain]
What was the profit for Forecast 2025? -> 70
What was the profit in 2021? -> 50
What was profit in 2021? -> 50
In 2021, what was the profit? -> 50
What was the 2021 profit? -> 50
What were the boats in 2023? -> [no column is certain]
What were the boats in 2024? -> 12
What were the dues in 2021? -> [no column is certain]
What were the dues for the three months ended June 30, 2021? -> 5
What was the cash in 2010? -> [no column is certain]
What was the cash at December 31, 2010? -> [no column is certain]
What was the cash at December 31, 2011? -> 400
What was the cash as of June 30, 2010? -> 200
What were the loans in 2010? -> 20
What were the loans at June 30, 2010? -> [no column is certain]
What were the wages in 2019? -> 8
What were the wages for the year ended June 30, 2018? -> 9
What were the wages in fiscal 2018? -> 9
What were the grants in 2017? -> [no column is certain]
What were the grants in 2016? -> 5
What were the bonuses in 2015? -> [no column is certain]""",
    ),
    "contents.md": (
        CONTENTS,
        """What are the fees? -> [no line of the paper has the label "fees"]
What is the insurance sum? -> [no line of the paper has the label]
What is the notice period? -> [no line of the paper has the label]
How much are the ladders? -> 4.50 EUR""",
    ),
    "units.html": (
        UNITS,
        """What were the employees in 2023? -> [the unit of "Employees" is not certain]
What was the average age in 2023? -> [is not certain: the paper says "in millions"]
What was the year founded in 2023? -> [is not certain]
What were the widgets in 2023? -> [is not certain]
What was the revenue in 2023? -> 75 (in millions)
What was the tax rate (%) in 2023? -> 22%
What was the cash in 2023? -> 310 (in thousands)
What were the shares outstanding in 2023? -> [is not certain]
What were the vessels in 2022? -> [is not certain]
What were the deposits in 2022? -> EUR 30 (in thousands)
What was the dividend per share in 2022? -> 1.10
What were the net sales in 2022? -> $ 70 (in millions)
What was basic in 2023? -> $1.25
What were the basic earnings per share in 2023? -> $1.25
What was diluted in 2022? -> 1.05
What were the shares issued in 2022? -> 4,000
What was the goodwill in 2022? -> [is not certain]""",
    ),
    "annexes.txt": (
        ANNEXES,
        """How many keys are there? -> 4 @ Annex A
How many lamps are there? -> 9 @ Annex B
What is the deposit? -> EUR 1,800 @ 2 Deposit
What is the rent? -> EUR 900 @ 1 Rent
What is the notice? -> six weeks @ 3 Notice""",
    ),
    "drill.md": (
        "# Drill\n\n## Data\n\n- Maximum torque: 54 Nm\n- Battery: 2.0 Ah\n- Speed: 400 of some",
        """What is the maximum torque? -> 54 Nm
What is the battery? -> 2.0 Ah
What is the speed? -> [not one short value]""",
    ),
    "prices.md": (
        PRICES,
        """What is the price of a croissant? -> 1.90 (EUR)
What is the price (EUR) of rye bread? -> 3.40 (EUR)
What is the weight of rye bread? -> 750 (g)
What was the dividend per share in 2023? -> 6.1 (pence)
What is the dividend per share? -> [told by columns: 2024, 2023]
What is the price of North? -> [more than one line]
What was the net debt in 2024? -> [no line of the paper has the label]
What is the rye bread? -> [told by columns: Price (EUR), Weight (g)]""",
    ),
    "ports.md": (
        PORTS,
        """What is the depth of Arvik? -> 9 m
What is Arvik for depth? -> 9 m
What is the depth at Tern? -> 7 m
What is the Tern depth? -> 7 m
What is the length of Alba? -> 40 m
What are the berths of Tern? -> 8
What is the rate of Tern? -> 5%
What is the depth? -> [no line of the paper has the label]
What is Alba? -> [told by columns: Length]
What is the depth of Bodo? -> [no line of the paper has the label]""",
    ),
    "keyed.md": (
        KEYED,
        """What is the rent? -> EUR 900 @ Parties
What is the term? -> 3 years
When is the start? -> 1 May 2024
Who is the landlord? -> Foss AS
What is the length? -> 40 m @ Boat
What is the beam? -> 9 m
What is mooring? -> [told by columns: 2024]
What is the mooring in 2024? -> 40
What is the harbour? -> [no line of the paper has the label]""",
    ),
    "forms.html": (
        FORMS,
        """What is the length? -> 40 m
What is the beam? -> 9 m @ Boat
What is the deposit? -> EUR 500 @ Fees
What is the toll? -> EUR 40
What is the key? -> [is not one short value: "5; 6"]""",
    ),
    "clauses.md": (
        CLAUSES,
        """What is the garage rent? -> EUR 60 @ 2.1
How much is the late fee? -> EUR 10 per day
What is cleaning? -> 900 EUR a month
What is the bond? -> 2,700 EUR @ 2.4
What is the toll? -> [the text says more of "toll"]
What is the water charge? -> [the text says more of "water charge"]
What is the parking fee? -> [is not one short value]
What is the notice period? -> three months @ 3.1
How long is the notice period? -> three months
How long is the renewal period? -> ninety days
What is the grace period? -> thirty (30) days
What is the term? -> [is not one short value]
What is the old levy? -> [is not one short value]
What was the old levy? -> EUR 3
What is the price cap? -> EUR 5 million
What is the cure period? -> ten business days @ 3.7
What are the quiet hours? -> 22:00 to 06:00""",
    ),
    "years.md": (
        YEARS,
        """What was revenue in 2024? -> 120
What was the revenue 2023? -> 100
What was the margin in 2024? -> 12.5%
What were other costs in 2024? -> -7
What were other costs in 2023? -> [is not one short value: "—"]
What was the net income in 2024? -> 9
What was the income tax in 2023? -> 1
What were the grants in 2024? -> [more than one line of the paper speaks of]
What were the total grants in 2024? -> 6
What was the number of ports in 2024? -> 3
What was the revenue in 2022? -> [no column is certain to be that of 2022]
What is the crane fee? -> EUR 4,000 @ 3.1
What is the hoist fee? -> EUR 50 @ 3.2""",
    ),
    "rates.md": (
        MARKDOWN,
        """What is the fee for Sunday? -> EUR 140 @ Rates
What is the beam of Brant? -> 8 m @ Boats
What is the beam of Alba | II? -> 9 m""",
    ),
}
