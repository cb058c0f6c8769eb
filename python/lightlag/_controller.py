"""Congestion controllers that are written in Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from lightlag._algorithm import _Algorithm
from lightlag._lightlag import Ack, Advice, Loss, Sent


class Controller(_Algorithm):
    """Congestion control of a flow: how much may be in flight, and how fast it may be sent.

    A subclass with a `name` can be used at once as the `controller` of flows and of consumers of named
    data. Each of them has an instance of its own, created for each run, that has the attributes below,
    `seed`, `random` and its parameters before ``__init__(self)`` is called. A subclass defines `window`,
    `rate` or both, and the hooks that it wants to know of: hooks that it leaves out are never called.

    Before each packet the transport asks for `window`, `rate` and `advice`; after it, it calls `on_sent`.
    An acknowledgement that shows a loss leads to `on_loss`, then `on_ack`; a timeout calls `on_loss` alone.
    After any call `deadline` may have changed. Times that end in `_ns` are whole nanoseconds into the run.
    Exceptions end the run and are raised by `run`.
    """

    _kind = "controller"
    _flags = ("rate_samples",)
    _number = "index"
    _needed = ("window", "rate")

    rate_samples: ClassVar[bool] = False
    """Whether it reads `Ack.sample`, which costs TCP a record per segment."""
    recovery: ClassVar[str] = "rack"
    """How TCP repairs losses, unless the scenario chooses: `new_reno`, `sack`, `fack` or `rack`."""

    segment: int
    """Bytes of payload in a full segment."""
    packet: int
    """Bytes of a full segment on the link, headers included."""
    planned_rate_bit_per_s: int | None
    """Rate of the link by the contact plan, if there is one."""
    planned_round_trip_ns: int | None
    """Light-time RTT by the contact plan, if there is one."""
    index: int
    """The number of the flow or consumer in the run."""

    def on_ack(self, ack: Ack) -> None:
        """Data was acknowledged, or a measurement arrived.

        The first call has the round-trip time of the handshake and nothing acknowledged, where the
        transport has a handshake.
        """

    def on_loss(self, loss: Loss) -> None:
        """Data is considered lost, or the network signalled congestion."""

    def window(self) -> int | None:
        """How many bytes may be in flight; None where only the rate limits."""
        return None

    def rate(self) -> int | None:
        """Bits per second on the link; 0 while nothing may be sent, None where only the window limits."""
        return None

    def on_sent(self, sent: Sent) -> None:
        """A packet was sent."""

    def deadline(self) -> int | None:
        """When `on_deadline` will be called, in nanoseconds into the run; None: never."""
        return None

    def on_deadline(self, now_ns: int) -> None:
        """The time that `deadline` gave was reached; after this call it must be a later one, or None."""

    def on_plan(self, now_ns: int, rate_bit_per_s: int) -> None:
        """The contact plan or the network's operator sets the link's rate from now on; 0: no contact."""

    def on_handover(self, now_ns: int, rate_bit_per_s: int) -> None:
        """Another transport reached this rate on the same path and was still accelerating."""

    def on_receiver_limited(self, now_ns: int) -> None:
        """The receiver, not the network, limited the sender: a slow start ends (RFC 4341, section 5.2)."""

    def on_spurious_loss(self, now_ns: int, lost_at_ns: int, size: int) -> None:
        """Data that was reported as lost at `lost_at_ns` has arrived: `size` bytes."""

    def advice(self) -> Advice | None:
        """What it asks of its transport beyond window and rate; None: nothing."""
        return None

    def observe(self) -> Mapping[str, float]:
        """What time series show of it."""
        return {}
