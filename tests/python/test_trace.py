"""Traces of runs as tables, and how far a run or a sweep has come."""

import re
from pathlib import Path

import polars as pl
import pytest

import lightlag
from lightlag import _trace

TOP = Path(__file__).parents[2]
REFERENCE = TOP / "docs/reference/traces.md"

LINK = """
duration = "100 s"
[links.space]
from = "earth"
to = "moon"
rate = "1 Mbit/s"
round_trip = "2 s"
loss = 0.01
[flows.file]
from = "earth"
to = "moon"
controller = "new_reno"
"""


def test_a_trace_has_names_categories_and_durations(walk: lightlag.Scenario) -> None:
    point = walk.points()[0]
    trace = lightlag.run(walk, seed=1, trace=True).trace
    assert trace is not None
    assert trace.columns[:2] == ["time", "kind"]
    nodes = pl.Enum(point.nodes)
    assert {name: trace.schema[name] for name in ("time", "node", "peer", "holder")} == {
        "time": pl.Duration("ns"),
        "node": nodes,
        "peer": nodes,
        "holder": nodes,
    }
    assert {kind for name, kind in trace.schema.items() if name in ("since", "expires", "delay")} == {
        pl.Duration("ns")
    }
    assert trace["time"].is_sorted()
    assert trace["node"].drop_nulls()[0] == point.nodes[0]
    assert not [name for name in trace.columns if name.endswith(("_ns", "_ms", "_name"))]


def test_the_records_of_a_kind_add_up_to_the_figures(walk: lightlag.Scenario) -> None:
    result = lightlag.run(walk, seed=1, trace=True)
    assert result.trace is not None
    created = result.records("created")
    assert len(created) == result.created
    delivered = result.records("delivered").filter("first")
    assert len(delivered) == result.delivered
    assert "kind" not in delivered.columns
    assert "expires" not in delivered.columns, "a delivery has no such column"
    both = delivered.join(created, on="bundle", suffix="_created")
    mean = both.select(pl.col("time") - pl.col("time_created")).to_series().dt.total_nanoseconds().mean()
    assert mean == pytest.approx(result.latency_avg * 1e9)


def test_a_kind_that_there_is_not_is_an_error(walk: lightlag.Scenario) -> None:
    with pytest.raises(lightlag.ScenarioError, match="unknown kind `delivred`; known: node, reply, created"):
        lightlag.run(walk, trace=True).records("delivred")
    with pytest.raises(lightlag.ScenarioError, match="`trace=True`"):
        lightlag.run(walk).records("delivered")


def test_kinds_and_columns_are_those_of_the_reference() -> None:
    sections = REFERENCE.read_text().split("\n## ")[1:]
    for section, kinds in zip(sections, _trace.KINDS.values(), strict=True):
        row = re.search(r"^\| `kind` \| text \| (.*) \|$", section, re.MULTILINE)
        assert row is not None
        listed = re.findall(r"\w+", row[1].removeprefix("What happened: "))
        assert tuple(listed) == kinds


def test_packets_and_names_are_traced_too() -> None:
    packets = lightlag.run(lightlag.Scenario(LINK), trace=True)
    assert packets.trace is not None
    assert packets.trace.schema["from"] == packets.trace.schema["holder"] == pl.Enum(["earth", "moon"])
    assert packets.records("dropped")["why"].cast(pl.String).unique().to_list() == ["lost"]
    assert packets.records("offered")["link"].cast(pl.String).unique().sort().to_list() == [
        "space",
        "space.back",
    ]
    scenario = lightlag.Scenario.read(TOP / "scenarios/papers/dcp_caching.toml").set("duration", "6 s")
    names = lightlag.run(scenario.set("controller", "short_queue"), trace=True)
    assert names.trace is not None
    assert set(names.records("asked")["consumer"].cast(pl.String)) == {"one", "two"}
    assert names.trace.schema["lifetime"] == pl.Duration("ns")


def test_traces_of_several_runs_make_one_table(walk: lightlag.Scenario) -> None:
    runs = [lightlag.run(walk, seed=seed, trace=True) for seed in (1, 2)]
    tables = [run.trace for run in runs if run.trace is not None]
    assert len(pl.concat(tables)) == sum(map(len, tables))


def test_a_trace_in_a_file_is_not_kept(walk: lightlag.Scenario, tmp_path: Path) -> None:
    assert lightlag.run(walk, trace=tmp_path / "run.parquet").trace is None
    assert lightlag.run(walk, trace=False).trace is None


def test_a_run_and_a_sweep_end_their_progress_with_all(walk: lightlag.Scenario) -> None:
    seen: list[tuple[float, float]] = []

    def watch(done: float, everything: float) -> None:
        seen.append((done, everything))

    lightlag.sweep(walk.copy().set("buffer", ["400 kB", "1 MB"]), seeds=range(4), progress=watch)
    assert seen[-1] == (8, 8)
    assert seen == sorted(seen)
    seen.clear()
    lightlag.bound(walk, seeds=range(3), progress=watch)
    assert seen[-1] == (3, 3)


def test_what_a_watcher_raises_ends_a_sweep(walk: lightlag.Scenario) -> None:
    def enough(done: float, everything: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        lightlag.sweep(walk, progress=enough)


def test_a_bar_appears_only_if_it_is_wanted(
    walk: lightlag.Scenario, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lightlag._progress._AFTER_S", 0.0)
    lightlag.sweep(walk, seeds=range(3))
    lightlag.sweep(walk, seeds=range(3), progress=False)
    assert capsys.readouterr().err == "", "no terminal is there"
    lightlag.sweep(walk, seeds=range(3), progress=True)
    assert "/3 runs" in capsys.readouterr().err
    lightlag.run(walk, progress=True)
    assert "running" in capsys.readouterr().err
