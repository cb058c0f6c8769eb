#!/usr/bin/env python3
"""Writes grid.wkt: an invented town, free to use, for map-based movement.

The paper moves nodes on The ONE's map of Helsinki, which may be used with The ONE alone. This is a grid of
blocks of 130 m over 4.4 by 3.4 km; every crossing is moved by up to 30 m along each axis, 18% of the streets
are taken out, but for arterials at every sixth line, and parts cut off from the rest are removed.

Run it in this folder: ./generate.py
"""

import random
from pathlib import Path

SEED = 42
BLOCK_M = 130
WIDTH_M, HEIGHT_M = 4400, 3400
SHIFT_M = 30
REMOVED = 0.18
ARTERIAL_EVERY = 6


def crossings(draw):
    """Crossings by column and row, off the borders."""
    return {
        (column, row): tuple(
            round(BLOCK_M * (index + 0.75) + draw.uniform(-SHIFT_M, SHIFT_M), 1) for index in (column, row)
        )
        for column in range(WIDTH_M // BLOCK_M)
        for row in range(HEIGHT_M // BLOCK_M)
    }


def streets(places, draw):
    """Pairs of neighbouring crossings, without those taken out."""
    kept = []
    for column, row in places:
        for step, line in (((1, 0), row), ((0, 1), column)):
            other = (column + step[0], row + step[1])
            if other not in places:
                continue
            removed = draw.random() < REMOVED
            if line % ARTERIAL_EVERY == 0 or not removed:
                kept.append(((column, row), other))
    return kept


def connected(kept):
    """The streets that can be reached from the first one."""
    neighbours = {}
    for a, b in kept:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    seen, waiting = set(), [kept[0][0]]
    while waiting:
        place = waiting.pop()
        if place not in seen:
            seen.add(place)
            waiting.extend(neighbours[place])
    return [street for street in kept if street[0] in seen]


def main():
    """One line a street."""
    draw = random.Random(SEED)
    places = crossings(draw)
    with Path("grid.wkt").open("w", newline="\n") as file:
        for a, b in connected(streets(places, draw)):
            (x1, y1), (x2, y2) = places[a], places[b]
            file.write(f"LINESTRING ({x1} {y1}, {x2} {y2})\n")


if __name__ == "__main__":
    main()
