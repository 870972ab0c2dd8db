"""Statutes written for these tests; they resemble nobody's law."""

FEES = """\
§12. Harbour fees
(a) Who pays
The master of a vessel shall pay the fee of subsection (b), unless-
    (1) the vessel is exempt under section 14(a), or
    (2) the master is a pilot (as defined in section 13).
This subsection does not apply to a vessel under paragraph (1) that carries goods.
(b) Amount of the fee
    (1) In general
    The term "fee" means-
        (A) $40 in the case of a vessel that is registered, and
        (B) $60 in any other case, but
            (i) no more than $50 in winter, or
            (ii) as much as subparagraph (A) says, if the owner (i) lives here, and (ii) has paid before.
    For purposes of this paragraph, winter ends in March.
    (2) Larger vessels
    Paragraph (1) shall be applied-
        (i) by substituting "$80" for "$40" in subparagraph (A), and
        (ii) by substituting "$90" for "$60" in subparagraph (B).
(h) Late payment
A fee that is late grows by 5 percent.
(i) Refunds
No fee is refunded.
""".replace("\n", "\n\n")[:-1]
PILOTS = """\
§13. Pilot defined
The term "pilot" means a person who is licensed under section 3 of the Pilots Act of 1931.
""".replace("\n", "\n\n")[:-1]
EXEMPT = """\
§14. Exemptions
(a) Vessels
These are exempt from sections 12 and 13:
    (1) boats of the harbour;
    (2) boats described in subparagraphs (A) through (C) of paragraph (3);
    (3) boats of
        (A) schools,
        (B) clubs, and
        (D) museums.
(b) Title
This chapter does not apply where the preceding subsection does.
""".replace("\n", "\n\n")[:-1]
STATUTES = {"12": FEES, "13": PILOTS, "14": EXEMPT}
