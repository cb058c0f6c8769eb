"""The strongest result of each part, beside the next best and the bound: the table at the end of `make run`.

results.py [--binary FILE] runs what is missing in out/results (about a minute) and prints the table.
`out/earth_mars` must hold the sweep of scenarios/earth_mars.toml, which `make run` makes.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[1]
OUT = TOP / "out/results"
EARTH_MARS = TOP / "out/earth_mars"
PAPERS = TOP / "scenarios/papers"
OURS = {"copy_value", "contact_rate", "short_queue", "adaptive"}
# Two-sided 95 % quantiles of Student's t by degrees of freedom.
STUDENT = {2: 4.303, 4: 2.776, 9: 2.262}
SEEDS = "1..5"
WALKERS = {
    "duration": '"2 h"',
    "router": '"epidemic"',
    "receipts": "true",
    "mobility": '{ model = "random_walk", area = "1 km x 1 km", speed = "0.5..1.5 m/s" }',
    "traffic.messages.interval": '"1..30 s"',
}
MECHANISMS = '["none", "rrcc", "afner", "storage_routing", "credit", "copy_value"]'
SPACE = {"rtt": '"600 s"', "time_limit": '"200000 s"'}
# Bytes of the file, its payload in a packet and the packet, bit/s, seconds of a round trip, loss.
FILE, PAYLOAD, PACKET, RATE, ROUND_TRIP, LOSS = 1e9, 1460, 1500, 1e6, 600, 0.001
CONSUMERS = ("short_queue", "dcp", "aimd", "cubic", "bbr", "ledbat", "pcon")
# Share of the best goodput from which a controller counts as one that fills the link.
FULL = 0.94


@dataclass(frozen=True)
class Value:
    """A mean, half of its 95 % interval, and its ends where they are not equally far."""

    mean: float
    half: float
    ends: tuple[float, float] | None = None

    def shown(self, scale: float = 1.0) -> str:
        """Both with the digits that the interval leaves."""
        mean, half = self.mean * scale, self.half * scale
        digits = 3 if half == 0 else max(0, 1 - math.floor(math.log10(half)))
        digits = min(digits, 3 if mean < 10 else 2)
        if self.ends:
            low, high = (end * scale for end in self.ends)
            return f"{mean:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"
        return f"{mean:.{digits}f} ± {half:.{digits}f}"


@dataclass(frozen=True)
class Task:
    """A line of the table: the best, the next best that is not ours, and what nothing can exceed."""

    name: str
    unit: str
    best: tuple[str, Value]
    next: tuple[str, Value]
    bound: str


def half(values: list[float]) -> Value:
    """Mean and half of the interval by Student's t."""
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return Value(mean, STUDENT[len(values) - 1] * math.sqrt(variance / len(values)))


def metric(point: dict[str, Any], name: str) -> Value:
    """A measure of a point of a sweep."""
    found = point["metrics"][name]
    mean, low, high = found["mean"], found["low"], found["high"]
    is_even = math.isclose(low + high, 2 * mean, rel_tol=1e-9)
    return Value(mean, (high - low) / 2, None if is_even else (low, high))


class Lab:
    """The command `lightlag`."""

    def __init__(self, binary: str) -> None:
        self.binary = binary

    def json(self, *words: str) -> Any:
        """What a command prints."""
        done = subprocess.run(
            [self.binary, *words, "--json"], cwd=TOP, check=True, capture_output=True, text=True
        )
        return json.loads(done.stdout)

    def sweep(self, scenario: Path, out: str, seeds: str, keys: dict[str, str]) -> list[dict[str, Any]]:
        """The points of a sweep; what is there already is not run again."""
        sets = [word for key, value in keys.items() for word in ("--set", f"{key}={value}")]
        words = ["sweep", str(scenario), "--out", str(OUT / out), "--seeds", seeds, *sets]
        points: list[dict[str, Any]] = self.json(*words)["points"]
        return points

    def bound(self, scenario: Path, seeds: list[str], keys: dict[str, str]) -> str:
        """Share of bundles that no router and no mechanism can exceed."""
        sets = [word for key, value in keys.items() for word in ("--set", f"{key}={value}")]
        found = self.json("bound", str(scenario), *seeds, *sets)["points"][0]
        return f"{metric(found, 'bound').mean:.3f}"


Named = tuple[str, Value]


def ranked(found: list[Named], better: Callable[[Named], float]) -> tuple[Named, Named]:
    """The best of all, and the best of those that are not ours."""
    best = max(found, key=better)
    others = [one for one in found if not OURS & set(one[0].split())]
    return best, max(others, key=better)


def bundles(lab: Lab, points: list[dict[str, Any]]) -> list[Named]:
    """Delivery ratios by router and mechanism."""
    del lab
    return [
        (
            f"{one['values'].get('mechanism')} over {one['values'].get('router', 'epidemic')}",
            metric(one, "delivery_prob"),
        )
        for one in points
    ]


def mean(one: Named) -> float:
    """More is better."""
    return one[1].mean


def earth_mars(lab: Lab) -> Task:
    """Bundles between planets, whose contacts are planned."""
    points = json.loads((EARTH_MARS / "summary.json").read_text())["points"]
    best, other = ranked(bundles(lab, points), mean)
    bound = lab.bound(TOP / "scenarios/earth_mars.toml", [], {})
    return Task("Earth and Mars, 48 h: bundles delivered", "", best, other, bound)


def walkers(lab: Lab) -> Task:
    """Bundles among people, whose contacts are random."""
    scenario = PAPERS / "dtn_congestion_figure_9.toml"
    points = lab.sweep(scenario, "walkers", "1..10", {**WALKERS, "mechanism": MECHANISMS})
    best, other = ranked(bundles(lab, points), mean)
    bound = lab.bound(scenario, ["--seeds", "1..10"], {**WALKERS, "mechanism": '"none"'})
    return Task("50 walkers, overload: bundles delivered", "", best, other, bound)


def space(lab: Lab) -> Task:
    """A file over a link with a round trip of ten minutes."""
    scenario = PAPERS / "arc_link.toml"
    tcp = lab.sweep(
        scenario, "tcp", SEEDS, {**SPACE, "controller": '["arc", "cubic", "bbr", "hybla", "sack"]'}
    )
    planned = {"transport": '"udpdtn"', "controller": '"contact_rate"', "planned_rate": '"1 Mbit/s"'}
    udpdtn = lab.sweep(scenario, "udpdtn", SEEDS, {**SPACE, **planned})
    found = [(f"{one['values']['controller']} over TCP", metric(one, "goodput_bit_per_s")) for one in tcp]
    best, other = ranked([*found, ("contact_rate over UDPDTN", metric(udpdtn[0], "goodput_bit_per_s"))], mean)
    sending_s = FILE / PAYLOAD * PACKET * 8 / RATE / (1 - LOSS)
    limit = FILE * 8 / (ROUND_TRIP / 2 + sending_s) / 1e3
    return Task("1 GB over 1 Mbit/s, round trip 10 min", "kbit/s", best, other, f"{limit:.0f}")


def names(lab: Lab) -> Task:
    """Named data over a path with jitter: the queue of those that fill the link."""
    words = ("run", str(PAPERS / "dcp_single.toml"), "--set", "jitter=2 ms")
    runs = {
        one: [
            lab.json(*words, "--set", f"controller={one}", "--seed", str(seed))["consumers"]["one"]
            for seed in range(1, 6)
        ]
        for one in CONSUMERS
    }
    goodput = {one: half([run["goodput_bit_per_s"] for run in found]).mean for one, found in runs.items()}
    full = [one for one in CONSUMERS if goodput[one] >= FULL * max(goodput.values())]
    delays = [(one, half([run["queueing_delay_p99_s"] * 1e3 for run in runs[one]])) for one in full]
    best, other = ranked(delays, lambda one: -one[1].mean)
    return Task("Named data, full 10 Mbit/s link: queue (p99)", "ms", best, other, "0")


def connections(lab: Lab) -> Task:
    """A connection over a path whose delay goes to 5 s and back."""
    scenario = PAPERS / "adaptive_short.toml"
    adaptive = {"transport": '"adaptive"'}

    def goodput(out: str, keys: dict[str, str]) -> Value:
        return metric(lab.sweep(scenario, out, SEEDS, keys)[0], "goodput_bit_per_s")

    ours = goodput("adaptive", adaptive)
    tcp = [(f"{one} over TCP", goodput(one, {"controller": f'"{one}"'})) for one in ("cubic", "sack", "bbr")]
    best, other = ranked([("adaptive (TCP and UDPDTN)", ours), *tcp], mean)
    oracle = goodput("oracle", {**adaptive, "flows.file.switch": '"oracle"'})
    return Task("Connection, delay 0 to 5 s: throughput", "kbit/s", best, other, f"{oracle.mean / 1e3:.0f}")


TASKS = (earth_mars, walkers, space, names, connections)
# bit/s are shown as kbit/s.
SCALE = {"kbit/s": 1e-3}


def shown(task: Task, value: Value) -> str:
    """A value in the unit of its task."""
    return f"{value.shown(SCALE.get(task.unit, 1.0))} {task.unit}".strip()


def table(tasks: list[Task]) -> str:
    """What `make run` prints last."""
    line = "{:<45} {:1} {:<27} {:>22} {:>9}"
    lines = [line.format("task", "", "method", "result (95 % interval)", "bound")]
    for task in tasks:
        lines.append(line.format(task.name, "*", task.best[0], shown(task, task.best[1]), task.bound))
        lines.append(line.format("", "", task.next[0], shown(task, task.next[1]), ""))
    lines += [
        "* the best method; below it the best one that is not Lightlag's own. bound: no method can exceed it",
        "(connection: an oracle that knows the delays in advance). Conditions: docs/guide/results.md",
    ]
    return "\n".join(lines)


def main() -> int:
    """Runs what is missing and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=str(TOP / "target/release/lightlag"))
    lab = Lab(parser.parse_args().binary)
    print(table([task(lab) for task in TASKS]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
