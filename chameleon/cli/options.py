"""The options that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Question = Annotated[str, typer.Argument(help="The question, in quotes.", show_default=False)]
TableFile = Annotated[
    list[str] | None,
    typer.Option(
        "--table",
        "-t",
        metavar="FILE|-",
        help="CSV, TSV, Markdown, JSON, JSON lines, Excel or a | b text; several where taken.",
    ),
]
# As lists too, so that a second one is told of and not taken in place of the first.
ImageFile = Annotated[
    list[str] | None,
    typer.Option("--image", metavar="FILE|-", help="A picture: PNG, JPEG, WebP and others."),
]
TextFile = Annotated[
    list[str] | None,
    typer.Option("--text", metavar="FILE|-", help="A text, a page or a PDF to answer from."),
]
IndexFolder = Annotated[
    Path | None,
    typer.Option("--index", metavar="INDEX", help="The tables to answer from, as `chameleon index` made it."),
]
Choices = Annotated[str | None, typer.Option("--choices", metavar='"A;B"', help="Options to choose from.")]
Unit = Annotated[
    str | None,
    typer.Option("--unit", metavar="U", help="The unit that a number is meant in; nothing is converted."),
]
InventoryName = Annotated[
    str | None, typer.Option("--inventory", "-i", metavar="NAME|FILE", help="The inventory to run.")
]
ModelName = Annotated[
    str | None, typer.Option("--model", "-m", metavar="PROVIDER:NAME", help="The model to ask.")
]
Params = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="KEY=VALUE",
        help="A parameter of all calls, as `reasoning=none`; may be given again.",
    ),
]
AllowDropped = Annotated[
    bool, typer.Option("--allow-dropped", help="Go on without parameters that the model does not take.")
]
StoreMode = Annotated[
    Literal["off", "record", "replay", "auto"],
    typer.Option("--store", help="The response store: auto reuses replies, replay never asks the model."),
]
DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="The benchmark's release, or JSON lines; .gz is fine.", show_default=False
    ),
]
TablesFile = Annotated[
    Path | None, typer.Option("--tables", metavar="FILE", help="The tables, where they lie apart.")
]
ScorerName = Annotated[
    str | None,
    typer.Option("--scorer", metavar="NAME", help="The official rule; `list benchmarks` shows all."),
]
Limit = Annotated[int | None, typer.Option("--limit", "-n", min=1, help="The first N problems alone.")]
Runs = Annotated[
    list[Path],
    typer.Argument(metavar="RUN…", help="Folders that `eval --out` has written.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
