"""Advice for the engine's errors in terms of command-line options, by the code of the error."""

from typing import TypeVar

from chameleon.errors import ChameleonError

HINTS = {
    "missing-input:table": "Give one with --table FILE.",
    "missing-input:image": "Give one with --image FILE.",
    "missing-input:text": "Give one with --text FILE.",
    "missing-input:image or text": "Give one with --image FILE or --text FILE.",
    "missing-input:passages": "Give a text, a PDF or another document with --text FILE.",
    "missing-input:index": "Give one with --index INDEX, as `chameleon index` makes it.",
    "missing-input:choices": "Give them with --choices.",
    "missing-input:question": "Ask one in quotes.",
    "no-setting": "Leave --at-least out, or name an inventory that asks no model, such as tables_offline.",
    "no-model": "Name one with --model PROVIDER:NAME or CHAMELEON_MODEL, or set a provider's key, such as "
    "OPENAI_API_KEY.",
    "no-replay": "Run it once with --store auto, which keeps the replies.",
    "dropped-parameter": "A figure would not be the method's: choose a model that takes it, ask without "
    "thinking where that helps (--param reasoning=none), or allow it with --allow-dropped.",
    "several-runs": "--where KEY=VALUE picks one run of several in a file.",
    "missing-tables": "Name the tables with --tables.",
    "missing-run": "Make one with `chameleon eval INVENTORY DATA --out DIR`.",
    "max-cost": "A larger one resumes.",
    "retry-failed": "Fix that, then run the same command with --retry-failed.",
}
AnyError = TypeVar("AnyError", bound=ChameleonError)


def in_options(error: AnyError) -> AnyError:
    """Reword an error's hint with command-line options, and return the same error."""
    error.hint = HINTS.get(error.code, error.hint)
    return error
