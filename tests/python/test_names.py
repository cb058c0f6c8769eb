"""Scenarios of named data from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import lightlag

ROOT = Path(__file__).parents[2]


def test_each_consumer_and_node_has_its_figures() -> None:
    scenario = lightlag.Scenario.read(ROOT / "scenarios" / "papers" / "dcp_caching.toml")
    scenario.set("duration", "10 s").set("controller", "short_queue")
    result = lightlag.run(scenario, seed=1)
    assert set(result.consumers) == {"one", "two"}
    assert result.consumers["one"]["delivered_bytes"] >= 100 * 1024
    assert result.nodes["near"]["cache_hits"] >= 100
    assert result.flows == {}
    assert result.violations_total == 0
    assert 0 < result.jain <= 1


def test_what_is_wrong_is_a_line_with_its_place() -> None:
    scenario = lightlag.Scenario.read(ROOT / "scenarios" / "papers" / "dcp_single.toml")
    with pytest.raises(lightlag.ScenarioError, match="controller"):
        lightlag.run(scenario.set("controller", "ldbat"), seed=1)
