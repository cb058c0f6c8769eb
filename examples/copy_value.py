#!/usr/bin/env python3
"""The mechanism `copy_value` in Python, for contacts that are not planned, beside the one in Rust.

Both give the same run, to the last digit; a test compares them. It is a model for mechanisms that keep
state on copies and learn from stays of copies::

    python examples/copy_value.py
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from dataclasses import dataclass, field
from pathlib import Path

import lightlag
from lightlag import Bundle, Drop, DropReason, Local, Refusal, RefusedIds, Replica, Wait

SECOND_NS = 1e9
WALKERS = Path(__file__).with_name("walkers.toml")


@dataclass
class Stays:
    """How many stays of copies ended in what one counts, and how long all of them took."""

    ends: float = 0.0
    seconds: float = 0.0

    def add(self, seconds: float, ends: int) -> None:
        """Another stay."""
        self.ends += ends
        self.seconds += seconds

    def halve(self) -> None:
        """What is older counts half."""
        self.ends /= 2.0
        self.seconds /= 2.0


@dataclass
class Waits:
    """How long copies wait for the delivery of their bundle."""

    all: Stays = field(default_factory=Stays)
    of: defaultdict[int, Stays] = field(default_factory=lambda: defaultdict(Stays))
    """By destination."""

    def on_end(self, destination: int, seconds: float, reason: DropReason) -> None:
        """A stay ended."""
        delivered = int(reason == DropReason.ACKNOWLEDGED)
        self.all.add(seconds, delivered)
        self.of[destination].add(seconds, delivered)
        if self.all.ends > REMEMBERED:
            self.all.halve()
            for stays in self.of.values():
                stays.halve()

    def usual(self, now_s: float) -> float:
        """The wait for any destination."""
        return max(now_s if self.all.ends == 0.0 else self.all.seconds / self.all.ends, 1.0)

    def expected(self, destination: int, now_s: float) -> float:
        """The wait for a destination: one delivery after the usual wait, and what was seen."""
        seen = self.of.get(destination, Stays())
        return (self.usual(now_s) + seen.seconds) / (1.0 + seen.ends)


# Number of ends of stays from which on the older ones count half.
REMEMBERED = 50.0
# No time left is taken to be shorter, in seconds.
LEAST_LEFT = 0.001
# Free share of the buffer at which drops are forgotten.
RELIEVED = 0.5


class CopyValue(lightlag.Mechanism):
    """Keeps the copies that add most to delivery for each byte and second that they take."""

    name = "python_copy_value"
    needs_receipts = True
    smallest_first = True
    margin = lightlag.parameter(1.0, low=0, high=100, meaning="Doublings of worth above a victim's.")
    memory = lightlag.parameter(65_536, low=0, high=10**9, meaning="Drops that are remembered.")

    def __init__(self) -> None:
        self.waits = Waits()
        self.since: dict[int, int] = {}
        """When the copies here came, in nanoseconds: `on_dropped` does not say it."""
        self.dropped = RefusedIds()
        self.order: deque[int] = deque()
        self.full: defaultdict[int, set[int]] = defaultdict(set)
        """What each peer in contact had no room for."""
        self.offered: int | None = None

    def worth(self, at: Local, bundle: Bundle, given: int, held_ns: int) -> float:
        """What a copy adds to the chance of delivery for each byte and second."""
        if bundle.destination == at.node:
            return math.inf
        wait = self.waits.expected(bundle.destination, at.now_ns / SECOND_NS) + held_ns / SECOND_NS
        left = max((bundle.expires_ns - at.now_ns) / SECOND_NS, LEAST_LEFT)
        return 1.0 / (wait + given * left) / bundle.size

    def make_room(self, at: Local, incoming: Bundle, preferred: int | None) -> Drop | Wait:
        """Drops the copy that is worth least, if the incoming one is worth more."""
        worth = self.worth(at, incoming, 0, 0)
        least: tuple[float, int] | None = None
        for copy in at.store:
            if copy.id == preferred or (preferred is None and copy.sending == 0):
                own = self.worth(at, copy, copy.mark, at.now_ns - copy.received_ns)
                if least is None or own < least[0]:
                    least = (own, copy.id)
        if least is not None and worth / 2.0 ** self.doublings(at, incoming) > least[0]:
            return Drop(least[1])
        return Wait()

    def doublings(self, at: Local, incoming: Bundle) -> float:
        """By how much the incoming bundle must be worth more: less, if it would be lost otherwise."""
        created = incoming.source == at.node and self.offered != incoming.id
        can_wait = at.application_free is None or incoming.size <= at.application_free
        return -self.margin if created and not can_wait else self.margin

    def admit(self, at: Local, replica: Replica, sender: int) -> Refusal | None:
        """Refuses what was dropped here before, and remembers the rest for `make_room`."""
        self.forget_drops_if_relieved(at)
        if replica.destination != at.node and replica.id in self.dropped:
            return Refusal.DROPPED_BEFORE
        self.offered = replica.id
        return None

    def forget_drops_if_relieved(self, at: Local) -> None:
        """Where half the buffer is free, the load that caused the drops has passed."""
        if self.order and at.store.free >= RELIEVED * at.store.capacity:
            while self.order:
                self.dropped.discard(self.order.popleft())

    def refused_ids(self) -> RefusedIds:
        """What was dropped here."""
        return self.dropped

    def may_replicate(self, at: Local, replica: Replica, peer: int) -> bool:
        """Not again in this contact to a peer that had no room."""
        return peer not in self.full or replica.id not in self.full[peer]

    def mark_for_peer(self, at: Local, replica: Replica) -> int:
        """None was made of the new copy yet."""
        return 0

    def on_created(self, at: Local, replica: Replica) -> None:
        """There are no other copies."""
        self.since[replica.id] = at.now_ns

    def on_received(self, at: Local, replica: Replica, sender: int) -> None:
        """A stay begins."""
        self.since[replica.id] = at.now_ns

    def on_sent(self, at: Local, replica: Replica, peer: int, delivered: bool) -> None:
        """There is one more copy."""
        replica.mark += 1

    def on_returned(self, at: Local, replica: Replica, peer: int) -> None:
        """There is one copy less."""
        replica.mark = max(replica.mark - 1, 0)
        self.full[peer].add(replica.id)

    def on_contact_down(self, at: Local, peer: int) -> None:
        """In the next contact it may have room."""
        self.full.pop(peer, None)

    def on_receipt(self, at: Local, id: int, created_ns: int) -> None:
        """The copy goes, which may leave half the buffer free."""
        self.forget_drops_if_relieved(at)

    def on_dropped(self, at: Local, bundle: Bundle, reason: DropReason) -> None:
        """A stay ended. The newest drops are remembered."""
        held_ns = at.now_ns - self.since.pop(bundle.id, at.now_ns)
        self.waits.on_end(bundle.destination, held_ns / SECOND_NS, reason)
        if reason != DropReason.OVERFLOW:
            self.forget_drops_if_relieved(at)
            return
        if self.memory == 0 or bundle.id in self.dropped:
            return
        self.dropped.add(bundle.id)
        self.order.append(bundle.id)
        if len(self.order) > self.memory:
            self.dropped.discard(self.order.popleft())

    def observe(self, at: Local) -> dict[str, float]:
        """The means that the mechanism goes by."""
        given = [copy.mark for copy in at.store]
        seen = self.waits.all
        return {
            "mean_known_copies": sum(given) / len(given) if given else 0.0,
            "usual_wait": max(seen.seconds / seen.ends, 1.0) if seen.ends else 0.0,
        }


def main() -> None:
    """Compares no control and both languages under two routers."""
    for router in ("epidemic", "spray_and_wait"):
        for mechanism in ("none", "copy_value", CopyValue.name):
            scenario = lightlag.Scenario.read(WALKERS).set("router", router).set("mechanism", mechanism)
            print(f"{router:15} {mechanism:18} {lightlag.run(scenario).delivery_prob}")


if __name__ == "__main__":
    main()
