"""The page: runs as a reader looks at them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from lightlag import _checks, _lightlag
from lightlag._scenario import Point, Scenario, scenario_of

Shown: TypeAlias = "Scenario | Point | str | os.PathLike[str]"


@dataclass(frozen=True)
class Page:
    """A page with runs in it: a cell of a notebook shows it, `write` makes a file of it."""

    html: str = field(repr=False)
    """The whole page: one HTML file, which needs no network."""
    height: str = "80vh"
    """Height of the frame in a notebook, as CSS writes it."""

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Writes the page and returns the path.

        Raises:
            ScenarioError: The file cannot be written.
        """
        return _checks.written(Path(path), self.html)

    def _repr_html_(self) -> str:
        """What a notebook shows: the page in a frame that has no access to the notebook."""
        return _lightlag.view_frame(self.html, self.height)


def view(
    what: Shown,
    other: Shown | None = None,
    *,
    seed: int | None = None,
    point: int | None = None,
    out: str | os.PathLike[str] | None = None,
    height: str = "80vh",
) -> Page:
    """Shows runs: nodes, contacts, buffers, bundles and packets over time, in a notebook or a file.

    Args:
        what: A scenario or one of its points, which the page runs; the folder of a sweep or of
            ``lightlag run --out``; a trace that ``run(trace=...)`` wrote; or the file of a scenario.
        other: What is shown beside it. Without it, a sweep shows two of its runs: ``none`` and
            ``copy_value``, or a baseline and the best.
        seed: Seed of the runs; by default the first.
        point: Which point of a scenario or sweep, counted from 0: it is shown alone.
        out: A file to write the page to.
        height: Height of the frame in a notebook, as CSS writes it.

    Raises:
        ScenarioError: What is wrong with a scenario, a folder, a trace or a seed; a file that cannot be
            written; files of a scenario or a trace of more than 64 MiB.

    Example:
        >>> page = lightlag.view("scenarios/earth_mars.toml")
        >>> len(page.html) > 1000
        True
    """
    number = _checks.seed(seed)
    index = None if point is None else _checks.point(point)
    sources = _sources(what, number, index)
    if other is not None:
        # Each gives one run: of a sweep the better one.
        sources = [sources[-1], _sources(other, number, index)[-1]]
    page = Page(_lightlag.view_page(sources), height)
    if out is not None:
        page.write(out)
    return page


def of_run(point: Point, seed: int | None, height: str) -> Page:
    """A run."""
    sources = _lightlag.view_scenario(scenario_of(point).native, seed, point.index)
    return Page(_lightlag.view_page(sources), height)


def _sources(what: Shown, seed: int | None, index: int | None) -> list[_lightlag.Source]:
    if isinstance(what, Point):
        return _lightlag.view_scenario(scenario_of(what).native, seed, what.index)
    if isinstance(what, Scenario):
        return _lightlag.view_scenario(what.native, seed, index)
    if isinstance(what, (str, os.PathLike)):
        return _lightlag.view_path(Path(what), seed, index)
    raise _checks.no_scenario(what, "give a Scenario, one of its points, a folder of results or a trace")
