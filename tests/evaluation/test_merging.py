"""Evaluations in parts, and the one that is merged of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import ChameleonError, InputError, LogError
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.merging import merge
from chameleon.evaluation.problems import PartOfProblems, Problems, in_turn
from chameleon.evaluation.run import read_run
from chameleon.evaluation.run_dir import RunDir, read_settings
from tests.e2e.commands import Outcome
from tests.evaluation.asking import PRICED, Asking
from tests.evaluation.conversations import problems
from tests.evaluation.rows import Row, read_events, read_results

Make = Callable[..., Asking]
_VARIES = ("seconds", "started")


def in_parts(made: Asking, of: int) -> list[Path]:
    """Run every part into a folder of its own."""
    found = []
    for number in range(1, of + 1):
        found.append(made.out.parent / f"part-{number}")
        outcome = into(made, found[-1], "--part", f"{number}/{of}")
        assert outcome.code == 0, outcome.err
    return found


def into(made: Asking, folder: Path, *options: str) -> Outcome:
    """Run the same evaluation into another folder."""
    whole, made.out = made.out, folder
    outcome = made.run(*options)
    made.out = whole
    return outcome


def steady(rows: list[Row]) -> list[str]:
    """Write rows in the order of their ids, without what differs from run to run."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(each) for key, each in value.items() if key not in _VARIES}
        return [without(each) for each in value] if isinstance(value, list) else value

    return [json.dumps(without(row), sort_keys=True) for row in sorted(rows, key=lambda row: row["id"])]


def as_json(outcome: Outcome) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(outcome.out)
    return found


@given(st.lists(st.text(max_size=8), unique=True, max_size=30), st.integers(1, 20))
def test_every_problem_is_in_one_part_and_conversations_stay_together(ids: list[str], of: int) -> None:
    parts = [PartOfProblems(number, of) for number in range(1, of + 1)]
    for id in ids:
        assert sum(part.has(Problem(id, {}, None)) for part in parts) == 1
        talk = [Problem(f"{id}-{turn}", {}, None, sequence=f"s{id}") for turn in range(3)]
        assert sorted([part.has(each) for each in talk] for part in parts)[-1] == [True] * 3
        assert sum(part.has(each) for part in parts for each in talk) == 3


@pytest.mark.parametrize("text", ["", "3", "0/4", "5/4", "3/0", "-1/4", "1/2/3", "a/b", "1/1000000", "٣/٤"])
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no part"):
        PartOfProblems.read(text)


def test_sixteen_parts_make_the_whole(asking: Make) -> None:
    made = asking(count=24, inventory=PRICED)
    whole = made.run("--workers", "3")
    assert whole.code == 0
    parts = in_parts(made, 16)
    sizes = [len(read_results(part)) for part in parts]
    assert sum(sizes) == 24 and max(sizes) < 8 and 0 in sizes, "some of the parts are empty"
    out = made.out.parent / "merged"
    merged = made.command("merge", *map(str, reversed(parts)), "--out", str(out))
    assert merged.code == 0 and "Merged 16 parts: 24 results" in merged.err

    assert steady(read_results(out)) == steady(read_results(made.out))
    events = [[(row["id"], row["event"]) for row in read_events(folder)] for folder in (made.out, out)]
    one, other = (sorted(each, key=lambda event: event[0]) for each in events)
    assert one == other
    settings = [read_settings(folder / "settings.json") for folder in (made.out, out)]
    assert {**settings[0], "started": ""} == {**settings[1], "started": ""}
    shown = [as_json(made.command("report", str(folder), "--json")) for folder in (made.out, out)]
    one, other = (each["runs"][0] for each in shown)
    assert all(one[key] == other[key] for key in ("breakdown", "failed", "n"))
    assert one["usage"]["calls"] == other["usage"]["calls"] > 24
    before = len(made.server.requests)
    assert into(made, out).code == 0, "it goes on as one run would, with nothing left to do"
    assert len(made.server.requests) == before and len(read_results(out)) == 24


def test_a_part_that_is_not_finished_goes_on_in_the_whole(asking: Make) -> None:
    made = asking(count=12)
    parts = in_parts(made, 3)
    lost = read_results(parts[1])
    (parts[1] / "results.jsonl").write_text("", "utf-8")
    events = (parts[1] / "events.jsonl.gz").read_bytes()
    (parts[1] / "events.jsonl.gz").write_bytes(events[: len(events) // 2])
    out = made.out.parent / "merged"
    merged = made.command("merge", *map(str, parts), "-o", str(out))
    assert merged.code == 0 and " of 12, unfinished: `chameleon eval` without --part" in merged.err
    assert len(read_results(out)) == 12 - len(lost) > 0
    went_on = into(made, out)
    assert went_on.code == 0 and as_json(went_on)["n"] == 12 == len(read_results(out))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"model": "openai:other"}, "model was"),
        ({"data": {"name": "asking.jsonl", "sha256": "0"}}, "the content of data"),
        ({"part": {"number": 2, "of": 4}}, "part.of was"),
        ({"versions": {"python": "2.7"}}, "versions.python was"),
        ({"resolved": {"reader": {"engine": "another"}}}, "reader, which this machine decides, was null"),
    ],
)
def test_a_part_of_other_settings_is_refused(asking: Make, change: dict[str, Any], told: str) -> None:
    made = asking(count=6)
    parts = in_parts(made, 3)
    file = parts[1] / "settings.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **change}), "utf-8")
    out = made.out.parent / "merged"
    with pytest.raises(LogError, match=told) as caught:
        merge(parts, out)
    assert caught.value.where == str(parts[1]) and not out.exists()
    outcome = made.command("merge", *map(str, parts), "--out", str(out))
    assert outcome.code == 1 and told.split(",")[0] in outcome.err and "Traceback" not in outcome.err
    assert not list(made.out.parent.glob(".merged*")), "nothing is left behind"


def test_parts_that_are_not_all_there_are_refused(asking: Make) -> None:
    made = asking(count=6)
    parts = in_parts(made, 3)
    out = made.out.parent / "merged"
    assert made.run().code == 0
    copy = shutil.copytree(parts[0], made.out.parent / "copy")
    for given_parts, told in [
        (parts[:2], "of 3 parts these are missing or named twice: 3"),
        ([*parts, copy], "these are missing or named twice: 1"),
        ([*parts, made.out], "it is a whole evaluation, and no part"),
        ([*parts, made.out.parent], "settings.json: cannot be read"),
        ([], "of 1 parts these are missing or named twice: 1"),
    ]:
        with pytest.raises(ChameleonError, match=told):
            merge(given_parts, out)
    with pytest.raises(InputError, match="there is something already"):
        merge(parts, made.out)
    assert len(read_results(made.out)) == 6
    settings = read_settings(parts[2] / "settings.json")
    with RunDir(parts[2], settings), pytest.raises(LogError, match="another run is writing to it"):
        merge(parts, out)
    assert not out.exists()
    out.mkdir()
    merge(parts, out)
    assert read_run(out).n == 6 and not read_run(out).unfinished


def test_a_part_that_is_damaged_or_has_another_limit_is_refused(asking: Make) -> None:
    made = asking(count=6)
    parts = in_parts(made, 2)
    out = made.out.parent / "merged"
    events = parts[1] / "events.jsonl.gz"
    whole = events.read_bytes()
    events.write_bytes(whole[:20] + b"?" + whole[21:])
    with pytest.raises(LogError, match="the member at byte 0 is damaged"):
        merge(parts, out)
    events.unlink()
    with pytest.raises(InputError, match="the events cannot be read"):
        merge(parts, out)
    assert not events.exists()
    events.write_bytes(whole)
    settings = json.loads((parts[1] / "settings.json").read_text("utf-8"))
    limited = {**settings, "limit": 2}
    (parts[1] / "settings.json").write_text(json.dumps(limited), "utf-8")
    with pytest.raises(LogError, match="limit was null, and now is 2"):
        merge(parts, out)
    assert not out.exists()
    del settings["limit"]  # an earlier version kept it so
    (parts[1] / "settings.json").write_text(json.dumps(settings | {"checked": {"limit": None}}), "utf-8")
    assert read_run(parts[1]).settings == settings | {"limit": None}
    merge(parts, out)


def test_the_folder_of_a_part_takes_no_other_part(asking: Make) -> None:
    made = asking(count=6)
    assert made.run("--part", "1/3").code == 0
    other = made.run("--part", "2/3")
    assert other.code == 1 and "part.number was 1, and now is 2" in other.err
    assert "part was" in made.run().err
    arguments = made.arguments("--part", "1/3")
    bare = made.command(*[each for each in arguments if each not in ("--out", str(made.out))])
    assert bare.code == 1 and "--out" in bare.err
    assert "is no part" in made.run("--part", "4/3").err


def test_the_highest_cost_is_for_all_parts(asking: Make) -> None:
    made = asking(count=24, inventory=PRICED)
    spent = as_json(made.run())["usage"]["cost"]
    stopped = into(made, made.out.parent / "part", "--part", "1/2", "--max-cost", str(spent / 4))
    assert stopped.code == 1 and f"--max-cost {spent / 8:g}" in stopped.err


def test_a_limit_counts_all_parts_and_conversations_stay_whole() -> None:
    every = problems([["says"] * 3] * 8)
    whole = [each.id for each in Problems(lambda **_: iter(every), 20)]
    parts = [Problems(lambda **_: iter(every), 20, part=PartOfProblems(number, 5)) for number in range(1, 6)]
    found = [[each.id for each in part] for part in parts]
    assert sorted(id for ids in found for id in ids) == sorted(whole)
    assert len(whole) == 20 == sum(map(len, parts))
    for part, ids in zip(parts, found, strict=True):
        assert [each.id for group in in_turn(part) for each in group] == ids
