"""How a sweep scales: `make bench`, or `python3 tools/bench_sweep.py --runs 10000`.

Runs one sweep of short runs on one core and on all of them, and measures what no further core makes faster:
planning, and writing table and summary. That part is timed as a second call of the finished sweep: it reads
its journal, runs nothing, and writes everything again: rather too much than too little. From it the gain of n
cores follows by Amdahl's law, for these short runs and for longer ones.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, Popen

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Cost:
    """Seconds on the clock and of the processors, peak megabytes."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def timed(command: list[str]) -> Cost:
    """Runs a command to its end."""
    started = time.perf_counter()
    with Popen(command, stdout=DEVNULL, stderr=DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}")
    wall = time.perf_counter() - started
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def gain(cores: int, serial: float) -> float:
    """How many times faster `cores` cores are, if a share `serial` of the work runs on one (Amdahl 1967)."""
    return 1 / (serial + (1 - serial) / cores)


def main() -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=str(ROOT / "target/release/lightlag"))
    parser.add_argument("--scenario", default=str(ROOT / "examples/walkers.toml"))
    parser.add_argument("--runs", type=int, default=10000)
    given = parser.parse_args()
    cores = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "sweep"
        sweep = [given.binary, "sweep", given.scenario, "--seeds", f"1..{given.runs}", "--out", str(out)]
        walls = {}
        for threads in sorted({1, cores}):
            shutil.rmtree(out, ignore_errors=True)
            cost = timed([*sweep, "--threads", str(threads)])
            walls[threads] = cost.wall_s
            print(
                f"{given.runs} runs, {threads} at a time: {cost.wall_s:.1f} s, {cost.cpu_s:.1f} s of "
                f"processor, {1000 * cost.cpu_s / given.runs:.2f} ms each, peak {cost.peak_mb:.0f} MB"
            )
        again = timed(sweep)
        sizes = {path.name: path.stat().st_size / given.runs for path in sorted(out.iterdir())}
    share = again.cpu_s / cost.cpu_s
    each_ms = 1000 * cost.cpu_s / given.runs
    print(f"measured gain of {cores} cores: {walls[1] / walls[cores]:.2f}")
    print(f"serial part: {again.cpu_s:.2f} s, {100 * share:.2f} %, peak {again.peak_mb:.0f} MB")
    print("bytes a run: " + ", ".join(f"{name} {size:.0f}" for name, size in sizes.items()))
    print(f"{'runs of':>10}" + "".join(f"{n:>9}" for n in (2, 8, 64, 512)) + "  cores: times faster")
    for length in (each_ms, 10.0, 100.0, 1000.0):
        serial = min(1.0, share * each_ms / length)
        row = "".join(f"{gain(n, serial):>9.1f}" for n in (2, 8, 64, 512))
        print(f"{length:>7.1f} ms{row}")


if __name__ == "__main__":
    main()
