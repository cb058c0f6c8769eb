"""Every verb of the command line has a function here, or the guide says why not."""

import inspect
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lightlag

TOP = Path(__file__).parents[2]
PROGRAM = TOP / "target/debug/lightlag"
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "run": lightlag.run,
    "explain": lightlag.explain,
    "sweep": lightlag.sweep,
    "bound": lightlag.bound,
    "compare": lightlag.compare,
    "convert": lightlag.Scenario.convert,
    "list": lightlag.algorithms,
    "schema": lightlag.Scenario.schema,
    "study": lightlag.study,
    "merge": lightlag.merge,
    "report": lightlag.report,
    "capture": lightlag.capture,
    "view": lightlag.view,
}
# Options that have another name here.
NAMES = {
    ("run", "no-judge"): "judge",
    ("run", "no-reports"): "reports",
    ("sweep", "no-judge"): "judge",
    ("compare", "metric"): "metrics",
    ("report", "out"): "path",
    ("capture", "filter"): "filters",
    ("capture", "dccp-port"): "dccp_ports",
}


def missing() -> dict[str, str]:
    """What the guide says is missing, and what there is in its place."""
    guide = (TOP / "docs/guide/python.md").read_text()
    section = guide.split("## Commands and functions")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \| (.+?) \|$", section, re.MULTILINE)
    return {name: instead for names, instead in rows for name in re.findall(r"`([^`]+)`", names)}


def help_of(*verb: str) -> str:
    if not PROGRAM.exists():
        pytest.skip("there is no lightlag; cargo build builds it")
    return subprocess.run([PROGRAM, *verb, "--help"], capture_output=True, text=True, check=True).stdout


def verbs() -> set[str]:
    listed = help_of().split("Usage:")[1].split("Options:")[0]
    return set(re.findall(r"^  ([a-z-]+) ", listed, re.MULTILINE)) - {"help"}


def test_every_verb_is_a_function_or_missing_on_purpose() -> None:
    named = {name.removeprefix("lightlag ") for name in missing() if name.startswith("lightlag ")}
    without = {name for name in named if " " not in name}
    assert verbs() == FUNCTIONS.keys() | without
    assert not FUNCTIONS.keys() & without


@pytest.mark.parametrize("verb", FUNCTIONS)
def test_every_option_is_a_parameter_or_missing_on_purpose(verb: str) -> None:
    parameters = inspect.signature(FUNCTIONS[verb]).parameters
    options = set(re.findall(r"^ {2,6}(?:-\w, )?--([a-z][\w-]*)", help_of(verb), re.MULTILINE)) - {"help"}
    excused = {
        option
        for option in options
        if f"--{option}" in missing() or f"lightlag {verb} --{option}" in missing()
    }
    lacking = [
        option
        for option in sorted(options - excused)
        if NAMES.get((verb, option), option.replace("-", "_")) not in parameters
    ]
    assert not lacking


def test_the_guide_excuses_only_what_there_is() -> None:
    for name in missing():
        words = name.split()
        verb = words[1] if words[0] == "lightlag" else None
        for option in (word for word in words if word.startswith("--")):
            helps = help_of(verb) if verb else "".join(help_of(one) for one in FUNCTIONS)
            assert re.search(rf"{option}\b", helps), name


def test_the_functions_of_the_guide_exist() -> None:
    for name, instead in missing().items():
        for dotted in re.findall(r"`lightlag\.([\w.]+)", instead):
            found: object = lightlag
            for part in dotted.split("."):
                assert hasattr(found, part), f"{name}: {instead}"
                found = getattr(found, part)
