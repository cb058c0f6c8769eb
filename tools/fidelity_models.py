"""Our figures beside The ONE's: maps, routes, buses, working days, interfaces, contacts of files, pings.

Runs the cells of scenarios/the_one/models and, with `--the-one FOLDER` (a copy of The ONE with its data),
also those that need its maps and its own settings files. Compares contacts, contact time and message
figures with what The ONE measured there (measured.csv, five seeds). They agree when the 95 % intervals of
both touch. Exit code 1 when a measure does not agree or a cell is refused.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fidelity import ROOT, agrees, interval

CELLS = ROOT / "scenarios" / "the_one" / "models"
MEASURES = (
    "contacts",
    "contact_time_total",
    "created",
    "relayed",
    "dropped",
    "delivered",
    "delivery_prob",
    "latency_avg",
    "hopcount_avg",
)


@dataclass(frozen=True)
class Cell:
    """Settings files of The ONE, relative to the folder where it runs, and settings that come after them."""

    files: tuple[str, ...]
    then: tuple[str, ...] = ()
    # Stock files have one traffic for all seeds, by their prefix; others are drawn again with each seed.
    one_traffic: bool = False


def stock(files: tuple[str, ...], *then: str) -> Cell:
    """A settings file of The ONE itself."""
    return Cell(files, ("Report.warmup = 0", *then), one_traffic=True)


def of_wdm(name: str, hosts: str, end: int, *then: str) -> Cell:
    """One of its files of working days."""
    return stock(
        (f"wdm_settings/{name}.txt",), f"Scenario.endTime = {end}", f"Events1.hosts = {hosts}", *then
    )


SNW = "Group.router = SprayAndWaitRouter"
STOCK = {
    "default_epidemic": stock((), "Scenario.endTime = 14400", "Group.router = EpidemicRouter"),
    "default_prophet": stock((), "Scenario.endTime = 14400", "Group.router = ProphetRouter"),
    "default_snw_prefix": stock((), "Scenario.endTime = 14400", SNW, "Events1.prefix = M{seed}_"),
    "ex_cluster": stock(("example_settings/cluster_settings.txt",), "Scenario.endTime = 14400"),
    "ex_ping": stock(("example_settings/ping_app_settings.txt",), "Scenario.endTime = 7200"),
    "ex_snw": stock(("example_settings/snw_settings.txt",), "Scenario.endTime = 14400"),
    "ex_wlan": stock(("example_settings/wlan-interface.txt",), "Scenario.endTime = 3600"),
    "wdm_demo": of_wdm("Demo", "0,104", 86400),
    "wdm_mapbased100": of_wdm("MapBasedMovement", "0,100", 21600, "Group1.nrofHosts = 100"),
}


def measured() -> dict[str, dict[str, list[float]]]:
    """What The ONE measured: cell -> measure -> one value a seed."""
    figures: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with (CELLS / "measured.csv").open() as rows:
        for row in csv.DictReader(rows):
            for measure in MEASURES:
                figures[row["scenario"]][measure].append(float(row[measure] or "nan"))
    return figures


def contacts(report: Path, end: float) -> tuple[int, float]:
    """Contacts and their total time from a ConnectivityONEReport; open ones last until the end."""
    began: dict[tuple[str, str], float] = {}
    count, total = 0, 0.0
    for line in report.read_text().splitlines():
        time, _, one, other, change = line.split()[:5]
        now, pair = float(time), (min(one, other), max(one, other))
        if change == "up":
            count += 1
            began[pair] = now
        elif pair in began:
            total += now - began.pop(pair)
    return count, total + sum(end - start for start in began.values())


def run(binary: Path, place: Path, cell: Cell, seed: int) -> dict[str, float] | str:
    """One run of ours, or why it is refused."""
    with tempfile.TemporaryDirectory() as made:
        reports = "\n".join(
            [
                *(line.format(seed=seed) for line in cell.then),
                f"MovementModel.rngSeed = {seed}",
                "Report.nrofReports = 1",
                "Report.report1 = ConnectivityONEReport",
            ]
        )
        last = Path(made) / "last.txt"
        last.write_text(reports + "\n")
        files = [*(cell.files or ("default_settings.txt",)), str(last)]
        own = ["--no-defaults"] if not (place / "default_settings.txt").exists() else []
        seeded = [] if cell.one_traffic else ["--seed", str(seed)]
        command = [
            str(binary),
            "run",
            *files,
            *own,
            *seeded,
            "--json",
            "--no-judge",
            "--out",
            made,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=place)
        if done.returncode:
            return next(
                (line for line in done.stderr.splitlines() if line.startswith("lightlag:")), "it failed"
            )
        summary = json.loads(done.stdout)
        figures = {m: math.nan if summary.get(m) is None else float(summary[m]) for m in MEASURES}
        reports_of = list(Path(made).rglob("*ConnectivityONEReport*"))
        if reports_of:
            figures["contacts"], figures["contact_time_total"] = contacts(reports_of[0], summary["sim_time"])
        return figures


def cells(the_one: Path | None, place: Path) -> dict[str, tuple[Path, Cell]]:
    """All cells that can be tried, with the folder to run them in."""
    for file in CELLS.iterdir():
        (place / file.name).symlink_to(file)
    (place / "settings").symlink_to(CELLS)
    found: dict[str, tuple[Path, Cell]] = {}
    if the_one:
        (place / "data").symlink_to((the_one / "data").resolve())
        found = {name: (the_one, cell) for name, cell in STOCK.items()}
    for file in sorted(CELLS.glob("*.txt")):
        if the_one or "data/" not in file.read_text():
            found[file.stem] = (place, Cell((file.name,)))
    return found


def main() -> int:
    """Prints the table; 1 when something does not agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--the-one", type=Path, default=os.environ.get("THE_ONE"), help="a copy of The ONE")
    parser.add_argument("cell", nargs="*", help="default: all")
    options = parser.parse_args()
    figures = measured()
    misses = compared = 0
    refused: list[str] = []
    print(f"{'cell':28}{'measure':20}{'Lightlag':>24}{'The ONE':>24}  agrees")
    with tempfile.TemporaryDirectory() as made:
        known = cells(options.the_one and options.the_one.resolve(), Path(made))
        for name in options.cell or sorted(set(known) & set(figures)):
            place, cell = known[name]
            with ThreadPoolExecutor(2) as pool:
                jobs = [
                    pool.submit(run, options.binary.resolve(), place, cell, s + 1)
                    for s in range(options.seeds)
                ]
                runs = [job.result() for job in jobs]
            why = next((one for one in runs if isinstance(one, str)), None)
            if why:
                refused.append(f"{name}: {why}")
                continue
            good_runs = [one for one in runs if isinstance(one, dict)]
            for measure in MEASURES:
                ours = interval([one[measure] for one in good_runs])
                theirs = interval(figures[name][measure])
                good = agrees(ours, theirs)
                misses += not good
                compared += 1
                shown = [f"{mean:.4g} ± {half:.3g}" for mean, half in (ours, theirs)]
                print(
                    f"{name:28}{measure:20}{shown[0]:>24}{shown[1]:>24}  {'yes' if good else 'NO'}",
                    flush=True,
                )
    for line in refused:
        print(f"not run: {line}")
    left = len(figures) - len(known)
    print(f"{misses} of {compared} measures do not agree; {len(refused)} cells not run, {left} left out")
    return 1 if misses or refused else 0


if __name__ == "__main__":
    sys.exit(main())
