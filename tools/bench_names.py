"""A large object through a local ndnd forwarder, beside ndnd's own consumer: part of `make bench`.

python3 tools/bench_names.py --binary target/release/lightlag [--size 1000000000] [--repeat 3]

`ndnd put` serves the object over the forwarder's Unix socket; `ndnd cat` and `lightlag names get` fetch it by
turns, from command to whole file. The ratio of the medians is what counts: both share the same forwarder,
producer and machine.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from ndn import FetchError, Forwarder, MissingError, Programs, digest, find_ndnd, random_file

PATIENCE_S = 600.0


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
    """Prints what each bench tells."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--size", type=int, default=1_000_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--ours", default="lightlag", help="in the place of lightlag, to try the bench itself"
    )
    options = parser.parse_args()
    return bench_fetch(options.binary, options.size, options.repeat)


if __name__ == "__main__":
    sys.exit(main())
