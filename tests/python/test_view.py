"""The page from Python: in a notebook, and as a file."""

import base64
import gzip
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

import lightlag

WALKERS = """
name = "walkers"
duration = "10 min"
seeds = [3]
router = "epidemic"
mechanism = "none"
buffer = "500 kB"
mobility = { model = "random_waypoint", area = "300 m x 300 m", speed = "0.5..1.5 m/s", pause = "0..120 s" }
radio = { range = "50 m", rate = "2.5 Mbit/s" }
[nodes.n]
count = 8
[traffic.messages]
interval = "1..30 s"
size = "50..100 kB"
lifetime = "10 min"
"""


def sources(page: str) -> list[dict[str, Any]]:
    found = re.findall(r'<script type="application/json" class="source">(.*?)</script', page, re.DOTALL)
    return [json.loads(one) for one in found]


def test_a_result_shows_its_run_in_a_notebook() -> None:
    point = lightlag.Scenario(WALKERS).set("mechanism", ["none", "credit"]).points()[1]
    result = lightlag.run(point, seed=7)
    page = result.view()
    (source,) = sources(page.html)
    assert (source["kind"], source["seed"]) == ("scenario", 7)
    assert source["title"] == "walkers, mechanism credit, seed 7"
    again = lightlag.Scenario(source["text"])
    for key, value in source["set"].items():
        again.set(key, value)
    # Not a number is not equal to itself.
    assert str(lightlag.run(again, seed=7).summary) == str(result.summary)
    shown = page._repr_html_()
    assert shown.startswith("<iframe ")
    assert 'sandbox="allow-scripts allow-downloads"' in shown
    inner = re.fullmatch(r'<iframe [^>]* srcdoc="([^"]*)"></iframe>', shown)
    assert inner
    assert html.unescape(inner[1]) == page.html
    assert "height: 40vh" in result.view(height="40vh")._repr_html_()


class Cautious(lightlag.Mechanism):
    """Takes every bundle."""

    name = "cautious_of_the_page"

    def admit_created(self, at: lightlag.Local, bundle: lightlag.Bundle) -> lightlag.Refusal | None:
        return None


def test_a_run_of_an_algorithm_in_python_is_shown_by_its_trace() -> None:
    result = lightlag.run(lightlag.Scenario(WALKERS).set("mechanism", "cautious_of_the_page"))
    (source,) = sources(result.view().html)
    assert (source["kind"], source["format"], source["about"]["seed"]) == ("trace", "parquet", 3)
    assert base64.b64decode(source["data"]).startswith(b"PAR1")
    assert source["about"]["metrics"]["created"] == result.created


def test_scenarios_folders_and_traces_are_shown_and_written(tmp_path: Path) -> None:
    scenario = lightlag.Scenario(WALKERS).set("mechanism", ["copy_value", "none"])
    out = tmp_path / "page.html"
    page = lightlag.view(scenario, out=out)
    assert out.read_text() == page.html
    assert [source["set"]["mechanism"] for source in sources(page.html)] == ["none", "copy_value"]
    assert [one["set"]["mechanism"] for one in sources(lightlag.view(scenario, point=0, seed=5).html)] == [
        "copy_value"
    ]
    lightlag.sweep(scenario, out=tmp_path / "swept", progress=False)
    assert len(sources(lightlag.view(tmp_path / "swept").html)) == 2
    trace = tmp_path / "trace.jsonl"
    lightlag.run(scenario.points()[0], trace=trace)
    both = sources(lightlag.view(trace, scenario.points()[1]).html)
    assert gzip.decompress(base64.b64decode(both[0]["data"])) == trace.read_bytes()
    assert both[1]["set"] == {"mechanism": "none"}


def test_the_files_of_a_scenario_are_in_the_page(tmp_path: Path) -> None:
    contacts = "start_s,end_s,a,b,rate_bps\n60,180,a,b,250000\n"
    (tmp_path / "plan.csv").write_text(contacts)
    nodes = '[nodes.a]\n[nodes.b]\n[contacts.plan]\nkind = "table"\nfile = "plan.csv"\n'
    text = re.sub(r"mobility = .*\nradio = .*\n\[nodes.n\]\ncount = 8\n", nodes, WALKERS)
    (source,) = sources(lightlag.view(lightlag.Scenario(text, folder=tmp_path)).html)
    assert gzip.decompress(base64.b64decode(source["files"]["plan.csv"])).decode() == contacts


def test_what_cannot_be_shown_is_an_error_of_one_line(tmp_path: Path) -> None:
    for wrong in (tmp_path / "missing.toml", tmp_path):
        with pytest.raises(lightlag.ScenarioError) as raised:
            lightlag.view(wrong)
        assert "\n" not in str(raised.value)
    with pytest.raises(lightlag.ScenarioError, match="larger than 2"):
        lightlag.view(lightlag.Scenario(WALKERS), seed=2**60)
    with pytest.raises(lightlag.ScenarioError, match="no point has number 4"):
        lightlag.view(lightlag.Scenario(WALKERS), point=4)
    with pytest.raises(lightlag.ScenarioError):
        lightlag.view(7)  # type: ignore[arg-type]
