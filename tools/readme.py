"""Puts the picture and the table that `make run` has made into the README: readme.py, after `make run`."""

from __future__ import annotations

import json
import math
import shutil
import sys
from pathlib import Path
from typing import Any

STUDY = Path("out/study/dtn-congestion-quick")
PICTURE = Path("out/pictures/figure_9.png")
MARKS = ("<!-- results -->\n", "<!-- /results -->")
ROUTERS = {"epidemic": "epidemic", "prophet": "PRoPHET", "spray_and_wait": "spray and wait"}
MECHANISMS = ("none", "rrcc", "afner", "storage_routing", "credit")
METRICS = {
    "delivery_prob": "Delivery ratio",
    "latency_avg": "Latency of what was delivered, s",
    "overhead_ratio": "Overhead, transfers per delivery",
}
SCENE = {"mobility": "random_waypoint", "period_s": "300", "receipts": "false", "drop_memory": "false"}

Point = dict[str, dict[str, Any]]


def rounded(value: float, digits: int) -> str:
    """Fixed notation with so many significant digits."""
    if value == 0:
        return "0"
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"


def estimate(point: Point, metric: str) -> str:
    """Mean and half of the 95 % interval."""
    told = point["metrics"][metric]
    return f"{rounded(told['mean'], 3)} ± {rounded((told['high'] - told['low']) / 2, 2)}"


def tables(points: list[Point]) -> str:
    """A table a metric: mechanisms down, routers across."""
    scene = [p for p in points if all(p["values"].get(key) == value for key, value in SCENE.items())]
    found = {(p["values"]["mechanism"], p["values"]["router"]): p for p in scene}
    lines = []
    for metric, title in METRICS.items():
        lines += [
            "",
            f"**{title}**",
            "",
            f"| mechanism | {' | '.join(ROUTERS.values())} |",
            "|---|---|---|---|",
        ]
        for mechanism in MECHANISMS:
            at = (found.get((mechanism, router)) for router in ROUTERS)
            cells = ("–" if point is None else estimate(point, metric) for point in at)
            lines.append(f"| {mechanism} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", "AFNER works with epidemic routing only.", ""])


def main() -> int:
    """Writes README.md and docs/images."""
    summary = STUDY / "runs" / "summary.json"
    if not summary.exists() or not PICTURE.exists():
        print(f"{summary} or {PICTURE} is missing; run `make run` first", file=sys.stderr)
        return 2
    points: list[Point] = json.loads(summary.read_text())["points"]
    readme = Path("README.md")
    before, rest = readme.read_text().split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    readme.write_text(before + MARKS[0] + tables(points) + MARKS[1] + after)
    shutil.copy(PICTURE, "docs/images/delivery_ratio.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
