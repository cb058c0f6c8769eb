"""Explanations of runs."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lightlag import _checks, _lightlag
from lightlag._run import only_point
from lightlag._scenario import Point, Scenario


@dataclass(frozen=True)
class Explanation:
    """Why a run came out as it did."""

    text: str
    """Sentences and tables, as ``lightlag explain`` prints them."""
    figures: dict[str, Any] = field(repr=False)
    """The same as ``lightlag explain --json`` prints it; times are in seconds."""

    def __str__(self) -> str:
        return self.text


def explain(
    run: Scenario | Point | str | os.PathLike[str],
    seed: int | None = None,
    *,
    bundle: int | str | None = None,
    all: bool = False,
    lost: bool = False,
    why: bool = False,
) -> Explanation:
    """Explains what became of the bundles of a run: how many were delivered, and why the others were not.

    Args:
        run: A scenario, which is run again with its seed; or a trace that ``run(trace=...)`` wrote, or a
            folder with one.
        seed: Seed of the run; by default the scenario's first. A trace has its own.
        bundle: Explain the life of the bundle of this number, counted from 0, or of this name. A trace has
            numbers only.
        all: With `bundle`: all steps of all its copies, not only those of the copy that arrived first.
        lost: Explain which bundles were lost: by cause, size, destination, time and node.
        why: Explain the figures behind each cause.

    Raises:
        ScenarioError: What is wrong with the scenario, the seed or the trace; a bundle that was not
            created; more than one of `bundle`, `lost` and `why`.
    """
    if (bundle is not None) + lost + why > 1:
        raise _lightlag.ScenarioError(
            "explain: `bundle`, `lost` and `why` exclude each other; give one of them"
        )
    if all and bundle is None:
        raise _lightlag.ScenarioError("explain: `all` shows the copies of one bundle; give `bundle`")
    asked: _lightlag.Asked = {"bundle": _checks.bundle(bundle), "all": all, "lost": lost, "why": why}
    if isinstance(run, (Scenario, Point)):
        point = run if isinstance(run, Point) else only_point(run)
        text, figures = point.native.explain(point.seed if seed is None else _checks.seed(seed), asked)
    elif isinstance(run, (str, os.PathLike)):
        if seed is not None:
            raise _lightlag.ScenarioError(
                "seed: a trace is of one run; give the scenario to run it with another seed"
            )
        text, figures = _lightlag.explain_trace(Path(run), asked)
    else:
        raise _checks.no_scenario(run, "give a Scenario, one of its points, or the path of a trace")
    return Explanation(text, json.loads(figures))
