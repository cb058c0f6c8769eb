"""How fast a file goes over loopback, how much each transport carries there, and what it costs: `make bench`.

python3 tools/bench_transfer.py --binary target/release/lightlag [--size 1000000000] [--repeat 3]
    [--seconds 10]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def cpu_s(process: subprocess.Popen[str]) -> float:
    """Ends a process and returns the CPU time that it has taken, user and system."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def once(binary: Path, folder: Path, file: Path, more: list[str]) -> tuple[float, float, float]:
    """One transfer: seconds from start to end of the sender, CPU seconds of sender and listener."""
    into = folder / "into"
    for old in into.glob("*"):
        old.unlink()
    listen = [str(binary), "transfer", "--listen", "127.0.0.1:0", "--folder", str(into), "--once", "--json"]
    keyed = [word for word in more if word != "--rate"] if "--key-file" in more else []
    listener = subprocess.Popen(listen + keyed, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert listener.stderr is not None
    at = listener.stderr.readline().split()[-1]
    began = time.monotonic()
    send = [str(binary), "transfer", str(file), at, "--json", *more]
    sender = subprocess.Popen(send, stdout=subprocess.PIPE, text=True)
    assert sender.stdout is not None
    told = sender.stdout.read()
    sender_cpu_s = cpu_s(sender)
    took_s = time.monotonic() - began
    assert json.loads(told)["complete"]
    listener_cpu_s = cpu_s(listener)
    return took_s, sender_cpu_s, listener_cpu_s


WAYS = ["tcp", "udpdtn", "ltp-udp", "ltp-dccp", "dccp"]
# What a core a side must carry with segments of 1,400 bytes, in Gbit/s.
GOALS = {"ltp-udp": 2.0, "dccp": 1.0}


def measured(binary: Path, over: str, seconds: int) -> tuple[float, float, float]:
    """Gbit/s over a transport as its receiver counts them, CPU seconds of sender and receiver per GB."""
    words = [str(binary), "bench-link", "--over", over, "--json"]
    listen = [*words, "--listen", "127.0.0.1:0", "--once"]
    listener = subprocess.Popen(listen, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert listener.stderr is not None
    at = listener.stderr.readline().split()[-1]
    send = [*words, at, "--time", f"{seconds} s", "--every", "1 s"]
    sent = subprocess.run(send, stdout=subprocess.PIPE, text=True, check=True).stdout
    came, _ = listener.communicate()
    sender, receiver = (json.loads(told.splitlines()[-1]) for told in (sent, came))
    assert sender["counted"] == "received"
    per_gb = 1e9 / receiver["bytes"]
    return (
        receiver["goodput_bit_per_s"] / 1e9,
        sender["processor_s"] * per_gb,
        receiver["processor_s"] * per_gb,
    )


def main() -> int:
    """Prints a line for each transport."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--size", type=int, default=1_000_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file, key = folder / "file", folder / "key"
        with file.open("wb") as out:
            for _ in range(options.size // 1_000_000):
                out.write(os.urandom(1_000_000))
        key.write_bytes(os.urandom(32))
        for label, more in [("plain", []), ("with a key", ["--key-file", str(key)])]:
            runs = [once(options.binary, folder, file, more) for _ in range(options.repeat)]
            took_s, sender_s, listener_s = min(runs)
            per_gb = 1e9 / file.stat().st_size
            rate = 8 / took_s / per_gb
            print(
                f"transfer over loopback, udpdtn {label}: {rate:.2f} Gbit/s from command to whole file, "
                f"CPU per GB {sender_s * per_gb:.2f} s sender, {listener_s * per_gb:.2f} s listener"
            )
    for over in WAYS:
        runs = [measured(options.binary, over, options.seconds) for _ in range(options.repeat)]
        rate, sender_s, receiver_s = max(runs)
        goal = f" (goal {GOALS[over]:.0f})" if over in GOALS else ""
        print(
            f"bench-link over loopback, {over}: {rate:.2f} Gbit/s{goal}, CPU per GB {sender_s:.2f} s sender, "
            f"{receiver_s:.2f} s receiver"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
