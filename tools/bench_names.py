"""Speed and memory of the world of names, and a large object through a local ndnd: part of `make bench`.

python3 tools/bench_names.py --binary target/release/lightlag [--size 1000000000] [--repeat 3]

Speed: exchanges of an Interest and its Data over the three hops of the path of DCP's paper, whose stores are
empty, a second of CPU. Memory: what Interests that get no answer take in the two forwarders that keep them
and in the consumer, and what Data take in a store, beyond a run with next to none of them.

`ndnd put` serves the object over the forwarder's Unix socket; `ndnd cat` and `lightlag names get` fetch it by
turns, from command to whole file. The ratio of the medians is what counts: both share the same forwarder,
producer and machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from bench import timed
from bench_packets import peak_bytes
from ndn import FetchError, Forwarder, MissingError, Programs, digest, find_ndnd, random_file

PATIENCE_S = 600.0
PATH = Path(__file__).parent.parent / "scenarios" / "papers" / "dcp_single.toml"
# What ndnSIM 2.8 did on the same path.
NDNSIM_EXCHANGES_PER_S = 10_950
GOAL_EXCHANGES_PER_S = 2e6
GOAL_BYTES = 200.0

MEMORY = """\
duration = "20 s"
[links.near]
from = "reader"
to = "router"
rate = "10 Gbit/s"
delay = "1 ms"
queue = "10000000 packets"
[links.far]
from = "router"
to = "library"
rate = "10 Gbit/s"
delay = "1 ms"
queue = "10000000 packets"
loss = {loss}
[nodes.router]
cache = "{cache}"
[producers.books]
at = "library"
prefix = "/books"
object = "{size}"
segment = "1000 B"
[consumers.one]
at = "reader"
object = "/books/dune"
lifetime = "1 h"
timeout_least = "1 h"
controller = {{ name = "fixed", window = "{window}" }}
"""
# Pending Interests and Data of 1000 B.
KEPT = 1_000_000


def bench_world(binary: Path, repeat: int) -> None:
    """Prints exchanges a second of CPU, and bytes of what is pending and kept."""
    window = ("--set", 'controller={ name = "fixed", window = "75000 B" }', "--set", "queue=120 packets")
    command = [str(binary), "run", str(PATH), "--json", "--no-judge", "--set", "duration=1200 s", *window]
    runs = [timed(command) for _ in range(repeat)]
    cpu_s, exchanges = min(run[0] for run in runs), json.loads(runs[0][2])["interests_sent"]
    rate = exchanges / cpu_s
    print(
        f"names: {rate / 1e6:.2f} million exchanges over three hops a second of CPU"
        f" (> {GOAL_EXCHANGES_PER_S / 1e6:g}{'' if rate > GOAL_EXCHANGES_PER_S else ' MISSED'}),"
        f" {rate / NDNSIM_EXCHANGES_PER_S:.0f} times as many as ndnSIM 2.8"
    )
    with tempfile.TemporaryDirectory(prefix="names-") as folder:

        def peak(**values: object) -> float:
            scenario = Path(folder) / "scenario.toml"
            scenario.write_text(MEMORY.format(**values))
            return peak_bytes([str(binary), "run", str(scenario), "--json", "--no-judge"])

        size = f"{KEPT // 1000} MB"
        few, many = (peak(loss=1.0, cache="0 B", size="1 GB", window=window) for window in ("20 MB", size))
        # In the forwarders of the reader and of the router, and in the consumer.
        told("pending Interest", (many - few) / (0.98 * KEPT) / 3)
        none, all_of_it = (peak(loss=0.0, cache=cache, size=size, window="1 MB") for cache in ("0 B", "2 GB"))
        told("Data in a store", (all_of_it - none) / KEPT)


def told(what: str, each: float) -> None:
    """Prints what one takes."""
    missed = "" if each < GOAL_BYTES else " MISSED"
    print(f"names: {each:.0f} B for each {what} (< {GOAL_BYTES:g} B{missed})")


def fetches(programs: Programs, folder: Path, size: int, repeat: int) -> dict[str, list[float]]:
    """Seconds of each fetch by ndnd and by ours, which take turns."""
    file, into, name = random_file(folder / "file", size), folder / "into", "/bench/file"
    sha = digest(file)
    took_s: dict[str, list[float]] = {"ndnd": [], "lightlag": []}
    with (
        Forwarder(programs.ndnd, folder, "bench") as forwarder,
        programs.publishing("ndnd", forwarder, "unix", name, file),
    ):
        for _ in range(repeat):
            for who, runs in took_s.items():
                runs.append(programs.fetch(who, forwarder.uri("unix"), name, into, PATIENCE_S))
                if digest(into) != sha:
                    raise FetchError(f"what {who} fetched differs from what ndnd put has published")
    return took_s


def bench_fetch(binary: Path, size: int, repeat: int) -> int:
    """Prints a line for each consumer and their ratio; 1 when a fetch failed."""
    try:
        programs = Programs(find_ndnd(), binary.resolve())
    except MissingError as why:
        print(f"names through ndnd: skipped, {why}")
        return 0
    with tempfile.TemporaryDirectory(prefix="ndn-") as folder:
        try:
            took_s = fetches(programs, Path(folder), size, repeat)
        except (FetchError, RuntimeError) as why:
            print(f"names through ndnd: {why}")
            return 1
    for who, runs in took_s.items():
        rates = [size * 8 / run / 1e6 for run in runs]
        print(
            f"names through ndnd, {size / 1e6:.0f} MB to {who}: {statistics.median(rates):.0f} Mbit/s "
            f"({min(rates):.0f} to {max(rates):.0f})"
        )
    ratio = statistics.median(took_s["ndnd"]) / statistics.median(took_s["lightlag"])
    print(f"names through ndnd: lightlag is {ratio:.2f} times as fast as ndnd cat")
    return 0


def main() -> int:
    """Prints the results of each bench."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--size", type=int, default=1_000_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--ours", default="lightlag", help="in the place of lightlag, to try the bench itself"
    )
    options = parser.parse_args()
    bench_world(options.binary, options.repeat)
    return bench_fetch(options.binary, options.size, options.repeat)


if __name__ == "__main__":
    sys.exit(main())
