"""Scenarios: descriptions of runs."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, cast

from lightlag import _checks, _lightlag, _toml

PathLike: TypeAlias = "str | os.PathLike[str]"


@dataclass(frozen=True)
class Point:
    """One experiment of a scenario's sweep."""

    index: int
    """Which one, counted from 0."""
    name: str
    """The scenario's name."""
    values: dict[str, str]
    """Paths of the keys that the sweep varies, and their values here."""
    seed: int | None
    """The scenario's first seed; none: the run that settings of The ONE describe."""
    native: _lightlag.Point = field(repr=False, compare=False)
    _made_of: tuple[Any, ...] = field(repr=False, compare=False)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        # A point goes to other processes and machines as its scenario was written.
        return (_point_of, (self._made_of, self.index))

    @property
    def nodes(self) -> list[str]:
        """The names of the nodes; a node's number is its index. Of packets, in the order of the links."""
        return self.native.nodes

    @property
    def duration_s(self) -> float:
        """How long a run lasts, in seconds of its own time."""
        return self.native.duration_s


def _point_of(scenario: tuple[Any, ...], index: int) -> Point:
    return _scenario_again(scenario).points()[index]


def _scenario_again(made_of: tuple[Any, ...]) -> Scenario:
    again, written = made_of
    return cast("Scenario", again(*written))


def scenario_of(point: Point) -> Scenario:
    """The scenario of a point, as it was written."""
    return _scenario_again(point._made_of)  # pyright: ignore[reportPrivateUsage]


class Scenario:
    """A scenario as it was written: one experiment, or a sweep where keys have lists.

    Args:
        toml: TOML text, or the same as a mapping; quantities are text with a unit, like ``"500 kB"``.
        folder: What its file names are relative to; by default where Python was started.
        keys: Top-level keys, beside or instead of `toml`.

    Raises:
        ScenarioError: The text is not TOML, or a key does not exist. What a key means is checked by
            `points`, `run` and `sweep`.
        TypeError: A value has no counterpart in TOML.

    Example:
        >>> scenario = Scenario(
        ...     duration="1 h",
        ...     router="epidemic",
        ...     mechanism=["none", "credit"],
        ...     buffer="500 kB",
        ...     mobility={
        ...         "model": "random_waypoint",
        ...         "area": "300 m x 300 m",
        ...         "speed": "0.5..1.5 m/s",
        ...         "pause": "0..60 s",
        ...     },
        ...     radio={"range": "50 m", "rate": "250 kbit/s"},
        ...     nodes={"walkers": {"count": 8}},
        ...     traffic={"mail": {"interval": "30..60 s", "size": "50..100 kB", "lifetime": "30 min"}},
        ... )
        >>> [point.values for point in scenario.points()]
        [{'mechanism': 'none'}, {'mechanism': 'credit'}]
    """

    def __init__(
        self,
        toml: str | Mapping[str, _toml.Value] | None = None,
        /,
        *,
        folder: PathLike = ".",
        **keys: _toml.Value,
    ) -> None:
        text = (
            toml if isinstance(toml, str) else _checks.made(lambda: _toml.document({**(toml or {}), **keys}))
        )
        self._native = _lightlag.ScenarioFile.from_toml("scenario", text, Path(folder))
        self._made_of: tuple[str, Path] | tuple[list[Path], bool] = (text, Path(folder))
        self._sets: list[tuple[str, str]] = []
        if isinstance(toml, str):
            for key, value in keys.items():
                self.set(key, value)

    @classmethod
    def read(cls, *paths: PathLike, defaults: bool = True) -> Scenario:
        """Reads a TOML file, or settings of The ONE in layers, of which later files override earlier ones.

        Args:
            paths: The files.
            defaults: Whether settings of The ONE are read over ``default_settings.txt`` of the working
                directory, if there is one, as The ONE does.

        Raises:
            ScenarioError: A file cannot be read or has no such syntax.
        """
        return cls._read([Path(path) for path in paths], defaults, [])

    @classmethod
    def _read(cls, paths: list[Path], defaults: bool, sets: list[tuple[str, str]]) -> Scenario:
        scenario = cls.__new__(cls)
        scenario._native = _lightlag.ScenarioFile.read(paths, defaults)
        scenario._made_of = (paths, defaults)
        scenario._sets = []
        scenario._set_again(sets)
        return scenario

    @classmethod
    def _write(cls, text: str, folder: Path, sets: list[tuple[str, str]]) -> Scenario:
        scenario = cls(text, folder=folder)
        scenario._set_again(sets)
        return scenario

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        # A scenario goes to other processes and machines as it was written.
        again = Scenario._write if isinstance(self._made_of[0], str) else Scenario._read
        return (again, (*self._made_of, list(self._sets)))

    def __repr__(self) -> str:
        of, _ = self._made_of
        made = "" if isinstance(of, str) else f"of {', '.join(map(str, of))}: "
        return f"<Scenario {made}{len(self.text.splitlines())} lines; print() shows them>"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """What a notebook shows: the text, folded."""
        text = html.escape(self.text)
        return f"<details open><summary>Scenario</summary><pre>{text}</pre></details>"

    def set(self, key: str, value: _toml.Value) -> Scenario:
        """Sets a key in place, like ``set("nodes.walkers.buffer", "1 MB")``; a list is swept.

        In settings of The ONE, text is taken as they write it.

        Returns:
            The scenario itself, so that calls chain.

        Raises:
            ScenarioError: The key does not exist.
        """
        text = str(value) if self._native.is_the_one() else _checks.made(lambda: _toml.inline(value))
        self._set_again([(key, text)])
        return self

    def _set_again(self, sets: list[tuple[str, str]]) -> None:
        for key, text in sets:
            self._native.set(key, text)
            self._sets.append((key, text))

    def copy(self) -> Scenario:
        """The same scenario, to be changed on its own."""
        twin = Scenario.__new__(Scenario)
        twin._native = self._native.copy()
        twin._made_of = self._made_of
        twin._sets = list(self._sets)
        return twin

    @property
    def text(self) -> str:
        """What was read, and what was set since, as comments."""
        return self._native.text()

    @property
    def seeds(self) -> list[int | None]:
        """The seeds that it asks for; none stands for the very run that settings of The ONE describe."""
        return self._native.seeds()

    @property
    def ignored(self) -> list[tuple[str, str, str]]:
        """Place, key and reason of each setting that nothing reads; in TOML such keys are errors.

        Raises:
            ScenarioError: As of `points`.
        """
        return self._native.ignored()

    @property
    def warnings(self) -> list[str]:
        """What is ignored, and what The ONE would do and Lightlag does not, a line each.

        Raises:
            ScenarioError: As of `points`.
        """
        return self._native.warnings()

    @property
    def notes(self) -> list[str]:
        """How each recorded trace of contacts was read: what was joined, extended and dropped, a line each.

        Raises:
            ScenarioError: As of `points`.
        """
        return self._native.notes()

    def points(self) -> list[Point]:
        """All experiments: the cross product of all lists, the first list varying slowest.

        Points whose mechanism does not support the router are skipped; `skipped` lists them.

        Raises:
            ScenarioError: The first thing that is wrong with any of them.
        """
        seed = self.seeds[0]
        found, _ = self._native.points()
        of = self.__reduce__()
        return [Point(index, one.name, dict(one.values), seed, one, of) for index, one in enumerate(found)]

    def convert(self, point: int = 0, *, folder: PathLike = ".") -> str:
        """Settings of The ONE as a scenario in TOML, with comments: the same run.

        Args:
            point: Which point, where ``[a; b; c]`` make several, counted from 0.
            folder: Where the TOML goes: file names in it are relative to this folder.

        Raises:
            ScenarioError: The scenario is TOML already, or has no such point.
        """
        return self._native.to_toml(_checks.point(point), os.fspath(folder))

    def skipped(self) -> list[tuple[dict[str, str], str]]:
        """The values of each point that makes no sense, and why.

        Raises:
            ScenarioError: As of `points`.
        """
        _, skipped = self._native.points()
        return [(dict(values), reason) for values, reason in skipped]

    @staticmethod
    def schema() -> dict[str, Any]:
        """The JSON Schema of scenarios in TOML, with algorithms in Python: editors complete keys with it."""
        read: dict[str, Any] = json.loads(_lightlag.schema())
        return read

    @property
    def native(self) -> _lightlag.ScenarioFile:
        """The scenario as the lab sees it."""
        return self._native
