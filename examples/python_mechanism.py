#!/usr/bin/env python3
"""A congestion mechanism of one's own, compared with no control and with a published one.

It runs in seconds, prints a table and saves a chart::

    python examples/python_mechanism.py --out figure.html
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import polars as pl

import lightlag


class Threshold(lightlag.Mechanism):
    """Takes copies from others only while the buffer is emptier than a threshold.

    What a node created itself may use the whole buffer; when room is short, the copy goes that has
    crossed the most links, as the network has others of it.
    """

    name = "threshold"
    level = lightlag.parameter(
        0.8, low=0.0, high=1.0, meaning="Share of the buffer above which copies are refused."
    )

    def admit(self, at: lightlag.Local, replica: lightlag.Replica, sender: int) -> lightlag.Refusal | None:
        """Refuse what would fill the buffer beyond the threshold, but never a delivery."""
        if replica.destination == at.node:
            return None
        full = at.store.used + replica.size > self.level * at.store.capacity
        return lightlag.Refusal.CONGESTION if full else None

    def make_room(
        self, at: lightlag.Local, incoming: lightlag.Bundle, preferred: int | None
    ) -> lightlag.Drop | None:
        """Drop the copy with the most hops."""
        idle = [replica for replica in at.store.replicas if replica.sending == 0]
        if not idle:
            return None
        return lightlag.Drop(max(idle, key=lambda replica: (replica.hops, -replica.received_s)).id)

    def observe(self, at: lightlag.Local) -> dict[str, float]:
        """Show how far the buffer is from the threshold, in bytes."""
        return {"headroom": self.level * at.store.capacity - at.store.used}


SCENARIO = """
name = "threshold"
duration = "30 min"
seeds = [1, 2, 3]
router = "epidemic"
mechanism = ["none", "credit", "threshold"]
buffer = ["500 kB", "1000 kB", "1500 kB"]
mobility = { model = "random_waypoint", area = "300 m x 300 m", speed = "0.5..1.5 m/s", pause = "0..60 s" }
radio = { range = "50 m", rate = "250 kbit/s" }

[nodes.walkers]
count = 20

[traffic.mail]
interval = "10..20 s"
size = "50..100 kB"
lifetime = "30 min"
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the sweep, print the means, save the chart."""
    options = argparse.ArgumentParser(description="Compare a mechanism in Python with two in Rust.")
    options.add_argument("--out", type=Path, default=Path("threshold.html"), help="the chart's file")
    out: Path = options.parse_args(arguments).out

    runs = lightlag.sweep(lightlag.Scenario(SCENARIO))
    means = runs.group_by("mechanism", "buffer", maintain_order=True).agg(
        pl.mean("delivery_prob", "latency_avg", "overhead_ratio")
    )
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_hide_dataframe_shape=True, float_precision=3):
        print(means)

    chart = lightlag.figures.lines(
        runs, x="buffer", y="delivery_prob", title="Delivery ratio", y_title="delivery ratio"
    )
    chart.save(out)
    print(f"chart in {out}")


if __name__ == "__main__":
    main()
