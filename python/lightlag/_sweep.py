"""Many runs, and what differs between them."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from lightlag import _checks, _elsewhere, _lightlag, _progress
from lightlag._algorithm import code_named_in
from lightlag._run import Result
from lightlag._scenario import Scenario

_COLUMNS = ["point", "seed", "version", "commit"]
"""What every table of a sweep has."""

Runs: TypeAlias = "pl.DataFrame | str | os.PathLike[str]"
"""The table of a sweep, or the folder where it is."""


def sweep(
    scenario: Scenario,
    seeds: Iterable[int] | None = None,
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    *,
    judge: bool = True,
    shard: str | None = None,
    executor: Executor | None = None,
    client: Any = None,
    progress: _progress.Progress = None,
) -> pl.DataFrame:
    """Runs every point of a scenario with every seed, on all cores.

    A folder takes more seeds and more values of its axes later: only what is missing is run.

    Args:
        scenario: Keys with lists are scenario.
        seeds: By default the scenario's own.
        threads: How many runs at a time; by default one for each core. Hooks in Python run one at a
            time whatever it is.
        out: Folder to keep the results in; a sweep that was stopped resumes there when it is started
            again, and the command line can report on it.
        judge: Whether the judge replays the runs; the column `violations` is the count of what it found.
        shard: Do one part of the runs, like ``"2/7"``, for several processes with one folder `out`; `merge`
            makes one table of what they have run.
        executor: Do the runs on its workers, in tasks of about two seconds: any
            `concurrent.futures.Executor`, such as a `ProcessPoolExecutor` or that of mpi4py; not with
            `threads`.
        client: Do the runs on the workers of a Dask cluster, in place of `executor`: its
            `distributed.Client`. Workers may come and go.
        progress: Called now and then with how many of the runs that were missing are done, and how many
            there are; what it raises ends the sweep. By default a bar appears after two seconds in a terminal
            or a notebook; `False` hides it.

    Returns:
        A row for each run that the folder holds: `point`, `seed`, a column for each key that varies,
        `version`, `commit`, and a column for each figure, null where a figure has no value.

    Raises:
        ScenarioError: What is wrong with the scenario, the seeds or the folder.
        Exception: Whatever a hook of an algorithm in Python raised.
    """
    if not isinstance(scenario, Scenario):
        raise _checks.no_scenario(scenario, "give a Scenario")
    chosen = _checks.seeds(scenario.seeds if seeds is None else seeds)
    at_once = _checks.threads(threads)
    if shard is not None and out is None:
        raise _lightlag.ScenarioError("shard: a part of a sweep needs a folder; give `out`")
    if (executor is not None) + (client is not None) + (threads is not None) > 1:
        raise _lightlag.ScenarioError(
            "sweep: `threads`, `executor` and `client` exclude each other; give one of them"
        )
    with tempfile.TemporaryDirectory(prefix="lightlag-") as temporary:
        folder = Path(temporary, "sweep") if out is None else Path(out)
        plan = _lightlag.Plan(scenario.native, scenario.text, chosen, code_named_in(scenario.text))
        if executor is None and client is None:
            with _progress.of_runs(progress) as watch:
                plan.sweep(folder, at_once, judge, shard, watch)
            return read(folder)
        workers = _elsewhere.of_client(client) if executor is None else _elsewhere.of_executor(executor)
        opened = plan.open(folder, shard)
        with _progress.of_runs(progress) as watch:
            _elsewhere.run(opened, _elsewhere.packed(scenario, chosen), judge, *workers, watch)
        opened.finish()
        return read(folder)


def read(folder: str | os.PathLike[str]) -> pl.DataFrame:
    """The table of a sweep's folder: what all its processes have run until now.

    Args:
        folder: Folder of the sweep (`out` of `sweep`).

    Raises:
        ScenarioError: There is no sweep in the folder, or its files do not fit together.
    """
    return pl.read_parquet(io.BytesIO(_lightlag.read_results(Path(folder), False)))


def merge(folder: str | os.PathLike[str]) -> pl.DataFrame:
    """Checks what all processes of a sweep have run, writes it as one table, and returns it.

    Args:
        folder: Folder of the sweep, in which no process is running.

    Raises:
        ScenarioError: There is no sweep in the folder, a process is running there, or one run came out
            differently in two processes.
    """
    _lightlag.merge(Path(folder))
    return read(folder)


def compare(
    first: Runs | Result,
    second: Runs | Result | None = None,
    *,
    by: str | None = None,
    to: str | None = None,
    metrics: Sequence[str] | str = (),
) -> pl.DataFrame:
    """Compares two sweeps at common points, two runs, or the values of one axis of a sweep, seed by seed.

    Args:
        first: A sweep: its folder or table; or a run: what `run` returned, the folder of
            ``lightlag run --out``, or a file of ``lightlag run --json``.
        second: Another one; not with `by`.
        by: An axis of the sweep, like ``"mechanism"``: its values are compared with one of them. The end of
            its name is enough where no other axis ends so: ``"buffer"`` for ``"nodes.walkers.buffer"``.
        to: The value of this axis that the others are compared with; by default the first.
        metrics: Names of metrics, or ``"all"``; by default four headlines.

    Returns:
        A row for each point and metric, the largest `change` first: the values that make the point, `metric`,
        the means `first` and `second`, their `difference` (second minus first, over common seeds) with the
        ends `low` and `high` of its 95% interval, `change` (the difference as a share of `first`), and `p`,
        the probability of such a random difference, corrected for the number of rows (Holm); null if there
        are too few runs.

    Raises:
        ScenarioError: There is no table in a folder, or nothing that could be compared.
        TypeError: Neither `second` nor `by` is given, or both are.
    """
    if (second is None) == (by is None):
        raise TypeError("compare() takes either a second sweep or by=AXIS")
    others = [] if second is None else _runs_of(second)
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    compared = _lightlag.compare_runs(_runs_of(first), others, by, to, names)
    rows = [
        {
            **dict(values),
            "metric": metric,
            "first": one[0] if one else None,
            "second": two[0] if two else None,
            "difference": difference[0] if difference else None,
            "low": difference[1] if difference else None,
            "high": difference[2] if difference else None,
            "change": change,
            "p": p,
        }
        for values, metric, one, two, difference, change, p in compared
    ]
    numbers = dict.fromkeys(["first", "second", "difference", "low", "high", "change", "p"], pl.Float64)
    return pl.DataFrame(rows, schema_overrides=numbers, infer_schema_length=None)


def report(
    folder: str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
) -> Path:
    """Writes one HTML file about a finished sweep, which works without a network.

    Args:
        folder: Folder of the sweep (`out` of `sweep`).
        path: The file; by default `report.html` in the folder.

    Returns:
        The file.

    Raises:
        ScenarioError: There is no table in the folder, or the file cannot be written.
    """
    written = Path(folder, "report.html") if path is None else Path(path)
    return _checks.written(written, _lightlag.report_html(Path(folder)))


def table_of(runs: Runs) -> pl.DataFrame:
    """The table of a sweep, read from its folder if need be."""
    if not isinstance(runs, pl.DataFrame):
        return read(runs)
    missing = [name for name in _COLUMNS if name not in runs.columns]
    if missing:
        raise _lightlag.ScenarioError(f"the table has no column `{missing[0]}`; give one that `sweep` made")
    return runs


def value_columns(runs: pl.DataFrame) -> list[str]:
    """The columns of what a sweep varies."""
    return runs.columns[runs.columns.index("seed") + 1 : runs.columns.index("version")]


def metric_columns(runs: pl.DataFrame) -> list[str]:
    """The columns of figures."""
    return runs.columns[runs.columns.index("commit") + 1 :]


def _runs_of(runs: Runs | Result) -> list[_lightlag.Run]:
    if isinstance(runs, Result):
        return [(0, runs.seed, [], runs.rows)]
    if isinstance(runs, pl.DataFrame):
        return list(_runs(table_of(runs)))
    return list(_runs(pl.read_parquet(io.BytesIO(_lightlag.read_results(Path(runs), True)))))


def _runs(table: pl.DataFrame) -> Iterator[_lightlag.Run]:
    values, metrics = value_columns(table), metric_columns(table)
    for row in table.iter_rows(named=True):
        yield (
            row["point"],
            row["seed"],
            [(name, _text(row[name])) for name in values if row[name] is not None],
            [(name, float("nan") if row[name] is None else float(row[name])) for name in metrics],
        )


def _text(value: object) -> str:
    # As the scenario wrote it: a column of whole numbers comes as floats.
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
