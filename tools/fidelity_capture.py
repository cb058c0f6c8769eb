"""What we say of captures of the kernel's own TCP, beside tcptrace, figure by figure: `make fidelity`.

python3 tools/fidelity_capture.py --binary target/release/lightlag [--keep FOLDER]

Small captures are written here: repeated SYN and FIN, data captured after its acknowledgement; they need
tcptrace. Then two network namespaces are joined by a link made here, with a rate, a delay, losses and
reordering, which needs root, /dev/net/tun, ip and tcpdump, too. Without them it says so and ends well.
"""

from __future__ import annotations

import argparse
import fcntl
import heapq
import json
import os
import random
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ENDS = [("lla", "lightlag-a", "10.8.0.1"), ("llb", "lightlag-b", "10.8.0.2")]
QUEUE_S = 0.25
RECEIVE = """
import socket
server = socket.socket(); server.bind(("10.8.0.2", 5001)); server.listen()
connection, _ = server.accept()
while connection.recv(1 << 20): pass
connection.close()
"""
SEND = """
import socket
client = socket.socket()
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"{controller}")
client.connect(("10.8.0.2", 5001)); client.sendall(bytes({size})); client.shutdown(1); client.recv(1)
"""
CASES = [
    # controller, loss, reordering delay in s, rate in bit/s
    ("reno", 0.003, 0.0, 20e6),
    ("cubic", 0.002, 0.0, 20e6),
    ("cubic", 0.01, 0.008, 20e6),
    ("cubic", 0.0, 0.0, 10e6),
]
# tcptrace's name, ours, and how far apart they may be: tcptrace rounds round trips to 0.1 ms.
FIGURES = [
    ("total packets", "packets", 0),
    ("actual data pkts", "data_packets", 0),
    ("actual data bytes", "data_bytes", 0),
    ("unique bytes sent", "unique_bytes", 0),
    ("rexmt data pkts", "retransmitted_packets", 0),
    ("rexmt data bytes", "retransmitted_bytes", 0),
    ("outoforder pkts", "out_of_order", 0),
    ("pure acks sent", "pure_acks", 0),
    ("sack pkts sent", "sacks", 0),
    ("dsack pkts sent", "dsacks", 0),
    ("zwnd probe pkts", "window_probes", 0),
    ("RTT samples", "rtt_ms.samples", 0),
    ("RTT min", "rtt_ms.min", 0.051),
    ("RTT avg", "rtt_ms.avg", 0.051),
    ("RTT max", "rtt_ms.max", 0.051),
    ("RTT stdev", "rtt_ms.sd", 0.051),
    ("max owin", "outstanding.max", 1),
]
# Where sequence numbers wrap, tcptrace takes what is outstanding for less than nothing, without a sign.
UNDERFLOW = 2.0**63


SYN, FIN, ACK = 2, 1, 16


def segment(forward: bool, number: int, acknowledged: int, flags: int, size: int = 0) -> bytes:
    """A segment of TCP with zeros, from its IP header on."""
    hosts, ports = [bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])], [20_000, 80]
    if not forward:
        hosts, ports = hosts[::-1], ports[::-1]
    head = struct.pack("!HHIIBBHHH", *ports, number, acknowledged, 0x50, flags, 60_000, 0, 0)
    whole = struct.pack("!BBHHHBBH", 0x45, 0, 40 + size, 0, 0, 64, 6, 0)
    return whole + b"".join(hosts) + head + bytes(size)


def small_captures() -> dict[str, list[tuple[float, bytes]]]:
    """Captures by name: seconds and packets."""

    def data(number: int) -> bytes:
        return segment(True, number, 1, ACK, 100)

    def ack(number: int) -> bytes:
        return segment(False, 1, number, ACK)

    opening = [
        (0.0, segment(True, 0, 0, SYN)),
        (0.1, segment(False, 0, 1, SYN | ACK)),
        (0.1, segment(True, 1, 1, ACK)),
    ]
    fins = [(at, segment(True, 101, 1, FIN | ACK)) for at in (0.4, 0.8, 1.6)]
    late = [(0.2, data(1)), (0.3, ack(301)), (0.31, data(101)), (0.32, data(201)), (0.5, data(301))]
    return {
        "syns": [(float(at), segment(True, 0, 0, SYN)) for at in range(11)],
        "fins": [*opening, (0.2, data(1)), (0.3, ack(101)), *fins, (1.7, ack(102))],
        "data_and_fin": [*opening, *((at, segment(True, 1, 1, FIN | ACK, 100)) for at in (0.2, 0.8))],
        "late": [*opening, *late, (0.9, data(301)), (1.0, ack(401))],
        "began_late": [
            (0.2, data(201)),
            (0.21, ack(301)),
            (0.22, data(101)),
            (0.3, data(301)),
            (0.4, ack(401)),
            # tcptrace gives no deviation of two round trips.
            (0.5, data(401)),
            (0.6, ack(501)),
        ],
    }


def write(path: Path, packets: list[tuple[float, bytes]]) -> None:
    """A capture of packets of IP."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101))
        for at, packet in packets:
            file.write(
                struct.pack("<IIII", 1 + int(at), round(at % 1 * 1e6), len(packet), len(packet)) + packet
            )


def shell(command: str) -> None:
    """Runs a command that must work."""
    subprocess.run(command, shell=True, check=True)


def tunnel(device: str) -> int:
    """A device whose packets are read and written here."""
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(end, 0x400454CA, struct.pack("16sH", device.encode(), 0x1001))
    return end


def carry(
    ends: list[int], case: tuple[str, float, float, float], running: list[subprocess.Popen[bytes]]
) -> None:
    """Carries packets between the ends, until who sends and who receives have ended."""
    _, loss, reordering_s, rate = case
    draw = random.Random(1)
    queue: list[tuple[float, int, int, bytes]] = []
    free_s, count, ended_s = [0.0, 0.0], 0, None
    while ended_s is None or time.monotonic() < ended_s + 1.5:
        now_s = time.monotonic()
        while queue and queue[0][0] <= now_s:
            _, _, to, packet = heapq.heappop(queue)
            os.write(ends[to], packet)
        ready, _, _ = select.select(ends, [], [], max(0.0, queue[0][0] - now_s) if queue else 0.05)
        now_s = time.monotonic()
        for end in ready:
            way, packet = ends.index(end), os.read(end, 65_536)
            start_s = max(now_s, free_s[way])
            if start_s - now_s > QUEUE_S or (way == 0 and len(packet) > 100 and draw.random() < loss):
                continue
            free_s[way] = start_s + len(packet) * 8 / rate
            later_s = draw.random() * reordering_s if way == 0 else 0.0
            count += 1
            heapq.heappush(queue, (free_s[way] + 0.025 + later_s, count, 1 - way, packet))
        if ended_s is None and all(process.poll() is not None for process in running):
            ended_s = time.monotonic()


def record(path: Path, case: tuple[str, float, float, float], size: int) -> None:
    """Captures a transfer over a link, at the sender."""
    ends = [tunnel(device) for device, _, _ in ENDS]
    try:
        for device, space, address in ENDS:
            shell(f"ip netns add {space}; ip link set {device} netns {space}")
            shell(f"ip -n {space} addr add {address}/24 dev {device}; ip -n {space} link set {device} up")
        device, space, _ = ENDS[0]
        dump = [
            "tcpdump",
            "-i",
            device,
            "-s",
            "100",
            "-B",
            "65536",
            "--immediate-mode",
            "-w",
            str(path),
            "tcp",
        ]
        inside = ["ip", "netns", "exec", space]
        dumping = subprocess.Popen([*inside, *dump], stderr=subprocess.DEVNULL)
        time.sleep(1)
        receiving = subprocess.Popen(["ip", "netns", "exec", ENDS[1][1], sys.executable, "-c", RECEIVE])
        time.sleep(0.3)
        script = SEND.format(controller=case[0], size=size)
        sending = subprocess.Popen([*inside, sys.executable, "-c", script])
        carry(ends, case, [receiving, sending])
        dumping.terminate()
        dumping.wait()
    finally:
        for end in ends:
            os.close(end)
        for _, space, _ in ENDS:
            subprocess.run(["ip", "netns", "del", space], check=False)


Ways = list[dict[str, float]]


def theirs(path: Path) -> list[Ways]:
    """What tcptrace says of both directions of each connection."""
    told = subprocess.run(["tcptrace", "-lrWn", str(path)], capture_output=True, text=True, check=True).stdout
    connections: list[Ways] = []
    for text in re.split(r"^TCP connection \d+:$", told, flags=re.MULTILINE)[1:]:
        ways: Ways = [{}, {}]
        for line in text.splitlines():
            found = re.match(r"\s+(\S[^:]*?):\s+([\d.]+)(?: \S+)?\s+\1:\s+([\d.]+)", line)
            if found:
                for way in (0, 1):
                    ways[way].setdefault(found[1], float(found[2 + way]))
        connections.append(ways)
    return connections


def figure(half: dict[str, object], name: str) -> float:
    """A figure of a direction, by its path; zero if it is missing."""
    value: object = half
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return float(value) if isinstance(value, (int, float)) else 0.0


def ours(binary: Path, path: Path) -> list[Ways]:
    """What we say of both directions of each flow."""
    told = subprocess.run(
        [str(binary), "capture", "--json", str(path)], capture_output=True, check=True
    ).stdout
    return [
        [{name: figure(flow[way], name) for _, name, _ in FIGURES} for way in ("out", "back")]
        for flow in json.loads(told)["flows"]
    ]


def compare(binary: Path, path: Path) -> tuple[int, int]:
    """Prints a line for each figure that differs; how many were compared, and how many differ."""
    compared = differ = 0
    for number, (their_ways, our_ways) in enumerate(zip(theirs(path), ours(binary, path), strict=True), 1):
        for way, (their, our) in enumerate(zip(their_ways, our_ways, strict=True)):
            for their_name, our_name, apart in FIGURES:
                if their.get(their_name, 0.0) >= UNDERFLOW:
                    continue
                compared += 1
                if abs(their.get(their_name, 0.0) - our[our_name]) > apart:
                    differ += 1
                    where = f"{path.name}, connection {number}, " + ("out", "back")[way]
                    figures = f"{their_name}: tcptrace {their.get(their_name)}, ours {our[our_name]}"
                    print(f"{where}, {figures}")
    return compared, differ


def main() -> int:
    """Prints a line for each figure that differs, and how many were compared."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--size", type=int, default=6_000_000)
    parser.add_argument("--keep", type=Path, help="folder for the captures")
    options = parser.parse_args()
    if shutil.which("tcptrace") is None:
        print("left out: it needs tcptrace")
        return 0
    missing = [tool for tool in ("ip", "tcpdump") if shutil.which(tool) is None]
    has_links = os.geteuid() == 0 and os.access("/dev/net/tun", os.W_OK) and not missing
    if not has_links:
        print(f"kernel left out: it needs root, /dev/net/tun, ip and tcpdump (missing: {missing})")
    compared = differ = 0
    with tempfile.TemporaryDirectory() as name:
        folder = options.keep or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o777)  # tcpdump drops its rights
        for case_name, packets in small_captures().items():
            write(folder / f"{case_name}.pcap", packets)
            made = compare(options.binary, folder / f"{case_name}.pcap")
            compared, differ = compared + made[0], differ + made[1]
        for index, case in enumerate(CASES if has_links else []):
            path = folder / f"{index}_{case[0]}.pcap"
            record(path, case, options.size)
            made = compare(options.binary, path)
            compared, differ = compared + made[0], differ + made[1]
    print(f"captures beside tcptrace: {compared - differ} of {compared} figures agree")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
