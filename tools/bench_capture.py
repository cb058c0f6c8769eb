"""How fast captures are analysed, beside tcptrace and tshark: `make bench`.

python3 tools/bench_capture.py --binary target/release/lightlag [--packets 2000000]
"""

from __future__ import annotations

import argparse
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = 1448
ROUNDS = 500


def segment(forward: bool, port: int, number: int, ack: int, length: int, blocks: list[int]) -> bytes:
    """Headers of IPv4 and TCP; payloads are not kept."""
    source, destination = (10 << 24 | 1, 10 << 24 | 2) if forward else (10 << 24 | 2, 10 << 24 | 1)
    ports = (port, 5001) if forward else (5001, port)
    options = b""
    if blocks:
        options = struct.pack(">BBBB", 1, 1, 5, 2 + 4 * len(blocks)) + b"".join(
            struct.pack(">I", n) for n in blocks
        )
    offset = 5 + len(options) // 4
    tcp = struct.pack(">HHIIBBHHH", *ports, number, ack, offset << 4, 16, 60_000, 0, 0) + options
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(tcp) + length, 0, 0, 64, 6, 0, source, destination)
    return ip + tcp


def conversation(port: int) -> list[tuple[int, bytes, int]]:
    """(microseconds, headers, bytes on the wire): ten segments a round trip, one in a hundred lost."""
    made = []
    for turn in range(ROUNDS):
        at, first = turn * 50_000, 1 + turn * 10 * BLOCK
        lost = turn % 10 == 9
        for index in range(10):
            made.append((at + index, segment(True, port, first + index * BLOCK, 1, BLOCK, []), BLOCK))
            if lost:
                blocks = [first + BLOCK, first + (index + 1) * BLOCK] if index else []
                made.append((at + 40_000 + index, segment(False, port, 1, first, 0, blocks), 0))
            elif index % 2:
                made.append(
                    (at + 40_000 + index, segment(False, port, 1, first + (index + 1) * BLOCK, 0, []), 0)
                )
        if lost:
            made.append((at + 40_020, segment(True, port, first, 1, BLOCK, []), BLOCK))
            made.append((at + 49_000, segment(False, port, 1, first + 10 * BLOCK, 0, []), 0))
    return sorted(made, key=lambda packet: packet[0])


def capture(path: Path, packets: int) -> int:
    """Writes a capture of eight connections at a time; how many packets it has."""
    written = 0
    with path.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 101))
        group = 0
        while written < packets:
            several = [
                packet for port in range(8) for packet in conversation(20_000 + (group * 8 + port) % 40_000)
            ]
            for at, head, payload in sorted(several, key=lambda packet: packet[0]):
                seconds, micros = divmod(at, 1_000_000)
                out.write(
                    struct.pack("<IIII", 10 + group * 30 + seconds, micros, len(head), len(head) + payload)
                )
                out.write(head)
            written += len(several)
            group += 1
    return written


# A process begins with the memory of the one that starts it, and its peak counts: a small one starts what
# is measured.
MEASURE = """
import os, sys
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr)
"""


def cost(command: list[str]) -> tuple[float, float]:
    """CPU seconds and megabytes of a command."""
    measured = subprocess.run(
        [sys.executable, "-I", "-S", "-c", MEASURE, *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    code, cpu_s, memory_kb = measured.stderr.splitlines()[-1].split()
    if code != "0":
        raise SystemExit(f"{' '.join(command)} ended with exit code {code}")
    return float(cpu_s), float(memory_kb) / 1024


def main() -> int:
    """Prints a line for each program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--packets", type=int, default=2_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "capture.pcap"
        packets = capture(file, options.packets)
        print(f"capture of {packets} packets, {file.stat().st_size / 1e6:.0f} MB")
        programs = {
            "lightlag capture": [str(options.binary), "capture", str(file)],
            "lightlag capture --html": [
                str(options.binary),
                "capture",
                str(file),
                "--html",
                f"{name}/report.html",
            ],
            "tcptrace -lr": ["tcptrace", "-lr", str(file)],
            "tshark -q -z conv,tcp": ["tshark", "-q", "-z", "conv,tcp", "-r", str(file)],
        }
        ours_s = None
        for program, command in programs.items():
            if shutil.which(command[0]) is None:
                print(f"{program}: left out, as {command[0]} is not installed")
                continue
            cpu_s, memory_mb = min(cost(command) for _ in range(options.repeat))
            ours_s = ours_s or cpu_s
            print(
                f"{program}: {cpu_s:.2f} s of CPU, {packets / cpu_s / 1e6:.2f} million packets/s, "
                f"{cpu_s / ours_s:.1f} times lightlag capture, {memory_mb:.0f} MB"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
