"""Files to and from real NDN software, by SHA-256: part of `make fidelity`.

python3 tools/fidelity_names.py --binary target/release/lightlag [--size 100000000] [--only TEXT]

`lightlag names` publishes for and fetches from ndnd and python-ndn, through ndnd's forwarder: over its Unix
socket, TCP and UDP, and over a link between two forwarders with 20 ms of delay and 1 % of loss per direction.
Exit code 1 when a file does not arrive whole; 0 with the reason where ndnd or python-ndn is not available.

ndnd cat asks for a segment three times, 4 s apart, and then gives the object up. Segments of 8000 B take six
fragments of 1420 B: at 1 % of loss one of 100 MB is lost three times nearly always. Its lossy runs therefore
have link packets of up to 8800 B, and five attempts; one in ten fails.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ndn import (
    MTU,
    MTU_WHOLE,
    FetchError,
    Forwarder,
    Link,
    MissingError,
    Programs,
    TwoForwarders,
    digest,
    find_ndnd,
    find_pyndntools,
    random_file,
)

# No faster than the 208 kB of a socket of ndnd take the bursts of its window.
LOSSY = Link(rate="100 Mbit/s", round_trip="40 ms", queue="10000 packets", loss=0.01)
PATIENCE_S = 600.0
OURS = "lightlag"


@dataclass(frozen=True)
class Case:
    """Who publishes for whom over what: a kind of face, or `lossy`."""

    publisher: str
    fetcher: str
    over: str
    share: float = 1.0
    mtu: int = MTU
    attempts: int = 1

    def __str__(self) -> str:
        """As in the table."""
        return f"{self.publisher} -> {self.fetcher}, {self.over}"


# ndnd accepts no registrations over TCP; python-ndn is slow, it fetches a segment after the other.
CASES = [
    Case("ndnd", OURS, "unix"),
    Case(OURS, "ndnd", "unix"),
    Case("ndnd", OURS, "tcp"),
    Case("ndnd", OURS, "udp", share=0.2),
    # The 100 segments that ndnd cat asks for at once overrun the socket of its forwarder at times.
    Case(OURS, "ndnd", "udp", share=0.05, attempts=5),
    Case("ndnd", OURS, "lossy"),
    Case(OURS, "ndnd", "lossy", mtu=MTU_WHOLE, attempts=5),
    Case("python-ndn", OURS, "unix", share=0.1),
    Case(OURS, "python-ndn", "unix", share=0.1),
]


def one(case: Case, programs: Programs, folder: Path, size: int) -> str:
    """Runs a case in a folder of its own; the words of its row. FetchError: the file does not come whole."""
    file = random_file(folder / "file", int(size * case.share))
    into, name = folder / "into", "/fidelity/file"
    lossy = case.over == "lossy"
    # The others reach a forwarder by its Unix socket: ndnd's tools have no UDP.
    faces = {
        end: case.over if end == OURS and not lossy else "unix" for end in (case.publisher, case.fetcher)
    }
    with (
        TwoForwarders(programs, folder, LOSSY, case.mtu)
        if lossy
        else Forwarder(programs.ndnd, folder, "one") as network
    ):
        near, far = (network.near, network.far) if isinstance(network, TwoForwarders) else (network, network)
        if isinstance(network, TwoForwarders):
            network.route(name)
        with programs.publishing(case.publisher, far, faces[case.publisher], name, file):
            for attempt in range(1, case.attempts + 1):
                try:
                    took_s = programs.fetch(
                        case.fetcher, near.uri(faces[case.fetcher]), name, into, PATIENCE_S
                    )
                except FetchError:
                    if attempt == case.attempts:
                        raise
                    continue
                break
    if digest(file) != digest(into):
        raise FetchError(f"SHA-256 differs; {into.stat().st_size if into.exists() else 0} bytes came")
    size = file.stat().st_size
    again = f", attempt {attempt}" if attempt > 1 else ""
    return f"{size / 1e6:>6.0f} MB{took_s:>8.1f} s{size * 8 / took_s / 1e6:>8.0f} Mbit/s  same{again}"


def main() -> int:
    """Prints the table; 1 when a file does not arrive whole."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--size", type=int, default=100_000_000)
    parser.add_argument("--only", default="", help="cases with this text")
    options = parser.parse_args()
    try:
        programs = Programs(find_ndnd(), options.binary.resolve(), find_pyndntools())
    except MissingError as why:
        print(f"names beside real NDN software: skipped, {why}")
        return 0
    misses = count = 0
    print("names beside real NDN software, files compared by SHA-256")
    for case in CASES:
        if options.only not in str(case):
            continue
        count += 1
        with tempfile.TemporaryDirectory(prefix="ndn-") as folder:
            try:
                row = one(case, programs, Path(folder), options.size)
            except (FetchError, RuntimeError) as why:
                misses += 1
                row = f"NO: {why}"
        print(f"{case!s:36}{row}", flush=True)
    print(f"{misses} of {count} files did not arrive whole")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
