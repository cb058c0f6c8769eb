#!/usr/bin/env python3
"""The mechanism `copy_value` in Python, for contacts that are not planned, beside the one in Rust.

Both give the same run, to the last digit; a test compares them. It is a model for mechanisms that keep
state on copies, learn from receipts and move copies::

    python examples/copy_value.py
"""

from __future__ import annotations

import math
import struct
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import lightlag
from lightlag import Bundle, Drop, DropReason, Local, Move, Refusal, RefusedIds, Replica, Wait

SECOND_NS = 1e9
WALKERS = Path(__file__).with_name("walkers.toml")


def float32(value: float) -> float:
    """The nearest number of single precision: marks have 32 bits for a number of copies."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def octaves(value: float) -> float:
    """The logarithm to base 2, linear between powers of two: exponent and mantissa of the double."""
    return int(struct.unpack("<Q", struct.pack("<d", value))[0]) / 2.0**52 - 1023.0


def from_octaves(value: float) -> float:
    """The number whose `octaves` are `value`."""
    return float(struct.unpack("<d", struct.pack("<Q", int((value + 1023.0) * 2.0**52)))[0])


class Mark(NamedTuple):
    """What a copy knows: how many others there may be, and whether it is in custody."""

    copies: float
    custody: int
    """The second up to which it is in custody; `FOR_GOOD`: always; `EXTRA`: it is not."""

    @staticmethod
    def of(replica: Replica) -> Mark:
        """The mark on a copy: a float32 of copies, then 32 bits of custody."""
        copies = struct.unpack("<f", struct.pack("<I", replica.mark >> 32))[0]
        return Mark(copies, replica.mark & 0xFFFF_FFFF)

    def bits(self) -> int:
        """As it is written on a copy."""
        return int(struct.unpack("<I", struct.pack("<f", self.copies))[0]) << 32 | self.custody

    def in_custody(self, now_ns: int) -> bool:
        """Whether the copy is in custody at that time."""
        return self.custody == FOR_GOOD or self.custody * 1_000_000_000 > now_ns


FOR_GOOD = 2**32 - 1
EXTRA = 0
NEW = Mark(0.0, FOR_GOOD)


@dataclass
class Horizon:
    """How long a copy is worth keeping: `factor` times the geometric mean age of deliveries."""

    factor: float
    fade: float
    heard: float = 0.0
    mean: float | None = None
    """Of the age in nanoseconds, in octaves."""

    def on_delivery(self, age_ns: int) -> None:
        """A bundle of this age was delivered."""
        self.heard = self.heard * self.fade + 1.0
        age = octaves(max(float(age_ns), SECOND_NS))
        before = age if self.mean is None else self.mean
        self.mean = before + (age - before) / self.heard

    def reached(self, held_ns: int) -> float:
        """How far a copy held for this long is towards the horizon: 1 there, hardly more beyond."""
        if self.mean is None:
            return 0.0
        part = held_ns * (1.0 / (self.factor * from_octaves(self.mean)))
        return 1.0 + 0.02 * octaves(part) if part > 1.0 else part

    def late(self, left_ns: int) -> float:
        """How often the usual age must be halved to fit into the rest of a lifetime."""
        left = max(float(left_ns), SECOND_NS)
        if self.mean is None or from_octaves(self.mean) <= left:
            return 0.0
        return octaves(from_octaves(self.mean)) - octaves(left)


# Free share of the buffer at which drops are forgotten.
RELIEVED = 0.5
# Difference in copies, for each hop of the copy to be moved, that an incoming bundle must exceed.
MOVED = 0.1


class CopyValue(lightlag.Mechanism):
    """Keeps the copies that add most: those of the bundles that have the fewest others."""

    name = "python_copy_value"
    needs_receipts = True
    needs_neighbours = True
    smallest_first = True
    share = lightlag.parameter(0.3, low=0, high=1, meaning="Share of the known copies a new copy knows.")
    own = lightlag.parameter(1.0, low=0, high=100, meaning="Copies less that an own bundle counts.")
    margin = lightlag.parameter(0.7, low=0, high=100, meaning="Copies less that a victim must count.")
    horizon = lightlag.parameter(1.0, low=0.01, high=100, meaning="Horizon by the usual age.")
    late = lightlag.parameter(2.0, low=0, high=100, meaning="Copies more per halving of a lifetime's rest.")
    fade = lightlag.parameter(0.98, low=0, high=1, meaning="Weight of earlier deliveries.")
    memory = lightlag.parameter(65_536, low=0, high=10**9, meaning="Drops that are remembered.")

    def __init__(self) -> None:
        self.ages = Horizon(self.horizon, self.fade)
        self.dropped = RefusedIds()
        self.order: deque[int] = deque()
        self.offered: tuple[int, int, Mark] | None = None

    def copied(self, known: Mark) -> Mark:
        """What a copy knows that is made of one that knows `known`."""
        copies = float32(float32(known.copies + 1.0) * float32(self.share))
        return Mark(copies, FOR_GOOD if known.custody == FOR_GOOD else EXTRA)

    def cost(self, at: Local, bundle: Bundle, mark: Mark, held_ns: int, bonus: float) -> float:
        """How little a copy adds: the number of others, and what its age and lifetime take off."""
        late = self.late * self.ages.late(bundle.expires_ns - at.now_ns)
        own = bonus if bundle.source == at.node else 0.0
        reached = self.ages.reached(held_ns)
        if self.router_counts_copies:
            reached = 0.9 * min(reached, 1.0)
        return mark.copies + late - own + self.margin * reached

    def own_bonus(self, at: Local) -> float:
        """Copies less that a bundle created here counts: fewer, the more room such bundles take."""
        if self.router_counts_copies:
            return self.own
        taken = sum(replica.size for replica in at.store if replica.source == at.node)
        return self.own * (1.0 - taken / at.store.capacity)

    def make_room(self, at: Local, incoming: Bundle, preferred: int | None) -> Drop | Move | Wait | None:
        """Moves or drops the copy that adds least, if the incoming one adds more."""
        bonus = self.own_bonus(at)
        giver, mark = None, NEW
        if self.offered is not None and self.offered[0] == incoming.id:
            _, giver, mark = self.offered
        cost = -math.inf if incoming.destination == at.node else self.cost(at, incoming, mark, 0, bonus)
        least: tuple[float, Replica] | None = None
        for copy in at.store:
            if copy.sending == 0:
                own = self.cost(at, copy, Mark.of(copy), at.now_ns - copy.received_ns, bonus)
                if least is None or least[0] < own:
                    least = (own, copy)
        if least is not None:
            to = self.custodian(at, least[1], giver) if self.router_has_single_copy_phase else None
            if to is not None and cost < least[0] - MOVED * least[1].hops:
                return Move(least[1].id, to)
            if cost + self.margin < least[0]:
                return Drop(least[1].id)
        return Wait()

    def custodian(self, at: Local, copy: Replica, giver: int | None) -> int | None:
        """The idle neighbour with most room, if it has enough; of equals, the oldest link."""
        able = [link for link in at.links if link.peer_idle and link.peer_free >= copy.size]
        able = [link for link in able if link.peer != giver]
        return max(able, key=lambda link: link.peer_free).peer if able else None

    def admit(self, at: Local, replica: Replica, sender: int) -> Refusal | None:
        """Refuses what was dropped here before, and remembers the rest for `make_room`."""
        self.forget_drops_if_relieved(at)
        if replica.destination != at.node and replica.id in self.dropped:
            return Refusal.DROPPED_BEFORE
        self.offered = (replica.id, sender, self.copied(Mark.of(replica)))
        return None

    def forget_drops_if_relieved(self, at: Local) -> None:
        """Where half the buffer is free, the load that caused the drops has passed."""
        if self.order and at.store.free >= RELIEVED * at.store.capacity:
            while self.order:
                self.dropped.discard(self.order.popleft())

    def refused_ids(self) -> RefusedIds:
        """What was dropped here."""
        return self.dropped

    def mark_for_peer(self, at: Local, replica: Replica) -> int:
        """The new copy knows a share of what this one knows."""
        return self.copied(Mark.of(replica)).bits()

    def on_created(self, at: Local, replica: Replica) -> None:
        """There are no other copies."""
        replica.mark = NEW.bits()

    def on_sent(self, at: Local, replica: Replica, peer: int, delivered: bool) -> None:
        """There is one more copy; custody ends when the peer can have answered."""
        known = Mark.of(replica)
        custody = known.custody
        if custody == FOR_GOOD:
            delay_ns = next((link.delay_ns for link in at.links if link.peer == peer), 0)
            custody = min(math.ceil((at.now_ns + 2 * delay_ns) / SECOND_NS), FOR_GOOD - 1)
        replica.mark = Mark(float32(known.copies + 1.0), custody).bits()

    def on_returned(self, at: Local, replica: Replica, peer: int) -> None:
        """There is one copy less."""
        known = Mark.of(replica)
        if known.in_custody(at.now_ns):
            replica.mark = Mark(max(float32(known.copies - 1.0), 0.0), FOR_GOOD).bits()

    def on_receipt(self, at: Local, id: int, created_ns: int) -> None:
        """The age of what is delivered sets the horizon."""
        self.ages.on_delivery(at.now_ns - created_ns)
        self.forget_drops_if_relieved(at)

    def on_dropped(self, at: Local, bundle: Bundle, reason: DropReason) -> None:
        """The newest drops are remembered."""
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
        known = [Mark.of(copy).copies for copy in at.store]
        usual = 0.0 if self.ages.mean is None else from_octaves(self.ages.mean) / SECOND_NS
        return {"mean_known_copies": sum(known) / len(known) if known else 0.0, "usual_age": usual}


def main() -> None:
    """Compares no control and both languages under two routers."""
    for router in ("epidemic", "spray_and_wait"):
        for mechanism in ("none", "copy_value", "python_copy_value"):
            scenario = lightlag.Scenario.read(WALKERS).set("router", router).set("mechanism", mechanism)
            print(f"{router:15} {mechanism:18} {lightlag.run(scenario).delivery_prob}")


if __name__ == "__main__":
    main()
