"""Drawn networks on real sockets, beside the same networks in simulated worlds.

python3 tools/fidelity_scorecard.py --binary target/release/lightlag [--networks 10] [--seed 1]

Ten networks that a machine carries are drawn, and five senders measure each of them for some seconds with
`lightlag bench-link` through `lightlag emulate`: fifty runs, two at a time. `lightlag run` plays the same.
The rankings must agree (Kendall's tau of all fifty goodputs at least 0.8), and each goodput within 10 %, on a
machine that does nothing else. Part of `make fidelity`.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fidelity_bundles import free_ports

# Name: transport, controller, and whether it knows the rate of the link.
SENDERS = {
    "contact_rate, planned": ("udpdtn", "contact_rate", True),
    "contact_rate": ("udpdtn", "contact_rate", False),
    "cubic": ("udpdtn", "cubic", False),
    "new_reno": ("udpdtn", "new_reno", False),
    "vegas": ("udpdtn", "vegas", False),
}
TAU_LEAST, APART_MOST = 0.8, 0.1
# Bits of a packet on the link, and bytes of data in it.
PACKET, SYMBOL = 12_000, 1456


@dataclass(frozen=True)
class Network:
    """A link: bit/s, seconds, packets, a share; and for how many seconds it is measured."""

    rate: int
    rtt: float
    queue: int
    loss: float
    seconds: int

    def text(self) -> str:
        """In words."""
        link = f"{self.rate / 1e6:.2f} Mbit/s, {self.rtt * 1e3:.0f} ms"
        return f"{link}, {self.queue} packets, {self.loss:.1%} lost"


@dataclass(frozen=True)
class Run:
    """What one sender got in one network: bit/s on sockets and in the world, and what the first one paid."""

    network: Network
    sender: str
    real: float
    world: float
    sent: int
    repairs: int
    dropped: str

    def ratio(self) -> float:
        """Real over simulated."""
        return self.real / max(self.world, 1.0)


def draw(number: int, seed: int) -> list[Network]:
    """Networks, spread evenly over the logarithms of rate and round trip."""
    draws = random.Random(seed)
    places = list(range(number))
    draws.shuffle(places)
    found = []
    for index in range(number):
        rate = int(2e5 * 100 ** ((index + draws.random()) / number))
        rtt = 0.01 * 50 ** ((places[index] + draws.random()) / number)
        pipe = rate * rtt / PACKET
        queue = max(16, round(pipe * 0.25 * 8 ** draws.random()))
        loss = draws.choice([0.0, 0.0, 0.001, 0.01, 0.03])
        found.append(Network(rate, rtt, queue, loss, min(24, max(12, math.ceil(40 * rtt)))))
    return found


def scenario(network: Network, sender: str) -> str:
    """For both: the emulator takes the link, the world the flow too."""
    transport, controller, planned = SENDERS[sender]
    plan = f'planned_rate = "{network.rate} bit/s"\n' if planned else ""
    return f"""
duration = "{network.seconds} s"
[links.path]
from = "a"
to = "b"
rate = "{network.rate} bit/s"
round_trip = "{network.rtt:.6f} s"
queue = "{network.queue} packets"
loss = {network.loss}
back = {{ loss = 0.0, queue = "100000 packets" }}
[flows.file]
from = "a"
to = "b"
transport = "{transport}"
controller = "{controller}"
{plan}"""


def started(words: list[str]) -> tuple[subprocess.Popen[str], str]:
    """A program that says at which address it listens."""
    one = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert one.stderr is not None
    line = one.stderr.readline()
    found = re.search(r"listening at (\S+)", line)
    if found is None:
        one.kill()
        raise RuntimeError(f"{' '.join(words)}: {line.strip() or 'it ended at once'}")
    return one, found[1]


def measure(binary: str, file: Path, network: Network, sender: str) -> Run:
    """One run on sockets, and in the world."""
    transport, controller, planned = SENDERS[sender]
    first, second = free_ports(2)
    listener, at = started(
        [
            binary,
            "bench-link",
            "--over",
            transport,
            "--listen",
            f"127.0.0.1:{first}",
            "--json",
            "--once",
        ]
    )
    near = f"127.0.0.1:{second}"
    lasts = f"{network.seconds + 4 + 8 * network.rtt:.1f} s"
    emulator, _ = started(
        [binary, "emulate", str(file), "--listen", near, "--to", at, "--for", lasts, "--json"]
    )
    words = [binary, "bench-link", near, "--over", transport, "--time", f"{network.seconds} s", "--json"]
    words += ["--controller", controller, *(["--rate", f"{network.rate} bit/s"] if planned else [])]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=10 * network.seconds, check=True)
        figures = json.loads(done.stdout.strip().splitlines()[-1])
    finally:
        said, _ = emulator.communicate()
        listener.kill()
        listener.communicate()
    world = json.loads(subprocess.check_output([binary, "run", str(file), "--json"], text=True))
    dropped = json.loads(said)["forward"]["dropped"]
    return Run(
        network,
        sender,
        float(figures["goodput_bit_per_s"]),
        received(world) * 8 / network.seconds,
        int(figures["datagrams"]),
        int(figures["repairs"]),
        f"{dropped} / {world['packets_dropped']}",
    )


def received(world: dict[str, float]) -> float:
    """Bytes that arrived in the world, as `bench-link` counts them: in blocks that are not whole too."""
    return (world["packets_sent"] - world["packets_dropped"] - world["packets_lost"]) * SYMBOL


def kendall(pairs: list[tuple[float, float]]) -> float:
    """Kendall's tau-b."""
    both = ties_a = ties_b = 0
    total = 0
    for index, (a, b) in enumerate(pairs):
        for other_a, other_b in pairs[index + 1 :]:
            one = (a > other_a) - (a < other_a)
            two = (b > other_b) - (b < other_b)
            total += 1
            ties_a += one == 0
            ties_b += two == 0
            both += one * two
    return both / math.sqrt((total - ties_a) * (total - ties_b))


def ranking(runs: list[Run]) -> tuple[int, int]:
    """Pairs of senders in one network whose order agrees, of those that the world has 10 % apart."""
    agree = clear = 0
    for index, one in enumerate(runs):
        for two in runs[index + 1 :]:
            apart = abs(one.world - two.world) > APART_MOST * max(one.world, two.world)
            if one.network == two.network and apart:
                clear += 1
                agree += (one.world > two.world) == (one.real > two.real)
    return agree, clear


def report(runs: list[Run]) -> bool:
    """Prints the result first; whether it is good."""
    tau = kendall([(run.real, run.world) for run in runs])
    near = [run for run in runs if abs(run.ratio() - 1) <= APART_MOST]
    agree, clear = ranking(runs)
    print(f"Kendall's tau of {len(runs)} goodputs, real and simulated: {tau:.3f} (least: {TAU_LEAST})")
    print(f"within a tenth of each other: {len(near)} of {len(runs)}")
    print(f"order of two senders in one network that are a tenth apart: {agree} of {clear} agree")
    print(f"{'sender':22} {'real':>9} {'world':>9} {'ratio':>6} {'sent':>7} {'repairs':>7} {'dropped':>12}")
    for run in sorted(runs, key=lambda run: abs(run.ratio() - 1), reverse=True):
        print(
            f"{run.sender:22} {run.real / 1e3:9.0f} {run.world / 1e3:9.0f} {run.ratio():6.2f} {run.sent:7} "
            f"{run.repairs:7} {run.dropped:>12}  {run.network.text()}"
        )
    return tau >= TAU_LEAST and len(near) == len(runs)


def main() -> int:
    """Draws, measures, compares."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default="target/release/lightlag")
    parser.add_argument("--networks", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        jobs = []
        for index, network in enumerate(draw(options.networks, options.seed)):
            for number, sender in enumerate(SENDERS):
                file = Path(folder) / f"{index}_{number}.toml"
                file.write_text(scenario(network, sender))
                jobs.append(pool.submit(measure, options.binary, file, network, sender))
        runs = [job.result() for job in jobs]
    return 0 if report(runs) else 1


if __name__ == "__main__":
    sys.exit(main())
