"""Writes the table of parameters into every page of docs/algorithms, from `lightlag list --json`.

parameters.py [--binary FILE] [--check]: with --check nothing is written, and a stale page is an error.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[1]
PAGES = TOP / "docs/algorithms"
ONLY_WITH = {
    "contact_plan": "a contact plan: `[contacts.NAME]` with `rows`, contacts of ION or `plan = true`"
}


def listed(binary: str) -> list[dict[str, Any]]:
    """Every row that `lightlag list` shows."""
    asked = [binary, "list", "--json"]
    algorithms: list[dict[str, Any]] = json.loads(
        subprocess.run(asked, check=True, capture_output=True).stdout
    )
    return algorithms


def written(parameter: dict[str, Any]) -> str:
    """A default as a scenario has it: whole numbers without a point, no exponent."""
    default: float | bool | str | None = parameter["default"]
    if default is None:
        return "required" if parameter["needed"] else "none"
    if isinstance(default, str):
        return default
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:.12f}".rstrip("0").rstrip(".")


def row(parameter: dict[str, Any]) -> str:
    """A line of the table."""
    default = written(parameter)
    domain = re.sub(r'"([^"]*)"', r"`\1`", parameter["domain"])
    return f"| `{parameter['name']}` | {default} | {parameter['unit']} | {domain} | {parameter['meaning']} |"


def section(algorithm: dict[str, Any]) -> str:
    """What stands below "Parameters"."""
    kind = "router" if algorithm["kind"] == "mechanism" else "transport"
    names = algorithm.get("only_with", [])
    needs = ONLY_WITH.get(names[0], f"the {kind} {' or '.join(f'`{one}`' for one in names)}") if names else ""
    lines = [f"It needs {needs}.", ""] if needs else []
    if not algorithm["parameters"]:
        return "\n".join([*lines, "None."])
    head = ["| parameter | default | unit | range | meaning |", "|---|---|---|---|---|"]
    return "\n".join([*lines, *head, *map(row, algorithm["parameters"])])


def page(text: str, algorithm: dict[str, Any]) -> str:
    """The page with its present parameters."""
    found = re.compile(r"^## Parameters\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
    return found.sub(lambda _: f"## Parameters\n\n{section(algorithm)}\n\n", text)


def main() -> int:
    """Writes or checks all pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=str(TOP / "target/debug/lightlag"))
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    stale = []
    for algorithm in listed(asked.binary):
        path = PAGES / f"{algorithm['name']}.md"
        text = path.read_text()
        present = page(text, algorithm)
        if present != text:
            stale.append(path.name)
            if not asked.check:
                path.write_text(present)
    if asked.check and stale:
        print(f"stale: {', '.join(stale)}; `python3 tools/parameters.py` writes them again", file=sys.stderr)
        return 1
    print(f"{len(stale)} pages written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
