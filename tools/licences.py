#!/usr/bin/env python3
"""Prints the licences of the libraries in programs: licences.py CRATE... (as lightlag-daemon)."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TEXTS = re.compile(r"(LICEN[CS]E|COPYING|COPYRIGHT|NOTICE|UNLICENSE)", re.IGNORECASE)


def linked(metadata: dict[str, Any], crates: list[str]) -> list[dict[str, Any]]:
    """The libraries below these crates, without those that only build or test them."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found: set[str] = set()
    ahead = [known for known, package in packages.items() if package["name"] in crates]
    while ahead:
        known = ahead.pop()
        if known in found:
            continue
        found.add(known)
        for below in nodes[known]["deps"]:
            if any(kind["kind"] is None for kind in below["dep_kinds"]):
                ahead.append(below["pkg"])
    libraries = [packages[known] for known in found if packages[known]["source"]]
    return sorted(libraries, key=lambda package: (package["name"], package["version"]))


def texts(crates: list[str], target: str) -> str:
    """Name, version and licence of each library, then each text of a licence once."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    command += ["--features", "lightlag-cli/daemon"]
    printed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    listed, files = [], dict[str, list[str]]()
    for package in linked(json.loads(printed), crates):
        name = f"{package['name']} {package['version']}"
        listed.append(f"{name}: {package['license']}; {package['repository'] or ''}\n")
        for path in sorted(Path(package["manifest_path"]).parent.iterdir()):
            if path.is_file() and TEXTS.match(path.name):
                files.setdefault(path.read_text(errors="replace").strip(), []).append(name)
    parts = [f"{78 * '-'}\n{', '.join(names)}:\n\n{text}\n" for text, names in files.items()]
    return "\n".join(["".join(listed), *parts])


if __name__ == "__main__":
    host = re.search(r"host: (.*)", subprocess.check_output(["rustc", "-vV"], text=True))
    print(texts(sys.argv[1:], host[1] if host else ""))
