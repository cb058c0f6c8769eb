"""Contact graph routing beside aiodtnsim's SABR, on random contact plans: `make fidelity`.

python3 tools/fidelity_routes.py --binary target/release/lightlag [--plans 5000]

Each plan has links of random times, rates and light times between a few nodes, and one bundle of a random
size that many contacts have no room for. aiodtnsim (PyPI, MIT) is asked for its best route: it lists routes
by Yen's algorithm and takes the candidate of the earliest projected arrival, then of the fewest hops. Ours
runs the plan as a scenario. Both must deliver at the same time over equally many hops, or neither. What
cannot be installed is skipped with the reason.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".tools" / "aiodtnsim"
AIODTNSIM = "aiodtnsim==0.3.1"
NODES = 6
UNTIL_S = 1000
# The two compute in whole nanoseconds and in floats.
TOLERANCE_S = 1e-6
SCENARIO = """
duration = "2000 s"
router = "contact_graph"
buffer = "1 GB"
[world]
radio = "direction"
[nodes.N]
count = {nodes}
first = 0
[contacts.plan]
kind = "table"
plan = true
file = "plan.csv"
[traffic.bundle]
events = [{{ at = "0 s", from = "N0", to = "N{last}", size = "{size} B" }}]
lifetime = "2000 s"
"""

Plan = dict[str, Any]
Arrival = tuple[float, int] | None


def plan(number: int) -> Plan:
    """Links as (start, end, node, node, light time, rate), none of a pair at a time, and a size."""
    draw = random.Random(number)
    links: list[tuple[int, int, int, int, float, int]] = []
    while len(links) < draw.randrange(6, 15):
        a, b = sorted(draw.sample(range(NODES), 2))
        start = draw.randrange(UNTIL_S)
        end = start + draw.randrange(20, 300)
        if all((a, b) != link[2:4] or end < link[0] or link[1] < start for link in links):
            links.append((start, end, a, b, draw.randrange(1, 80) / 4, draw.randrange(1000, 9000)))
    return {"links": sorted(links), "size": draw.randrange(1000, 60_000)}


def ours(binary: Path, plans: list[Plan]) -> list[Arrival]:
    """When and over how many hops a run of each plan delivers."""
    arrivals: list[Arrival] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for one in plans:
            rows = [f"{s},{e},N{a},N{b},{light},{rate}" for s, e, a, b, light, rate in one["links"]]
            (folder / "plan.csv").write_text("start_s,end_s,a,b,owlt_s,rate_bps\n" + "\n".join(rows) + "\n")
            text = SCENARIO.format(nodes=NODES, last=NODES - 1, size=one["size"])
            (folder / "scenario.toml").write_text(text)
            command = [str(binary), "run", str(folder / "scenario.toml"), "--json"]
            told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            arrived = told["delivered"] == 1
            arrivals.append((told["latency_avg"], round(told["hopcount_avg"])) if arrived else None)
    return arrivals


def theirs(plans: list[Plan]) -> list[Arrival]:
    """The same by aiodtnsim in its own environment. RuntimeError where it cannot be installed."""
    python = HOME / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", AIODTNSIM]
    for step in ([sys.executable, "-m", "venv", str(HOME)], pip):
        if not (HOME / "ready").exists():
            done = subprocess.run(step, capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError((done.stderr.strip().splitlines() or ["no reason given"])[-1])
    (HOME / "ready").touch()
    command = [str(python), __file__, "--reference"]
    done = subprocess.run(command, check=True, input=json.dumps(plans), capture_output=True, text=True)
    return [tuple(one) if one else None for one in json.loads(done.stdout)]


def reference() -> None:
    """Runs inside the environment of aiodtnsim: plans in, projected arrivals out."""
    import asyncio
    from types import SimpleNamespace

    from aiodtnsim.simulation.cgr.sabr import SABRGraphDataBase, _get_last_byte_arrival_times, sabr
    from aiodtnsim.simulation.cgr.sabr_nodegraph_node_yen import NGSABRNodeYen
    from tvgutil.contact_plan import SimplePredictedContactTuple as Contact
    from tvgutil.tvg import TVG

    node = SimpleNamespace(max_routes_yen=2000)

    def arrival(one: Plan) -> Arrival:
        edges: dict[tuple[int, int], list[Any]] = {}
        for start, end, a, b, light, rate in one["links"]:
            for ends in ((a, b), (b, a)):
                edges.setdefault(ends, []).append(Contact(*ends, start, end, rate, 1.0, light))
        near = {n: {to for at, to in edges if at == n} for n in range(NODES)}
        data = SABRGraphDataBase(start_time=0.0)
        data.ptvg = TVG(near, edges, contact_type=Contact)
        for (at, to), contacts in edges.items():
            if at == 0:
                data.neighbor_contact_lists[to] = contacts
        bundle = SimpleNamespace(destination=NODES - 1, deadline=2000.0, size=one["size"] * 8)
        routes = sabr(
            data,
            bundle,
            0,
            0.0,
            [],
            lambda _: 0.0,
            lambda contact: (contact.end_time - contact.start_time) * contact.bit_rate,
            lambda *given: NGSABRNodeYen.route_generator_factory(node, *given),
            math.inf,
            math.inf,
        )
        if not routes:
            return None
        path = routes[0].contact_path
        return _get_last_byte_arrival_times(path, bundle.size, max(0.0, path[0].start_time))[-1], len(path)

    async def every() -> list[Arrival]:
        return [arrival(one) for one in json.load(sys.stdin)]

    loop = asyncio.new_event_loop()
    loop.time = lambda: 0.0  # type: ignore[method-assign]  # its searches begin at the time of the loop
    json.dump(loop.run_until_complete(every()), sys.stdout)


def differs(mine: Arrival, other: Arrival) -> bool:
    """Whether two arrivals differ."""
    if mine is None or other is None:
        return mine is not other
    return abs(mine[0] - other[0]) > TOLERANCE_S or mine[1] != other[1]


def main() -> None:
    """Compares all plans."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--binary", type=Path, default=ROOT / "target/release/lightlag")
    parser.add_argument("--plans", type=int, default=5000)
    parser.add_argument("--reference", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.reference:
        return reference()
    plans = [plan(number) for number in range(options.plans)]
    try:
        expected = theirs(plans)
    except RuntimeError as why:
        return print(f"routes: skipped, {AIODTNSIM} cannot be installed: {why}")
    found = ours(options.binary, plans)
    wrong = [n for n in range(len(plans)) if differs(found[n], expected[n])]
    for n in wrong[:10]:
        print(f"plan {n}: ours {found[n]}, aiodtnsim {expected[n]}")
    delivered = sum(one is not None for one in expected)
    print(
        f"routes: {len(plans)} random plans, {delivered} bundles delivered by aiodtnsim's SABR, "
        f"{len(plans) - delivered} without a route; {len(wrong)} differ in time or hops"
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
