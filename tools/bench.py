"""Time and memory of whole runs beside The ONE's: `make bench`.

Every row is one process of its own (`lightlag run FILE --json`, one thread), timed by the operating
system: user + system CPU seconds and peak resident memory, the least of --repeat runs. The ONE's
figures (April 2023, commit c973bfb, OpenJDK 17, cellSizeMult 5 unless named) were measured on a loaded
two-core machine with the same settings; they are a scale, not a race on one machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

SETTINGS = """\
Scenario.name = {name}
Scenario.simulateConnections = true
Scenario.updateInterval = 0.1
Scenario.endTime = {end}
Scenario.nrofHostGroups = 1
wifi.type = SimpleBroadcastInterface
wifi.transmitSpeed = 312500
wifi.transmitRange = 150
Group.movementModel = RandomWaypoint
Group.router = {router}
Group.bufferSize = 500k
Group.waitTime = 0, 120
Group.speed = 0.5, 1.5
Group.msgTtl = 720
Group.nrofInterfaces = 1
Group.interface1 = wifi
Group.nrofHosts = {nodes}
Group1.groupID = n
Events.nrof = 1
Events1.class = MessageEventGenerator
Events1.interval = 1,100
Events1.size = 50k,100k
Events1.hosts = 0,{nodes}
Events1.prefix = M1_
MovementModel.rngSeed = 1
MovementModel.worldSize = {side}, {side}
MovementModel.warmup = 0
ProphetRouter.secondsInTimeUnit = 30
SprayAndWaitRouter.nrofCopies = 10
SprayAndWaitRouter.binaryMode = true
Report.nrofReports = 1
Report.warmup = 0
Report.reportDir = reports/
Report.report1 = MessageStatsReport
"""


@dataclass(frozen=True)
class Case:
    """A run, the goal for it, and what The ONE needed."""

    router: str
    nodes: int
    side_m: int
    end_s: int
    goal_cpu_s: float | None = None
    goal_mb: float | None = None
    the_one: str = "-"


EPIDEMIC, PROPHET, SPRAY = "EpidemicRouter", "ProphetRouter", "SprayAndWaitRouter"

# The paper's terrestrial scenario: 12 h, 1 km2.
PAPER = (
    Case(EPIDEMIC, 50, 1000, 43200, 1.5, None, "117 s"),
    Case(PROPHET, 50, 1000, 43200, None, None, "62 s"),
    Case(SPRAY, 50, 1000, 43200, 0.15, None, "60 s"),
)
# One hour at 50 nodes/km2.
GROWTH = (
    Case(SPRAY, 50, 1000, 3600, None, None, "8.1 s, 302 MB"),
    Case(SPRAY, 200, 2000, 3600, None, None, "31.1 s, 303 MB"),
    Case(SPRAY, 1000, 4472, 3600, None, None, "234.5 s, 289 MB (cellSizeMult 1: about 55 s)"),
    Case(SPRAY, 2000, 6325, 3600, None, None, "10 min of it: 58.6 s, 310 MB"),
    Case(SPRAY, 10000, 14142, 3600, 10.0, 500.0, "-"),
    Case(EPIDEMIC, 50, 1000, 3600, None, None, "10.6 s, 307 MB"),
    Case(EPIDEMIC, 200, 2000, 3600, None, None, "52.6 s, 326 MB"),
    Case(EPIDEMIC, 1000, 4472, 3600, None, None, "377 s, 590 MB"),
)


def timed(command: list[str]) -> tuple[float, float, str]:
    """CPU seconds, peak megabytes and standard output of a command."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, printed


def measure(binary: Path, settings: Path, *flags: str) -> tuple[float, float, dict[str, float]]:
    """CPU seconds, peak megabytes and figures of one run."""
    cpu, memory, printed = timed([str(binary), "run", str(settings), "--json", "--no-reports", *flags])
    return cpu, memory, json.loads(printed)


def row(binary: Path, case: Case, repeat: int, folder: Path) -> None:
    """Prints a line of the table."""
    name = f"{case.router}_{case.nodes}_{case.end_s}"
    settings = folder / f"{name}.txt"
    text = SETTINGS.format(name=name, router=case.router, nodes=case.nodes, side=case.side_m, end=case.end_s)
    settings.write_text(text)
    alone = [measure(binary, settings, "--no-judge") for _ in range(repeat)]
    judged = [measure(binary, settings) for _ in range(repeat)]
    cpu, memory, figures = min(r[0] for r in alone), max(r[1] for r in alone), alone[0][2]
    goals = [
        f"< {goal:g} {unit}" + ("" if value < goal else " MISSED")
        for goal, value, unit in ((case.goal_cpu_s, cpu, "s"), (case.goal_mb, memory, "MB"))
        if goal is not None
    ]
    per_transfer = cpu / max(figures["relayed"], 1) * 1e6
    with_judge = min(r[0] for r in judged)
    per_encounter = cpu / figures["encounters"] * 1e6
    print(
        f"{case.router:18}{case.nodes:>6}{case.end_s:>7}{figures['encounters']:>10}{figures['relayed']:>10}"
        f"{cpu:>9.2f}{with_judge:>9.2f}{memory:>7.0f}{per_transfer:>10.2f}{per_encounter:>9.2f}  "
        f"{', '.join(goals) or '-':18}  {case.the_one}",
        flush=True,
    )


# What a mechanism costs beside drop-oldest: the comparative study's walkers, and five times too much load.
WALKERS = """\
name = "mechanisms"
duration = "12 h"
router = "epidemic"
mechanism = "{mechanism}"
buffer = "500 kB"
receipts = {receipts}
mobility = {{ model = "random_waypoint", area = "1 km x 1 km", speed = "0.5..1.5 m/s", pause = "0..120 s" }}
radio = {{ range = "150 m", rate = "2.5 Mbit/s" }}
[nodes.n]
count = 50
[traffic.messages]
interval = "{interval}"
size = "50..100 kB"
from = "all"
to = "all"
lifetime = "12 h"
"""
# With receipts, which copy_value brings along, and what is offered again and again without them.
MECHANISMS = (("none", True), ("credit", True), ("copy_value", True), ("none", False))
INTERVALS = ("1..100 s", "1..30 s", "1..4 s")


def mechanisms(binary: Path, repeat: int, folder: Path) -> None:
    """Prints what a transfer takes under each mechanism, and how often that of `none` with receipts."""
    print(f"\n{'mechanism':18}{'interval':>10}{'transfers':>11}{'CPU s':>9}{'us/trans':>10}{'of none':>9}")
    for interval in INTERVALS:
        base = None
        for mechanism, receipts in MECHANISMS:
            settings = folder / "mechanisms.toml"
            told = str(receipts).lower()
            settings.write_text(WALKERS.format(mechanism=mechanism, interval=interval, receipts=told))
            runs = [measure(binary, settings, "--no-judge") for _ in range(repeat)]
            cpu, transfers = min(run[0] for run in runs), runs[0][2]["relayed"]
            each = cpu / max(transfers, 1) * 1e6
            base = base or each
            name = mechanism if receipts else f"{mechanism}, no receipts"
            print(
                f"{name:18}{interval:>10}{transfers:>11}{cpu:>9.2f}{each:>10.2f}{each / base:>9.2f}",
                flush=True,
            )


def main() -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description="Time and memory beside The ONE's.")
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print(
        "CPU s: the world alone (--no-judge); judged: with the judge that watches every run by default.\n"
        f"{'router':18}{'nodes':>6}{'sim s':>7}{'contacts':>10}{'transfers':>10}{'CPU s':>9}{'judged':>9}"
        f"{'MB':>7}{'us/trans':>10}{'us/cont':>9}  {'goal':18}  The ONE"
    )
    with tempfile.TemporaryDirectory() as folder:
        for case in PAPER + GROWTH:
            repeat = options.repeat if case.nodes < 1000 else 1
            row(options.binary, case, repeat, Path(folder))
        mechanisms(options.binary, options.repeat, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
