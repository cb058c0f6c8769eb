"""What `make release` made, used where nothing of a developer is installed."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MADE = ROOT / "out/release"
sys.path.insert(0, str(ROOT / "tools"))

import bare  # noqa: E402


@pytest.mark.parametrize("trial", bare.TRIALS)
def test_an_artefact_makes_a_report_within_a_minute_where_nothing_else_is_installed(trial: str) -> None:
    if not (MADE / "SHA256SUMS").exists():
        pytest.skip("there are no artefacts; make release makes them")
    if reason := bare.missing(trial):
        pytest.skip(reason)
    try:
        assert "first report in" in bare.TRIALS[trial](MADE)
    except bare.AbsentError:
        # Made by steps that were named.
        pytest.skip("there are no artefacts; make release makes them")


def test_a_missing_artefact_and_a_command_that_fails_are_named(tmp_path: Path) -> None:
    with pytest.raises(bare.FailedError, match=r"0 files lightlag_\*\.deb; expected one"):
        bare.artefact(tmp_path, "lightlag_*.deb")
    with pytest.raises(bare.FailedError, match="exit code 3: why"):
        bare.Stopwatch().run("sh", "-c", "echo why >&2; exit 3")
    (tmp_path / "report.html").write_text("nothing")
    with pytest.raises(bare.FailedError, match=r"report.html is not a report"):
        bare.has_report(tmp_path / "report.html")
