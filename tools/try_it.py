"""Writes "Try it" into every page of docs/algorithms: the page of Lightlag, with a small scenario.

try_it.py [--binary FILE] [--check]: with --check nothing is written; a page without its example, or one whose
scenario is wrong or runs another algorithm, is an error. Scenarios: scenarios/try.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import subprocess
import sys
import tempfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomllib

TOP = Path(__file__).resolve().parents[1]
PAGES = TOP / "docs/algorithms"
FOLDER = TOP / "scenarios/try"
#: Where `make docs` puts the page, as seen from a page of an algorithm.
PAGE = "../page.html"
SECTION = re.compile(r"^## Try it\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
ROAD = "map = 'streets.wkt', speed = '5..15 m/s'"


@dataclass
class Example:
    """A scenario of `scenarios/try`, and what is written there in place of its own lines, by key."""

    scenario: str
    lines: dict[str, str] = field(default_factory=dict)
    #: What stands below the scenario.
    more: str = ""


def _walkers(mobility: str, **lines: str) -> Example:
    value = "{ " + mobility.replace("'", '"') + " }"
    return Example("walkers", {"mobility": value, **lines})


def _flow(controller: str, transport: str) -> Example:
    return Example("link", {"controller": f'"{controller}"', "transport": f'"{transport}"'})


AREA = "area = '600 m x 600 m'"
WALK = "speed = '0.5..1.5 m/s'"
BUSES = f"""
[nodes.bus]
count = 2
mobility = {{ model = "bus", {ROAD.replace("'", '"')}, routes = "routes.wkt", pause = "10..30 s" }}
"""
#: Algorithms that the scenario of their kind does not fit.
OTHERS = {
    "contact_graph": Example("contacts"),
    "ion_forecast": Example("contacts", {"mechanism": '"ion_forecast"'}),
    "contact_rate": _flow("contact_rate", "udpdtn"),
    "ccid2": _flow("ccid2", "dccp"),
    "ccid3": _flow("ccid3", "dccp"),
    "careful_resume": Example(
        "link",
        {"controller": '{ name = "careful_resume", saved_window = "250 kB", saved_rtt = "500 ms" }'},
    ),
    **{
        name: Example("names", {"controller": f'"{name}"'})
        for name in ("short_queue", "dcp", "aimd", "icp", "contug", "pcon")
    },
    "uniform": Example("link", {"loss": '{ model = "uniform", share = 0.002 }'}),
    "bit_errors": Example("link", {"loss": '{ model = "bit_errors", share = 0.0000001 }'}),
    "gilbert_elliott": Example(
        "link",
        {"loss": '{ model = "gilbert_elliott", to_bad = 0.0005, to_good = 0.1, good = 0, bad = 0.5 }'},
    ),
    "steps": Example(
        "link",
        {"loss": '{ model = "steps", steps = [{ at = "20 s", share = 0.01 }, { at = "40 s", share = 0 }] }'},
    ),
    "by_delay": Example("link", {"loss": '{ model = "by_delay", least = 0.0001, most = 0.01 }'}),
    "drop_tail": Example("link", {"queue": '{ discipline = "drop_tail", limit = "160 packets" }'}),
    "priority": Example("link", {"queue": '{ discipline = "priority", limit = "80 packets" }'}),
    "codel": Example("link", {"queue": '{ discipline = "codel", limit = "160 packets" }'}),
    "stationary": _walkers(f"model = 'stationary', {AREA}", radio='{ range = "150 m", rate = "2 Mbit/s" }'),
    "grid": _walkers("model = 'grid', at = '50 m, 50 m', spacing = '50 m', rows = 4"),
    "line_formation": _walkers("model = 'line_formation', from = '0 m, 300 m', to = '600 m, 300 m'"),
    "line_walk": _walkers(
        "model = 'line_walk', from = '0 m, 300 m', to = '600 m, 300 m', speed = '0.1..0.3 m/s'"
    ),
    "random_waypoint": _walkers(f"model = 'random_waypoint', {AREA}, {WALK}, pause = '0..60 s'"),
    "cluster": _walkers(f"model = 'cluster', center = '300 m, 300 m', radius = '250 m', {WALK}"),
    "random_walk": _walkers(f"model = 'random_walk', {AREA}, {WALK}, leg = '20..100 m'"),
    "random_direction": _walkers(f"model = 'random_direction', {AREA}, {WALK}, pause = '0..60 s'"),
    "recorded": _walkers("model = 'recorded', positions = 'tracks.txt', format = 'samples'"),
    "shortest_path_map": _walkers(f"model = 'shortest_path_map', {ROAD}, pause = '0..60 s'"),
    "map_walk": _walkers(f"model = 'map_walk', {ROAD}, roads_per_journey = '3..9'"),
    "map_route": _walkers(f"model = 'map_route', {ROAD}, routes = 'routes.wkt', pause = '10..30 s'"),
    "bus": _walkers(f"model = 'bus', {ROAD}, routes = 'routes.wkt', pause = '10..30 s'"),
    "bus_passenger": _walkers(
        "model = 'bus_passenger', map = 'streets.wkt', speed = '0.8..1.4 m/s', chances = [0.9, 0.5]"
    ),
    "working_day": _walkers(
        "model = 'working_day', map = 'streets.wkt', speed = '0.8..1.4 m/s', day = '2 h', work = '30 min', "
        "departure_deviation = '10 min', offices = 3, office_pause = '10..600 s', meeting_spots = 2, "
        "evening_pause = '5..10 min'"
    ),
}
OTHERS["bus_passenger"].more = OTHERS["working_day"].more = BUSES


def example(algorithm: dict[str, Any]) -> Example | None:
    """The example of an algorithm; that of its kind where it has none of its own."""
    name, kind = algorithm["name"], algorithm["kind"]
    usual = {
        "router": Example("walkers", {"router": f'"{name}"'}),
        "mechanism": Example("walkers", {"mechanism": f'"{name}"'}),
        "controller": _flow(name, "tcp"),
    }
    return OTHERS.get(name) or usual.get(kind)


def text(one: Example) -> str:
    """The scenario as a reader would write it: without the comment on top."""
    written = (FOLDER / f"{one.scenario}.toml").read_text()
    written = re.sub(r"\A(#.*\n)+\n", "", written)
    for key, value in one.lines.items():
        line = f"{key} = {value}".replace("\\", "\\\\")
        written, count = re.subn(rf"^{key} = .*$", line, written, flags=re.MULTILINE)
        if count == 0:
            raise SystemExit(f"{one.scenario}.toml: has no `{key}`; write its line for the examples")
    return written + one.more


def shared(one: Example) -> dict[str, Any]:
    """What the fragment of the address holds (web/src/read/sources.ts)."""
    scenario = text(one)
    files = {name: (FOLDER / name).read_text() for name in re.findall(r'"([\w.]+\.(?:wkt|txt))"', scenario)}
    return {"text": scenario, "seed": 1, "set": {}, "compare": None, **({"files": files} if files else {})}


def packed(value: dict[str, Any]) -> str:
    """As the page packs it: JSON, raw deflate, base64 for addresses."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = deflate.compress(json.dumps(value).encode()) + deflate.flush()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def unpacked(fragment: str) -> dict[str, Any]:
    """What such a fragment holds."""
    data = base64.urlsafe_b64decode(fragment + "=" * (-len(fragment) % 4))
    found: dict[str, Any] = json.loads(zlib.decompress(data, -15))
    return found


def section(name: str, one: Example) -> str:
    """What stands below "Try it"."""
    fragment = packed(shared(one))
    return (
        f'<iframe class="try" loading="lazy" title="{name} in a small scenario" '
        f'src="{PAGE}#embed=1&s={fragment}"></iframe>\n\n'
        f'<p class="try"><a href="{PAGE}#s={fragment}">Open {name} in the laboratory</a></p>'
    )


def page(written: str, name: str, one: Example) -> str:
    """The page with its example above its results. What holds the same stays as it is packed."""
    found = SECTION.search(written)
    if found and _holds(found[0]) == [shared(one)] * 2:
        return written
    block = f"## Try it\n\n{section(name, one)}\n\n"
    if found:
        return written[: found.start()] + block + written[found.end() :]
    return re.sub(r"^## Results\n", lambda _: f"{block}## Results\n", written, count=1, flags=re.MULTILINE)


def _holds(block: str) -> list[dict[str, Any]]:
    return [unpacked(one) for one in re.findall(r"[#&]s=([\w-]+)", block)]


def names_in(scenario: Any) -> set[str]:
    """Every algorithm that a scenario names: the values of its keys, and the names in their tables."""
    keys = ("router", "mechanism", "controller", "mobility", "loss", "queue")
    found: set[str] = set()
    for key, value in scenario.items() if isinstance(scenario, dict) else ():
        if key in keys:
            table = value if isinstance(value, dict) else {"name": value}
            found |= {str(table[name]) for name in ("name", "model", "discipline") if name in table}
        found |= names_in(value)
    return found


def wrong(binary: str, name: str, one: Example) -> str | None:
    """What is wrong with an example, as `lightlag validate` says; `None`: nothing."""
    if name not in names_in(tomllib.loads(text(one))):
        return f"the scenario of {name} runs another algorithm"
    with tempfile.TemporaryDirectory() as folder:
        held = shared(one)
        for file, content in {"scenario.toml": held["text"], **held.get("files", {})}.items():
            (Path(folder) / file).write_text(content)
        asked = [binary, "validate", str(Path(folder) / "scenario.toml")]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"{name}: {done.stderr.strip() or done.stdout.strip()}"


def main() -> int:
    """Writes or checks all pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=str(TOP / "target/debug/lightlag"))
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    listed = subprocess.run([asked.binary, "list", "--json"], check=True, capture_output=True).stdout
    faults, changed = [], []
    for algorithm in json.loads(listed):
        name = algorithm["name"]
        one = example(algorithm)
        if one is None:
            faults.append(f"{name} has no example: add one to OTHERS of tools/try_it.py")
            continue
        if fault := wrong(asked.binary, name, one):
            faults.append(fault)
        path = PAGES / f"{name}.md"
        written = path.read_text()
        if (present := page(written, name, one)) != written:
            changed.append(path.name)
            if not asked.check:
                path.write_text(present)
    if asked.check and changed:
        faults.append(f"stale: {', '.join(changed)}; `python3 tools/try_it.py` writes them again")
    print(
        "\n".join(faults) if faults else f"{len(changed)} pages written",
        file=sys.stderr if faults else sys.stdout,
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
