"""Studies: papers whose figures and claims are reproduced."""

from __future__ import annotations

import html
import io
import json
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from lightlag import _checks, _lightlag, _progress, figures


@dataclass(frozen=True, eq=False)
class Study:
    """A finished study."""

    name: str
    """Its name."""
    text: str = field(repr=False)
    """Verdicts and the main table, as ``lightlag study`` prints them."""
    claims: pl.DataFrame = field(repr=False)
    """A row for each claim: `id`, `figure` (of the paper), `paper_says`, `we_measure`, `holds` (``yes``,
    ``partly``, ``no`` or ``untestable``), `parts` (how many of its parts hold beyond chance, such as
    ``2 of 3``) and `reason` (why it is untestable)."""
    figures: dict[str, figures.Chart] = field(repr=False)
    """The figures, by name."""
    tables: dict[str, pl.DataFrame] = field(repr=False)
    """The tables of the report, by their headings; cells are text, as the report shows them."""
    runs: pl.DataFrame = field(repr=False)
    """A row for each run, as `sweep` gives it."""
    warnings: list[str]
    """What to know before believing it, such as that it is a quick look."""
    violations: int
    """How many violations the judge found in all runs."""
    html: str = field(repr=False)
    """The report, an HTML file that works without a network."""

    def __str__(self) -> str:
        return self.text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the report.

        Raises:
            ScenarioError: It cannot be written.
        """
        _checks.written(Path(path), self.html)

    def _repr_html_(self) -> str:
        """What a notebook shows: the claims and whether they hold."""
        rows = self.claims.select("id", "paper_says", "we_measure", "holds").iter_rows()
        head = "".join(f"<th>{name}</th>" for name in ("claim", "paper", "measured", "holds"))
        body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        warnings = "".join(f"<p>{html.escape(line)}</p>" for line in self.warnings)
        return f"<p><b>{html.escape(self.name)}</b></p>{warnings}<table><tr>{head}</tr>{body}</table>"


def study(
    name: str,
    *,
    quick: bool = False,
    controller: str | None = None,
    seed: int | None = None,
    out: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    progress: _progress.Progress = None,
) -> Study:
    """Reproduces the figures and claims of a paper; Ctrl-C ends it, and with `out` it resumes.

    Args:
        name: Which one; `studies` lists them.
        quick: Fewer seeds and points, and shorter runs.
        controller: The only one, names too, for studies of controllers (``"scorecard"``); by default all.
        seed: Draws other networks, for the studies that draw them (``"scorecard"``, ``"universal"``);
            by default those of the documented figures.
        out: Folder to keep runs, report, figures and claims in; a study that was stopped resumes there.
        threads: How many runs at a time; by default one for each core.
        progress: As of `sweep`.

    Raises:
        ScenarioError: There is no such study, the folder cannot be used, or a run failed.
    """
    at_once = _checks.threads(threads)
    with tempfile.TemporaryDirectory(prefix="lightlag-") as temporary, _progress.of_runs(progress) as watch:
        folder = Path(temporary, "study") if out is None else Path(out)
        done = _lightlag.study(name, quick, controller, _checks.seed(seed), folder, at_once, watch)
    return Study(
        name=name,
        text=done["text"],
        claims=_claims(json.loads(done["claims"])),
        figures={name: figures.chart(text) for name, _, _, text in done["figures"]},
        tables={title: _table(head, rows) for title, head, rows in done["tables"]},
        runs=pl.read_parquet(io.BytesIO(done["runs"])),
        warnings=done["warnings"],
        violations=done["violations"],
        html=done["html"],
    )


def studies() -> pl.DataFrame:
    """The studies.

    Returns:
        A row for each: `name`, `paper`, `summary` and `takes` (how long on two cores).
    """
    return pl.DataFrame(_lightlag.studies(), schema=["name", "paper", "summary", "takes"], orient="row")


def _table(head: list[str], rows: list[list[str]]) -> pl.DataFrame:
    # Two columns of a table may have one head.
    columns = [
        f"{name} {head[:at].count(name) + 1}" if name in head[:at] else name for at, name in enumerate(head)
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


def _claims(claims: list[dict[str, Any]]) -> pl.DataFrame:
    def row(claim: dict[str, Any]) -> dict[str, str]:
        holds = claim["holds"]
        word, reason = (holds, "") if isinstance(holds, str) else next(iter(holds.items()))
        texts = {key: str(claim[key]) for key in ("id", "figure", "paper_says", "we_measure")}
        parts = " of ".join(str(number) for number in claim["parts"] or ())
        return {**texts, "holds": word, "parts": parts, "reason": reason}

    columns = ("id", "figure", "paper_says", "we_measure", "holds", "parts", "reason")
    return pl.DataFrame([row(claim) for claim in claims], schema=dict.fromkeys(columns, pl.String))
