"""Drawn and turned pages, with questions; `python -m tests.pictures.tilted ANGLE…` measures."""

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFilter, ImageFont

from chameleon import Declined, State
from chameleon.modules.offline.label_reader import LabelReader
from chameleon.modules.vision.text_detector import TextDetector
from chameleon.run.steps import PreparedModule

VERDICTS = ("right", "declined", "wrong")
Row = Sequence[str]


@dataclass(frozen=True)
class Drawing:
    """A page of rows with cells in columns."""

    kind: str
    name: str
    columns: Sequence[int]  # where each begins, in pixels; a negative one is where its cells end
    rows: Sequence[Row]
    questions: Mapping[str, str | None]  # with their answers, None for what must be declined
    ground: str = "white"  # or paper (grey with noise), or photo (lit unevenly, seen from one side, blurred)
    title: str = ""
    size: int = 24
    pitch: int = 40
    font: str = ""  # a file of DejaVu's, where the machine has it
    below: Sequence[str] = ()  # level text under the turned page

    def picture(self, angle: float) -> Image.Image:
        font = _font(self.font, self.size)
        cells = [cell for row in self.rows for cell in zip(self.columns, row, strict=False)]
        ends = [abs(place) + (font.getlength(text) if place >= 0 else 0) for place, text in cells]
        width = int(max(ends)) + 50
        top = 3 * self.pitch // 2 + (self.pitch if self.title else 0)
        page = Image.new("RGB", (width, top + self.pitch * len(self.rows) + 30), "white")
        draw = ImageDraw.Draw(page)
        if self.title:
            large = ImageFont.load_default(self.size + 8)
            draw.text((width / 2, 30), self.title, "black", large, anchor="ma")
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
TRAINS = _rows(
    "Ashford|07:05|08:05|09:35, Bexley|07:21|08:21|09:51, Crowby|07:38|08:38|10:08, "
    "Dunmore|07:52|08:52|10:22, Eastwick|08:10|09:10|10:40, Fairlea|08:26|09:26|10:56"
)
GAPS = _rows("Ashby|07:05||09:35, Birley||08:21|, Corby|07:38||, Denham|||10:22, Elton|08:10|09:10|10:40")
PARK = _rows(
    "Speed limit|20 km/h, Height limit|2.10 m, Weight limit|3.5 t, Day ticket|$12.00, Hour ticket|$1.80,"
    "Lost ticket|$25.00"
)


def _what(rows: Sequence[Row], *, label: int = 0, value: int = 1) -> dict[str, str | None]:
    return {f"What is the {row[label].strip('. ').lower()}?": row[value].strip(". ") for row in rows}


def _last(rows: Sequence[Row], *labels: str) -> dict[str, str | None]:
    """Questions to rows whose last cell alone may answer; of several values none is the answer."""
    given = {row[-3]: row for row in rows}
    return {f"What is the {label.lower()}?": given[label][-1] for label in labels}


DRAWINGS = (
    Drawing("receipt", "bakery", (30, -490), BAKERY, _what(BAKERY), title="Corner Bakery"),
    Drawing("receipt", "tools", (20, 60, -430, -560), TOOLS,
            _last(TOOLS, "Subtotal", "Tax", "Total", "Cash", "Change") | {"What does the ladder cost?": None},
            "paper", "Tool House", 22, 38),
    Drawing("price list", "swim", (30, -260, 350, -600), SWIM,
            {f"What does the {row[0].lower()} cost?": row[1] for row in SWIM}, "paper", "Pool", 26, 48),
    Drawing("price list", "menu", (40, -860), CAFE, _what(CAFE), "photo", size=28, pitch=46),
    Drawing("timetable", "trains", (30, -300, -420, -540), TRAINS,
            {f"When does the {row[0].lower()} train leave?": None for row in TRAINS[:3]}
            | {f"What is the {row[0].lower()}?": None for row in TRAINS[3:]}),
    Drawing("timetable", "gaps", (30, -300, -420, -540), GAPS,
            {"What time is ashby?": None, "What time is birley?": "08:21", "What time is corby?": "07:38",
             "What time is denham?": "10:22", "What time is elton?": None}, "paper", size=26, pitch=46),
    Drawing("sign", "park", (40, -560), PARK, _what(PARK), "paper", "Car park", 28, 50),
)  # fmt: skip

BILL = _rows(
    "Milk 1.19, Eggs 2.49, Butter 2.89, Flour 0.95, Sugar 1.05, Subtotal 8.57, Discount 0.60, Total 7.97,"
    "Cash 10.00, Change 2.03"
)
DESK = _rows("Width|120 cm, Height|75 cm, Depth|60 cm, Weight|18.5 kg, Load|40 kg")
SALON = _rows("Haircut|25.00, Colour|, Beard trim|12.00, Shave|, Perm|60.00, Wash|, Styling|18.00")
PHOTO = ("Photo taken on 12 March 2026", "with my phone camera app", "shared by holiday album")
NARROW = (
    Drawing("narrow", "far", (20, -900), BILL, _what(BILL), size=20, pitch=24, font="DejaVuSansMono.ttf"),
    Drawing("narrow", "desk", (30, -700), DESK, _what(DESK), size=18, pitch=24,
            font="DejaVuSansCondensed.ttf"),
    Drawing("narrow", "salon", (30, -480), SALON, _what(SALON) | {f"What is the {row[0].lower()}?": None
            for row in SALON if not row[1]}, size=24, pitch=34, font="DejaVuSans.ttf", below=PHOTO),
)  # fmt: skip
"""Rows so low and wide that half a degree more or less joins a label to the next row's value."""


def asked(
    drawing: Drawing, angle: float, folder: Path
) -> tuple[Mapping[str, Any], list[tuple[str, str, str]]]:
    path = folder / f"{drawing.name}{angle}.png"
    drawing.picture(angle).save(path)
    detector, reader = TextDetector("rapidocr"), LabelReader()
    PreparedModule(detector).ready()
    seen = State(input={"image": str(path)})
    cache = detector.update_cache({}, detector.run(seen))
    verdicts = []
    for question, answer in drawing.questions.items():
        state = State(input={**seen.input, "question": question}, cache=cache)
        try:
            said = reader.run(state)["answer"]
        except Declined as reason:
            verdicts.append((question, "declined", str(reason)))
            continue
        is_right = "".join(said.split()) == "".join((answer or "").split())
        verdicts.append((question, "right" if is_right else "wrong", said))
    return cache, verdicts


def main(angles: Sequence[float]) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for drawing in (*DRAWINGS, *NARROW):
            for angle in angles:
                for question, verdict, said in asked(drawing, angle, Path(folder))[1]:
                    counts[drawing.kind, verdict] += 1
                    if verdict == "wrong":
                        print(f"{drawing.name} {angle}: {question} -> {said}", file=sys.stderr)
    for kind in dict.fromkeys(kind for kind, _ in counts):
        print(f"{kind}: " + ", ".join(f"{counts[kind, verdict]} {verdict}" for verdict in VERDICTS))


if __name__ == "__main__":
    main([float(angle) for angle in sys.argv[1:]] or [0])
