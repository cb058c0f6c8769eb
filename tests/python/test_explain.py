"""Explanations of runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

import lightlag


def test_what_became_of_bundles_adds_up_to_what_was_created(walk: lightlag.Scenario) -> None:
    run = lightlag.run(walk, seed=3)
    made = lightlag.explain(walk, seed=3)
    assert sum(made.figures["fates"].values()) == run.created
    assert made.figures["delivered"] == run.delivered
    assert made.text.startswith(f"{run.delivered} of {run.created} bundles were delivered")
    assert str(made) == made.text
    assert run.why is None


def test_a_trace_gives_what_the_run_gives(walk: lightlag.Scenario, tmp_path: Path) -> None:
    trace = tmp_path / "trace.parquet"
    lightlag.run(walk, seed=3, trace=trace)
    assert lightlag.explain(trace) == lightlag.explain(walk, seed=3)
    assert lightlag.explain(trace, lost=True) == lightlag.explain(walk, seed=3, lost=True)
    assert lightlag.explain(trace, why=True) == lightlag.explain(walk, seed=3, why=True)
    life = lightlag.explain(str(tmp_path), bundle=5)
    assert life == lightlag.explain(walk, seed=3, bundle=5)
    assert life.figures["bundle"] == 5
    assert life.text.startswith("Bundle 5, ")
    named = lightlag.explain(walk, seed=3, bundle="mail_6")
    assert named.text == life.text.replace("Bundle 5, ", "Bundle 5 (mail_6), ", 1), "names count from 1"
    assert named.figures == {**life.figures, "name": "mail_6"}


def test_what_cannot_be_explained_is_one_line(walk: lightlag.Scenario, tmp_path: Path) -> None:
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: lightlag.explain(walk, lost=True, why=True), "exclude each other"),
        (lambda: lightlag.explain(walk, bundle=-1), "is not a number of a bundle"),
        (lambda: lightlag.explain(walk, bundle=10**6), "bundle 1000000 was not created"),
        (lambda: lightlag.explain(walk, bundle="X1"), "unknown bundle `X1`; name one, as "),
        (lambda: lightlag.explain(tmp_path, bundle="mail_6"), "a trace numbers its bundles"),
        (lambda: lightlag.explain(tmp_path / "missing.parquet"), "missing.parquet"),
        (lambda: lightlag.explain(tmp_path, seed=1), "a trace is of one run"),
        (lambda: lightlag.explain(cast("str", 7)), "is not a scenario"),
    ]
    for make, line in wrong:
        with pytest.raises(lightlag.ScenarioError, match=line) as raised:
            make()
        assert "\n" not in str(raised.value)


def test_a_run_that_delivers_nothing_says_why(walk: lightlag.Scenario) -> None:
    run = lightlag.run(walk.copy().set("radio.rate", "8 bit/s"))
    assert run.delivered == 0
    assert run.why is not None
    assert run.why.startswith(f"0 of {run.created} delivered: ")
    assert "cut off by the end of their contact; the median contact of 1 min carries 60 B" in run.why
    assert json.loads(run.json())["why"] == run.why


def test_a_scenario_says_how_its_contact_traces_were_read(tmp_path: Path) -> None:
    (tmp_path / "met.txt").write_text("1 2 0 50\n2 1 20 60\n1 9 0 5\n")
    contacts = {"kind": "intervals", "file": "met.txt", "rate": "1 Mbit/s", "unknown_nodes": "skip"}
    scenario = lightlag.Scenario(
        folder=tmp_path,
        duration="100 s",
        router="epidemic",
        buffer="1 MB",
        nodes={"n": {"count": 2}},
        contacts={"trace": contacts},
        traffic={"mail": {"interval": "10 s", "size": "1 kB", "lifetime": "50 s"}},
    )
    (note,) = scenario.notes
    assert note.endswith(
        "met.txt: 3 lines; 1 dropped, with 1 devices that are not nodes; "
        "1 joined with others of their pair: 1 contact of 2 nodes"
    )
