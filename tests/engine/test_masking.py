"""What looks like a secret leaves no run: it is masked in every event, and the next step sees the mask."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from chameleon import Executor, State, StepRejected, Table, tool
from chameleon.core.log import event_to_json
from chameleon.errors import ModuleError
from chameleon.planners.fixed import Fixed
from chameleon.text import known_secrets, redact

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5"
PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----"
SECRETS = {
    "OPENAI_API_KEY": "sk-proj-PLANTa1b2c3d4e5f6g7h8",
    "MY_TOKEN": "PLANTtokentoken99",
    "PGPASSWORD": "PLANTpgpassword99",
    "DB_PASSWD": "PLANTpasswd0099",
    "GITHUB_PAT": "PLANT-of-github-99",
    "MYCRED": "PLANT-credential-99",
    "SESSION": JWT,
    "SIGNER": PEM,
    "BOT": "xoxb-1234567890-PLANT",
    "GIT": "github_pat_11PLANT0abcdefghijklmnop",
    "MYSQL_PWD": "PLANTmysqlpwd1234",
    "APIKEY": "PLANTapikeyapikey1",
    "DB_PASS": "PLANTdbpassvalue12",
    "LAB": "glpat-PLANTabcdefghij1234",
    "HUB": "gho_PLANTabcdefghijklmnopqrst",
    "HUB_APP": "ghs_PLANTabcdefghijklmnopqrst",
    "CLOUD": "AKIAPLANTABCDEFGHIJK",
}
SHAPED = ("BOT", "GIT", "LAB", "HUB", "HUB_APP", "CLOUD")
PARTS = {
    "STORAGE": ("AccountName=a;AccountKey=PLANTazure0099==;X=1", "PLANTazure0099=="),
    "DATABASE_URL": ("postgresql://me:PLANTdatabase99@host/db", "PLANTdatabase99"),
}


def told(kind: str) -> list[Any]:
    """Return tools that let secrets out, in this way."""
    import os

    everything = " ".join([*(os.environ[name] for name in SECRETS), *(part for _, part in PARTS.values())])

    @tool
    def first() -> Any:
        """Lets secrets out."""
        match kind:
            case "text":
                return everything
            case "deep":
                return {"a": [{everything: [everything]}]}
            case "table":
                return Table([everything], [[everything]], everything)
            case "rejected":
                raise StepRejected(everything, hint=everything)
            case "failed":
                raise ModuleError(everything, hint=everything)
        raise RuntimeError(everything)

    @tool
    def second(state: State) -> str:
        """Says what it sees."""
        return str(dict(state.cache))

    return [first, second]


@pytest.mark.parametrize("kind", ["text", "deep", "table", "rejected", "failed", "other"])
def test_no_event_and_no_later_step_has_a_secret(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**SECRETS, **{name: value for name, (value, _) in PARTS.items()}}.items():
        monkeypatch.setenv(name, value)
    executor = Executor(told(kind), planner=Fixed(["first", "second"]))
    written = json.dumps([event_to_json(event) for event in executor.stream({"question": "q"})])
    for secret in (*SECRETS.values(), *(part for _, part in PARTS.values())):
        assert json.dumps(secret)[1:-1] not in written, secret
    assert "***" in written


@pytest.mark.parametrize("value", ["4096", "12345678901234", "3.14159265358979", "true", "short"])
@pytest.mark.parametrize("name", ["X_TOKEN", "X_API_KEY"])
def test_a_number_or_a_short_value_changes_no_answer(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)

    @tool
    def answer() -> str:
        """Answers."""
        return f"{value} rows"

    state = Executor([answer], planner=Fixed(["answer"])).run({"question": "q"})
    assert state.answer == f"{value} rows"


@pytest.mark.parametrize("environ", [{"PWD": "/home/somebody/work"}, {"OLDPWD": "/usr/local/bin:/usr/bin"}])
def test_places_are_no_secrets(environ: Mapping[str, str]) -> None:
    assert known_secrets(environ=environ) == ()


OF_ERRORS = (
    "sk-proj-PLANT**********************PLANT",
    "gsk_PLANT0123456789abcdefghij",
    "AIzaPLANT0123456789abcdefghijklmnopqrstuv",
    "AccountKey=PLANTazure0099==",
)


@pytest.mark.parametrize("text", [JWT, PEM, *(SECRETS[name] for name in SHAPED), *OF_ERRORS])
def test_shapes_of_secrets_are_masked_in_errors_whatever_their_names(text: str) -> None:
    assert "PLANT" not in redact(f"refused: {text}.") and "dozjg" not in redact(text)
    assert "MIIE" not in redact(text)
