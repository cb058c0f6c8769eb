"""Relays per CPU second of PONS and of Lightlag on the same walk: part of `make bench`.

python3 tools/bench_pons.py --binary target/release/lightlag [--seconds 3600] [--repeat 3]

PONS (`pons-dtn` of PyPI, MIT; installed into .tools the first time) is a simulator of opportunistic networks
in Python. 50 nodes walk by random waypoint on 1 km2, epidemic routing without a buffer limit, a bundle every
10 s. PONS gets the positions and finds the contacts by itself; Lightlag gets the contacts that follow from
the same positions at the same scans. Bundles are the same, and transfers take less than a microsecond in
both, so both must deliver the same number of bundles.

A relay gives a node a bundle that it did not have. PONS exchanges no summary vectors and sends most bundles
again; those repetitions are not counted. CPU seconds: PONS without imports and setup, Lightlag in all.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
from itertools import combinations
from pathlib import Path

from bench import measure
from ndn import MissingError, last_line, python_with

PONS = "pons-dtn==0.2.1"
NODES, SIDE_M, RANGE_M, SCAN_S, BUNDLE_EVERY_S = 50, 1000.0, 150.0, 2, 10

# What runs in PONS's environment.
WORKER = """\
import contextlib, io, json, logging, sys, time
import pons, pons.routing
job = json.load(open(sys.argv[1]))
logging.disable(logging.CRITICAL)
net = pons.NetworkSettings("radio", range=job["range_m"], bandwidth=10**12, delay=0.0)
router = pons.routing.EpidemicRouter(scan_interval=job["scan_s"])
nodes = pons.generate_nodes(job["nodes"], net=[net], router=router)
moves = [tuple(row) for row in job["moves"]]
config = {"movement_logger": False, "peers_logger": False}
world = pons.NetSim(job["duration_s"], nodes, (job["side_m"], job["side_m"]), moves, config=config)

def traffic(env):
    for number, (at, source, destination, size) in enumerate(job["bundles"]):
        yield env.timeout(at - env.now)
        message = pons.Message(f"M{number}", source, destination, size, env.now, ttl=job["duration_s"])
        world.nodes[source].router.add(message)

with contextlib.redirect_stdout(io.StringIO()):
    world.setup()
    world.env.process(traffic(world.env))
    began = time.process_time()
    world.run()
    took = time.process_time() - began
print(json.dumps({**world.routing_stats, "cpu_s": took}))
"""

SCENARIO = """\
duration = "{seconds} s"
router = "epidemic"
buffer = "1 TB"
[nodes.n]
count = {nodes}
[contacts.walk]
kind = "the_one"
file = "contacts.txt"
rate = "8 Tbit/s"
[traffic.bundles]
file = "bundles.txt"
lifetime = "{seconds} s"
"""

Walk = list[list[tuple[float, float]]]


def walk(seconds: int, draws: random.Random) -> Walk:
    """Positions of every node at each scan: random waypoint, 0.5 to 1.5 m/s, pauses of up to 120 s."""
    paths: Walk = []
    for _ in range(NODES):
        x, y = draws.uniform(0, SIDE_M), draws.uniform(0, SIDE_M)
        goal, step, pause, path = (x, y), 0.0, 0, []
        for _ in range(0, seconds + SCAN_S, SCAN_S):
            path.append((x, y))
            left = math.hypot(goal[0] - x, goal[1] - y)
            if pause > 0:
                pause -= SCAN_S
            elif left <= step or left == 0.0:
                x, y = goal
                goal = (draws.uniform(0, SIDE_M), draws.uniform(0, SIDE_M))
                step, pause = draws.uniform(0.5, 1.5) * SCAN_S, draws.randint(0, 120)
            else:
                x, y = x + (goal[0] - x) / left * step, y + (goal[1] - y) / left * step
        paths.append(path)
    return paths


def contacts(paths: Walk) -> str:
    """Contacts as of the scans, in The ONE's format."""
    lines: list[str] = []
    up: set[tuple[int, int]] = set()
    for scan in range(len(paths[0])):
        for pair in combinations(range(NODES), 2):
            (x, y), (u, v) = (paths[node][scan] for node in pair)
            near = (x - u) ** 2 + (y - v) ** 2 <= RANGE_M**2
            if near != (pair in up):
                up ^= {pair}
                lines.append(f"{scan * SCAN_S} CONN {pair[0]} {pair[1]} {'up' if near else 'down'}\n")
    return "".join(lines)


def prepare(folder: Path, seconds: int) -> tuple[Path, Path]:
    """Writes the scenario and PONS's job."""
    draws = random.Random(1)
    paths = walk(seconds, draws)
    # Created after a scan and before the next move: PONS loses what it sends to a peer that has moved away.
    bundles = [
        (at + 0.5, *draws.sample(range(NODES), 2), draws.randrange(50_000, 100_000))
        for at in range(0, seconds, BUNDLE_EVERY_S)
    ]
    # Halfway between two scans, so that no move coincides with a scan.
    moves = [
        (max(0.0, (scan - 0.5) * SCAN_S), node, *paths[node][scan], 0.0)
        for scan in range(len(paths[0]))
        for node in range(NODES)
    ]
    job = {
        "nodes": NODES,
        "side_m": SIDE_M,
        "range_m": RANGE_M,
        "scan_s": SCAN_S,
        "duration_s": seconds,
        "moves": moves,
        "bundles": bundles,
    }
    (folder / "job.json").write_text(json.dumps(job))
    (folder / "contacts.txt").write_text(contacts(paths))
    lines = (f"{row[0]} C M{number} {row[1]} {row[2]} {row[3]}\n" for number, row in enumerate(bundles))
    (folder / "bundles.txt").write_text("".join(lines))
    scenario = folder / "walk.toml"
    scenario.write_text(SCENARIO.format(seconds=seconds, nodes=NODES))
    return scenario, folder / "job.json"


def run_pons(python: Path, job: Path) -> dict[str, float]:
    """PONS's figures, with `cpu_s`. MissingError when it fails."""
    command = [str(python), "-c", WORKER, str(job)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingError(f"{PONS} fails: {last_line(done.stderr)}")
    figures: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return figures


def row(name: str, relays: float, cpu_s: float, delivered: float) -> float:
    """Prints a line of the table; relays per CPU second."""
    print(f"{name:12}{relays:>9.0f}{cpu_s:>9.2f}{relays / cpu_s:>18.0f}{delivered:>11.0f}", flush=True)
    return relays / cpu_s


def main() -> int:
    """Prints the table; 1 when the two deliver different numbers of bundles."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    try:
        python = python_with("pons", PONS) / "python"
        with tempfile.TemporaryDirectory(prefix="pons-") as folder:
            scenario, job = prepare(Path(folder), options.seconds)
            pons = run_pons(python, job)
            runs = [measure(options.binary, scenario, "--no-judge") for _ in range(options.repeat)]
    except MissingError as why:
        print(f"PONS: skipped, {why}")
        return 0
    print(f"\n{'epidemic':12}{'relays':>9}{'CPU s':>9}{'relays per CPU s':>18}{'delivered':>11}")
    theirs = row("PONS 0.2.1", pons["relayed"] - pons["dups"], pons["cpu_s"], pons["delivered"])
    cpu_s, figures = min(run[0] for run in runs), runs[0][2]
    ours = row("Lightlag", figures["relayed"], cpu_s, figures["delivered"])
    agree = pons["delivered"] == figures["delivered"]
    print(f"lightlag: {ours / theirs:.0f} times as many; delivered: {'equal' if agree else 'DIFFERENT'}")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
