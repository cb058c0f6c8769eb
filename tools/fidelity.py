"""Our figures beside The ONE's, scenario by scenario: `make fidelity`.

Runs every settings file of scenarios/the_one with ten seeds and compares five measures with what The
ONE reported (scenarios/the_one/measured.csv, five seeds). They agree when our 95 % interval contains
The ONE's mean or overlaps its interval. Exit code 1 when a measure does not agree.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import statistics
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "scenarios" / "the_one"
MEASURES = ("delivery_prob", "overhead_ratio", "latency_avg", "hopcount_avg", "buffertime_avg")
# Student's t, 97.5 %, by degrees of freedom.
T = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


def interval(values: list[float]) -> tuple[float, float]:
    """Mean and half width of the 95 % interval of the values that are numbers."""
    numbers = [v for v in values if not math.isnan(v)]
    if not numbers:
        return math.nan, math.nan
    mean = statistics.fmean(numbers)
    if len(numbers) == 1:
        return mean, math.nan
    half = T[min(len(numbers) - 1, 9)] * statistics.stdev(numbers) / math.sqrt(len(numbers))
    return mean, half


def the_one() -> dict[str, dict[str, list[float]]]:
    """What The ONE measured: scenario -> measure -> one value per seed."""
    figures: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with (SCENARIOS / "measured.csv").open() as rows:
        for row in csv.DictReader(rows):
            for measure in MEASURES:
                figures[row["scenario"]][measure].append(float(row[measure]))
    return figures


def run(binary: Path, scenario: str, seed: int) -> dict[str, float]:
    """One run of ours."""
    command = [str(binary), "run", str(SCENARIOS / f"{scenario}.txt"), "--seed", str(seed), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    summary = json.loads(done.stdout)
    return {m: math.nan if summary[m] is None else summary[m] for m in MEASURES}


def agrees(ours: tuple[float, float], theirs: tuple[float, float]) -> bool:
    """Whether the intervals touch; a measure that neither has (NaN) agrees."""
    if math.isnan(ours[0]) or math.isnan(theirs[0]):
        return math.isnan(ours[0]) and math.isnan(theirs[0])
    reach = sum(half for half in (ours[1], theirs[1]) if not math.isnan(half))
    return abs(ours[0] - theirs[0]) <= reach + 1e-9


def main() -> int:
    """Prints the table; 1 when something does not agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("scenario", nargs="*", help="default: all")
    options = parser.parse_args()
    figures = the_one()
    misses = 0
    print(f"{'scenario':22}{'measure':16}{'Lightlag':>22}{'The ONE':>22}  agrees")
    for scenario in options.scenario or sorted(figures):
        with ThreadPoolExecutor(2) as pool:
            jobs = [pool.submit(run, options.binary, scenario, s + 1) for s in range(options.seeds)]
            runs = [job.result() for job in jobs]
        for measure in MEASURES:
            ours = interval([r[measure] for r in runs])
            theirs = interval(figures[scenario][measure])
            good = agrees(ours, theirs)
            misses += not good
            shown = [f"{mean:.4g} ± {half:.3g}" for mean, half in (ours, theirs)]
            print(f"{scenario:22}{measure:16}{shown[0]:>22}{shown[1]:>22}  {'yes' if good else 'NO'}")
    print(f"{misses} of {len(MEASURES) * len(options.scenario or figures)} measures do not agree")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
