"""What looks like a secret leaves no run: it is masked in every event and text, whatever its name."""

import json
import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chameleon import StepRejected, Table
from chameleon.core.log import event_to_json
from chameleon.errors import ModuleError
from chameleon.text import known_secrets, redact
from tests.engine.doubles import QUESTION, executor, failing, run

keys = st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"]), min_size=4, max_size=40)
prose = st.text(max_size=60)


@given(keys, prose, prose, st.sampled_from(["OPENAI_API_KEY", "MY_APIKEY", "x_api_key"]))
def test_no_secret_of_a_variable_or_named_survives(key: str, before: str, after: str, name: str) -> None:
    assume(key.strip("*") and key.lower() not in "anything dummy empty fake local none not-needed null test")
    text = f"{before}{key}{after}{key}"
    assert key not in redact(text, also=[key], environ={}).replace("***", "\n")
    assume(not re.fullmatch(r"[+-]?[\d.,_]+", key))
    assert key not in redact(text, environ={name: key}).replace("***", "\n")


TEMPLATES = """Authorization: Bearer KEY
'authorization': 'Bearer KEY'
{"x-api-key": "KEY"}
{\\"api_key\\": \\"KEY\\"}
token Bearer KEY.
https://user:KEY@host/v1
https://host/v1?api_key=KEY&x=1
https://host/v1?a=1&access_token=KEY""".splitlines()


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=8, max_size=40))
def test_headers_addresses_and_queries_are_recognized_without_knowing_the_secret(key: str) -> None:
    for template in TEMPLATES:
        assume(key.lower() not in template.lower())
        cleaned = redact(template.replace("KEY", key), environ={})
        assert key not in cleaned and "***" in cleaned, template


ORDINARY = """The model `gpt-4.1-mini` does not exist at http://127.0.0.1:8000/v1/models?limit=3 (404)
maximum context length is 8192 tokens; your max_tokens: 512
mail me@example.org about the sky-high task-oriented basic facts"""


def test_ordinary_text_is_left_alone_and_places_are_no_secrets() -> None:
    environ = {"FLAG_TOKEN": "true", "PATH": "/usr/bin", "OPENAI_API_KEY": ""}
    assert redact(ORDINARY, environ=environ) == ORDINARY
    assert redact("ab12cd34ef", also=["ab12", "ab12cd34"], environ={}) == "***ef", "the longer one first"
    assert known_secrets(environ={"PWD": "/home/somebody/work", "OLDPWD": "/usr/local/bin:/usr/bin"}) == ()


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
def test_a_number_or_a_short_value_changes_no_answer(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("X_TOKEN", "X_API_KEY"):
        monkeypatch.setenv(name, value)
    assert run({"answer": lambda state: f"{value} rows"}).answer == f"{value} rows"


OF_ERRORS = (
    *("sk-proj-PLANT**********************PLANT", "gsk_PLANT0123456789abcdefghij"),
    *("AIzaPLANT0123456789abcdefghijklmnopqrstuv", "AccountKey=PLANTazure0099=="),
)


def test_shapes_of_secrets_are_masked_in_errors_whatever_their_names() -> None:
    masked = " ".join(redact(f"refused: {text}.") for text in (*SHAPED, *OF_ERRORS))
    assert not re.search("PLANT|dozjg|MIIE", masked)
