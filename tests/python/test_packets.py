"""Scenarios of packets: flows over links."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import lightlag

LINK = """
duration = "1000 s"
sample_every = "1 s"
[parameters]
controller = "cubic"
[links.space]
from = "earth"
to = "mars"
rate = "1 Mbit/s"
round_trip = "1 s"
loss = 0.001
[flows.file]
from = "earth"
to = "mars"
count = 2
controller = "$controller"
size = "1 MB"
"""


@pytest.fixture
def link() -> lightlag.Scenario:
    """Two files over one link."""
    return lightlag.Scenario(LINK)


def test_a_result_has_the_figures_of_each_flow(link: lightlag.Scenario) -> None:
    result = lightlag.run(link)
    assert list(result.flows) == ["file0", "file1"]
    assert result.flows["file0"]["delivered_bytes"] == 1_000_000
    assert result.delivered_bytes == 2_000_000
    assert result.packets_sent == sum(flow["packets_sent"] for flow in result.flows.values())
    assert result.violations == []


def test_series_are_of_flows_and_links(link: lightlag.Scenario) -> None:
    series = lightlag.run(link, series=True).series
    assert series is not None
    assert series.columns == ["time", "flow", "link", "name", "value"]
    window = series.filter((pl.col("flow") == "file0") & (pl.col("name") == "window"))
    assert (window["value"] >= 1460).all()
    assert set(series.filter(pl.col("name") == "queue")["link"]) == {"space", "space.back"}


def test_a_trace_of_packets_is_a_capture_or_a_table(link: lightlag.Scenario, tmp_path: Path) -> None:
    lightlag.run(link, trace=tmp_path / "run.pcapng")
    assert (tmp_path / "run.pcapng").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"
    lightlag.run(link, trace=tmp_path / "run.parquet")
    table = pl.read_parquet(tmp_path / "run.parquet")
    assert set(table["kind"]) >= {"offered", "arrived", "delivered", "end"}
    with pytest.raises(lightlag.ScenarioError, match="unknown node `moon` to capture at"):
        lightlag.run(link, trace=tmp_path / "run.pcapng", capture="moon")


def test_a_controller_is_swept_by_its_parameter(link: lightlag.Scenario) -> None:
    link.set("controller", ["cubic", "sack"])
    assert [point.values["controller"] for point in link.points()] == ["cubic", "sack"]
