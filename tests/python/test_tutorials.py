"""The tutorials run from start to end without a network, have types, and are the pages of the manual."""

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).parents[2]
FOLDER = TOP / "docs/tutorials"
NAMES = ["first_run", "own_mechanism", "contact_traces", "deep_space", "cluster"]
TOOL = [sys.executable, str(TOP / "tools/tutorials.py")]
OFFLINE = """
import socket
connect = socket.socket.connect
def refuse(self, address):
    if self.family != socket.AF_UNIX and not str(address[0]).startswith(("127.", "::1", "localhost")):
        raise OSError(f"a tutorial connects to {address}")
    return connect(self, address)
socket.socket.connect = refuse
"""


@pytest.mark.parametrize("name", NAMES)
def test_a_tutorial_runs_without_a_network(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(OFFLINE)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(TOP / "python")]))
    tool: dict[str, Any] = runpy.run_path(TOOL[1])
    book = tool["stripped"](tool["executed"](FOLDER / f"{name}.ipynb"))
    now = json.dumps([cell.outputs for cell in book.cells if cell.cell_type == "code"])
    assert not re.search(r"""(?:src|href)=\\?["'](?:https?:)?//""", now), "an output loads from the network"
    kept = tool["read"](FOLDER / f"{name}.ipynb")
    kinds = [[output.output_type for output in cell.get("outputs", [])] for cell in book.cells]
    assert kinds == [[output.output_type for output in cell.get("outputs", [])] for cell in kept.cells]


def test_the_tutorials_are_all_that_there_are() -> None:
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(NAMES)
    manual = (TOP / "mkdocs.yml").read_text()
    assert re.findall(r"tutorials/(\w+)\.md", manual) == NAMES


def test_the_pages_of_the_manual_are_those_of_the_notebooks() -> None:
    done = subprocess.run([*TOOL, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_the_code_of_the_tutorials_has_types(checker: str, tmp_path: Path) -> None:
    subprocess.run([*TOOL, "--code", str(tmp_path)], check=True)
    settings = {
        "typeCheckingMode": "strict",
        "reportUnusedExpression": False,
        "extraPaths": [str(TOP / "python")],
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    # The functions of Dask have no types.
    settings_of_mypy = (
        f"[mypy]\nstrict = true\nuntyped_calls_exclude = distributed\nmypy_path = {TOP / 'python'}\n"
    )
    (tmp_path / "mypy.ini").write_text(settings_of_mypy)
    options = ["--config-file", "mypy.ini"] if checker == "mypy" else ["--pythonpath", sys.executable]
    files = [f"{name}.py" for name in NAMES]
    done = subprocess.run(
        [sys.executable, "-m", checker, *options, *files],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_code_of_the_tutorials_has_the_form_of_the_project() -> None:
    for command in (["check", "--ignore", "D,B018"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, str(FOLDER)]
        done = subprocess.run(ruff, cwd=TOP, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_mechanism_has_twenty_lines() -> None:
    code = runpy.run_path(TOOL[1])["code"](FOLDER / "own_mechanism.ipynb")
    mechanism = re.search(r"^class .*\n(?:[ \t].*\n|\n)+", code, re.MULTILINE)
    assert mechanism is not None
    lines = [line for line in mechanism[0].splitlines() if line.strip()]
    assert 10 <= len(lines) <= 20
