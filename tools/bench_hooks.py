#!/usr/bin/env python3
"""What hooks in Python cost: one run with an algorithm of Rust and with its twin in Python, as a ratio.

Both happen by turns in one process, so the speed of the machine matters little; the build does:

    cargo build --release --package lightlag-python
    cp target/release/lib_lightlag.so python/lightlag/_lightlag.abi3.so
    PYTHONPATH=python python tools/bench_hooks.py
"""

from __future__ import annotations

import argparse
import runpy
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import lightlag

TOP = Path(__file__).resolve().parents[1]


class Epidemic(lightlag.Router):
    """What `epidemic` does."""

    name = "bench_epidemic"
    fixed_state = True

    def score(self, at: lightlag.Local, replica: lightlag.Replica, peer: int) -> float:
        """Everybody gets everything."""
        return 0.0


class Admits(lightlag.Mechanism):
    """What `none` does, which admits everything."""

    name = "bench_admit"

    def admit(self, at: lightlag.Local, replica: lightlag.Replica, sender: int) -> lightlag.Refusal | None:
        """Take it."""
        return None


class MakesRoom(lightlag.Mechanism):
    """What `none` does when a buffer is full."""

    name = "bench_make_room"

    def make_room(
        self, at: lightlag.Local, incoming: lightlag.Bundle, preferred: int | None
    ) -> lightlag.Drop | None:
        """The oldest goes."""
        if preferred is not None:
            return lightlag.Drop(preferred)
        oldest = at.store.oldest_idle()
        return None if oldest is None else lightlag.Drop(oldest.id)


class Observes(lightlag.Mechanism):
    """What `none` does, with a hook that is hardly called."""

    name = "bench_observe"

    def observe(self, at: lightlag.Local) -> dict[str, float]:
        """Nothing to show."""
        return {}


def pairs() -> Iterator[tuple[str, lightlag.Scenario, str, str, str]]:
    """What is measured: the scenario, the key, the algorithm of Rust and its twin."""
    walk = lightlag.Scenario.read(TOP / "examples/walkers.toml").set("duration", "12 h")
    example = runpy.run_path(str(TOP / "examples/python_controllers.py"))
    flows = lightlag.Scenario(str(example["FLOWS"]))
    yield "a hook that is hardly called (`observe`)", walk, "mechanism", "none", "bench_observe"
    yield "`score` of a router", walk, "router", "epidemic", "bench_epidemic"
    yield "`admit` of a mechanism", walk, "mechanism", "none", "bench_admit"
    yield "`make_room` of a mechanism", walk, "mechanism", "none", "bench_make_room"
    yield "all hooks of a controller (`new_reno`)", flows, "controller", "new_reno", "python_new_reno"


def seconds(scenario: lightlag.Scenario) -> tuple[float, str]:
    """How long a run takes, and its figures."""
    began = time.perf_counter()
    result = lightlag.run(scenario, seed=1, judge=False, progress=False)
    return time.perf_counter() - began, result.json()


def main() -> None:
    """Print a table."""
    options = argparse.ArgumentParser(description="Measure what hooks in Python cost.")
    options.add_argument("--rounds", type=int, default=9, help="how often each run is repeated")
    rounds: int = options.parse_args().rounds
    print("| hooks in Python | time of the run beside Rust |\n|---|---|")
    for what, scenario, key, rust, python in pairs():
        both = [scenario.copy().set(key, name) for name in (rust, python)]
        ratios = []
        for _ in range(rounds):
            (one_s, one), (other_s, other) = (seconds(each) for each in both)
            assert one == other, f"{python} is not a twin of {rust}"
            ratios.append(other_s / one_s)
        print(f"| {what} | {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |")


if __name__ == "__main__":
    main()
