"""How many packets a second `lightlag emulate` carries, and how late they leave: `make bench`. Needs root.

python3 tools/bench_emulate.py --binary target/release/lightlag [--seconds 5]

The kernel's TCP fills the link, one way. Beside it stands a loop that only reads one device and writes
the other: no link, no delay, no offloads.
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import json
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

MTU = 1500
PORT = 9000
# What a core must carry, and how late packets may leave.
GOAL_PACKETS_PER_S = 200_000
GOAL_P99_US = 200
RATE_OF_TIMING = 20_000

SINK = f"""
import socket
listener = socket.create_server(("10.77.0.2", {PORT}))
peer, _ = listener.accept()
room = bytearray(1 << 20)
while peer.recv_into(room):
    pass
"""
SOURCE = f"""
import socket, sys, time
for _ in range(100):
    try:
        to = socket.create_connection(("10.77.0.2", {PORT}))
        break
    except OSError:
        time.sleep(0.1)
end = time.monotonic() + float(sys.argv[1])
block = bytes(1 << 18)
while time.monotonic() < end:
    to.send(block)
"""
PLAN = """
duration = "1 h"
[links.path]
from = "near"
to = "far"
rate = "{rate}"
delay = "{delay}"
queue = "{queue} packets"
[flows.none]
from = "near"
to = "far"
controller = "cubic"
"""


def emulated(binary: Path, folder: Path, plan: str, seconds: float) -> dict[str, Any]:
    """The emulator's JSON after TCP over a plan."""
    for name, text in [("plan.toml", plan), ("sink.py", SINK), ("source.py", SOURCE)]:
        (folder / name).write_text(text)
    words = [str(binary.resolve()), "emulate", "plan.toml", "--json", "--mtu", f"{MTU} B"]
    words += ["--far", f"{sys.executable} sink.py", "--", sys.executable, "source.py", str(seconds)]
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def device(namespace: str) -> int:
    """A TUN device in a namespace, without offloads; the thread that makes it goes there."""
    made: list[int] = []

    def make() -> None:
        inside = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
        if ctypes.CDLL(None, use_errno=True).setns(inside, 0) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")
        tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        tun_no_packet_info, set_interface = 0x1001, 0x400454CA
        fcntl.ioctl(tun, set_interface, struct.pack("16sH22x", b"plain", tun_no_packet_info))
        made.append(tun)

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    return made[0]


def plain_loop(folder: Path, seconds: float) -> tuple[int, float]:
    """Packets that a loop carries that only reads and writes, and the seconds that it is busy."""
    names = [f"plain{os.getpid()}{side}" for side in ("a", "b")]
    ip = ["ip", "-n"]
    beside: list[subprocess.Popen[bytes]] = []
    try:
        devices = []
        for name, address in zip(names, ("10.77.0.1/24", "10.77.0.2/24"), strict=True):
            subprocess.run(["ip", "netns", "add", name], check=True)
            devices.append(device(name))
            subprocess.run([*ip, name, "link", "set", "plain", "mtu", str(MTU), "up"], check=True)
            subprocess.run([*ip, name, "addr", "add", address, "dev", "plain"], check=True)
        for name, words in zip(names, (["source.py", str(seconds)], ["sink.py"]), strict=True):
            beside.append(subprocess.Popen(["ip", "netns", "exec", name, sys.executable, *words], cwd=folder))
        ways = {devices[0]: devices[1], devices[1]: devices[0]}
        count, began = 0, time.process_time()
        while beside[0].poll() is None:
            for read in select.select(devices, [], [], 0.1)[0]:
                for _ in range(64):
                    try:
                        os.write(ways[read], os.read(read, 65536))
                    except BlockingIOError:
                        break
                    count += 1
        return count, time.process_time() - began
    finally:
        for process in beside:
            process.send_signal(signal.SIGKILL)
            process.wait()
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False)


def main() -> int:
    """Prints a line for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists() or shutil.which("ip") is None:
        print("emulate: skipped, as it needs root, /dev/net/tun and the command ip")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fast = PLAN.format(rate="100 Gbit/s", delay="1 ms", queue=100_000)
        told = emulated(options.binary, folder, fast, options.seconds)
        packets = told["there"]["arrived"] + told["back"]["arrived"]
        rate, of_core = packets / told["duration_s"], packets / told["processor_s"]
        print(
            f"emulate, kernel TCP over 1 ms: {rate:,.0f} packets/s of {MTU} B "
            f"and their acknowledgements, {of_core:,.0f} a second of a core "
            f"(goal {GOAL_PACKETS_PER_S:,})"
        )
        slow = PLAN.format(rate=f"{RATE_OF_TIMING * MTU * 8} bit/s", delay="20 ms", queue=1_000)
        told = emulated(options.binary, folder, slow, options.seconds)
        late, rate = told["timing_error_us"], told["there"]["arrived"] / told["duration_s"]
        print(
            f"emulate, timing error at {rate:,.0f} packets/s: "
            f"p50 {late['p50']:.0f} us, p90 {late['p90']:.0f} us, p99 {late['p99']:.0f} us "
            f"(goal {GOAL_P99_US}), max {late['max']:.0f} us"
        )
        count, busy_s = plain_loop(folder, options.seconds)
        print(
            f"beside it, a loop in Python that reads and writes: {count / options.seconds:,.0f} packets/s, "
            f"{count / busy_s:,.0f} a second of a core"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
