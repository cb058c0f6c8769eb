"""The places are scripts, not a package: load them from their files."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

PLACES = Path(__file__).parents[2] / "scenarios" / "places"


def load(name: str) -> ModuleType:
    """Import a script of `scenarios/places`."""
    spec = importlib.util.spec_from_file_location(f"places_{name}", PLACES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up while they are made.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def earth_mars() -> ModuleType:
    """The script that computes the Earth-Mars relay."""
    pytest.importorskip("astronomy")
    return load("earth_mars")


@pytest.fixture
def helsinki() -> ModuleType:
    """The script that fetches the map of Helsinki, loaded again for every test."""
    return load("helsinki")
