"""`chameleon doctor`: show the installed packages, the model that would be asked, and the sandbox."""

import os
import platform
import re
from dataclasses import asdict
from importlib import metadata
from typing import Any

from chameleon.cli import app
from chameleon.cli.hints import in_options
from chameleon.cli.options import SETTINGS
from chameleon.cli.settings import VARIABLES, Settings, written
from chameleon.cli.terminal import echo, echo_json
from chameleon.errors import ChameleonError, ModelError, StoreError, versions_of
from chameleon.inventories import DEFAULTS
from chameleon.inventory.resolve import find_class
from chameleon.llm import LLM, ResponseStore, choose_model
from chameleon.llm.chat_clients import asked_by
from chameleon.llm.model_choice import context_of
from chameleon.llm.providers import base_url, is_openai_itself, package_is_here, providers
from chameleon.retrieval.embeddings import automatic
from chameleon.sandbox import make_sandbox
from chameleon.text import harmless, nearest, one_line, redact

_PACKAGE = "chameleon-compose"
_REQUIREMENT = re.compile(r"([\w.-]+).*\bextra == ['\"](?!test\b|dev\b)([\w-]+)['\"]")  # except test and dev
_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_TOOL = {"name": "weather", "description": "Tells the weather in a city.", "parameters": _SCHEMA}
_NO_VARIABLE = "nothing: there is no such variable. "
_AUTOMATIC = {
    "text_engine": ("text_detector", "engine", "Text in pictures, engine auto"),
    "captioner": ("image_captioner", "device", "Captions on this machine, device auto"),
    "search_provider": ("web_search", "provider", "Search, provider auto"),
}


def examine(*, as_json: bool) -> None:
    """Print the installation; anything missing is a line, not an error."""
    settings, fault = Settings(), ""
    try:
        settings = app.settings() or settings
    except ChameleonError as problem:
        fault = str(problem)
    packages: dict[str, dict[str, str | None]] = {}
    for line in metadata.requires(_PACKAGE) or ():
        if requirement := _REQUIREMENT.match(line):
            name, extra = requirement.groups()
            packages.setdefault(extra, {})[name] = versions_of(name).get(name)
    variables = sorted((name, value) for name, value in os.environ.items() if value.strip())
    report: dict[str, Any] = {
        "chameleon": metadata.version(_PACKAGE),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "model": _model(settings),
        "server": _server(settings),
        "settings": {"file": str(settings.path) if settings.path else None, "sets": settings.data},
        "settings_fault": fault or None,
        "variables": {
            name: {
                "value": redact(value),
                "sets": VARIABLES.get(name) or _NO_VARIABLE + nearest(name, VARIABLES),
            }
            for name, value in variables
            if name.startswith("CHAMELEON_")
        },
        "keys": [name for name, _ in variables if name.endswith("_API_KEY")],
        "store": _store(),
        "packages": packages,
        **{name: _automatic(module, key) for name, (module, key, _) in _AUTOMATIC.items()},
        "embeddings": automatic(),
        "sandbox": _sandbox(),
    }
    if as_json:
        echo_json(report)
        return
    echo(f"{_PACKAGE} {report['chameleon']}, Python {report['python']}, {report['platform']}")
    echo(f"Model: {harmless(report['model'])}")
    if server := report["server"]:
        echo(f"  {', '.join(f'{key}: {harmless(str(value))}' for key, value in server.items())}")
    if fault:
        echo(f"Settings: {harmless(fault)}")
    else:
        sets = ", ".join(f"{key} = {written(value)}" for key, value in settings.data.items()) or "nothing"
        text = f"{settings.path} sets {sets}" if settings.path else f"there is no {SETTINGS}"
        if keys := {key for each in settings.ignored.values() for key in each}:
            text += f" (does not set: {', '.join(sorted(keys))})"
        echo(f"Settings: {harmless(text)}")
    for name, each in report["variables"].items():
        echo(f"  {name}={harmless(each['value'])}  {harmless(each['sets'])}")
    echo(f"Keys set: {', '.join(report['keys']) or 'none'}")
    echo(f"Response store: {harmless(report['store'])}")
    echo("Extras:")
    width = max(map(len, packages))
    for extra, versions in packages.items():
        missing = [name for name, version in versions.items() if version is None]
        have = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
        state = have if not missing else f"missing {', '.join(missing)}: pip install {' '.join(missing)}"
        echo(f"  {extra:{width}} {state}")
    for name, (*_, label) in _AUTOMATIC.items():
        echo(f"{label}: {harmless(report[name]['takes'] or 'none: ' + report[name]['lacks'])}")
    echo(f"Embeddings for large inventories, by default: {report['embeddings']}")
    echo(f"Sandbox: {report['sandbox']['text']}")


def print_sandbox(*, as_json: bool) -> None:
    """Print the sandbox's guarantees, or why it cannot run."""
    report = _sandbox()
    if as_json:
        echo_json(report)
    else:
        echo(report["text"])


def _sandbox() -> dict[str, Any]:
    try:
        with make_sandbox() as sandbox:
            guarantees = sandbox.guarantees()
        return {"text": str(guarantees), **asdict(guarantees)}
    except ChameleonError as problem:
        return {"text": str(problem), "tier": None, "layers": []}


def _store() -> str:
    """Name the file of the response store, or say why it cannot be used."""
    place = os.environ.get("CHAMELEON_STORE", "").strip() or "~/.cache/chameleon/responses.sqlite"
    try:
        ResponseStore(place, "off")  # opens nothing
    except StoreError as problem:
        return str(problem)
    return place


def _automatic(name: str, key: str) -> dict[str, str | None]:
    """Return what a module's `auto` chooses here, or why it cannot work, without loading anything."""
    module = find_class(name, "modules")()
    try:
        module.check()
        return {"takes": module.runtime_info()[key], "lacks": None}
    except ChameleonError as problem:
        return {"takes": None, "lacks": redact(str(problem))}


def _model(settings: Settings) -> str:
    model = settings.values.get("ask", {}).get("model")
    try:
        choice = choose_model(model, None, reason=f"{SETTINGS} names it")
        provider = (choice.model or "").partition(":")[0]
        is_here = provider not in providers() or package_is_here(provider)
        offline = DEFAULTS["table"][1]
        lacks = "" if is_here else f"; its package is missing, and --inventory {offline} asks no model"
        by = f"; asked by {asked_by(choice.model)}" if choice.model else ""
        return redact(f"{choice}{by}{lacks}").removeprefix("model ")
    except ChameleonError as problem:
        return redact(str(in_options(problem)))


def _server(settings: Settings) -> dict[str, Any]:
    """Return what your own server supports, found with two short requests; empty without a server."""
    setting, address = settings.values.get("ask", {}).get("model"), base_url(os.environ)
    if not address or is_openai_itself(address):
        return {}
    support: dict[str, Any] = {}
    try:
        model = choose_model(setting, None).model or ""
        size = context_of(address, model.partition(":")[2], os.environ.get("OPENAI_API_KEY"))
        support["context"] = f"{size:,} tokens" if size else "the server does not say"
        llm = LLM.connect(model, store=None, retries=0, timeout=30.0).with_params(max_tokens=24)
        for key, params, shows in (
            ("structured output", {"schema": _SCHEMA}, lambda reply: reply.text.lstrip()[:1] == "{"),
            ("tools", {"tools": [_TOOL]}, lambda reply: bool(reply.tool_calls)),
        ):
            try:
                reply = llm.ask([("user", "What is the weather in Oslo?")], **params)
                support[key] = "yes" if shows(reply) else "taken, and not used by this model"
            except ModelError as problem:
                support[key] = f"no ({one_line(problem.what, 80)})"
    except ChameleonError:
        support.setdefault("context", "not known")  # the line above explains it
    return support
