#!/usr/bin/env python3
"""Draw a small contact trace of the shape that CRAWDAD's cambridge/haggle has.

Twenty people in four groups meet their group often and others seldom, with times between two meetings that
follow a power law (as Chaintreau and others measured in 2007), by day more than by night. Devices scan every
two minutes: a meeting shorter than that is a line without a duration. Both devices of a meeting report it,
each a little differently, and devices from outside are seen too. The file is a pure function of the seed.
"""

import random
import sys

PEOPLE, OUTSIDE, GROUPS = 20, 30, 4
DAYS, SCAN = 2, 120
DAY = 86_400
SHAPE, SHORTEST = 1.4, 600
"""Of the power law: exponent, and the least time between two meetings (s)."""


def meetings(rng: random.Random, mean_factor: float) -> list[tuple[int, int]]:
    """Start and end of the meetings of a pair; a larger factor makes them rarer."""
    found, now = [], rng.uniform(0, DAY)
    while now < DAYS * DAY:
        awake = 8 * 3600 < now % DAY < 22 * 3600
        length = rng.expovariate(1 / 300)
        if awake or rng.random() < 0.1:
            end = now + (0 if length < SCAN else length - length % SCAN)
            found.append((int(now), int(min(end, DAYS * DAY))))
        now += length + SHORTEST * mean_factor * rng.paretovariate(SHAPE)
    return found


def lines(seed: int) -> list[tuple[int, int, int, int]]:
    """All sightings: the device that saw, the device seen, start, end."""
    rng, found = random.Random(seed), []
    for one in range(1, PEOPLE + 1):
        for other in range(one + 1, PEOPLE + 1):
            factor = 4.0 if one % GROUPS == other % GROUPS else 40.0
            for start, end in meetings(rng, factor):
                found.append((one, other, start, end))
                if rng.random() < 0.7:
                    shift = rng.randint(0, SCAN)
                    found.append((other, one, start + shift, max(end, start + shift)))
    for outsider in range(PEOPLE + 1, PEOPLE + OUTSIDE + 1):
        for start, end in meetings(rng, 80.0):
            found.append((rng.randint(1, PEOPLE), outsider, start, end))
    return sorted(found, key=lambda line: (line[2], line))


def main() -> None:
    """Print the trace."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    last: dict[tuple[int, int], tuple[int, int]] = {}
    for one, other, start, end in lines(seed):
        count, before = last.get((one, other), (0, 0))
        print(one, other, start, end, count + 1, start - before if count else 0, sep="\t")
        last[one, other] = (count + 1, end)


if __name__ == "__main__":
    main()
