"""Our TCPs beside ns-2's on one lossy link, point by point: part of `make fidelity`.

Runs scenarios/papers/arc_link.toml at every point of scenarios/ns2/measured.csv. A point agrees when our
mean is within 10 % of ns-2's up to round trips of 50 s and within 25 % beyond, or when the 95 % intervals
touch. From round trips of 10 s on ns-2 and ns-3 differ by factors on CUBIC and Westwood+: there a value
between the two simulators agrees too. Exit code 1 when a point does not agree.
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
# ns-3.44's goodput as shares of ns-2's from round trips of 10 s on: least and greatest.
NS3 = {"cubic": (1 / 6, 1.0), "westwood_plus": (1.0, 3.1)}
# Longer than every file takes.
FOREVER_S = 4_000_000


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


def run(binary: Path, point: Point, seed: int) -> float:
    """Our goodput in bit/s."""
    cap = point.amount if point.mode == "cap" else FOREVER_S
    size = 1_000_000_000 if point.mode == "cap" else point.amount
    sets = {
        "controller": point.controller,
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
    if point.rtt_s >= 10 and least * point.mean <= mean <= greatest * point.mean:
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
    misses = 0
    print(f"{'controller':15}{'mode':5}{'RTT s':>7}{'loss':>8}{'amount':>12}", end="")
    print(f"{'Lightlag kbit/s':>22}{'ns-2 kbit/s':>22}  agrees")
    with ThreadPoolExecutor(2) as pool:
        for point in chosen:
            jobs = [pool.submit(run, options.binary, point, s + 1) for s in range(options.seeds)]
            mean, half = interval([job.result() for job in jobs])
            agrees = verdict(point, mean, half)
            misses += agrees == "NO"
            shown = [f"{m / 1e3:.4g} ± {h / 1e3:.2g}" for m, h in ((mean, half), (point.mean, point.half))]
            print(
                f"{point.controller:15}{point.mode:5}{point.rtt_s:>7g}{point.loss:>8g}{point.amount:>12}"
                f"{shown[0]:>22}{shown[1]:>22}  {agrees}",
                flush=True,
            )
    print(f"{misses} of {len(chosen)} points do not agree")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
