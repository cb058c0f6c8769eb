"""A small scenario that runs in milliseconds, for all tests."""

import pytest

import lightlag

WALK = """
name = "walk"
duration = "20 min"
seeds = [1, 2]
router = "epidemic"
mechanism = "none"
buffer = "400 kB"
mobility = { model = "random_waypoint", area = "200 m x 200 m", speed = "0.5..1.5 m/s", pause = "0..60 s" }
radio = { range = "50 m", rate = "250 kbit/s" }

[world]
sample_every = "60 s"

[nodes.walkers]
count = 10

[traffic.mail]
interval = "5..10 s"
size = "50..100 kB"
lifetime = "10 min"
"""


@pytest.fixture
def walk() -> lightlag.Scenario:
    """Ten walkers with buffers that overflow."""
    return lightlag.Scenario(WALK)
