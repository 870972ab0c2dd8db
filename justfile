# `just` alone lists what there is. https://just.systems
bin := if os_family() == "windows" { ".venv/Scripts" } else { ".venv/bin" }

_default:
    @just --list

# Make .venv, with all that tests and linters need
setup:
    python3 -m venv .venv
    {{bin}}/python -m pip install -e '.[dev]'

# Run tests: all, or `just test -n0 tests/table`
test *arguments:
    {{bin}}/python -m pytest -q {{arguments}}

# Check style and form; `just lint --fix` mends what can be mended
lint *arguments:
    {{bin}}/ruff check . {{arguments}}
    {{bin}}/ruff format {{ if arguments =~ "fix" { "" } else { "--check" } }} .

# Check types
types:
    {{bin}}/mypy

# Build the site of the documents into build/site
docs:
    {{bin}}/python -m pip install --quiet -e '.[docs]'
    {{bin}}/python -m sphinx -W -b html docs build/site

# Run what must hold before a change lands, up to 12 minutes
ci:
    .ci/run

# Run every long test as well, or some: `just full ray torch`
full *steps:
    scripts/full_tests.sh {{steps}}
