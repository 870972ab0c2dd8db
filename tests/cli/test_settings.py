"""`chameleon.toml`: what it sets, what comes before it, and what it may not hold."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.terminal import at_terminal
from tests.e2e.commands import Command

TABLE = "city,visitors\nLisbon,4200\nLyon,1900\n"
ASK = ("ask", "How many visitors did Lyon have?", "--table", "visits.csv")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a table, of a user with a configuration directory of their own."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "visits.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def agreed(folder: Path, text: str, scripts: Sequence[str] = ()) -> None:
    """Write settings that the user has agreed to."""
    file = folder / "chameleon.toml"
    file.write_text(text)
    kept = folder / "config" / "chameleon" / "agreed.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    content = file.read_bytes() + b"".join(each.read_bytes() for each in folder.glob("*.yaml"))
    content += b"".join((folder / each).read_bytes() for each in scripts)
    kept.write_text(json.dumps({str(file): hashlib.sha256(content).hexdigest()}))


def test_a_file_sets_options_and_the_run_says_so(command: Command, folder: Path) -> None:
    (folder / "chameleon.toml").write_text('inventory = "wikitq_offline"\nstore = "off"\n')
    told = command(*ASK)
    assert told.out == "1900\n"
    assert "Runs inventory wikitq_offline; it asks no model." in told.err
    assert told.err.startswith('chameleon.toml sets inventory = "wikitq_offline", store = "off"\n')
    assert "chameleon.toml" not in command(*ASK, "-i", "tables_offline", "--store", "auto").err


def test_a_table_of_a_command_goes_before_what_is_common(command: Command, folder: Path) -> None:
    (folder / "chameleon.toml").write_text(
        'inventory = "wikitq_offline"\n[ask]\ninventory = "tables_offline"\n'
    )
    assert "Runs inventory tables_offline; " in command(*ASK).err
    assert "Runs inventory wikitq_offline; " in command("plan", *ASK[1:]).err


def test_a_table_of_a_command_is_no_option_of_that_name(command: Command, folder: Path) -> None:
    (folder / "chameleon.toml").write_text("[index]\nquiet = true\n")
    assert command(*ASK).out == "1900\n"
    assert "chameleon.toml sets quiet = true" in command("index", "visits.csv", "-o", "made").err


def test_the_model_is_the_options_then_the_variables_then_the_files(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        reply = json.dumps(["solution_generator", "answer_generator"])
        Path(name).write_text(f"{json.dumps(reply)}\n{json.dumps('The answer is 1.')}\n")
    agreed(folder, 'model = "scripted:a"\ninventory = "tables"\nstore = "off"\n', scripts=["a"])
    assert f"model scripted:{folder}/a, because chameleon.toml names it" in command(*ASK).err
    monkeypatch.setenv("CHAMELEON_MODEL", "scripted:b")
    assert "model scripted:b, because CHAMELEON_MODEL names it" in command(*ASK).err
    assert "model scripted:c, because --model names it" in command(*ASK, "--model", "scripted:c").err


def test_it_is_looked_for_above_up_to_the_repository(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = folder / "docs" / "deep"
    inner.mkdir(parents=True)
    (inner / "visits.csv").write_text(TABLE)
    monkeypatch.chdir(inner)
    (folder / "chameleon.toml").write_text('store = "off"\n')
    assert "chameleon.toml sets store" in command(*ASK).err
    (inner / ".git").mkdir()
    assert "chameleon.toml" not in command(*ASK).err
    own = folder / "config" / "chameleon"
    own.mkdir(parents=True)
    (own / "chameleon.toml").write_text('inventory = "wikitq_offline"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    assert 'chameleon.toml sets inventory = "wikitq_offline"' in command(*ASK).err


def test_its_paths_are_seen_from_its_folder_and_an_index_gives_way_to_a_table(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("index", "visits.csv", "-o", "made").code == 0
    agreed(folder, '[ask]\nindex = "made"\n')
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    assert command("ask", "How many visitors did Lyon have?").out == "1900\n"
    (folder / "below" / "other.csv").write_text("city,boats\nLyon,7\n")
    assert command("ask", "How many boats does Lyon have?", "--table", "other.csv").out == "7\n"
    agreed(folder, '[ask]\ntable = ["visits.csv"]\n')
    assert command("ask", "How many visitors did Lyon have?").out == "1900\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("workrs = 2", "unknown key 'workrs'. Did you mean 'workers'?"),
        ("[eval]\nwrokers = 2", "unknown key 'eval.wrokers'. Did you mean 'workers'?"),
        ("[evil]\nworkers = 2", "unknown key 'evil'. Did you mean 'eval'?"),
        ('workers = "many"', "workers is 'many': it should be a valid integer"),
        ("workers = 0", "workers is 0: it should be greater than or equal to 1"),
        (
            'params = {reasonin = "none"}',
            "params: there is no parameter 'reasonin'. Did you mean 'reasoning'?",
        ),
        ('params = "x"', "params is no table"),
        ('openai_api_key = "x"', "openai_api_key is a secret, and this file may hold none. Set it in the"),
        ('[ask]\ntable = ["postgresql://me:hush@h/db"]', "ask.table is a secret"),
        ("[approve]\nyes = true", "unknown key 'approve.yes'. approve takes no settings."),
        ("workers = true", "workers is True: it should be a valid integer"),
        ('json = "yes"', "json is 'yes': it should be a valid boolean"),
        ('ask = "x"', "ask is no table. What a command takes stands in a table, [ask]."),
        ("yes = true", "unknown key 'yes'. It is for the command line alone."),
        ("workers = ", "the settings cannot be read: "),
        (f"x = {'[' * 5_000}{']' * 5_000}", "the settings cannot be read: maximum recursion depth"),
        (f"workers = 0x{'f' * 5_000}", "the settings cannot be read: Exceeds the limit (4300 digits)"),
    ],
)
def test_what_it_may_not_hold_is_told_by_key(command: Command, folder: Path, text: str, words: str) -> None:
    (folder / "chameleon.toml").write_text(text)
    told = command(*ASK)
    assert told.code == 1 and told.complaint.startswith(f"{folder}/chameleon.toml: {words}")
    assert "hush" not in told.err
    assert command("ask", "--help").code == 0
    shown = command("doctor")
    assert shown.code == 0 and f"Settings: {folder}/chameleon.toml: {words}" in shown.out


def test_doctor_tells_the_file_and_the_variables(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Settings: there is no chameleon.toml" in command("doctor").out
    (folder / "chameleon.toml").write_text('model = "openai:x"\n[eval]\nworkers = 3\n')
    monkeypatch.setenv("CHAMELEON_MODLE", "openai:y")
    monkeypatch.setenv("CHAMELEON_WEB_PRIVATE", "http://me:hush@h")
    shown = command("doctor").out
    assert f'Settings: {folder}/chameleon.toml sets model = "openai:x", eval = {{"workers": 3}}\n' in shown
    assert "Model: openai:x, because chameleon.toml names it; asked by Chameleon's own client" in shown
    assert (
        "CHAMELEON_MODLE=openai:y  nothing: there is no such variable. Did you mean 'CHAMELEON_MODEL'?"
        in shown
    )
    assert "CHAMELEON_WEB_PRIVATE=http://***@h  hosts of this network" in shown and "hush" not in shown
    told = json.loads(command("doctor", "--json").out)
    assert told["settings"]["sets"] == {"model": "openai:x", "eval": {"workers": 3}}


def test_an_evaluation_takes_its_workers_and_its_cost_from_it(command: Command, folder: Path) -> None:
    (folder / "chameleon.toml").write_text("[eval]\nworkers = 1\nlimit = 2\n")
    problems = str(Path(__file__).parents[2] / "demos/data/problems.jsonl")
    told = command("eval", "tables_offline", problems)
    assert told.code == 0 and "Runs 2 problems" in told.err
    assert told.err.startswith("chameleon.toml sets limit = 2, workers = 1\n")


@pytest.mark.skipif(sys.platform == "win32", reason="files have no owner there")
def test_no_file_of_others_is_read(command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "chameleon.toml").write_text("workrs = 2\n")
    owner = (folder / "chameleon.toml").stat().st_uid
    monkeypatch.setattr("os.getuid", lambda: owner + 1)
    assert command(*ASK).code == (1 if owner == 0 else 0)


def test_the_command_line_says_more_where_the_file_says_less(command: Command, folder: Path) -> None:
    (folder / "chameleon.toml").write_text("quiet = true\n")
    assert command(*ASK).err == "chameleon.toml sets quiet = true\n"
    assert "1. table_reader  [" in command(*ASK, "--verbose").err
    assert "1. table_reader  [" in command(*ASK, "--trace").err


def test_what_may_run_code_or_touch_files_counts_once_the_user_agrees(command: Command, folder: Path) -> None:
    (folder / "mine.py").write_text(
        "import pathlib\npathlib.Path('ran').touch()\ndef go(state) -> str:\n    'x'\n    return 'ran'\n"
    )
    (folder / "i.yaml").write_text(
        "name: i\ninput: {question: str, table: Table}\n"
        'planner: {use: fixed, plan: [go]}\nmodules: {go: "mine:go"}\n'
    )
    text = 'quiet = true\ninventory = "i.yaml"\n[ask]\nlog = "kept.jsonl"\n[report]\nhtml = "visits.csv"\n'
    (folder / "chameleon.toml").write_text(text)
    shown = command(*ASK)
    assert (shown.code, shown.out) == (0, "1900\n")
    assert "has settings that can run code, or read and write files:\n" in shown.err
    listed = ('inventory = "i.yaml"', 'ask.log = "kept.jsonl"', 'report.html = "visits.csv"')
    assert all(f"  {each}\n" in shown.err for each in listed), "a yes is for all that is listed"
    assert "not agreed to: ask.log, inventory, report.html" in " ".join(command("doctor").out.split())
    assert "These settings are not used. Agree to them once at a terminal" in shown.err
    assert not (folder / "ran").exists() and not (folder / "kept.jsonl").exists()
    agreed(folder, text)
    shown = command(*ASK)
    assert shown.out == "ran\n" and (folder / "kept.jsonl").exists()
    assert shown.err == 'chameleon.toml sets inventory = "i.yaml", log = "kept.jsonl", quiet = true\n'
    with (folder / "i.yaml").open("a") as file:
        file.write("#")
    assert command(*ASK).out == "1900\n", "an agreement is to one content of the inventory"
    agreed(folder, text)
    assert command(*ASK).out == "ran\n"
    (folder / "chameleon.toml").write_text(f"{text}#")
    assert command(*ASK).out == "1900\n", "and of the file"


@pytest.mark.parametrize("model", ["scripted:replies", " Scripted: replies"])
def test_replies_of_a_script_do_not_count_before_the_user_agrees_and_a_unit_does(
    command: Command, folder: Path, model: str
) -> None:
    replies = ['["program_generator", "answer_generator"]', "lyon = 1900\nans = lyon + 1"]
    (folder / "replies").write_text("".join(f"{json.dumps(reply)}\n" for reply in replies))
    text = f'unit = "$"\nmodel = "{model}"\ninventory = "tables"\n'
    (folder / "chameleon.toml").write_text(text)
    shown = command(*ASK)
    assert "These settings are not used." in shown.err
    assert 'chameleon.toml sets inventory = "tables", unit = "$"\n' in shown.err
    agreed(folder, text, ["replies"])
    assert command(*ASK).out == "$1901\n"
    (folder / "replies").write_text(json.dumps("other"))
    assert "These settings are not used." in command(*ASK).err, "an agreement is to one content of the script"


@pytest.mark.slow
def test_at_a_terminal_the_user_is_asked_once_for_a_file(folder: Path) -> None:
    (folder / "chameleon.toml").write_text('[ask]\nlog = "kept.jsonl"\n')
    ask = [*ASK, "-i", "tables_offline"]
    settings = {"XDG_CONFIG_HOME": str(folder / "config")}
    for answer, is_kept in (("n", False), ("y", True)):
        _, screen = at_terminal(ask, folder, answer, **settings)
        assert "Use these settings from now on? [y]es, [n]o: " in screen and "1900" in screen
        assert (folder / "kept.jsonl").exists() is is_kept
    (folder / "kept.jsonl").unlink()
    assert "[y]es" not in at_terminal(ask, folder, **settings)[1]
    assert (folder / "kept.jsonl").exists()
