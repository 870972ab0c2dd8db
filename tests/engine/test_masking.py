"""What looks like a secret leaves no run: it is masked in every event, and the next step sees the mask."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from chameleon import StepRejected, Table
from chameleon.core.log import event_to_json
from chameleon.errors import ModuleError
from chameleon.text import known_secrets, redact
from tests.engine.doubles import QUESTION, executor, failing, run

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5"
PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----"
SECRETS = {
    "OPENAI_API_KEY": "sk-proj-PLANTa1b2c3d4e5f6g7h8", "MY_TOKEN": "PLANTtokentoken99",
    "PGPASSWORD": "PLANTpgpassword99", "DB_PASSWD": "PLANTpasswd0099", "MYSQL_PWD": "PLANTmysqlpwd1234",
    "GITHUB_PAT": "PLANT-of-github-99", "MYCRED": "PLANT-credential-99", "APIKEY": "PLANTapikeyapikey1",
    "DB_PASS": "PLANTdbpassvalue12",
}  # fmt: skip
SHAPED = [
    *(JWT, PEM, "xoxb-1234567890-PLANT", "github_pat_11PLANT0abcdefghijklmnop", "glpat-PLANTabcdefghij1234"),
    *("gho_PLANTabcdefghijklmnopqrst", "ghs_PLANTabcdefghijklmnopqrst", "AKIAPLANTABCDEFGHIJK"),
]
SECRETS |= {f"SHAPED{number}": text for number, text in enumerate(SHAPED)}
PARTS = {
    "STORAGE": ("AccountName=a;AccountKey=PLANTazure0099==;X=1", "PLANTazure0099=="),
    "DATABASE_URL": ("postgresql://me:PLANTdatabase99@host/db", "PLANTdatabase99"),
}
PLANTED = [*SECRETS.values(), *(part for _, part in PARTS.values())]
ALL = " ".join(PLANTED)
LEAKS: dict[str, Any] = {
    "text": ALL,
    "deep": {"a": [{ALL: [ALL]}]},
    "table": Table([ALL], [[ALL]], ALL),
    "rejected": StepRejected(ALL, hint=ALL),
    "failed": ModuleError(ALL, hint=ALL),
    "other": RuntimeError(ALL),
}


@pytest.mark.parametrize("kind", LEAKS)
def test_no_event_and_no_later_step_has_a_secret(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (SECRETS | {name: value for name, (value, _) in PARTS.items()}).items():
        monkeypatch.setenv(name, value)
    leak = LEAKS[kind]
    first = failing(leak) if isinstance(leak, Exception) else lambda state: leak
    leaking = executor({"first": first, "second": lambda state: str(dict(state.cache))})
    written = json.dumps([event_to_json(event) for event in leaking.stream(QUESTION)])
    assert not [secret for secret in PLANTED if json.dumps(secret)[1:-1] in written] and "***" in written


@pytest.mark.parametrize("value", ["4096", "12345678901234", "3.14159265358979", "true", "short"])
@pytest.mark.parametrize("name", ["X_TOKEN", "X_API_KEY"])
def test_a_number_or_a_short_value_changes_no_answer(name: str, value: str, monkeypatch: Any) -> None:
    monkeypatch.setenv(name, value)
    assert run({"answer": lambda state: f"{value} rows"}).answer == f"{value} rows"


@pytest.mark.parametrize("environ", [{"PWD": "/home/somebody/work"}, {"OLDPWD": "/usr/local/bin:/usr/bin"}])
def test_places_are_no_secrets(environ: Mapping[str, str]) -> None:
    assert known_secrets(environ=environ) == ()


OF_ERRORS = (
    "sk-proj-PLANT**********************PLANT",
    "gsk_PLANT0123456789abcdefghij",
    "AIzaPLANT0123456789abcdefghijklmnopqrstuv",
    "AccountKey=PLANTazure0099==",
)


@pytest.mark.parametrize("text", [*SHAPED, *OF_ERRORS])
def test_shapes_of_secrets_are_masked_in_errors_whatever_their_names(text: str) -> None:
    assert "PLANT" not in redact(f"refused: {text}.") and "dozjg" not in redact(text)
    assert "MIIE" not in redact(text)
