"""Figures of sweeps as Altair charts, from the same specifications as the command line's reports.

Notebooks show a chart, and ``chart.save("figure.html")`` writes it; neither needs a network. PNG, SVG and PDF
need ``pip install lightlag[figures]``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from lightlag import _lightlag, _offline
from lightlag._sweep import Runs, table_of

Chart: TypeAlias = "_offline.LayerChart | _offline.FacetChart | _offline.VConcatChart"


def lines(
    runs: Runs,
    x: str,
    y: str,
    *,
    series: str | None = None,
    panel: str | None = None,
    baseline: str | None = "none",
    title: str = "",
    x_title: str | None = None,
    y_title: str | None = None,
    columns: int = 2,
    shared_y: bool = True,
) -> Chart:
    """Curves of means with 95% intervals over a numeric axis.

    Args:
        runs: What `sweep` gave, or its folder.
        x: Column of the horizontal axis: numbers, or quantities of one unit such as "500 kB".
        y: Column of a figure.
        series: Column that distinguishes the curves; by default `mechanism` if there is one.
        panel: Column that distinguishes small multiples.
        baseline: The curve that is only there for comparison: grey and dashed.
        title: Heading.
        x_title: Title of the horizontal axis; by default the column's name and unit.
        y_title: Title of the vertical axis; by default the column's name.
        columns: How many panels stand in a row.
        shared_y: Whether panels have one vertical scale.

    Raises:
        ValueError: There is no such column, or `x` is not numeric.
    """
    table = table_of(runs)
    places, unit = _numbers(table, x)
    plot: _lightlag.Plot = {
        "title": title,
        "x": x_title or (f"{x} ({unit})" if unit else x),
        "y": y_title or y,
        "series": series or "mechanism",
        "baseline": baseline,
        "columns": columns,
        "shared_y": shared_y,
        "marks": _marks(table, places, y, series, panel),
    }
    return chart(_lightlag.lines(plot))


def bars(
    runs: Runs,
    x: str,
    y: str,
    *,
    series: str | None = None,
    panel: str | None = None,
    baseline: str | None = "none",
    title: str = "",
    x_title: str | None = None,
    y_title: str | None = None,
    columns: int = 2,
    shared_y: bool = True,
) -> Chart:
    """Groups of bars of means with 95% intervals.

    Args:
        runs: What `sweep` gave, or its folder.
        x: Column that distinguishes the groups.
        y: Column of a figure.
        series: Column that distinguishes the bars of a group; by default `mechanism` if there is one.
        panel: Column that distinguishes small multiples.
        baseline: The series that is only there for comparison: grey.
        title: Heading.
        x_title: Title of the horizontal axis; by default the column's name.
        y_title: Title of the vertical axis; by default the column's name.
        columns: How many panels stand in a row.
        shared_y: Whether panels have one vertical scale.

    Raises:
        ValueError: There is no such column.
    """
    table = table_of(runs)
    places = [_name(value) for value in _column(table, x)]
    plot: _lightlag.Plot = {
        "title": title,
        "x": x_title or x,
        "y": y_title or y,
        "series": series or "mechanism",
        "baseline": baseline,
        "columns": columns,
        "shared_y": shared_y,
        "marks": _marks(table, places, y, series, panel),
    }
    return chart(_lightlag.bars(plot))


def study(folder: str | os.PathLike[str]) -> dict[str, Chart]:
    """The figures of the comparative study of DTN congestion control, by name.

    Args:
        folder: Where ``lightlag study dtn-congestion`` left its results.

    Raises:
        ScenarioError: There is no table of results.
    """
    return {name: chart(text) for name, _, _, text in _lightlag.study_figures(Path(folder))}


def _column(table: pl.DataFrame, name: str) -> list[Any]:
    if name not in table.columns:
        raise ValueError(f"the runs have no column `{name}`; they have: {', '.join(table.columns)}")
    return table[name].to_list()


def _name(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _numbers(table: pl.DataFrame, name: str) -> tuple[list[float], str | None]:
    """A column as numbers, and their unit: that of the first text."""
    column = _column(table, name)
    if table[name].dtype.is_numeric():
        return [float(value) for value in column], None
    found = _lightlag.in_one_unit([str(value) for value in column])
    if found is None:
        raise ValueError(f"`{name}` has no numbers of one unit; draw it by `bars`")
    numbers, unit = found
    return numbers, unit or None


def _marks(
    table: pl.DataFrame,
    places: Sequence[float | str],
    y: str,
    series: str | None,
    panel: str | None,
) -> list[_lightlag.Mark]:
    """The values of all runs that share a place, a series and a panel, in the order of the runs."""
    named = series or ("mechanism" if "mechanism" in table.columns else None)
    names = [_name(value) for value in _column(table, named)] if named else [y] * len(table)
    panels = [_name(value) for value in _column(table, panel)] if panel else [None] * len(table)
    marks: dict[tuple[float | str, str, str | None], list[float]] = {}
    for place, name, where, value in zip(places, names, panels, _column(table, y), strict=True):
        values = marks.setdefault((place, name, where), [])
        if value is not None:
            values.append(float(value))
    return [(*key, values) for key, values in marks.items()]


def chart(specification: str) -> Chart:
    """A chart of a specification of ours.

    Args:
        specification: Vega-Lite in JSON.
    """
    read = json.loads(specification)
    if "layer" in read:
        return _offline.LayerChart.from_dict(read)
    return (_offline.FacetChart if "facet" in read else _offline.VConcatChart).from_dict(read)
