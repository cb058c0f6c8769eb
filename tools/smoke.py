"""Runs five scenarios with the installed package and writes their figures: smoke.py FILE.

A run is a pure function of scenario and seed: the files of two machines are equal, byte for byte.
"""

import sys
from pathlib import Path

import lightlag

TOP = Path(__file__).resolve().parents[1]
# Bundles, connections with one and with both transports, named data, DCCP.
SCENARIOS = (
    "examples/walkers.toml",
    "scenarios/papers/arc_link.toml",
    "scenarios/papers/adaptive_short.toml",
    "scenarios/papers/dcp_single.toml",
    "scenarios/papers/dccp_satellite.toml",
)


def figures() -> str:
    """The figures of all runs as a JSON array."""
    runs = (lightlag.run(lightlag.Scenario.read(TOP / name)) for name in SCENARIOS)
    return "[" + ",\n".join(run.json() for run in runs) + "]\n"


def main(words: list[str]) -> None:
    """Writes the figures, then runs a small sweep, which needs Polars and Altair."""
    if len(words) != 1:
        sys.exit("smoke.py: expected one argument: the file to write")
    Path(words[0]).write_bytes(figures().encode())
    scenario = lightlag.Scenario.read(TOP / SCENARIOS[0]).set("buffer", ["200 kB", "400 kB"])
    swept = lightlag.sweep(scenario, seeds=[1, 2])
    chart = lightlag.figures.lines(swept, x="buffer", y="delivery_prob")
    print(f"{lightlag.__version__} ({lightlag.__commit__}), {sys.platform}, Python {sys.version.split()[0]}")
    print(f"a sweep of {len(swept)} runs, a chart of {len(chart.to_dict())} keys")


if __name__ == "__main__":
    main(sys.argv[1:])
