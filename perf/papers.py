"""Measure how well third-party PDFs are read: forty questions, forty table rows, figures, processor time.

    python perf/papers.py FOLDER [--fetch] [--readers pdfplumber,markitdown,pypdfium2,chameleon]
    python perf/papers.py FOLDER --index

`--fetch` extracts fifteen PDFs from Debian's documentation packages to FOLDER (apt-get, dpkg-deb; 230 MB of
packages): LaTeX books and articles, two-column publisher classes, R vignettes, FOP, Word with Distiller,
FrameMaker, groff, ReportLab. `papers_questions.json` was frozen before any reader ran on them; the layout
rules were tuned on the seven papers that it names, and the other eight are held out.

- "first", "among 8": a passage with the required words, as printed, is the nearest, or one of the eight
  nearest, in the ranking of `paper_retriever`. Plain text is split into pieces of fifteen lines.
- "torn": figures with a space before the point or comma ("0 .001"), in all passages.
- "rows": the name and the value of a row are in two cells of one table row.
- "s/page": processor seconds, in one run.

`--index` builds one index of all papers and asks it the forty questions without a model: how many are
answered, and how many have the required words among the eight nearest passages.
"""

import argparse
import gzip
import io
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from timings import surroundings, table

from chameleon import Executor, Inventory
from chameleon.documents.indexing import index_files
from chameleon.documents.passages import passages_of
from chameleon.documents.pdf import pdf_parts
from chameleon.modules.documents.paper_retriever import nearness

LINES = 15
K = 8
_R = "usr/lib/R/site-library"
_TEX = "usr/share/doc/texlive-doc/latex"
PAPERS = {
    "hmmer": ("hmmer-doc", "usr/share/doc/hmmer/Userguide.pdf.gz"),
    "lme4": ("r-cran-lme4", f"{_R}/lme4/doc/lmer.pdf"),
    "acm": ("texlive-publishers-doc", f"{_TEX}/acmart/samples/sample-sigconf.pdf"),
    "dicomscope": ("dicomscope-doc", "usr/share/doc/dicomscope/dscs360.pdf"),
    "fhs": ("debian-policy", "usr/share/doc/debian-policy/fhs/fhs-3.0.pdf.gz"),
    "reportlab": ("python-reportlab-doc", "usr/share/doc/python-reportlab-doc/reportlab-userguide.pdf"),
    "asme": ("texlive-publishers-doc", f"{_TEX}/asmeconf/asmeconf-template.pdf"),
    "mrbayes": ("mrbayes-doc", "usr/share/doc/mrbayes/Manual_MrBayes_v3.2.pdf"),
    "survival": ("r-cran-survival", "usr/lib/R/library/survival/doc/survival.pdf"),
    "aastex": ("texlive-publishers-doc", f"{_TEX}/aastex/sample631.pdf"),
    "jacow": ("texlive-publishers-doc", f"{_TEX}/jacow/JACoW_LaTeX_A4.pdf"),
    "raster3d": ("raster3d-doc", "usr/share/doc/raster3d/R3D_manual.pdf"),
    "automake": ("groff", "usr/share/doc/groff-base/pdf/automake.pdf.gz"),
    "policy": ("debian-policy", "usr/share/doc/debian-policy/policy.pdf.gz"),
    "umfpack": ("libsuitesparse-doc", "usr/share/doc/libsuitesparse-dev/UMFPACK_UserGuide.pdf"),
}
"""The Debian package (bookworm) of each paper, and the path in it."""

_TORN = re.compile(r"(?<![\w.])\d+ \. ?\d+(?![\w.]| \.)|\d ,\d{3}\b")
Passage = dict[str, Any]
Read = tuple[list[Passage], list[list[str]]]


def fetch(folder: Path) -> None:
    """Extract the papers from their packages."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        for package in {package for package, _ in PAPERS.values()}:
            subprocess.run(["apt-get", "download", package], cwd=place, check=True)
            (found,) = Path(place).glob(f"{package}_*.deb")
            subprocess.run(["dpkg-deb", "-x", found.name, package], cwd=place, check=True)
            found.unlink()
        for name, (package, path) in PAPERS.items():
            data = (Path(place) / package / path).read_bytes()
            (folder / f"{name}.pdf").write_bytes(gzip.decompress(data) if path.endswith(".gz") else data)


def pieces(text: str) -> Iterator[Passage]:
    """Yield a text in pieces of fifteen lines."""
    lines = [line for line in text.splitlines() if line.strip()]
    for begin in range(0, len(lines), LINES):
        yield {"title": "", "text": "\n".join(lines[begin : begin + LINES])}


def by_pdfplumber(data: bytes, name: str) -> Read:
    import pdfplumber

    found, rows = list[Passage](), list[list[str]]()
    with pdfplumber.open(io.BytesIO(data)) as pdf:
        for page in pdf.pages:
            found += pieces(page.extract_text())
            rows += [[cell or "" for cell in row] for grid in page.extract_tables() for row in grid]
            page.close()
    return found, rows


def by_markitdown(data: bytes, name: str) -> Read:
    from markitdown import MarkItDown

    text = MarkItDown().convert_stream(io.BytesIO(data), file_extension=".pdf").text_content
    rows = [line.strip("| ").split("|") for line in text.splitlines() if line.startswith("|")]
    return list(pieces(text)), rows


def by_pypdfium2(data: bytes, name: str) -> Read:
    import pypdfium2

    with pypdfium2.PdfDocument(data) as pdf:
        texts = [page.get_textpage().get_text_bounded() for page in pdf]
    return [piece for text in texts for piece in pieces(text)], []


def by_chameleon(data: bytes, name: str) -> Read:
    found = passages_of(pdf_parts(data, name), name)
    tables = [each["table"] for each in found if "table" in each]
    return found, [list(row) for each in tables for row in (each.header, *each.rows)]


READERS: Mapping[str, Callable[[bytes, str], Read]] = {
    "pdfplumber": by_pdfplumber,
    "markitdown": by_markitdown,
    "pypdfium2": by_pypdfium2,
    "chameleon": by_chameleon,
}


def plain(text: str) -> str:
    """Normalize a text for comparison: single spaces, no ligatures, plain quotation marks."""
    for mark, letters in {"ﬁ": "fi", "ﬂ": "fl", "ﬀ": "ff", "’": "'", "−": "-", "–": "-"}.items():
        text = text.replace(mark, letters)
    return " ".join(text.split())


def place_of(question: str, needed: Sequence[str], found: Sequence[Passage]) -> int | None:
    """Return the rank (from 0) of the nearest passage with the required words, or None."""
    near = nearness(question, found)
    order = sorted(range(len(found)), key=lambda place: -near[place])
    for rank, place in enumerate(order):
        text = plain(f"{found[place]['title']} {found[place]['text']}")
        if all(plain(each) in text for each in needed):
            return rank
    return None


def has_row(rows: Sequence[Sequence[str]], name: str, value: str) -> bool:
    """Return whether a row has the name and the value in two different cells."""
    one, other = (re.compile(rf"(?<!\w){re.escape(plain(each))}(?!\w)") for each in (name, value))
    for row in rows:
        cells = [plain(cell) for cell in row]
        names = {place for place, cell in enumerate(cells) if one.search(cell)}
        values = {place for place, cell in enumerate(cells) if other.search(cell)}
        if names and values and len(names | values) > 1:
            return True
    return False


def measured(read: Callable[[bytes, str], Read], folder: Path, asked: Any) -> list[list[str]]:
    """Return the figures of one reader, on all papers and on the held-out ones."""
    seconds, pages, torn = 0.0, 0, dict[str, int]()
    ranks, rows = list[tuple[str, int | None]](), list[tuple[str, bool]]()
    for name in PAPERS:
        data = (folder / f"{name}.pdf").read_bytes()
        begin = time.process_time()
        found, cells = read(data, f"{name}.pdf")
        seconds += time.process_time() - begin
        pages += page_count(data)
        torn[name] = len(_TORN.findall(" \n".join(each["text"] for each in found)))
        questions = [(question, needed) for file, question, needed in asked["questions"] if file == name]
        named_rows = [(row, value) for file, row, value in asked["rows"] if file == name]
        ranks += [(name, place_of(question, needed, found)) for question, needed in questions]
        rows += [(name, has_row(cells, row, value)) for row, value in named_rows]
    figures = []
    for papers in (set(PAPERS), set(PAPERS) - set(asked["tuned_on"])):
        own = [rank for name, rank in ranks if name in papers]
        own_rows = [has for name, has in rows if name in papers]
        first, among = (sum(rank is not None and rank < n for rank in own) for n in (1, K))
        spoilt = [torn[name] for name in papers]
        figures.append(
            [
                f"{first}/{len(own)}",
                f"{among}/{len(own)}",
                f"{sum(spoilt)} in {sum(map(bool, spoilt))}",
                f"{sum(own_rows)}/{len(own_rows)}",
                f"{seconds / pages:.3f}",
            ]
        )
    return figures


def asked_of_one_index(folder: Path, questions: Sequence[tuple[str, str, Sequence[str]]]) -> list[list[str]]:
    """Return the figures for the questions on one index of all papers."""
    answered, ranks = 0, list[int]()
    with tempfile.TemporaryDirectory() as place:
        summary = index_files([folder], Path(place, "index"))
        executor = Executor(Inventory.load("corpus_offline"))
        for _, question, needed in questions:
            state = executor.run({"question": question, "index": str(Path(place, "index"))})
            answered += state.ended is not None and state.ended.reason == "answered"
            shown = [f"{each.get('heading', '')} {each['text']}" for each in state.cache.get("nearest", ())]
            fits = [all(plain(each) in plain(text) for each in needed) for text in shown]
            ranks += [fits.index(True)] if any(fits) else []
    return [
        [
            f"{summary.passages:,}",
            f"{summary.tables:,}",
            f"{summary.seconds:.1f}",
            str(answered),
            str(ranks.count(0)),
            str(len(ranks)),
        ]
    ]


def page_count(data: bytes) -> int:
    import pypdfium2

    with pypdfium2.PdfDocument(data) as pdf:
        return len(pdf)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--readers", default=",".join(READERS))
    parser.add_argument("--index", action="store_true", help="ask one index of all papers")
    given = parser.parse_args()
    if given.fetch:
        fetch(given.folder)
    asked = json.loads(Path(__file__).with_name("papers_questions.json").read_text("utf-8"))
    if given.index:
        print(surroundings("pypdfium2", "tantivy"))
        titles = ["passages", "tables", "s to index", "answered", "first", f"among {K}"]
        questions = asked["questions"]
        rows = asked_of_one_index(given.folder, questions)
        return table(f"{len(questions)} questions to one index of {len(PAPERS)} papers", titles, rows)
    rows = []
    for name in given.readers.split(","):
        every, held_out = measured(READERS[name], given.folder, asked)
        rows += [[name, *every], [f"{name}, held out", *held_out[:-1], ""]]
    print(surroundings("pypdfium2"))
    table(
        f"{len(asked['questions'])} questions and {len(asked['rows'])} rows of {len(PAPERS)} papers",
        ["reader", "first", f"among {K}", "torn, in papers", "rows", "s/page"],
        rows,
    )


if __name__ == "__main__":
    main()
