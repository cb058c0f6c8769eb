"""Scenarios and single runs."""

import json
import math
import os
import pickle
import subprocess
import threading
import time
from pathlib import Path

import polars as pl
import pytest

import lightlag

ROOT = Path(__file__).parents[2]


def test_the_same_scenario_and_seed_give_the_same_result(walk: lightlag.Scenario) -> None:
    first, second = lightlag.run(walk, seed=3), lightlag.run(walk, seed=3)
    assert first.json() == second.json()
    assert first.latencies_s == second.latencies_s
    assert lightlag.run(walk, seed=4).json() != first.json()


def binary() -> Path:
    """The command line, where it has been built from the same commit."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    for path in (target / profile / "lightlag" for profile in ("debug", "release")):
        if path.is_file():
            told = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
            if lightlag.__commit__ in told:
                return path
    pytest.skip("the command line has not been built from this commit")


def test_a_run_gives_the_bytes_that_the_command_line_prints(walk: lightlag.Scenario, tmp_path: Path) -> None:
    path = tmp_path / "walk.toml"
    path.write_text(walk.text)
    command = [str(binary()), "run", str(path), "--seed", "5", "--json"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed == lightlag.run(walk, seed=5).json() + "\n"


def test_a_result_tells_everything_to_do_the_run_again(walk: lightlag.Scenario) -> None:
    result = lightlag.run(walk)
    assert (result.scenario, result.seed, result.values) == ("walk", 1, {})
    assert (result.version, result.commit) == (lightlag.__version__, lightlag.__commit__)
    assert (result.violations, result.violations_total) == ([], 0)


def test_figures_are_attributes_items_rows_and_json_alike(walk: lightlag.Scenario) -> None:
    result = lightlag.run(walk)
    assert isinstance(result.created, int)
    assert result.delivery_prob == result["delivery_prob"] == dict(result.rows)["delivery_prob"]
    assert "delivery_prob" in dir(result)
    told = json.loads(result.json())
    assert list(told) == [*result.summary, "run"]
    assert (told["run"]["scenario"], told["run"]["seed"]) == ("walk", result.seed)
    assert told["delivery_prob"] == result.delivery_prob
    assert told["rtt_avg"] is None
    assert math.isnan(result.rtt_avg)
    assert len(result.latencies_s) == result.delivered
    with pytest.raises(AttributeError, match="no figure `delivery`"):
        _ = result.delivery


def test_a_series_has_a_row_for_each_sample_and_name(walk: lightlag.Scenario) -> None:
    assert lightlag.run(walk).series is None
    series = lightlag.run(walk, series=True).series
    assert series is not None
    assert series.columns == ["time", "node", "name", "value"]
    assert series["time"].dtype == pl.Duration("ns")
    assert set(series["node"]) == {f"walkers{number}" for number in range(10)}
    used = series.filter(pl.col("name").cast(pl.String) == "buffer_used")
    assert used["node"].n_unique() == 10


def test_a_trace_holds_every_record(walk: lightlag.Scenario, tmp_path: Path) -> None:
    result = lightlag.run(walk, trace=tmp_path / "trace.jsonl")
    lines = (tmp_path / "trace.jsonl").read_text().splitlines()
    assert len(lines) > result.started
    assert all(isinstance(json.loads(line), dict) for line in lines[:100])


def test_a_scenario_of_keywords_is_that_of_its_text(walk: lightlag.Scenario) -> None:
    made = lightlag.Scenario(
        {"name": "walk", "duration": "20 min", "seeds": [1, 2]},
        router="epidemic",
        mechanism="none",
        buffer="400 kB",
        mobility={
            "model": "random_waypoint",
            "area": "200 m x 200 m",
            "speed": "0.5..1.5 m/s",
            "pause": "0..60 s",
        },
        radio={"range": "50 m", "rate": "250 kbit/s"},
        world={"sample_every": "60 s"},
        nodes={"walkers": {"count": 10}},
        traffic={"mail": {"interval": "5..10 s", "size": "50..100 kB", "lifetime": "10 min"}},
    )
    assert lightlag.run(made).json() == lightlag.run(walk).json()


def test_lists_make_points_in_the_order_of_the_keys(walk: lightlag.Scenario) -> None:
    walk.set("mechanism", ["none", "afner"]).set("router", ["epidemic", "prophet"])
    points = walk.points()
    assert [point.values for point in points] == [
        {"router": "epidemic", "mechanism": "none"},
        {"router": "epidemic", "mechanism": "afner"},
        {"router": "prophet", "mechanism": "none"},
    ]
    assert [point.index for point in points] == [0, 1, 2]
    assert (points[0].duration_s, len(points[0].nodes)) == (1200.0, 10)
    [(values, reason)] = walk.skipped()
    assert values == {"router": "prophet", "mechanism": "afner"}
    assert "refuses router `prophet`" in reason
    assert lightlag.run(points[1], seed=1).values == points[1].values


def test_a_sweep_is_not_run_as_if_it_were_one_run(walk: lightlag.Scenario) -> None:
    walk.set("buffer", ["400 kB", "800 kB"])
    with pytest.raises(lightlag.ScenarioError, match="2 points"):
        lightlag.run(walk)


def test_setting_a_key_changes_a_copy_alone(walk: lightlag.Scenario) -> None:
    larger = walk.copy().set("nodes.walkers.buffer", "10 MB")
    assert lightlag.run(larger).dropped_overflow == 0
    assert lightlag.run(walk).dropped_overflow > 0


def test_a_scenario_survives_the_way_to_another_process(walk: lightlag.Scenario, tmp_path: Path) -> None:
    path = tmp_path / "walk.toml"
    path.write_text(walk.text)
    for scenario in (walk, lightlag.Scenario.read(path)):
        scenario.set("buffer", "1 MB")
        result = lightlag.run(scenario)
        twin: lightlag.Scenario = pickle.loads(pickle.dumps(scenario))
        assert lightlag.run(twin).json() == result.json()
        back: lightlag.Result = pickle.loads(pickle.dumps(result))
        assert (back.json(), back.delivered) == (result.json(), result.delivered)


def test_settings_of_the_one_are_read_as_they_are() -> None:
    settings = sorted((ROOT / "scenarios" / "the_one").glob("*.txt"))
    scenario = lightlag.Scenario.read(settings[0]).set("Scenario.endTime", 600)
    assert scenario.seeds == [None]
    point = scenario.points()[0]
    assert lightlag.run(point).sim_time == 600.0
    reports = lightlag.run(point, reports=True).reports
    assert reports
    assert all(text for text in reports.values())


def test_a_wrong_scenario_raises_one_line_with_its_place(walk: lightlag.Scenario, tmp_path: Path) -> None:
    with pytest.raises(lightlag.ScenarioError, match=r"^scenario:2: "):
        lightlag.Scenario('duration = "1 s"\nb =\n')
    with pytest.raises(lightlag.ScenarioError, match="did you mean `buffer`") as raised:
        lightlag.run(walk.copy().set("bufer", "1 MB"))
    assert "\n" not in str(raised.value)
    assert isinstance(raised.value, ValueError)
    with pytest.raises(lightlag.ScenarioError, match="cannot read"):
        lightlag.Scenario.read(tmp_path / "missing.toml")
    with pytest.raises(TypeError, match="cannot hold"):
        walk.set("buffer", None)  # type: ignore[arg-type]


def test_a_run_beyond_its_limit_is_refused_until_the_limit_is_raised(walk: lightlag.Scenario) -> None:
    large = walk.copy().set("limits.events", 10)
    told = r"a run takes at most 1e1 events, or raise `limits\.events`"
    with pytest.raises(lightlag.ScenarioError, match=told) as raised:
        lightlag.run(large)
    assert "\n" not in str(raised.value)
    assert lightlag.run(large.set("limits.events", 1e9)).sim_time > 0


def test_what_is_no_scenario_or_no_seed_is_one_line(walk: lightlag.Scenario) -> None:
    with pytest.raises(lightlag.ScenarioError, match=r"`'walk\.toml'` is not a scenario; give a Scenario or"):
        lightlag.run("walk.toml")  # type: ignore[arg-type]
    for seed in (-1, 2**64, "1", 0.5):
        with pytest.raises(lightlag.ScenarioError, match="is not a seed; give a whole number from 0"):
            lightlag.run(walk, seed=seed)  # type: ignore[arg-type]


def test_a_table_or_a_list_that_contains_itself_is_one_line(walk: lightlag.Scenario) -> None:
    table: dict[str, object] = {}
    table["table"] = table
    items: list[object] = []
    items.append(items)
    for wrong in (table, items):
        with pytest.raises(lightlag.ScenarioError, match="contains itself"):
            lightlag.Scenario(nodes=wrong)  # type: ignore[arg-type]
        with pytest.raises(lightlag.ScenarioError, match="contains itself"):
            walk.set("nodes", wrong)  # type: ignore[arg-type]


def test_values_keep_their_meaning_on_the_way_through_toml() -> None:
    nasty = 'a "quoted"\ttext \\ with\nlines, \x7f and é'
    scenario = lightlag.Scenario(
        {"strange key": nasty, "flag": True, "list": [1, 2.5, {"name": "x"}], "none": {}}
    )
    with pytest.raises(lightlag.ScenarioError, match="strange key"):
        scenario.points()


def test_other_threads_go_on_while_a_world_runs(walk: lightlag.Scenario) -> None:
    walk.set("duration", "24 h")
    ticks: list[float] = []
    over = threading.Event()

    def tick() -> None:
        while not over.wait(0.001):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    lightlag.run(walk)
    end = time.monotonic()
    over.set()
    thread.join()
    # Without the lock released, there would be at most one tick: that at the beginning.
    during = [at for at in ticks if start + (end - start) / 4 < at < end - (end - start) / 4]
    assert len(during) >= 3, f"{len(during)} ticks in {end - start} s"


def test_a_point_can_be_pickled_as_its_scenario_was_then(walk: lightlag.Scenario) -> None:
    walk.set("mechanism", ["none", "credit"])
    point = walk.points()[1]
    walk.set("mechanism", "none")
    again: lightlag.Point = pickle.loads(pickle.dumps(point))
    assert again == point
    assert lightlag.run(again, seed=2).json() == lightlag.run(point, seed=2).json()


def test_a_scenario_prints_as_its_text(walk: lightlag.Scenario) -> None:
    assert str(walk) == walk.text
    assert repr(walk) == f"<Scenario {len(walk.text.splitlines())} lines; print() shows them>"
    read = lightlag.Scenario.read(ROOT / "examples/walkers.toml")
    assert repr(read).startswith(f"<Scenario of {ROOT / 'examples/walkers.toml'}: ")


def test_a_notebook_shows_scenarios_and_results_and_no_script_of_theirs(walk: lightlag.Scenario) -> None:
    walk.set("name", "<img src=x>")
    shown = walk._repr_html_() + lightlag.run(walk, seed=1)._repr_html_()
    assert "<img" not in shown
    assert "&lt;img src=x&gt;, seed 1" in shown
    assert "<td>delivery_prob</td>" in shown
    assert ">nan<" not in shown


def test_a_result_survives_the_way_to_another_process(walk: lightlag.Scenario) -> None:
    result = lightlag.run(walk, seed=1)
    again = pickle.loads(pickle.dumps(result))
    assert (again.json(), again.latencies_s) == (result.json(), result.latencies_s)
    assert pickle.loads(pickle.dumps(walk)).text == walk.text
