"""The package as a whole: its example, its types, its docstrings."""

import doctest
import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import lightlag
import lightlag._scenario

ROOT = Path(__file__).parents[2]


def test_the_example_prints_a_table_and_saves_a_chart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = ROOT / "examples" / "python_mechanism.py"
    spec = importlib.util.spec_from_file_location("python_mechanism", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(["--out", str(tmp_path / "chart.html")])
    printed = capsys.readouterr().out
    assert all(name in printed for name in ("none", "credit", "threshold"))
    assert "vega" in (tmp_path / "chart.html").read_text()


def test_the_example_of_a_scenario_does_what_it_says() -> None:
    outcome = doctest.testmod(lightlag._scenario, extraglobs={"Scenario": lightlag.Scenario})
    assert (outcome.failed, outcome.attempted) == (0, 2)


def test_everything_that_is_offered_is_there_and_documented() -> None:
    for name in lightlag.__all__:
        assert inspect.getdoc(getattr(lightlag, name)), name


def test_types_are_checked_at_the_users_side(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import lightlag\n"
        "reveal_type(lightlag.run(lightlag.Scenario.read('a.toml'), seed=1).delivery_prob)\n"
        "class Mine(lightlag.Mechanism):\n"
        "    level = lightlag.parameter(0.5, meaning='.')\n"
        "    def admit(self, at: lightlag.Local, replica: lightlag.Replica, sender: int) -> bool:\n"
        "        return at.store.used < self.level\n"
        "lightlag.run('a.toml')\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert 'Revealed type is "int | float"' in done.stdout.replace("builtins.", "")
    assert 'Return type "bool" of "admit" incompatible' in done.stdout
    assert 'has incompatible type "str"' in done.stdout
    assert "Found 2 errors" in done.stdout, done.stdout
