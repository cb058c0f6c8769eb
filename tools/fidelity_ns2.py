"""Our TCPs beside ns-2's on one lossy link, point by point: part of `make fidelity`.

Runs scenarios/papers/arc_link.toml at every point of scenarios/ns2/measured.csv. A point agrees when our
mean is within 10 % of ns-2's up to round trips of 50 s and within 25 % beyond, or when the 95 % intervals
touch. ns-2 and ns-3 differ by factors on CUBIC and Westwood+: where ns-3 was measured (NS3_POINTS), a value
between the two simulators agrees too.

CUBIC and Westwood+ of ns-2 are the code of Linux 2.6.22 (TCP-Linux), and differ from ours by known causes:
- CUBIC keeps 819/1024 of the window at a loss; RFC 9438, which ours follows, keeps 0.7.
- Westwood+ keeps rates in whole bytes per millisecond and rounds down in its filter, so that a rate below
  8 kbit/s is zero and one of some bytes per millisecond is far too low; then half of the window is left, as
  by Reno; and its window grows by bytes (RFC 3465). The paper, which ours follows, has real numbers.
Where ours does not agree as it is, it is run as ns-2 has it; "as Linux 2.6.22" says that it agrees then.
Exit code 1 when a point does not agree and is not one of KNOWN.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fidelity import interval

ROOT = Path(__file__).resolve().parent.parent
LINK = ROOT / "scenarios" / "papers" / "arc_link.toml"
# ns-3.44's goodput as shares of ns-2's: least and greatest over the points below.
NS3 = {"cubic": (1 / 6, 1.0), "westwood_plus": (1.0, 3.1)}
# Round trips in s at which ns-3 was measured, with runs that end after a time and p = 0.001.
NS3_POINTS = (10.0, 600.0, 2000.0)
# Ours with what the code of Linux 2.6.22 has instead.
AS_NS2 = {
    "cubic": '{ name = "cubic", beta = 0.7998 }',
    "westwood_plus": '{ name = "westwood_plus", linux_2_6 = true }',
}
# Longer than every file takes.
FOREVER_S = 4_000_000
# Points that do not agree either way, and the known cause.
KNOWN = {
    ("cubic", "cap", 600.0, 1e-4): "ns-2 reduces its window 127 times for 51 losses",
}


@dataclass(frozen=True)
class Point:
    """What ns-2 measured."""

    controller: str
    mode: str
    rtt_s: float
    loss: float
    amount: int
    mean: float
    half: float


def points() -> list[Point]:
    """All points, in the order of the file."""
    with (ROOT / "scenarios" / "ns2" / "measured.csv").open() as rows:
        return [
            Point(
                row["controller"],
                row["mode"],
                float(row["rtt_s"]),
                float(row["loss"]),
                int(row["cap_s_or_file_bytes"]),
                float(row["goodput_bit_per_s"]),
                float(row["half_interval_bit_per_s"] or "nan"),
            )
            for row in csv.DictReader(rows)
        ]


def run(binary: Path, point: Point, seed: int, controller: str) -> float:
    """Our goodput in bit/s."""
    cap = point.amount if point.mode == "cap" else FOREVER_S
    size = 1_000_000_000 if point.mode == "cap" else point.amount
    sets = {
        "controller": controller,
        "rtt": f"{point.rtt_s:g} s",
        "loss": f"{point.loss:g}",
        "file_size": f"{size} B",
        "time_limit": f"{cap} s",
    }
    command = [str(binary), "run", str(LINK), "--seed", str(seed), "--json"]
    command += [part for key, value in sets.items() for part in ("--set", f"{key}={value}")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return float(json.loads(done.stdout)["goodput_bit_per_s"])


def verdict(point: Point, mean: float, half: float) -> str:
    """How a point agrees, or NO."""
    tolerance = 0.10 if point.rtt_s <= 50 else 0.25
    if abs(mean / point.mean - 1) <= tolerance:
        return "yes"
    reach = sum(h for h in (half, point.half) if not math.isnan(h))
    if abs(mean - point.mean) <= reach:
        return "interval"
    least, greatest = NS3.get(point.controller, (1.0, 1.0))
    measured = point.mode == "cap" and point.loss == 1e-3 and point.rtt_s in NS3_POINTS
    if measured and least * point.mean <= mean <= greatest * point.mean:
        return "between ns-2 and ns-3"
    return "NO"


def main() -> int:
    """Prints the table; 1 when a point does not agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("controller", nargs="*", help="default: all")
    options = parser.parse_args()
    chosen = [p for p in points() if not options.controller or p.controller in options.controller]
    misses = open_points = 0
    print(f"{'controller':15}{'mode':5}{'RTT s':>7}{'loss':>8}{'amount':>12}", end="")
    print(f"{'Lightlag kbit/s':>22}{'ns-2 kbit/s':>22}  agrees")
    with ThreadPoolExecutor(2) as pool:

        def measure(point: Point, controller: str) -> tuple[float, float]:
            seeds = range(1, options.seeds + 1)
            return interval(list(pool.map(lambda seed: run(options.binary, point, seed, controller), seeds)))

        for point in chosen:
            mean, half = measure(point, point.controller)
            agrees = verdict(point, mean, half)
            if agrees == "NO" and point.controller in AS_NS2:
                theirs = measure(point, AS_NS2[point.controller])
                if verdict(point, *theirs) != "NO":
                    agrees = f"as Linux 2.6.22: {theirs[0] / 1e3:.4g} kbit/s"
            known = KNOWN.get((point.controller, point.mode, point.rtt_s, point.loss))
            if agrees == "NO" and known:
                agrees = f"NO (known: {known})"
            misses += agrees == "NO"
            open_points += agrees.startswith("NO (")
            shown = [f"{m / 1e3:.4g} ± {h / 1e3:.2g}" for m, h in ((mean, half), (point.mean, point.half))]
            print(
                f"{point.controller:15}{point.mode:5}{point.rtt_s:>7g}{point.loss:>8g}{point.amount:>12}"
                f"{shown[0]:>22}{shown[1]:>22}  {agrees}",
                flush=True,
            )
    print(f"{misses + open_points} of {len(chosen)} points do not agree, {open_points} of them known")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
