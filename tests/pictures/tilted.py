"""Receipts, price lists, timetables and signs, drawn and turned, with questions and their answers.

    python -m tests.pictures.tilted [--engines rapidocr tesseract] [--angles -4 0 4]

asks every question of every picture, and prints how many are answered rightly, declined and answered wrongly.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFilter, ImageFont

from chameleon import Declined, State
from chameleon.modules.offline.label_reader import LabelReader
from chameleon.modules.vision.text_detector import TextDetector
from chameleon.steps import PreparedModule

ANGLES = (-15, -12, -9, -7, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 7, 9, 12, 15)
ENGINES = {"rapidocr": find_spec("rapidocr") is not None, "tesseract": shutil.which("tesseract") is not None}
VERDICTS = ("right", "declined", "wrong")
Row = Sequence[str]


@dataclass(frozen=True)
class Drawing:
    """A page of rows with cells in columns.

    - `columns`: where each column begins, in pixels; a negative one is where its cells end.
    - `questions`: with their answers, None for what a reader without a model must decline.
    - `ground`: white, paper (grey with noise) or photo (paper lit unevenly, seen from one
      side, blurred).
    - `font`: a file of DejaVu's, where the machine has it.
    - `below`: level text under the turned page.
    """

    kind: str
    name: str
    columns: Sequence[int]
    rows: Sequence[Row]
    questions: Mapping[str, str | None]
    ground: str = "white"
    title: str = ""
    size: int = 24
    pitch: int = 40
    font: str = ""
    below: Sequence[str] = ()

    def picture(self, angle: float) -> Image.Image:
        """The page, turned counter-clockwise by `angle` degrees."""
        font = _font(self.font, self.size)
        ends = [
            abs(place) + (font.getlength(text) if place >= 0 else 0)
            for row in self.rows
            for place, text in zip(self.columns, row, strict=False)
        ]
        width = int(max(ends)) + 50
        top = 3 * self.pitch // 2 + (self.pitch if self.title else 0)
        page = Image.new("RGB", (width, top + self.pitch * len(self.rows) + 30), "white")
        draw = ImageDraw.Draw(page)
        if self.title:
            draw.text(
                (width / 2, 30), self.title, "black", ImageFont.load_default(self.size + 8), anchor="ma"
            )
        for number, row in enumerate(self.rows):
            for place, text in zip(self.columns, row, strict=False):
                anchor = "ls" if place >= 0 else "rs"
                draw.text((abs(place), top + self.pitch * number), text, (20, 20, 20), font, anchor=anchor)
        if self.ground != "white":
            page = _on_paper(page, self.name)
        if self.ground == "photo":
            page = _from_one_side(page)
        colour = page.getpixel((2, 2))
        turned = page.rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor=colour)
        if self.below:
            turned = _above(turned, self.below)
        return turned.filter(ImageFilter.GaussianBlur(0.7)) if self.ground == "photo" else turned


def _font(name: str, size: int) -> Any:
    try:
        return ImageFont.truetype(name, size) if name else ImageFont.load_default(size)
    except OSError:
        return ImageFont.load_default(size)


def _above(page: Image.Image, lines: Sequence[str]) -> Image.Image:
    """The page with level lines of text under it."""
    font, pitch = ImageFont.load_default(22), 26
    whole = Image.new("RGB", (page.width, page.height + pitch * (len(lines) + 1)), "white")
    whole.paste(page)
    for number, line in enumerate(lines, 1):
        ImageDraw.Draw(whole).text((10, page.height + pitch * number), line, "black", font, anchor="ls")
    return whole


def _on_paper(page: Image.Image, seed: str) -> Image.Image:
    noise = Image.frombytes("L", page.size, random.Random(seed).randbytes(page.width * page.height))
    noise = noise.filter(ImageFilter.GaussianBlur(1.2)).convert("RGB")
    return Image.blend(page, noise, 0.15)


def _from_one_side(page: Image.Image) -> Image.Image:
    """The page as seen from the left: its right side is 4 % lower than the left one."""
    width, height = page.size
    off = 0.02 * height
    quad = (0, 0, 0, height, width, height + off, width, -off)
    colour = page.getpixel((2, 2))
    seen = page.transform(page.size, Image.Transform.QUAD, quad, Image.Resampling.BICUBIC, fillcolor=colour)
    shade = Image.linear_gradient("L").rotate(90).resize(page.size).point(lambda value: 190 + value // 4)
    return Image.composite(seen, Image.new("RGB", page.size, (90, 80, 70)), shade)


def _rows(text: str) -> list[Row]:
    """Rows of cells: `label value, label value`, or with `|` between cells of which some may be empty."""
    rows = [row.strip() for row in text.split(",")]
    return [tuple(row.split("|") if "|" in row else row.rsplit(" ", 1)) for row in rows]


BAKERY = _rows(
    "Rye bread 4.20, Croissant 1.80, Apple cake 3.10, Coffee 2.60, Subtotal 11.70, VAT 10% 1.17, Total 12.87,"
    "Cash 20.00, Change 7.13"
)
MARKET = _rows(
    "Bananas $2.15, Tomatoes $3.40, Olive oil $8.95, Brown rice $2.75, Green tea $4.10, Discount $1.55,"
    "Subtotal $20.00, Tax $1.40, Total $21.40, Card $21.40"
)
TOOLS = _rows(
    "2|Paint brush|3.50|7.00, 1|Claw hammer|14.90|14.90, 6|Wood screws|0.45|2.70, 1|Ladder|62.00|62.00,"
    "|Subtotal||86.60, |Tax||6.93, |Total||93.53, |Cash||100.00, |Change||6.47"
)
CAFE = _rows(
    "Espresso $2.40, Flat white $3.60, Hot chocolate $3.90, Lemonade $2.95, Scone $2.20, Bagel $4.75,"
    "Soup $5.80, Salad $7.25"
)
SWIM = _rows(
    "Adult|$6.50|Towel|$2.00, Child|$3.25|Locker|$1.00, Senior|$4.75|Sauna|$9.80, "
    "Family|$15.40|Goggles|$5.60, Student|$5.10|Parking|$3.00"
)
WASH = _rows(
    "Shirt...... $4.10, Trousers...... $6.30, Jacket...... $9.70, Coat...... $14.50, Dress...... $11.90"
)
TRAINS = _rows(
    "Ashford|07:05|08:05|09:35, Bexley|07:21|08:21|09:51, Crowby|07:38|08:38|10:08, "
    "Dunmore|07:52|08:52|10:22, Eastwick|08:10|09:10|10:40, Fairlea|08:26|09:26|10:56"
)
FERRIES = _rows("Lerwick 06:40, Kirkwall 07:55, Stromness 09:20, Scrabster 11:15, Aberdeen 13:45, Wick 16:30")
BOARD = _rows(
    "Lisbon|10:15|A4, Oslo|10:40|B12, Vienna|11:05|C7, Zagreb|11:35|A9, Dublin|12:20|B3, Riga|12:50|C11"
)
GAPS = _rows("Ashby|07:05||09:35, Birley||08:21|, Corby|07:38||, Denham|||10:22, Elton|08:10|09:10|10:40")
HOURS = _rows(
    "Monday|09:00 - 17:00, Tuesday|09:30 - 17:30, Wednesday|10:00 - 16:00, Thursday|08:30 - 18:30,"
    "Friday|09:15 - 15:45, Saturday|11:00 - 14:00"
)
LIFT = [("Capacity: 630 kg",), ("Persons: 8",), ("Inspected: 12 May 2021",), ("Emergency: 0800 555 123",)]
PARK = _rows(
    "Speed limit|20 km/h, Height limit|2.10 m, Weight limit|3.5 t, Day ticket|$12.00, Hour ticket|$1.80,"
    "Lost ticket|$25.00"
)
TRAIL = _rows("Lake|2.4 km, Summit|7.9 km, Falls|3.6 km, Hut|5.2 km, Road|1.1 km")


def _what(rows: Sequence[Row], *, label: int = 0, value: int = 1) -> dict[str, str | None]:
    return {f"What is the {row[label].strip('. ').lower()}?": row[value].strip(". ") for row in rows}


def _last(rows: Sequence[Row], *labels: str) -> dict[str, str | None]:
    """Questions to rows whose last cell alone may answer; of several values none is the answer."""
    given = {row[-3]: row for row in rows}
    return {f"What is the {label.lower()}?": given[label][-1] for label in labels}


DRAWINGS = (
    Drawing("receipt", "bakery", (30, -490), BAKERY, _what(BAKERY), title="Corner Bakery"),
    Drawing("receipt", "market", (40, -620), MARKET, _what(MARKET[5:]), "paper", size=26, pitch=44),
    Drawing("receipt", "tools", (20, 60, -430, -560), TOOLS,
            _last(TOOLS, "Subtotal", "Tax", "Total", "Cash", "Change") | {"What does the ladder cost?": None},
            "paper", "Tool House", 22, 38),
    Drawing("receipt", "till", (20, -380), BAKERY, _what(BAKERY[4:]), "photo", size=20, pitch=30),
    Drawing("price list", "cafe", (40, -460), CAFE,
            {f"How much is the {name.lower()}?": price for name, price in CAFE}, title="Cafe"),
    Drawing("price list", "swim", (30, -260, 350, -600), SWIM,
            {f"What does the {row[0].lower()} cost?": row[1] for row in SWIM}, "paper", "Pool", 26, 48),
    Drawing("price list", "wash", (40, -700), WASH, _what(WASH), title="Dry cleaning"),
    Drawing("price list", "menu", (40, -860), CAFE, _what(CAFE), "photo", size=28, pitch=46),
    Drawing("timetable", "trains", (30, -300, -420, -540), TRAINS,
            {f"When does the {row[0].lower()} train leave?": None for row in TRAINS[:3]}
            | {f"What is the {row[0].lower()}?": None for row in TRAINS[3:]}),
    Drawing("timetable", "ferries", (30, -420), FERRIES,
            {f"What time is {row[0].lower()}?": row[1] for row in FERRIES}, "paper", "Ferries", 26, 42),
    Drawing("timetable", "board", (30, 320, 480), BOARD,
            {f"What is the {row[0].lower()}?": None for row in BOARD}),
    Drawing("timetable", "gaps", (30, -300, -420, -540), GAPS,
            {"What time is ashby?": None, "What time is birley?": "08:21", "What time is corby?": "07:38",
             "What time is denham?": "10:22", "What time is elton?": None}, "paper", size=26, pitch=46),
    Drawing("sign", "hours", (30, 300), HOURS,
            {f"When is {row[0].lower()}?": row[1] for row in HOURS}, title="Opening hours"),
    Drawing("sign", "lift", (40,), (*LIFT,),
            {f"What is the {label.lower()}?": value for label, value in (row[0].split(": ") for row in LIFT)},
            "photo", size=30, pitch=54),
    Drawing("sign", "park", (40, -560), PARK, _what(PARK), "paper", "Car park", 28, 50),
    Drawing("sign", "trail", (40, -330), TRAIL,
            {f"How far is the {row[0].lower()}?": row[1] for row in TRAIL},
            size=34, pitch=56),
)  # fmt: skip

BILL = _rows(
    "Milk 1.19, Eggs 2.49, Butter 2.89, Flour 0.95, Sugar 1.05, Subtotal 8.57, Discount 0.60, Total 7.97,"
    "Cash 10.00, Change 2.03"
)
DESK = _rows("Width|120 cm, Height|75 cm, Depth|60 cm, Weight|18.5 kg, Load|40 kg")
TICKET = _rows("Departure 14:05, Arrival 16:45, Platform 7, Coach 12, Seat 64A")
SALON = _rows("Haircut|25.00, Colour|, Beard trim|12.00, Shave|, Perm|60.00, Wash|, Styling|18.00")
PHOTO = ("Photo taken on 12 March 2026", "with my phone camera app", "shared by holiday album")
NARROW = (
    Drawing("narrow", "bill", (20, -420), BILL, _what(BILL), size=20, pitch=23, font="DejaVuSansMono.ttf"),
    Drawing("narrow", "far", (20, -900), BILL, _what(BILL), size=20, pitch=24, font="DejaVuSansMono.ttf"),
    Drawing("narrow", "desk", (30, -700), DESK, _what(DESK), size=18, pitch=24,
            font="DejaVuSansCondensed.ttf"),
    Drawing("narrow", "ticket", (40, -1000), TICKET, _what(TICKET), size=26, pitch=36,
            font="DejaVuSerif-Italic.ttf", below=PHOTO),
    Drawing("narrow", "salon", (30, -480), SALON, _what(SALON) | {f"What is the {row[0].lower()}?": None
            for row in SALON if not row[1]}, size=24, pitch=34, font="DejaVuSans.ttf", below=PHOTO),
)  # fmt: skip
"""Rows so low and wide that half a degree more or less joins a label to the next row's value."""


def asked(
    drawing: Drawing, angle: float, engine: Any, folder: Path
) -> tuple[State, list[tuple[str, str, str]]]:
    """What stands in the cache, and each question with its verdict and with what was said."""
    path = folder / f"{drawing.name}{angle}.png"
    drawing.picture(angle).save(path)
    detector, reader = TextDetector(engine), LabelReader()
    PreparedModule(detector).ready()
    seen = State(input={"image": str(path)})
    cache = detector.update_cache({}, detector.run(seen))
    state = State(input=seen.input, cache=cache)
    return state, [
        (question, *_judged(reader, state, question, answer))
        for question, answer in drawing.questions.items()
    ]


def _judged(reader: LabelReader, state: State, question: str, answer: str | None) -> tuple[str, str]:
    try:
        said = reader.run(State(input={**state.input, "question": question}, cache=state.cache))["answer"]
    except Declined as reason:
        return "declined", str(reason)
    plain = ["".join(text.split()) for text in (said, answer or "")]
    return ("right" if plain[0] == plain[1] else "wrong"), said


def counted(
    drawings: Iterable[Drawing], angles: Sequence[float], engine: str, told: bool = False
) -> Counter[Any]:
    """How many questions got which verdict, by kind and angle; `told`: print those answered wrongly."""
    counts: Counter[Any] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for drawing in drawings:
            for angle in angles:
                _, verdicts = asked(drawing, angle, engine, Path(folder))
                counts.update((drawing.kind, angle, verdict) for _, verdict, _ in verdicts)
                for question, verdict, said in verdicts if told else ():
                    if verdict == "wrong":
                        print(f"{engine} {drawing.name} {angle}: {question} -> {said}", file=sys.stderr)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    here = [engine for engine, is_here in ENGINES.items() if is_here]
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=here)
    parser.add_argument("--angles", nargs="+", type=float, default=ANGLES)
    options = parser.parse_args()
    kinds = list(dict.fromkeys(drawing.kind for drawing in (*DRAWINGS, *NARROW)))
    for engine in options.engines:
        counts = counted((*DRAWINGS, *NARROW), options.angles, engine, told=True)
        print(f"\n| {engine}: right / declined / wrong | " + " | ".join([*kinds, "all"]) + " |")
        print("|---" * (len(kinds) + 2) + "|")
        for angles in [*([angle] for angle in options.angles), options.angles]:
            cells = [
                " / ".join(str(sum(counts[k, a, v] for k in some for a in angles)) for v in VERDICTS)
                for some in [*([kind] for kind in kinds), kinds]
            ]
            shown = "all" if angles is options.angles else f"{angles[0]}°"
            print(f"| {shown} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
