"""A small scenario that runs in milliseconds, for all tests."""

from pathlib import Path

import pytest

import lightlag

WALK = (Path(__file__).parents[2] / "examples/walkers.toml").read_text()


@pytest.fixture
def walk() -> lightlag.Scenario:
    """Ten walkers with buffers that overflow."""
    return lightlag.Scenario(WALK)
