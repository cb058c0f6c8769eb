"""What callers hand over, checked before it goes to the native half."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import index
from pathlib import Path
from typing import TypeVar

from lightlag._lightlag import ScenarioError

SEED_MAX = 2**64 - 1
THREADS_MAX = 1024
BUNDLE_MAX = 2**32 - 1
PORT_MAX = 2**16 - 1

Given = TypeVar("Given")


def seed(given: object) -> int | None:
    """A seed; none is the run that settings of The ONE describe."""
    return None if given is None else _whole("seed", "seed", given, SEED_MAX)


def bundle(given: object) -> int | str | None:
    """The number of a bundle, or its name."""
    return (
        given
        if given is None or isinstance(given, str)
        else _whole("bundle", "number of a bundle", given, BUNDLE_MAX)
    )


def seeds(given: Iterable[object]) -> list[int | None]:
    """The seeds of a sweep."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ScenarioError(f"seeds: {_told(given)} is not a list; give whole numbers like [1, 2, 3]")
    chosen = [seed(one) for one in given]
    if not chosen:
        raise ScenarioError("seeds: the list is empty; a sweep needs at least one seed")
    return chosen


def threads(given: object) -> int:
    """How many runs at a time; 0 is one for each core."""
    return 0 if given is None else _whole("threads", "number of threads", given, THREADS_MAX)


def port(given: object) -> int:
    """A port of UDP."""
    return _whole("dccp_ports", "port", given, PORT_MAX)


def point(given: object) -> int:
    """A point of a sweep."""
    return _whole("point", "number of a point", given, BUNDLE_MAX)


def written(path: Path, text: str) -> Path:
    """A file with this text."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ScenarioError(
            f"{path}: cannot be written ({error.strerror}); name a file in a folder that there is"
        ) from None
    return path


def no_scenario(given: object, right: str) -> ScenarioError:
    """The error about what should have been a scenario."""
    return ScenarioError(f"{_told(given)} is not a scenario; {right}")


def made(make: Callable[[], Given]) -> Given:
    """What `make` makes of a value that callers have put together."""
    try:
        return make()
    except RecursionError:
        raise ScenarioError(
            "scenario: a table or list contains itself or is nested too deep; give plain tables and lists"
        ) from None


def _whole(place: str, what: str, given: object, most: int) -> int:
    try:
        number = index(given)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if 0 <= number <= most and not isinstance(given, bool):
        return number
    raise ScenarioError(f"{place}: {_told(given)} is not a {what}; give a whole number from 0 to {most}")


def _told(given: object) -> str:
    text = " ".join(repr(given).split())
    return f"`{text[:80]}…`" if len(text) > 80 else f"`{text}`"
