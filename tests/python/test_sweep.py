"""Sweeps, their comparison, and figures of them."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import altair as alt
import distributed
import polars as pl
import pytest

import lightlag


def test_a_sweep_is_a_table_with_a_row_for_each_run(walk: lightlag.Scenario) -> None:
    walk.set("mechanism", ["none", "credit"])
    runs = lightlag.sweep(walk)
    assert runs.columns[:5] == ["point", "seed", "mechanism", "version", "commit"]
    assert runs["mechanism"].to_list() == ["none", "none", "credit", "credit"]
    assert runs["seed"].to_list() == [1, 2, 1, 2]
    assert runs["violations"].sum() == 0
    assert runs["rtt_avg"].null_count() == 4


def test_a_sweep_has_the_figures_of_its_runs(walk: lightlag.Scenario) -> None:
    walk.set("mechanism", ["none", "credit"])
    runs = lightlag.sweep(walk, seeds=range(3), threads=2)
    for point in walk.points():
        for seed in range(3):
            row = runs.row(
                by_predicate=(pl.col("point") == point.index) & (pl.col("seed") == seed), named=True
            )
            for name, number in lightlag.run(point, seed=seed).rows:
                assert row[name] == number or (row[name] is None and number != number)


def test_the_number_of_threads_changes_nothing(walk: lightlag.Scenario) -> None:
    assert lightlag.sweep(walk, threads=1).equals(lightlag.sweep(walk, threads=2))


def test_a_sweep_in_a_folder_can_be_taken_up_reported_and_compared(
    walk: lightlag.Scenario, tmp_path: Path
) -> None:
    first = lightlag.sweep(walk, out=tmp_path / "none")
    assert lightlag.sweep(walk, out=tmp_path / "none").equals(first)
    page = lightlag.report(tmp_path / "none")
    assert page.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
    lightlag.sweep(walk.copy().set("mechanism", "credit"), out=tmp_path / "credit")
    compared = lightlag.compare(tmp_path / "none", tmp_path / "credit")
    assert compared.columns == ["metric", "first", "second", "difference", "low", "high", "change", "p"]
    with pytest.raises(ValueError, match=r"`mechanism` is .* there and credit here; name another folder"):
        lightlag.sweep(walk.copy().set("mechanism", "credit"), out=tmp_path / "none")
    with pytest.raises(lightlag.ScenarioError, match="file"):
        lightlag.sweep(walk, out=page)


def test_a_comparison_pairs_the_runs_of_each_seed(walk: lightlag.Scenario) -> None:
    seeds = range(6)
    none = lightlag.sweep(walk.set("buffer", ["400 kB", "1 MB"]), seeds)
    credit = lightlag.sweep(walk.copy().set("mechanism", "credit"), seeds)
    compared = lightlag.compare(none, credit, metrics="all")
    row = compared.row(
        by_predicate=(pl.col("buffer") == "400 kB") & (pl.col("metric") == "started"), named=True
    )
    small = pl.col("buffer") == "400 kB"
    means = [runs.filter(small)["started"].to_list() for runs in (none, credit)]
    assert row["first"] == pytest.approx(sum(means[0]) / 6)
    assert row["difference"] == pytest.approx(sum(means[1]) / 6 - sum(means[0]) / 6)
    assert row["low"] < row["difference"] < row["high"]


def test_two_runs_are_compared_as_results_or_as_files(walk: lightlag.Scenario, tmp_path: Path) -> None:
    none = lightlag.run(walk, seed=1)
    credit = lightlag.run(walk.copy().set("mechanism", "credit"), seed=1)
    compared = lightlag.compare(none, credit, metrics=["started"])
    assert compared["metric"].to_list() == ["started"]
    assert compared["difference"].to_list() == [credit.started - none.started]
    assert compared["p"].to_list() == [None]
    file = tmp_path / "none.json"
    file.write_text(none.json())
    (tmp_path / "credit").mkdir()
    (tmp_path / "credit/summary.json").write_text(credit.json())
    assert lightlag.compare(file, tmp_path / "credit", metrics=["started"]).equals(compared)
    with pytest.raises(lightlag.ScenarioError, match=r"name the folder of a sweep or of `run --out`"):
        lightlag.compare(file, tmp_path / "missing")


def test_an_axis_may_be_named_by_the_end_of_its_name(walk: lightlag.Scenario) -> None:
    runs = lightlag.sweep(walk.copy().set("nodes.walkers.buffer", ["400 kB", "1 MB"]), seeds=[1, 2])
    whole = lightlag.compare(runs, by="nodes.walkers.buffer", metrics="created")
    assert lightlag.compare(runs, by="buffer", metrics="created").equals(whole)


def test_no_seeds_and_wrong_scenarios_are_errors(walk: lightlag.Scenario) -> None:
    with pytest.raises(ValueError, match="at least one seed"):
        lightlag.sweep(walk, seeds=[])
    with pytest.raises(lightlag.ScenarioError, match="not known"):
        lightlag.sweep(walk.copy().set("mechanism", ["none", "nothing_of_the_kind"]))


def test_a_comparison_needs_points_and_seeds_in_common(walk: lightlag.Scenario) -> None:
    mechanisms = lightlag.sweep(walk.copy().set("mechanism", ["none", "credit"]))
    credit = lightlag.sweep(walk.copy().set("mechanism", "credit"))
    compared = lightlag.compare(mechanisms, credit, metrics=["started"])
    assert compared["mechanism"].to_list() == ["none", "credit"]
    assert compared["difference"].to_list()[1] == 0.0
    others = lightlag.sweep(walk.copy().set("buffer", ["400 kB", "1 MB"]))
    later = lightlag.sweep(walk.copy().set("mechanism", ["none", "credit"]), seeds=[8, 9])
    for wrong, words in ((others, "only the first varies mechanism"), (later, "no seed is in both")):
        with pytest.raises(lightlag.ScenarioError, match=words):
            lightlag.compare(mechanisms, wrong)
    within = lightlag.compare(mechanisms, by="mechanism", to="credit")
    assert set(within["mechanism"]) == {"none"}
    assert len(within) == 4
    with pytest.raises(TypeError, match="either"):
        lightlag.compare(mechanisms)
    with pytest.raises(lightlag.ScenarioError, match="does not vary `router`"):
        lightlag.compare(mechanisms, by="router")


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        ([2, 2], "seed 2 comes twice"),
        ([-1], "`-1` is not a seed"),
        ([2**64], "is not a seed"),
        ([1.5], "`1.5` is not a seed"),
        (["1"], "`'1'` is not a seed"),
        ([True], "is not a seed"),
        ([], "at least one seed"),
        ("12", "is not a list"),
        (7, "is not a list"),
    ],
)
def test_seeds_that_are_none_are_one_line(walk: lightlag.Scenario, seeds: object, words: str) -> None:
    with pytest.raises(lightlag.ScenarioError, match=words) as raised:
        lightlag.sweep(walk, seeds=seeds)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)


def test_what_is_no_scenario_or_no_number_of_threads_is_one_line(walk: lightlag.Scenario) -> None:
    for wrong in ["walk.toml", None, walk.points()[0]]:
        with pytest.raises(lightlag.ScenarioError, match="is not a scenario; give a Scenario"):
            lightlag.sweep(wrong)  # type: ignore[arg-type]
    with pytest.raises(lightlag.ScenarioError, match="`-1` is not a number of threads"):
        lightlag.sweep(walk, threads=-1)


def test_folders_and_files_that_cannot_be_used_are_one_line(walk: lightlag.Scenario, tmp_path: Path) -> None:
    done = tmp_path / "done"
    runs = lightlag.sweep(walk, out=done)
    taken = tmp_path / "file"
    taken.write_text("mine")
    wrongs: list[Callable[[], object]] = [
        lambda: lightlag.sweep(walk, out="/proc/lightlag"),
        lambda: lightlag.sweep(walk, out=taken / "below"),
        lambda: lightlag.report(tmp_path / "missing"),
        lambda: lightlag.report(done, taken / "below.html"),
        lambda: lightlag.compare(done, tmp_path / "missing"),
        lambda: lightlag.compare(runs, taken),
        lambda: lightlag.compare(runs, runs.drop("seed")),
        lambda: lightlag.figures.study(tmp_path),
        lambda: lightlag.run(walk, trace=taken / "below.parquet"),
    ]
    for wrong in wrongs:
        with pytest.raises(lightlag.ScenarioError) as raised:
            wrong()
        assert "\n" not in str(raised.value)


def test_ctrl_c_stops_a_sweep_and_keeps_what_is_done(tmp_path: Path) -> None:
    script = """
import lightlag, sys
walk = lightlag.Scenario.read(sys.argv[1])
lightlag.sweep(walk, seeds=range(100_000), threads=1, out=sys.argv[2])
"""
    walk = Path(__file__).parents[2] / "examples/walkers.toml"
    out = tmp_path / "out"
    command = [sys.executable, "-c", script, str(walk), str(out)]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        journal = out / "runs.jsonl"
        while not (journal.exists() and journal.stat().st_size > 10_000):
            assert running.poll() is None, running.stderr and running.stderr.read()
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=30)
    assert "KeyboardInterrupt" in told


@pytest.fixture(scope="module")
def runs() -> pl.DataFrame:
    """A sweep over two axes, made up."""
    rows = [
        {"point": point, "seed": seed, "buffer": buffer, "mechanism": mechanism, "version": "", "commit": ""}
        | {"delivery_prob": 0.1 * point + 0.01 * seed}
        for point, (mechanism, buffer) in enumerate(
            [("none", "500 kB"), ("none", "1500 kB"), ("credit", "500 kB"), ("credit", "1500 kB")]
        )
        for seed in range(3)
    ]
    return pl.DataFrame(rows)


def test_curves_have_means_intervals_and_the_unit_of_their_axis(runs: pl.DataFrame) -> None:
    chart = lightlag.figures.lines(runs, x="buffer", y="delivery_prob", title="Delivery")
    drawn = chart.to_dict()
    assert drawn["layer"][0]["encoding"]["x"]["title"] == "buffer (kB)"
    [data] = drawn["datasets"].values()
    assert [(one["x"], one["series"], one["n"]) for one in data] == [
        (500, "none", 3),
        (1500, "none", 3),
        (500, "credit", 3),
        (1500, "credit", 3),
    ]
    assert data[0]["mean"] == pytest.approx(0.01)
    assert data[0]["low"] < data[0]["mean"] < data[0]["high"]


def test_bars_can_be_drawn_in_panels(runs: pl.DataFrame, tmp_path: Path) -> None:
    chart = lightlag.figures.bars(runs, x="mechanism", y="delivery_prob", panel="buffer")
    assert isinstance(chart, alt.FacetChart)
    chart.save(tmp_path / "bars.svg")
    assert "<svg" in (tmp_path / "bars.svg").read_text()


def test_what_cannot_be_drawn_is_an_error(runs: pl.DataFrame) -> None:
    with pytest.raises(ValueError, match="no column `latency`"):
        lightlag.figures.bars(runs, x="mechanism", y="latency")
    with pytest.raises(ValueError, match="no numbers of one unit"):
        lightlag.figures.lines(runs, x="mechanism", y="delivery_prob")


def test_a_sweep_in_parts_is_the_sweep_and_takes_more_seeds(walk: lightlag.Scenario, tmp_path: Path) -> None:
    walk.set("mechanism", ["none", "credit"])
    whole = lightlag.sweep(walk, seeds=range(5))
    parts = tmp_path / "parts"
    assert len(lightlag.sweep(walk, seeds=range(4), out=parts, shard="2/2")) == 4
    lightlag.sweep(walk, seeds=range(4), out=parts, shard="1/2")
    assert len(lightlag.merge(parts)) == 8
    assert lightlag.sweep(walk, seeds=[4], out=parts).equals(whole)
    assert lightlag.read(parts).equals(whole)
    with pytest.raises(lightlag.ScenarioError, match="needs a folder"):
        lightlag.sweep(walk, shard="1/2")
    with pytest.raises(lightlag.ScenarioError, match="`3/2` does not name a part"):
        lightlag.sweep(walk, out=parts, shard="3/2")


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_workers_of_an_executor_give_the_bytes_of_one_process(
    walk: lightlag.Scenario, tmp_path: Path, kind: str
) -> None:
    walk.set("mechanism", ["none", "credit"])
    lightlag.sweep(walk, seeds=range(6), threads=1, out=tmp_path / "one")
    executor: Executor
    if kind == "threads":
        executor = ThreadPoolExecutor(2)
    else:
        executor = ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    with executor:
        lightlag.sweep(walk, seeds=range(6), executor=executor, out=tmp_path / "many")
    for name in ("results.parquet", "summary.json"):
        assert (tmp_path / "many" / name).read_bytes() == (tmp_path / "one" / name).read_bytes(), name


def test_workers_of_a_cluster_give_the_bytes_of_one_process(walk: lightlag.Scenario, tmp_path: Path) -> None:
    walk.set("mechanism", ["none", "credit"])
    lightlag.sweep(walk, seeds=range(20), threads=1, out=tmp_path / "one")
    with (
        distributed.LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "dask")
        ) as cluster,
        distributed.Client(cluster) as client,  # type: ignore[no-untyped-call]
    ):
        lightlag.sweep(walk, seeds=range(20), client=client, out=tmp_path / "many")
    for name in ("results.parquet", "summary.json"):
        assert (tmp_path / "many" / name).read_bytes() == (tmp_path / "one" / name).read_bytes(), name


def test_workers_that_are_lost_and_added_change_nothing(walk: lightlag.Scenario, tmp_path: Path) -> None:
    lightlag.sweep(walk, seeds=range(60), threads=1, out=tmp_path / "one")
    events: list[str] = []
    with (
        distributed.LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "dask")
        ) as cluster,
        distributed.Client(cluster) as client,  # type: ignore[no-untyped-call]
    ):

        def watch(done: float, wanted: float) -> None:
            if not events:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
                events.append("killed one")
            elif len(events) == 1:
                cluster.scale(3)
                events.append("added one")

        lightlag.sweep(walk, seeds=range(60), client=client, out=tmp_path / "many", progress=watch)
    assert events == ["killed one", "added one"]
    for name in ("results.parquet", "summary.json"):
        assert (tmp_path / "many" / name).read_bytes() == (tmp_path / "one" / name).read_bytes(), name


def test_a_folder_takes_no_runs_of_an_algorithm_that_has_changed(
    walk: lightlag.Scenario, tmp_path: Path
) -> None:
    def mechanism(share: float) -> None:
        class Some(lightlag.Mechanism):
            name = "some_of_all"
            share_admitted = lightlag.parameter(share, low=0.0, high=1.0, meaning="Share that is admitted.")

            def admit_created(self, at: lightlag.Local, bundle: lightlag.Bundle) -> lightlag.Refusal | None:
                return None if self.random.random() < self.share_admitted else lightlag.Refusal.CONGESTION

    mechanism(0.9)
    walk.set("mechanism", "some_of_all")
    first = lightlag.sweep(walk, seeds=[1], out=tmp_path / "out")
    mechanism(0.9)
    assert lightlag.sweep(walk, seeds=[1, 2], out=tmp_path / "out").head(1).equals(first)
    mechanism(0.1)
    with pytest.raises(lightlag.ScenarioError, match="an algorithm of yours has changed since"):
        lightlag.sweep(walk, seeds=[1, 2, 3], out=tmp_path / "out")


def test_what_a_run_on_a_worker_raises_reaches_the_sweep(tmp_path: Path) -> None:
    broken = lightlag.Scenario(duration="1 h", router="epidemic", nodes={"n": {"count": 1}})
    with ThreadPoolExecutor(1) as executor, pytest.raises(lightlag.ScenarioError, match="buffer"):
        lightlag.sweep(broken, executor=executor, out=tmp_path / "out")
    with ThreadPoolExecutor(1) as executor, pytest.raises(lightlag.ScenarioError, match="exclude each other"):
        lightlag.sweep(broken, threads=1, executor=executor)


def test_an_axis_may_have_several_units_of_one_kind() -> None:
    rows = [
        {"point": at, "seed": 0, "buffer": text, "version": "", "commit": "", "delivery_prob": 0.1}
        for at, text in enumerate(["500 kB", "1 MB", "1 GiB"])
    ]
    drawn = lightlag.figures.lines(pl.DataFrame(rows), x="buffer", y="delivery_prob").to_dict()
    assert drawn["layer"][0]["encoding"]["x"]["title"] == "buffer (kB)"
    [data] = drawn["datasets"].values()
    assert [one["x"] for one in data] == [500, 1000, pytest.approx(2**30 / 1000)]
    mixed = pl.DataFrame(
        [{**row, "buffer": text} for row, text in zip(rows, ["1 s", "1 MB", "2 s"], strict=True)]
    )
    with pytest.raises(ValueError, match="no numbers of one unit"):
        lightlag.figures.lines(mixed, x="buffer", y="delivery_prob")
