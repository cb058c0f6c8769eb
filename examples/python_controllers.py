#!/usr/bin/env python3
"""Congestion controllers in Python, beside those in Rust that they repeat.

Both give the same run, to the last digit; a test compares them. They are models for controllers of one's
own, of TCP flows and of consumers of named data::

    python examples/python_controllers.py
"""

from __future__ import annotations

import math

import lightlag
from lightlag import Ack, Cause, Loss


class Reno(lightlag.Controller):
    """The window law of NewReno (RFC 5681): slow start, then one segment per round trip; half at a loss."""

    name = "python_new_reno"
    paper = "RFC 6582"
    recovery = "new_reno"
    initial_window = lightlag.parameter(2, low=1, high=10**6, meaning="Segments that may leave at the start.")

    def __init__(self) -> None:
        self.cwnd = float(self.initial_window * self.segment)
        self.threshold = math.inf

    def grow(self) -> None:
        """An acknowledgement: one segment in slow start, else segment²/window (RFC 5681, equations 2, 3)."""
        slow_start = self.cwnd < self.threshold
        self.cwnd += self.segment if slow_start else self.segment * self.segment / self.cwnd

    def reduce(self, threshold: float) -> None:
        """A loss under repair: continue from `threshold`, two segments at least."""
        self.threshold = max(threshold, 2.0 * self.segment)
        self.cwnd = self.threshold

    def on_ack(self, ack: Ack) -> None:
        """Grow while the window limits the sender and nothing is being repaired."""
        if not ack.recovering and ack.limited:
            self.grow()

    def on_loss(self, loss: Loss) -> None:
        """Halve once per episode; after a timeout begin again with one segment."""
        half = min(self.cwnd, loss.flight_size) / 2.0
        if loss.cause == Cause.TIMEOUT:
            self.reduce(self.threshold if loss.again else half)
            self.cwnd = float(self.segment)
        elif loss.episode:
            self.reduce(half)

    def window(self) -> int:
        """What may be in flight."""
        return int(self.cwnd)

    def observe(self) -> dict[str, float]:
        """Both numbers of its state."""
        return {"window": self.cwnd, "threshold": self.threshold}


class Aimd(Reno):
    """AIMD as consumers of Named Data Networking use it: less at each loss or mark, no restart."""

    name = "python_aimd"
    paper = "Schneider et al., A Practical Congestion Control Scheme for Named Data Networking (2016)"
    recovery = "rack"
    beta = lightlag.parameter(
        0.5, low=0.1, high=0.99, meaning="Share of the window that is left after a loss."
    )

    def on_ack(self, ack: Ack) -> None:
        """Grow by data only."""
        if not ack.recovering and ack.limited and ack.acked > 0:
            self.grow()

    def on_loss(self, loss: Loss) -> None:
        """Once per episode, whatever the cause."""
        if loss.episode:
            self.reduce(self.cwnd * self.beta)


FLOWS = """
name = "two files"
duration = "300 s"
seeds = [1]
sample_every = "1 s"

[parameters]
controller = "new_reno"

[links.space]
from = "earth"
to = "moon"
rate = "2 Mbit/s"
round_trip = "2600 ms"
loss = 0.002
queue = "30 packets"

[flows.file]
from = "earth"
to = "moon"
count = 2
controller = "$controller"
size = "2 MB"
"""

CONSUMERS = """
name = "a book"
duration = "60 s"
seeds = [1]
sample_every = "1 s"

[parameters]
controller = "aimd"

[links.access]
from = "reader"
to = "library"
rate = "2 Mbit/s"
delay = "40 ms"
loss = 0.005
queue = "20 packets"

[producers.books]
at = "library"
prefix = "/books"
object = "2 MB"

[consumers.reader]
at = "reader"
object = "/books/dune"
count = 2
controller = "$controller"
"""


def main() -> None:
    """Runs each scenario in both languages."""
    for text, names in ((FLOWS, ("new_reno", "python_new_reno")), (CONSUMERS, ("aimd", "python_aimd"))):
        for name in names:
            result = lightlag.run(lightlag.Scenario(text).set("controller", name))
            print(f"{result.scenario:10} {name:16} {result.goodput_bit_per_s:.0f} bit/s")


if __name__ == "__main__":
    main()
