#!/usr/bin/env python3
"""Prints the critical path of a build: its crates, and how long it takes on any number of cores.

`cargo build --timings` writes the report that this reads. A crate starts when the metadata of the crates
that it uses are there; a program is linked when all of them are finished.
"""

import json
import re
import sys
from pathlib import Path

REPORT = Path("target/cargo-timings/cargo-timing.html")


def main() -> None:
    """Reads the report that the command line names (default: the newest one of target)."""
    report = Path(sys.argv[1]) if len(sys.argv) > 1 else REPORT
    found = re.search(r"const UNIT_DATA = (\[.*?\]);", report.read_text(), re.DOTALL)
    if found is None:
        sys.exit(f"{report}: no report of `cargo build --timings`")
    units = json.loads(found[1])
    begins, before = {unit["i"]: 0.0 for unit in units}, {}
    # In the order of their starts a unit stands behind all that it waits for.
    for unit in sorted(units, key=lambda unit: unit["start"]):
        metadata = dict(unit["sections"] or []).get("frontend", {"end": unit["duration"]})["end"]
        for key, seconds in (("unblocked_rmeta_units", metadata), ("unblocked_units", unit["duration"])):
            for after in unit[key]:
                if begins[unit["i"]] + seconds > begins[after]:
                    begins[after] = begins[unit["i"]] + seconds
                    before[after] = (unit, seconds)
    last = max(units, key=lambda unit: begins[unit["i"]] + unit["duration"])
    path = [(last, last["duration"])]
    while path[-1][0]["i"] in before:
        path.append(before[path[-1][0]["i"]])
    for unit, seconds in reversed(path):
        print(f"{seconds:6.1f} s  {unit['name']}{unit['target']}")
    wall = max(unit["start"] + unit["duration"] for unit in units)
    print(f"{sum(seconds for _, seconds in path):6.1f} s  in all; this build took {wall:.1f} s")


if __name__ == "__main__":
    main()
