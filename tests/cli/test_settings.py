"""`chameleon.toml`: what it sets, what comes before it, and what it may not hold."""

import sys
from pathlib import Path

import pytest
from pytest import MonkeyPatch

from tests.e2e.commands import ROOT, Command

TABLE = "city,visitors\nLisbon,4200\nLyon,1900\n"
BARE = "ask 'How many visitors did Lyon have?'"
ASK = f"{BARE} --table visits.csv"
COMMON = 'inventory = "wikitq_offline"\n'
EVAL = f"eval tables_offline {ROOT}/demos/data/problems.jsonl"
OFFLINE = "Runs inventory tables_offline; "


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: MonkeyPatch) -> Path:
    """A repository with a table, of a user with a configuration directory of their own."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "visits.csv").write_text(TABLE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def settings(folder: Path, text: str, is_own: bool = False) -> None:
    file = folder / ("config/chameleon/chameleon.toml" if is_own else "chameleon.toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.parametrize(
    ("text", "line", "shown"),
    [
        (COMMON, ASK, 'chameleon.toml sets inventory = "wikitq_offline"\n'),
        (COMMON, ASK, "Runs inventory wikitq_offline; it asks no model."),
        (COMMON, f"{ASK} -i tables_offline", OFFLINE),
        (f'{COMMON}[ask]\ninventory = "tables_offline"\n', ASK, OFFLINE),
        (f'{COMMON}[plan]\ninventory = "tables_offline"\n', ASK, "Runs inventory wikitq_offline; "),
        ("[index]\nquiet = true\n", ASK, OFFLINE),  # a table of a command is no option of that name
        ("[index]\nquiet = true\n", "index visits.csv -o made", "chameleon.toml sets quiet = true\n"),
        ("quiet = true\n", f"{ASK} --verbose", "1. table_reader  ["),  # the command line counts
        ("quiet = true\n", f"{ASK} --trace", "1. table_reader  ["),
        ("[eval]\nworkers = 1\nlimit = 2\n", EVAL, "chameleon.toml sets limit = 2, workers = 1\n"),
        ("[eval]\nworkers = 1\nlimit = 2\n", EVAL, "Runs 2 problems"),
        ("[score]\ngiven = true\n", ASK, OFFLINE),  # keys are named as the flags are
    ],
)
def test_a_file_sets_options_and_is_told(sh: Command, folder: Path, text: str, line: str, shown: str) -> None:
    settings(folder, text)
    outcome = sh(line)
    assert outcome.code == 0 and shown in outcome.err


def test_options_go_before_variables_and_files(sh: Command, folder: Path, monkeypatch: MonkeyPatch) -> None:
    settings(folder, 'model = "openai:a"\ninventory = "tables"\nstore = "off"\n')
    assert "Model: openai:a, because chameleon.toml names it" in sh("doctor").out
    monkeypatch.setenv("CHAMELEON_MODEL", "openai:b")
    assert "Model: openai:b, because CHAMELEON_MODEL names it" in sh("doctor").out
    (folder / "c").write_text('"[\\"solution_generator\\", \\"answer_generator\\"]"\n"The answer is 1."\n')
    assert "model scripted:c, because --model names it" in sh(ASK, "--model", "scripted:c").err


def test_it_is_sought_above_up_to_the_repository(sh: Command, folder: Path, monkeypatch: MonkeyPatch) -> None:
    inner, own = folder / "docs/deep", folder / "config/chameleon"
    inner.mkdir(parents=True)
    own.mkdir(parents=True)
    (inner / "visits.csv").write_text(TABLE)
    monkeypatch.chdir(inner)
    settings(folder, 'store = "off"\n')
    assert "chameleon.toml sets store" in sh(ASK).err
    (inner / ".git").mkdir()
    assert "chameleon.toml" not in sh(ASK).err
    settings(own, COMMON)
    assert 'chameleon.toml sets inventory = "wikitq_offline"' in sh(ASK).err
    settings(inner, "quiet = true\n")
    assert sh(ASK).err == "chameleon.toml sets quiet = true\n"


def test_its_paths_are_seen_from_its_own_folder(sh: Command, folder: Path) -> None:
    assert sh("index visits.csv -o made").code == 0
    settings(folder, '[ask]\nindex = "../../made"\n', is_own=True)
    assert sh(BARE).out == "1900\n"
    (folder / "other.csv").write_text("city,boats\nLyon,7\n")
    assert sh("ask 'How many boats does Lyon have?' --table other.csv").out == "7\n"
    settings(folder, '[ask]\ntable = ["../../visits.csv"]\n', is_own=True)
    assert sh(BARE).out == "1900\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("workrs = 2", "unknown key 'workrs'. Did you mean 'workers'?"),
        ('workers = "many"', "workers is 'many': it should be a valid integer"),
        ('params = {reasonin = "x"}', "params: there is no parameter 'reasonin'. Did you mean 'reasoning'?"),
        ('openai_api_key = "x"', "openai_api_key is a secret, and this file must not hold secrets."),
        ('[ask]\ntable = ["postgresql://me:hush@h/db"]', "ask.table is a secret"),
        ('params = "x"', "params is not a table"),
        ("[approve]\nyes = true", "unknown key 'approve.yes'. approve takes no settings."),
        ('ask = "x"', "ask is not a table. Put the options of a command in a table, [ask]."),
        ("yes = true", "unknown key 'yes'. It can be set on the command line only."),
        ('model = " Scripted: x"', "model names a script of replies. It can be set on the"),
        ('[compare]\nmodel = ["openai:x", "scripted:x"]', "compare.model names a script of replies."),
        ("workers = ", "the settings cannot be read: "),
        (f"x = {'[' * 5_000}{']' * 5_000}", "the settings cannot be read: maximum recursion depth"),
        (f"workers = 0x{'f' * 5_000}", "the settings cannot be read: Exceeds the limit (4300 digits)"),
    ],
)
def test_what_it_may_not_hold_is_told_by_key(sh: Command, folder: Path, text: str, words: str) -> None:
    settings(folder, text)
    told, shown = sh(ASK), sh("doctor")
    assert told.code == 1 and told.complaint.startswith(f"{folder}/chameleon.toml: {words}")
    assert "hush" not in told.err and sh("ask --help").code == 0
    assert shown.code == 0 and f"Settings: {folder}/chameleon.toml: {words}" in shown.out


def test_doctor_tells_the_file_and_the_variables(sh: Command, folder: Path, monkeypatch: MonkeyPatch) -> None:
    assert "Settings: there is no chameleon.toml" in sh("doctor").out
    settings(folder, 'model = "openai:x"\n[eval]\nworkers = 3\n')
    monkeypatch.setenv("CHAMELEON_MODLE", "openai:y")
    monkeypatch.setenv("CHAMELEON_WEB_PRIVATE", "http://me:hush@h")
    shown = sh("doctor").out
    assert f'Settings: {folder}/chameleon.toml sets model = "openai:x", eval = {{"workers": 3}}\n' in shown
    assert "CHAMELEON_MODLE=openai:y  nothing: there is no such variable. Did you mean" in shown
    assert "CHAMELEON_WEB_PRIVATE=http://***@h  hosts of this network" in shown and "hush" not in shown
    assert sh("doctor --json").json["settings"]["sets"] == {"model": "openai:x", "eval": {"workers": 3}}


@pytest.mark.skipif(sys.platform == "win32", reason="files have no owner there")
def test_no_file_of_others_is_read(sh: Command, folder: Path, monkeypatch: MonkeyPatch) -> None:
    settings(folder, "workrs = 2\n")
    owner = (folder / "chameleon.toml").stat().st_uid
    monkeypatch.setattr("os.getuid", lambda: owner + 1)
    assert sh(ASK).code == (1 if owner == 0 else 0)


def test_what_may_run_code_or_touch_files_counts_in_the_user_s_own_file(sh: Command, folder: Path) -> None:
    code = "import pathlib\npathlib.Path('ran').touch()\ndef go(state) -> str:\n    'x'\n    return 'ran'\n"
    plan = "planner: {use: fixed, plan: [go]}\nmodules: {go: 'mine:go'}\n"
    (folder / "mine.py").write_text(code)
    (folder / "i.yaml").write_text(f"name: i\ninput: {{question: str, table: Table}}\n{plan}")
    text = 'quiet = true\ninventory = "{0}/i.yaml"\n[ask]\nlog = "{0}/kept.jsonl"\n[report]\nhtml = "x"\n'
    settings(folder, text.format(folder))
    shown = sh(ASK)
    assert (shown.code, shown.out) == (0, "1900\n")
    assert "chameleon.toml cannot set inventory, ask.log: only the command line and " in shown.err
    assert "does not set: ask.log, inventory, report.html" in " ".join(sh("doctor").out.split())
    assert not (folder / "ran").exists() and not (folder / "kept.jsonl").exists()
    (folder / "chameleon.toml").unlink()
    settings(folder, text.format(folder), is_own=True)
    assert sh(ASK).out == "ran\n" and (folder / "kept.jsonl").exists()
