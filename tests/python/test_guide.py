"""What the documents show runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["docs/guide/python.md"])
def test_the_python_of_a_document_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader can paste it, standing where the repository is."""
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    pieces = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert pieces
    exec("\n".join(pieces), {})
