"""What errors of the engine ask for, in options of the command line."""

from __future__ import annotations

IN_OPTIONS = {
    "Give 'table' in the input.": "Give one with --table FILE.",
    "Give 'image' in the input.": "Give one with --image FILE.",
    "Give 'text' in the input.": "Give one with --text FILE.",
    "Give 'passages' in the input.": "Give a text, a PDF or another document with --text FILE.",
    "Give 'index' in the input.": "Give one with --index INDEX, as `chameleon index` makes it.",
    "Give 'choices' in the input.": "Give them with --choices.",
    "Give 'question' in the input.": "Ask one in quotes.",
    "Give 'image' or 'text' in the input.": "Give one with --image FILE or --text FILE.",
    "Give a workbook as a table.": "A workbook goes with --table.",
    "Or give another file for the log.": "Or give another file with --log.",
    "Give a new file for the log": "Give a new file with --log",
    'Give the executor a model, such as Executor(inventory, "openai:gpt-6-luna").': "Name one with --model "
    "PROVIDER:NAME or CHAMELEON_MODEL, or set a provider's key, such as OPENAI_API_KEY.",
    "the caller names it": "--model names it",
    "Name a model, or set CHAMELEON_MODEL.": "Name a model with --model or CHAMELEON_MODEL.",
    "(allow_dropped=True)": "(--allow-dropped)",
    "Score the rows of one run of several alone.": "--where KEY=VALUE picks one run of several in a file.",
    "Name the file of tables.": "Name the tables with --tables.",
    "Leave out their file.": "Leave out --tables.",
    "The scorer label looks": "--scorer label looks",
    "The scorer tablerag compares": "--scorer tablerag compares",
    "Give another folder for the results.": "Give another folder with --out.",
    "An evaluation that is kept makes one.": "Make one with `chameleon eval INVENTORY DATA --out DIR`.",
    "the highest cost cannot be kept": "--max-cost cannot be kept",
    "try the failed problems again.": "the same command with --retry-failed goes on.",
}


def in_options(text: str) -> str:
    """Return what an error or a reason says with the options that give what it asks for."""
    for said, options in IN_OPTIONS.items():
        text = text.replace(said, options)
    return text
