"""What is around the code does not rot: workflows, scripts, recipes and pages name what exists."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from chameleon.inventory import shipped_inventories
from tests.conftest import _PRIVATE_VARIABLE, NetworkForbidden
from tests.loopback import LoopbackServer

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "AGENTS.md")
SCRIPTS = (".ci/run", "scripts/full_tests.sh")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(path: str | Path) -> str:
    return (ROOT / path).read_text("utf-8")


def loaded(path: str | Path) -> Any:
    return yaml.safe_load(read(path))


def jobs() -> list[tuple[str, dict[str, Any]]]:
    return [(file.name, job) for file in WORKFLOWS for job in loaded(file)["jobs"].values()]


def commands() -> dict[str, str]:
    found = {script: read(script) for script in SCRIPTS} | {"justfile": read("justfile")}
    for name, job in jobs():
        found[name] = "\n".join([found.get(name, ""), *(step.get("run", "") for step in job["steps"])])
    return found


def named(pattern: str, text: str) -> set[str]:
    return set(re.findall(pattern, text))


def versions() -> list[str]:
    """Return the versions of Python that the classifiers name, the oldest first."""
    found = named(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    return sorted(found, key=lambda version: int(version.partition(".")[2]))


def test_commands_name_files_extras_and_tests_that_exist() -> None:
    for source, text in commands().items():
        paths = named(r"(?<![\w.])(?:tests|scripts|docs|\.ci)(?:/[\w.-]*\w)+", text)
        assert paths, source
        missing = {path for path in paths if not (ROOT / path).exists()}
        assert not missing, (source, missing)
    for script in SCRIPTS:
        assert (ROOT / script).stat().st_mode & 0o100 or sys.platform == "win32", script
    for source, text in (commands() | {page: read(page) for page in (*PAGES, "Dockerfile")}).items():
        for extras in named(r"(?:'\.\[|EXTRAS=)([\w,-]+)", text):
            assert set(extras.split(",")) <= PROJECT["optional-dependencies"].keys(), (source, extras)
    chosen = re.findall(r"^ *smoke (tests/\S+) -k '?([\w ]+?)'?$", read(".ci/run"), re.MULTILINE)
    assert len(chosen) == read(".ci/run").count("\n  smoke ") + read(".ci/run").count("\nsmoke ")
    for path, words in chosen:
        if (ROOT / path).exists():
            text = read(path)
            assert all(word in text for word in words.split(" and ")), (path, words)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_an_unknown_step_of_the_full_tests_is_refused_before_anything_runs() -> None:
    done = subprocess.run(["bash", "scripts/full_tests.sh", "rai"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and "'rai'" in done.stderr and "ray" in done.stderr


def test_the_full_workflow_runs_every_step_and_jobs_end_and_may_read_only() -> None:
    (steps,) = named(r"(?m)^STEPS=\((.*)\)$", read("scripts/full_tests.sh"))
    assert named(r"(?m)^run_(\w+)\(\)", read("scripts/full_tests.sh")) == set(steps.split())
    assert loaded(".github/workflows/full.yml")["jobs"]["full"]["strategy"]["matrix"]["step"] == steps.split()
    assert ".ci/run" in commands()["ci.yml"].split("\n")
    assert "scripts/full_tests.sh ${{ matrix.step }}" in commands()["full.yml"]
    for file in WORKFLOWS:
        assert loaded(file)["permissions"] == {"contents": "read"}, file.name
    for name, job in jobs():
        assert job["timeout-minutes"] <= 90, name
        writes = {right for right, level in job.get("permissions", {}).items() if level == "write"}
        assert not writes or (name, writes) == ("release.yml", {"id-token"})


def test_versions_of_python_agree() -> None:
    assert PROJECT["requires-python"] == f">={versions()[0]}"
    tested = {name: set[str]() for name in ("ci.yml", "full.yml", "release.yml")}
    for name, job in jobs():
        tested[name] |= set(job.get("strategy", {}).get("matrix", {}).get("python", ()))
        inputs = [step.get("with", {}).get("python-version", "") for step in job["steps"]]
        tested[name] |= {version for version in inputs if version and "${{" not in version}
    assert {versions()[0], versions()[-1]} <= tested["ci.yml"] & tested["full.yml"]
    images = named(r"(?m)^FROM python:(3\.\d+)", read("Dockerfile"))
    assert images and set().union(images, *tested.values()) <= set(versions())
    for page in ("README.md", "CONTRIBUTING.md"):
        assert f"Python {versions()[0]}" in read(page)


def test_recipes_exist_and_the_image_has_all_that_the_wheel_is_built_from() -> None:
    lines = read("justfile").splitlines()
    recipes = {line.partition(":")[0].split()[0] for line in lines if re.match(r"[a-z]\w*[^=]*:(?!=)", line)}
    assert {"setup", "test", "lint", "types", "docs", "full"} <= recipes
    installed = {re.split(r"[\s\[<>=;]", each)[0] for each in PROJECT["optional-dependencies"]["dev"]}
    for program in named(r"\{\{bin\}\}/([\w-]+)", read("justfile")):
        assert program in installed | {"python"}, program
    for page in PAGES:
        assert named(r"`just (\w+)", read(page)) <= recipes, page
    text = read("Dockerfile")
    assert 'ENTRYPOINT ["chameleon"]' in text and "chameleon" in PROJECT["scripts"]
    assert re.search(r"(?m)^USER [1-9]\d*$", text), "not as root, and by number"
    kept = named(r"(?m)^!(.+)$", read(".dockerignore"))
    links = {path.readlink().name for path in (ROOT / "chameleon").iterdir() if path.is_symlink()}
    assert kept == {"pyproject.toml", "chameleon", "README.md", *PROJECT["license-files"], *links}


@pytest.mark.parametrize("page", PAGES)
def test_pages_name_paths_that_exist(page: str) -> None:
    text = read(page)
    links = named(r"\]\((?!https?:|#)([^)#\s]+)", text)
    paths = named(r"`((?:[\w.-]+/)+[\w.*-]*)`", text) | named(r"`(\w+\.(?:md|toml|cff|yaml))`", text)
    for path in links | {each for each in paths if not re.search(r"ROOM|FILE|\.venv", each)}:
        if page != "README.md" or path in links:  # README has files of its reader
            assert list(ROOT.glob(path.rstrip("/"))), path


def test_all_addresses_are_of_one_repository_and_the_citation_of_this_version() -> None:
    urls = PROJECT["urls"]
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} <= urls.keys()
    home = urls["Homepage"]
    assert all(url == home or url.startswith(f"{home}/") for url in urls.values())
    for url in urls.values():
        if inside := re.search(r"/(?:tree|blob)/main/(.+)", url):
            assert (ROOT / inside[1]).exists(), url
    owner_and_name = home.removeprefix("https://github.com/")
    for file in chain(*map(ROOT.glob, ("*.md", "docs/**/*.md", ".github/**/*.*", "CITATION.cff"))):
        ours = named(r"github\.com/([\w-]+/chameleon(?:-compose)?)\b(?!-)", read(file))
        assert ours <= {owner_and_name}, file.name
    cited = loaded("CITATION.cff")
    assert (cited["version"], cited["license"]) == (PROJECT["version"], PROJECT["license"])
    for reference in cited["references"]:
        inventories = re.findall(r"[a-z_]+(?=,| and|\.)", reference["notes"].partition("Inventories ")[2])
        assert inventories and {*inventories} <= {*shipped_inventories()}


def test_no_test_reaches_the_network_or_sees_the_developers_keys() -> None:
    with socket.socket() as ours:
        for connect in (ours.connect, ours.connect_ex):
            with pytest.raises(NetworkForbidden, match=r"192\.0\.2\.1"):
                connect(("192.0.2.1", 80))
    with pytest.raises(NetworkForbidden, match=r"look up api\.openai\.com"):
        socket.create_connection(("api.openai.com", 443))
    with LoopbackServer() as server, urllib.request.urlopen(server.url + "/models") as response:
        assert response.status == 200
    with LoopbackServer(models=None) as server, pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(server.url + "/models")
    caught.value.close()
    assert not [name for name in os.environ if name.endswith("_API_KEY") or name.startswith("OPENAI_")]
    assert os.environ["CHAMELEON_STORE"].endswith("responses.sqlite")
    names = "OPENAI_BASE_URL ANTHROPIC_API_KEY GOOGLE_GENAI_USE_VERTEXAI GOOGLE_APPLICATION_CREDENTIALS "
    for name in f"{names} MISTRAL_BASE_URL OLLAMA_HOST http_proxy NO_PROXY CHAMELEON_MODEL".split():
        assert _PRIVATE_VARIABLE.search(name), name
