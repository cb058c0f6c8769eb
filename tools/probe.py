"""What an emulated path really is: its rate, round trip and queue, by datagrams of our own."""

from __future__ import annotations

import socket
import statistics
import struct
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from ndn import IP_UDP_BYTES, MTU, Emulated, Link, Programs

STAMP = struct.Struct("!d")
# Longer than the queue takes to fill at 1.2 times the rate.
FILLING_S, MEASURED_S = 1.0, 3.0


@dataclass(frozen=True)
class Probed:
    """What was found; the queue is what delays packets when it is full, the one that is leaving included."""

    rate_mbit_s: float
    rtt_ms: float
    queue_packets: float


def socket_on_loopback() -> socket.socket:
    """A UDP socket on a free port, with room for bursts."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    made.bind(("127.0.0.1", 0))
    made.settimeout(2.0)
    return made


def round_trip_s(near: socket.socket, far: socket.socket) -> float:
    """Median round trip of small datagrams while nothing else is in flight."""
    took = []
    for _ in range(20):
        began = time.monotonic()
        near.send(bytes(72))
        data, client = far.recvfrom(MTU)
        far.sendto(data, client)
        near.recv(MTU)
        took.append(time.monotonic() - began)
    return statistics.median(took)


def flood(near: socket.socket, gap_s: float) -> None:
    """Sends stamped datagrams at a steady rate."""
    began, sent = time.monotonic(), 0
    while (now := time.monotonic()) < began + FILLING_S + MEASURED_S:
        if now >= began + sent * gap_s:
            near.send(STAMP.pack(now) + bytes(MTU - STAMP.size))
            sent += 1
        else:
            time.sleep(0.0002)


def probe(programs: Programs, link: Link, folder: Path) -> Probed:
    """Measures a path of its own from small datagrams, and from a flood at 1.2 times its rate."""
    packet_bits = (MTU + IP_UDP_BYTES) * 8
    rate = float(link.rate.split()[0]) * 1e6
    with (
        socket_on_loopback() as near,
        socket_on_loopback() as far,
        Emulated(programs.lightlag, folder, link, far.getsockname()[1]) as path,
    ):
        near.connect(("127.0.0.1", path.port))
        rtt_s = round_trip_s(near, far)
        flooding = threading.Thread(target=flood, args=(near, packet_bits / rate / 1.2))
        began = time.monotonic()
        flooding.start()
        arrivals: list[tuple[float, float]] = []
        while time.monotonic() < began + FILLING_S + MEASURED_S:
            data = far.recv(MTU)
            now = time.monotonic()
            if now > began + FILLING_S:
                arrivals.append((now, now - STAMP.unpack(data[: STAMP.size])[0]))
        flooding.join()
    measured = (len(arrivals) - 1) * packet_bits / (arrivals[-1][0] - arrivals[0][0])
    # A packet that was let into a full queue waits for all of it.
    waited_s = statistics.quantiles([one_way for _, one_way in arrivals], n=20)[-1] - rtt_s / 2
    return Probed(measured / 1e6, rtt_s * 1e3, waited_s * rate / packet_bits)
