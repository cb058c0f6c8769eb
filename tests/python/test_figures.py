"""Charts, studies, bounds and captures, of which none needs a network."""

import io
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import altair as alt
import polars as pl
import pytest

import lightlag
from lightlag import _lightlag, figures

TOP = Path(__file__).parents[2]
LOADS = re.compile(r"""(?:src|href)=["']?(?:https?:)?//|import\(["']http|@import""")


def chart_of(walk: lightlag.Scenario) -> figures.Chart:
    runs = lightlag.sweep(walk.copy().set("buffer", ["400 kB", "1 MB"]), seeds=range(3))
    return figures.lines(runs, x="buffer", y="delivery_prob", title="Delivery </script>")


def test_a_saved_chart_needs_no_network(walk: lightlag.Scenario, tmp_path: Path) -> None:
    chart = chart_of(walk)
    chart.save(tmp_path / "chart.html")
    page = (tmp_path / "chart.html").read_text(encoding="utf-8")
    assert not LOADS.search(page)
    assert "vegaEmbed" in page
    assert page.count("</script>") == page.count("<script"), "a title cannot end a script"
    stream = io.StringIO()
    chart.properties(width=500).save(stream, format="html")
    assert not LOADS.search(stream.getvalue())
    chart.save(tmp_path / "chart.svg")
    assert (tmp_path / "chart.svg").read_text(encoding="utf-8").startswith("<svg")


def test_a_notebook_shows_a_chart_without_a_network(
    walk: lightlag.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    chart = chart_of(walk)
    shown = chart._repr_mimebundle_()
    assert list(shown) == ["image/svg+xml"]
    assert not LOADS.search(shown["image/svg+xml"])
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    shown = chart._repr_mimebundle_()
    assert list(shown) == ["text/html"], "a frame, where vl-convert is not installed"
    assert not LOADS.search(shown["text/html"])


def test_a_chart_follows_the_renderer_that_its_user_chose(walk: lightlag.Scenario) -> None:
    with alt.renderers.enable("json"):
        assert "application/json" in str(chart_of(walk)._repr_mimebundle_())


def test_the_bound_is_above_every_run(walk: lightlag.Scenario) -> None:
    walk.set("mechanism", ["none", "credit"]).set("buffer", ["400 kB", "1 MB"])
    most = lightlag.bound(walk, seeds=[1, 2])
    assert most.columns == [
        *("point", "seed", "buffer", "version", "commit"),
        *("created", "reachable", "bound", "bound_bytes", "delay_bound"),
    ]
    assert len(most) == 4
    both = lightlag.sweep(walk, seeds=[1, 2]).join(most, on=["seed", "buffer"])
    assert both.filter(pl.col("delivery_prob") > pl.col("bound") + 1e-9).is_empty()
    assert both.filter(pl.col("created") != pl.col("created_right")).is_empty()


def test_a_scenario_of_packets_has_no_bound() -> None:
    link = lightlag.Scenario.read(TOP / "scenarios/papers/arc_link.toml")
    with pytest.raises(lightlag.ScenarioError, match="no bound is defined for a scenario of packets"):
        lightlag.bound(link, seeds=[1])


LINK = """
duration = "100 s"
links.space = { from = "earth", to = "moon", rate = "1 Mbit/s", round_trip = "2 s", loss = 0.01 }
flows.file = { from = "earth", to = "moon", controller = "new_reno" }
"""


def test_a_capture_of_a_run_shows_its_flow(tmp_path: Path) -> None:
    link = lightlag.Scenario(LINK)
    result = lightlag.run(link, trace=tmp_path / "run.pcapng")
    shown = lightlag.capture(tmp_path / "run.pcapng", html=tmp_path / "report.html")
    there = shown.directions.row(by_predicate=pl.col("direction") == "out", named=True)
    assert there["retransmitted_packets"] > 0
    assert there["unique_bytes"] >= result.delivered_bytes
    assert "1 flow" in str(shown)
    assert shown.figures["packets"] == shown.directions["packets"].sum()
    assert "vegaEmbed" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(lightlag.capture(tmp_path / "run.pcapng", filters=["udp"]).directions) == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"filters": ["smtp"]}, "filters: `smtp` is unknown; "),
        ({"pause": "long"}, "pause: "),
        ({"dccp_ports": [70_000]}, "`70000` is not a port"),
    ],
)
def test_a_wrong_option_of_a_capture_is_one_line(
    tmp_path: Path, options: dict[str, object], words: str
) -> None:
    lightlag.run(lightlag.Scenario(LINK), trace=tmp_path / "run.pcapng")
    with pytest.raises(lightlag.ScenarioError, match=words) as raised:
        lightlag.capture(tmp_path / "run.pcapng", **options)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)


def test_what_is_no_capture_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Dear diary\n")
    for path in ("notes.txt", "nothing.pcap"):
        with pytest.raises(lightlag.ScenarioError, match=path):
            lightlag.capture(tmp_path / path)


def test_studies_are_listed_and_an_unknown_one_is_an_error() -> None:
    assert "arc" in lightlag.studies()["name"].to_list()
    with pytest.raises(lightlag.ScenarioError, match="unknown study `ark`"):
        lightlag.study("ark")
    with pytest.raises(lightlag.ScenarioError, match="controller: not supported by study arc"):
        lightlag.study("arc", quick=True, controller="cubic")
    with pytest.raises(lightlag.ScenarioError, match="controller: not supported by study universal"):
        lightlag.study("universal", quick=True, controller="cubic")
    with pytest.raises(
        lightlag.ScenarioError, match="seed: not supported by study arc; use it with scorecard"
    ):
        lightlag.study("arc", quick=True, seed=2)


STUDY = """
import lightlag, sys, time
print("ready", flush=True)
try:
    lightlag.study("universal", out=sys.argv[1])
except KeyboardInterrupt:
    print(time.time(), flush=True)
"""


def test_ctrl_c_ends_a_study_which_keeps_its_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STUDY, str(tmp_path)]
    journal = tmp_path / "runs/runs.jsonl"
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        while running.poll() is None and (not journal.exists() or journal.read_text().count("\n") < 2):
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        raised, _ = running.communicate(timeout=60)
    assert raised.strip(), "no KeyboardInterrupt was raised"
    assert journal.read_text().count("\n") > 1


def test_a_study_gives_claims_figures_and_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    seen: list[tuple[float, float]] = []

    def watch(done: float, everything: float) -> None:
        seen.append((done, everything))

    made = lightlag.study("traces", quick=True, out=tmp_path / "traces", progress=watch)
    assert made.claims["id"].to_list() == ["R1", "R2", "R3"]
    assert set(made.claims["holds"]) <= {"yes", "partly", "no", "untestable"}
    assert all(parts == "" or " of " in parts for parts in made.claims["parts"])
    assert made.violations == 0
    assert len(made.runs) == seen[-1][0] == seen[-1][1]
    assert "R1" in made.text
    assert "R1" in made._repr_html_()
    assert made.warnings
    assert all(isinstance(chart, alt.TopLevelMixin) for chart in made.figures.values())
    assert (tmp_path / "traces/report.html").read_text(encoding="utf-8") == made.html
    assert not LOADS.search(made.html)
    made.save(tmp_path / "again.html")
    with pytest.raises(lightlag.ScenarioError, match="cannot be written"):
        made.save(tmp_path / "missing/again.html")


def test_settings_of_the_one_are_converted(tmp_path: Path) -> None:
    settings = lightlag.Scenario.read(TOP / "scenarios/the_one/rw_epidemic.txt", defaults=False)
    text = settings.set("Scenario.endTime", "600").convert(point=1)
    assert text.startswith("# Converted from The ONE's settings: ")
    run = lightlag.run(settings.points()[1])
    assert str(lightlag.run(lightlag.Scenario(text)).summary) == str(run.summary)
    with pytest.raises(lightlag.ScenarioError, match="TOML already"):
        lightlag.Scenario(LINK).convert()
    with pytest.raises(lightlag.ScenarioError, match="point 70: the scenario has points 0 to"):
        settings.convert(70)


def test_the_schema_knows_algorithms_in_python() -> None:
    class Schematic(lightlag.Mechanism):
        """For the schema."""

        name = "schematic"

    assert '"schematic"' in str(lightlag.Scenario.schema()).replace("'", '"')
    assert lightlag.Scenario.schema()["$schema"].startswith("http")


def test_every_kind_of_model_is_listed() -> None:
    kinds = lightlag.algorithms()["kind"].unique().to_list()
    assert {"mobility model", "loss model", "router", "mechanism", "controller"} <= set(kinds)


def test_a_chart_that_is_no_json_is_an_error() -> None:
    with pytest.raises(ValueError, match="EOF"):
        _lightlag.chart_html("title", "{")
