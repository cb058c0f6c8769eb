#!/usr/bin/env python3
"""Writes the contact tables of the interplanetary scenario, from Table 2 of the paper and two rules.

The paper prints one whole table (Table 2) and single pairs of two series (Tables 5 and 6), which do not
fit it. So there are two families of tables:

S, stretched: the order and the durations of Table 2. S_ContactI adds 1000 (I - 1) s to every gap between
successive distinct start times; S_DurD keeps the starts and lets every contact last D seconds.

P, periodic: every link has contacts of D seconds separated by I seconds; the k-th link begins at I + 1000 k
(k from 0), in the order of LINKS. P_ContactI has I thousand seconds between contacts of 1000 s, P_DurD has
contacts of D seconds 1000 s apart. This reproduces the pairs of Tables 5 and 6.

Contacts that start at or after the end of the run are skipped, and those that last longer are cut there.

Run it in this folder: ./generate.py
"""

import csv
from pathlib import Path

END_S = 43_200
RATE_BPS = 2_500_000
EARTH_S = 240
MARS_S = 1

# Table 2: start, first node, second node.
TABLE_2 = [
    (2000, "BS", "Sat0"),
    (6000, "BS", "Sat1"),
    (10000, "BS", "Sat0"),
    (17000, "BS", "Sat1"),
    (20000, "Rover2", "Rover1"),
    (20000, "Sat1", "Rover2"),
    (21100, "Sat1", "Rover1"),
    (25000, "BS", "Sat1"),
    (30000, "Sat0", "Rover2"),
    (33000, "Sat1", "Rover1"),
    (38000, "Sat0", "Rover2"),
]
LINKS = [
    ("BS", "Sat1"),
    ("BS", "Sat0"),
    ("Sat1", "Rover2"),
    ("Sat1", "Rover1"),
    ("Sat0", "Rover2"),
    ("Rover2", "Rover1"),
]


def stretched(extra_s, duration_s):
    """Table 2 with every gap between distinct starts longer by `extra_s`."""
    starts = sorted({start for start, _, _ in TABLE_2})
    later = {start: start + extra_s * index for index, start in enumerate(starts)}
    return [(later[start], later[start] + duration_s, a, b) for start, a, b in TABLE_2]


def periodic(gap_s, duration_s):
    """Every link on its own period, one after the other."""
    return [
        (start, start + duration_s, a, b)
        for phase, (a, b) in enumerate(LINKS)
        for start in range(gap_s + 1000 * phase, END_S, duration_s + gap_s)
    ]


def write(name, contacts):
    """One file, ascending by start, then by names."""
    inside = sorted((start, min(end, END_S), a, b) for start, end, a, b in contacts if start < END_S)
    with Path(name).with_suffix(".csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["start_s", "end_s", "a", "b", "owlt_s", "rate_bps"])
        for start, end, a, b in inside:
            rows.writerow([start, end, a, b, EARTH_S if "BS" in (a, b) else MARS_S, RATE_BPS])


def main():
    """All twenty."""
    for number in range(1, 6):
        write(f"S_Contact{number}", stretched(1000 * (number - 1), 1000))
        write(f"S_Dur{1000 * number}", stretched(0, 1000 * number))
        write(f"P_Contact{number}", periodic(1000 * number, 1000))
        write(f"P_Dur{1000 * number}", periodic(1000, 1000 * number))


if __name__ == "__main__":
    main()
