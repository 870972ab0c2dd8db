"""A contract as PDF and a long filing as HTML, ours, for questions to be asked of."""

from __future__ import annotations

from tests.documents.pdfs import Item, pdf

FILLER = (
    "The parties keep records of each delivery and show them on request.",
    "Goods are packed so that salt water does them no harm.",
    "A notice is sent by letter and counts from the day on which it arrives.",
    "Insurance covers loss at sea, fire and theft from the quay.",
)
TOLD = {
    7: "<p>Dredging of the north basin cost 4.2 million crowns, a tenth more than planned.</p>",
    8: "<table><caption>Income, in thousands of crowns</caption>"
    "<tr><th></th><th>2023</th><th>2024</th></tr>"
    "<tr><td>Berth fees</td><td>8,140</td><td>8,915</td></tr>"
    "<tr><td>Crane hire</td><td>1,377</td><td>1,204</td></tr></table>",
}


PRICES = [["Line", "2024", "2025"], ["Bow line", "118", "124"], ["Stern line", "96", "101"]]
CONTRACT = f"""
18 Supply Agreement
11 This agreement is made between Hollin Ropeworks and the
11 harbour of Marsh End.
14 1 Goods
11 1.1 Hollin Ropeworks delivers mooring lines as ordered.
11 1.2 {FILLER[1]}

14 2 Term
11 2.1 The agreement runs for four years from its signature.
11 2.2 Either party may end it by a notice of ninety days to
11 the end of a quarter.
14 3 Records
11 3.1 {FILLER[0]}

14 4 Prices
11 4.1 Prices for each line are as follows, in EUR.
PRICES
11 4.2 Prices hold for a calendar year.

14 5 Law
11 5.1 The courts of Arvik decide.
11 Deposit: 2,500 EUR
"""


def contract() -> bytes:
    """Four pages, a head and a foot on each, numbered clauses, and a ruled table on the third."""
    pages = []
    for number, text in enumerate(CONTRACT.strip().split("\n\n"), 1):
        lines = (line.partition(" ") for line in text.splitlines())
        body: list[Item] = [(int(size), said) if said else PRICES for size, _, said in lines]
        foot = f"Page {number} of 4"
        pages.append([(9, "Saltmarsh Supply Agreement"), (11, ""), *body, (11, ""), (9, foot)])
    return pdf(pages)


def filing() -> bytes:
    parts = ["<html><head><title>Annual report</title><style>p {color: red}</style></head><body>"]
    parts.append("<h1>Marsh End Harbour: annual report</h1>")
    for number in range(1, 41):
        parts.append(f"<p><b>Item {number}. {_subject(number)}</b></p>")
        parts += [f"<div>{FILLER[n % 4]} This concerns berth {number * 100 + n}.</div>" for n in range(45)]
        parts.append(TOLD.get(number, ""))
    return "".join([*parts, "</body></html>"]).encode()


def _subject(number: int) -> str:
    return {7: "Works and dredging", 8: "Income"}.get(number, f"Berths of quay {number}")
