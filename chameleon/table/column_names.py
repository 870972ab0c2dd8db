"""What a column's name says about its cells: ids, versions, years, units."""

import re
from collections.abc import Sequence

from chameleon.table.amounts import UNITS, Number

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+|#")  # ID, Invoice, 12, other scripts
_KEYS = "id ids code key no nr nos num number index # ref reference sku isbn ean barcode uuid"
_RECORDS = (
    "invoice order ticket transaction booking receipt voucher shipment claim case customer employee account"
    " member student patient user product"
)
_ADDRESSES = (
    "zip zipcode postcode postal postleitzahl pincode phone mobile fax tel telephone hotline plz iban ssn ean"
)
_LISTS = {name: frozenset(words.split()) for name, words in (
    ("key", _KEYS), ("record", _RECORDS), ("address", _ADDRESSES),
    ("version", "version versions ver firmware build release chapter section ip"),
    ("unit", "unit units uom currency ccy cur measure"),
    ("time", "year years season date time period fy when"),
    ("name", "name surname lastname code country symbol ticker abbreviation initials"),
    ("money", "amount price cost net gross total revenue sales fee tax vat balance salary value sum paid"),
    ("hours", "hour hours hrs hh worked overtime"), ("seat", "seat seats room gate flat apartment"),
    ("place", "no nr number num # index"),
)}  # fmt: skip
_JOINED = re.compile(rf"\A({_RECORDS.replace(' ', '|')})id\Z")  # as in "customerid"
_IN_BRACKETS = re.compile(r"[(\[]([^)\]]*)[)\]]")


class ColumnName:
    """A column's name and its words in lower case: "invoice" and "id" for `invoice_id` and `InvoiceId`."""

    def __init__(self, text: str) -> None:
        self.text = text
        words = (_JOINED.sub(r"\1 id", word.lower()) for word in _WORDS.findall(text))
        self.words = " ".join(words).split()

    def has(self, sort: str) -> bool:
        """Return whether one of its words is of a given sort: "version", "unit", "time", …"""
        return not _LISTS[sort].isdisjoint(self.words)

    def names(self, numbers: Sequence[Number | None]) -> bool:
        """Return whether figures under it are codes that name the subjects of rows.

        That is if all are whole and different, under a name such as "Order ID", or long under "Invoice".
        """
        filled = [number for number in numbers if isinstance(number, int)]
        is_whole = len(filled) == sum(number is not None for number in numbers)
        if "of" in self.words or len(filled) < 2 or not is_whole:
            return False
        last = {*self.words[-1:]}
        if self.has("address") or last & {"id", "sku"}:
            return True
        if len(set(filled)) < len(filled):
            is_number_of = self.has("record") and len(self.words) > 1 and bool(last & _LISTS["key"])
            return "code" in last or is_number_of
        if len(self.words) == 1 and self.has("place"):
            return False  # a rank in a list, or an ordinary number
        is_record = bool(self.words) and _LISTS["record"].issuperset(self.words)
        return bool(last & _LISTS["key"]) or (is_record and all(abs(number) >= 100 for number in filled))

    @property
    def unit(self) -> str:
        """Return the unit in brackets, as in "Weight (kg)" and "Price ($)"; "" if missing."""
        texts = (text.strip() for text in _IN_BRACKETS.findall(self.text))
        return next((unit for unit in texts if unit.lower() in UNITS), "")
