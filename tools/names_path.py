"""How fast an object comes over 10 Mbit/s, 60 ms and a queue of 60 packets between two real ndnd forwarders.

python3 tools/names_path.py --binary target/release/lightlag [--controller NAME ...] [--least 0.9]

`ndnd cat`, which always has 100 Interests in flight, beside `lightlag names get` with each
controller, for segments of 8000 B (six fragments each) and of 1024 B. Goodput counts the bytes of the file,
from command to whole file. The rate of the link counts IP packets, as `lightlag emulate` does: `link` is what
the segments took of it, once each; `lost` is the share of the producer's Data that the path did not carry.
Exit code 1 when one of ours is below --least of the link's rate, or its file differs; 0 with the reason where
ndnd or python-ndn is not available.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from ndn import (
    FetchError,
    Link,
    MissingError,
    Programs,
    TwoForwarders,
    digest,
    find_ndnd,
    find_pyndntools,
    link_bytes,
    random_file,
)
from probe import Probed, probe

RATE_MBIT_S = 10.0
PATH = Link(rate="10 Mbit/s", round_trip="60 ms", queue="60 packets")
# Of each maker, what it can publish: ndnd makes segments of 8000 B only.
PUBLISHERS = {8000: "ndnd", 1024: "python-ndn"}
PATIENCE_S = 120.0


class Comparing:
    """Two forwarders, the path between them, and a file behind it."""

    def __init__(self, programs: Programs, network: TwoForwarders, folder: Path, file: Path) -> None:
        self.programs, self.network, self.folder, self.file = programs, network, folder, file
        self.sha = digest(file)

    def run(self, segment: int, name: str, who: str, controller: str | None = None) -> float:
        """Fetches, prints a row, and returns the share of the link; 0 when the file did not come whole."""
        near, far = self.network.near, self.network.far
        into = self.folder / "into"
        before = near.counters("udp4"), far.counters("udp4"), far.counters("fd")
        print(f"{segment:>5} B  {controller or who:15}", end="", flush=True)
        why = None
        try:
            took_s = self.programs.fetch(who, near.uri("unix"), name, into, PATIENCE_S, controller)
        except FetchError as error:
            why = error
        came, left, made = (
            face.counters(kind).since(was)
            for face, kind, was in zip((near, far, far), ("udp4", "udp4", "fd"), before, strict=True)
        )
        lost = f"{1 - came.in_data / left.out_data:.1%}" if left.out_data else "-"
        if why:
            print(f"{'-':>14}{'-':>8}{'-':>10}{lost:>8}  gave up: {why}", flush=True)
            return 0.0
        goodput = self.file.stat().st_size * 8 / took_s / 1e6
        link = goodput * link_bytes(made.in_bytes / made.in_data) / segment / RATE_MBIT_S
        same = digest(into) == self.sha
        print(
            f"{goodput:>7.2f} Mbit/s{link:>8.1%}{took_s:>8.1f} s{lost:>8}  {'same' if same else 'NO'}",
            flush=True,
        )
        return link if same else 0.0


def compare(programs: Programs, options: argparse.Namespace, folder: Path) -> int:
    """Prints the table; how many of ours are too slow."""
    file = random_file(folder / "file", options.size)
    slow = 0
    with TwoForwarders(programs, folder, PATH) as network:
        comparing = Comparing(programs, network, folder, file)
        network.route("/path")
        for segment in options.segment or sorted(PUBLISHERS, reverse=True):
            name = f"/path/{segment}"
            with programs.publishing(PUBLISHERS[segment], network.far, "unix", name, file, segment):
                if not options.ours_only:
                    comparing.run(segment, name, "ndnd")
                for controller in options.controller or [None]:
                    share = comparing.run(segment, name, "lightlag", controller)
                    slow += share < options.least
    return slow


def told(found: Probed) -> str:
    """A line on the path itself."""
    return (
        f"the path as measured: {found.rate_mbit_s:.3f} Mbit/s of IP packets, "
        f"round trip {found.rtt_ms:.1f} ms, queue {found.queue_packets:.1f} packets"
    )


def main() -> int:
    """Prints the table; 1 when one of ours is too slow."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--controller", action="append", default=[], help="of ours, may come several times")
    parser.add_argument(
        "--segment", type=int, action="append", choices=sorted(PUBLISHERS), help="default: all"
    )
    parser.add_argument("--size", type=int, default=25_000_000)
    parser.add_argument("--least", type=float, default=0.9, help="share of the link that ours must fill")
    parser.add_argument("--ours-only", action="store_true", help="leave ndnd cat out")
    options = parser.parse_args()
    try:
        programs = Programs(find_ndnd(), options.binary.resolve(), find_pyndntools())
    except MissingError as why:
        print(f"names over 10 Mbit/s and 60 ms: skipped, {why}")
        return 0
    with tempfile.TemporaryDirectory(prefix="ndn-") as name:
        print(told(probe(programs, PATH, Path(name))))
        print(f"segment  consumer{'goodput':>21}{'link':>8}{'time':>10}{'lost':>8}  SHA-256")
        slow = compare(programs, options, Path(name))
    print(f"{slow} of ours below {options.least:.0%} of the link")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
