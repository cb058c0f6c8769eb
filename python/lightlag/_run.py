"""One run."""

from __future__ import annotations

import html
import math
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from lightlag import _checks, _lightlag, _progress, _trace, _view
from lightlag._scenario import Point, Scenario


@dataclass(frozen=True, eq=False)
class Result:
    """The result of a run, and everything needed to repeat it.

    Each figure of `summary` is an attribute, too: ``result.delivery_prob``. Times are in seconds.
    """

    scenario: str
    """The scenario's name."""
    values: dict[str, str]
    """What the scenario's sweep varies, and the values of this run."""
    seed: int
    """The seed of the run."""
    summary: dict[str, int | float]
    """The figures by name, counts as whole numbers; not a number where a figure has no value."""
    flows: dict[str, dict[str, int | float]]
    """In scenarios of packets the figures of each flow, by its name."""
    consumers: dict[str, dict[str, int | float]]
    """In scenarios of names the figures of each consumer, by its name."""
    nodes: dict[str, dict[str, int | float]]
    """In scenarios of names the figures of each node, by its name."""
    violations: list[str]
    """What the judge found, the first thousand; none if it was not asked."""
    violations_total: int
    """How much it found in all."""
    latencies_s: list[float] = field(repr=False)
    """Delays of the delivered bundles, ascending."""
    series: pl.DataFrame | None = field(repr=False)
    """Samples of buffers and algorithms (`time`, `node`, `name`, `value`), if they were asked for; of packets
    `flow` and `link` stand in the place of `node`. Times are durations since the start, and names are
    categories, as in `trace`."""
    trace: pl.DataFrame | None = field(repr=False)
    """Every record of the run in order of time, if it was asked for (``trace=True``): `time` since the start,
    `kind`, and the other columns of the reference of traces. Times are durations, names and kinds are
    categories, and rates are in bits per second."""
    reports: dict[Path, str] = field(repr=False)
    """The ONE's report files, if they were asked for: where its settings want them, and their text."""
    why: str | None
    """Why the run created or delivered nothing, in a line; none if it delivered something."""
    version: str
    """Version of Lightlag."""
    commit: str
    """Commit that it was built from."""
    _json: str = field(repr=False)
    _run: tuple[Point, int | None] = field(repr=False)

    @property
    def rows(self) -> list[tuple[str, float]]:
        """The figures as names and numbers: those of The ONE's `MessageStatsReport`, then more."""
        return [(name, float(number)) for name, number in self.summary.items()]

    def records(self, kind: str) -> pl.DataFrame:
        """The records of one kind, like ``"delivered"``, with only the columns that they fill.

        Raises:
            ScenarioError: The run kept no trace, or there is no such kind.
        """
        return _trace.of_kind(self.trace, kind)

    def json(self) -> str:
        """The figures as ``lightlag run --json`` prints them."""
        return self._json

    def view(self, height: str = "80vh") -> _view.Page:
        """The page of this run, which a notebook shows: nodes, contacts, buffers and bundles over time.

        The page runs the scenario again. With algorithms in Python, it has the trace of a run that is
        done here.

        Args:
            height: Height of the frame in a notebook, as CSS writes it.

        Raises:
            ScenarioError: Files of the scenario or the trace have more than 64 MiB.
        """
        return _view.of_run(*self._run, height)

    def _repr_html_(self) -> str:
        """What a notebook shows: the scenario, the values of this run, and its figures."""
        values = ", ".join(f"{key} = {value}" for key, value in self.values.items())
        head = f"{self.scenario}, seed {self.seed}" + (f", {values}" if values else "")
        lines = [
            f"<tr><td>{html.escape(name)}</td><td>{_shown(number)}</td></tr>"
            for name, number in self.summary.items()
        ]
        found = f"{self.violations_total} violations" if self.violations_total else None
        shown = "; ".join(note for note in (self.why, found) if note)
        return (
            f"<p><b>{html.escape(head)}</b> {html.escape(shown)}</p>"
            f"<details open><summary>{len(lines)} figures</summary><table>{''.join(lines)}</table></details>"
        )

    def __getitem__(self, name: str) -> int | float:
        return self.summary[name]

    def __getattr__(self, name: str) -> int | float:
        # Asked only for what is no field; pickle asks before there are any.
        summary: dict[str, int | float] = self.__dict__.get("summary", {})
        if name in summary:
            return summary[name]
        raise AttributeError(f"a result has no figure `{name}`", name=name, obj=self)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.summary]


def _shown(number: int | float) -> str:
    if isinstance(number, int):
        return str(number)
    return "–" if math.isnan(number) else f"{number:.6g}"


def run(
    scenario: Scenario | Point,
    seed: int | None = None,
    *,
    judge: bool = True,
    series: bool = False,
    reports: bool = False,
    trace: str | os.PathLike[str] | bool | None = None,
    capture: str | None = None,
    progress: _progress.Progress = None,
) -> Result:
    """Runs a scenario once; the same scenario and seed give the same result, to the byte.

    Other Python threads continue meanwhile.

    Args:
        scenario: What to run; a scenario that is a sweep has `Scenario.points` to choose from.
        seed: Seed of movement and traffic; by default the scenario's first, and for settings of The ONE
            the very run that they describe.
        judge: Whether the run is replayed by the judge, which knows nothing of the world.
        series: Whether to keep time series, where the scenario samples (``world.sample_every``, or
            ``sample_every`` of packets).
        reports: Whether to make The ONE's report files that settings ask for.
        trace: `True` keeps every record of the run as a table, `Result.trace`. A path: write them there:
            Parquet, or JSON lines where it ends in ``.jsonl``; packets also as ``.pcapng``.
        capture: Where a ``.pcapng`` trace is captured: ``senders``, ``receivers``, ``drops``, or the name of
            a node; by default each flow at its sender.
        progress: Called about 20 times a second, and at the end, with how far the run has come and how long
            it lasts, in seconds of its own time; what it raises ends the run. By default a bar appears after
            two seconds in a terminal or a notebook; `False` hides it. Ctrl-C ends the run in any case.

    Raises:
        ScenarioError: What is wrong with the scenario, the seed or the file of the trace.
        Exception: Whatever a hook of an algorithm in Python raised.
    """
    if not isinstance(scenario, (Scenario, Point)):
        raise _checks.no_scenario(scenario, "give a Scenario or one of its points")
    point = scenario if isinstance(scenario, Point) else only_point(scenario)
    number = point.seed if seed is None else _checks.seed(seed)
    with tempfile.TemporaryDirectory(prefix="lightlag-") as folder, _progress.of_run(progress) as watch:
        kept = Path(folder, "trace.parquet")
        wanted: _lightlag.Wanted = {
            "judge": judge,
            "series": series,
            "reports": reports,
            "trace": kept if trace is True else Path(trace) if trace else None,
            "capture": capture,
        }
        outcome = point.native.run(number, wanted, watch)
        records = _trace.read(kept, point.nodes) if trace is True else None
    table = outcome.series()

    def parts(wanted: str) -> dict[str, dict[str, int | float]]:
        return {name: dict(numbers) for kind, name, numbers in outcome.parts() if kind == wanted}

    return Result(
        scenario=point.name,
        values=point.values,
        seed=outcome.seed,
        summary=dict(outcome.numbers()),
        flows=parts("flows"),
        consumers=parts("consumers"),
        nodes=parts("nodes"),
        violations=outcome.violations(),
        violations_total=outcome.violations_total(),
        latencies_s=outcome.latencies_s(),
        series=None if table is None else _trace.series(table, point.nodes),
        trace=records,
        reports=dict(outcome.reports()),
        why=outcome.why(),
        version=_lightlag.VERSION,
        commit=_lightlag.COMMIT,
        _json=outcome.json(),
        _run=(point, number),
    )


def only_point(scenario: Scenario) -> Point:
    """The point of a scenario that is not a sweep."""
    points = scenario.points()
    if len(points) == 1:
        return points[0]
    raise _lightlag.ScenarioError(
        f"the scenario's lists make {len(points)} points; run one of `points()`, or `sweep` them all"
    )
