"""What no mechanism and no router can exceed."""

from __future__ import annotations

import io
from collections.abc import Iterable

import polars as pl

from lightlag import _checks, _lightlag, _progress
from lightlag._scenario import Scenario


def bound(
    scenario: Scenario,
    seeds: Iterable[int] | None = None,
    *,
    progress: _progress.Progress = None,
) -> pl.DataFrame:
    """Computes the most of a scenario's bundles that any router and mechanism can deliver, and how soon.

    Args:
        scenario: One of bundles; keys with lists are swept. Routers and mechanisms make no difference.
        seeds: By default the scenario's own.
        progress: As of `sweep`.

    Returns:
        A row for each point and seed: `point`, `seed`, a column for each key that makes a difference,
        `version`, `commit`, the number of bundles `created`, and as shares of them `reachable` (each alone),
        `bound` (all together) and `bound_bytes`, which are null where there are too many contacts to compute
        them; then `delay_bound`, the least mean delay in seconds (compare it with `censored_delay_avg`).

    Raises:
        ScenarioError: What is wrong with the scenario or the seeds; a scenario of packets or names.
    """
    if not isinstance(scenario, Scenario):
        raise _checks.no_scenario(scenario, "give a Scenario")
    chosen = _checks.seeds(scenario.seeds if seeds is None else seeds)
    with _progress.of_runs(progress) as watch:
        table = _lightlag.bounds(scenario.native, scenario.text, chosen, watch)
    return pl.read_parquet(io.BytesIO(table))
