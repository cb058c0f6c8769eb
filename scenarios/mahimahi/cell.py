#!/usr/bin/env python3
"""Print a trace in mahimahi's format: a link whose rate follows a walk, as that of a moving phone does.

The period is 20 s. The rate changes every 100 ms by a random factor between 1/1.5 and 1.5, within 0.5 to 12
Mbit/s; from 8 s to 8.6 s nothing gets through. Opportunities of a span are spread over it at random. The file
is a function of the seed.
"""

import random

PERIOD_MS, SPAN_MS = 20_000, 100
BITS = 8 * 1504


def main() -> None:
    """Print a line for each opportunity."""
    rng, rate, owed = random.Random(1), 4e6, 0.0
    for start in range(0, PERIOD_MS, SPAN_MS):
        rate = min(max(rate * 1.5 ** rng.uniform(-1, 1), 0.5e6), 12e6)
        if 8_000 <= start < 8_600:
            continue
        owed += rate * SPAN_MS / 1000 / BITS
        count, owed = int(owed), owed - int(owed)
        print(*sorted(rng.randint(start + 1, start + SPAN_MS) for _ in range(count)), sep="\n")
    print(PERIOD_MS)


if __name__ == "__main__":
    main()
