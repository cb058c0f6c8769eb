"""Kills both sides of a transfer at random moments and sees whether the file arrives whole.

python3 tools/transfer_torture.py --binary target/release/lightlag [--kills 50] [--size 1000000000]
"""

from __future__ import annotations

import argparse
import filecmp
import json
import random
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def free_port() -> int:
    """A UDP port that is free now."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Sides:
    """The sender and the listener, started again whenever they are killed."""

    def __init__(self, binary: str, folder: Path, rate: str, key: Path | None) -> None:
        at = f"127.0.0.1:{free_port()}"
        keyed = ["--key-file", str(key)] if key else []
        into = str(folder / "into")
        self.commands = {
            "listener": [binary, "transfer", "--listen", at, "--folder", into, "--json", *keyed],
            "sender": [binary, "transfer", str(folder / "file"), at, "--json", "--rate", rate, *keyed],
        }
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        for side in self.commands:
            self.start(side)

    def start(self, side: str) -> None:
        """Starts a side."""
        self.running[side] = subprocess.Popen(
            self.commands[side], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def kill(self, side: str) -> None:
        """Kills a side as power would, and starts it again."""
        self.running[side].kill()
        self.running[side].wait()
        self.start(side)

    def stop(self) -> None:
        """Ends both."""
        for process in self.running.values():
            process.kill()
            process.wait()


def make_file(path: Path, size: int, seed: int) -> None:
    """Random bytes, the same for the same seed."""
    draws = random.Random(seed)
    with path.open("wb") as file:
        while size > 0:
            part = min(size, 1 << 20)
            file.write(draws.randbytes(part))
            size -= part


def torture(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """The result of one transfer, killed again and again."""
    (folder / "into").mkdir()
    make_file(folder / "file", options.size, options.seed)
    key = None
    if options.key:
        key = folder / "key"
        key.write_bytes(random.Random(options.seed).randbytes(32))
    draws = random.Random(options.seed)
    sides = Sides(options.binary, folder, options.rate, key)
    began, kills = time.monotonic(), {"sender": 0, "listener": 0}
    try:
        while sum(kills.values()) < options.kills:
            time.sleep(draws.uniform(0.05, options.pause))
            if sides.running["sender"].poll() is not None:
                break
            side = draws.choice(sorted(kills))
            sides.kill(side)
            kills[side] += 1
        out, _ = sides.running["sender"].communicate(timeout=options.patience)
    finally:
        sides.stop()
    whole = filecmp.cmp(folder / "file", folder / "into" / "file", shallow=False)
    left = sorted(path.name for path in (folder / "into").iterdir())
    last = json.loads(out) if out else {}
    return {
        "kills": kills,
        "seconds": round(time.monotonic() - began, 1),
        "whole": whole,
        "left": left,
        "resumed_bytes_of_last_sender": last.get("resumed_bytes"),
        "datagrams_of_last_sender": last.get("datagrams"),
    }


def main() -> int:
    """Reads the arguments, tortures, prints the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default="target/release/lightlag")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--size", type=int, default=1_000_000_000)
    parser.add_argument("--rate", default="200 Mbit/s")
    parser.add_argument("--pause", type=float, default=1.5, help="longest time between two kills, s")
    parser.add_argument("--patience", type=float, default=600.0, help="for the end, s")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--key", action="store_true", help="authenticate")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = torture(options, Path(folder))
    print(json.dumps(result))
    return 0 if result["whole"] and result["left"] == ["file"] else 1


if __name__ == "__main__":
    sys.exit(main())
