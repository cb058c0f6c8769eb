"""What is released beside the programs: the citation and what `make install` puts where."""

import re
from pathlib import Path
from typing import Any

import tomllib

ROOT = Path(__file__).parents[2]


def workspace_package() -> dict[str, Any]:
    package: dict[str, Any] = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    return package


def citation() -> tuple[dict[str, str], str]:
    """The top-level scalars of CITATION.cff, and its whole text."""
    text = (ROOT / "CITATION.cff").read_text()
    return dict(re.findall(r"^([a-z-]+): *(.*)$", text, re.MULTILINE)), text


def test_the_citation_has_what_its_format_requires() -> None:
    keys, _ = citation()
    assert {"cff-version", "message", "title", "authors"} <= keys.keys()
    assert keys["cff-version"] == "1.2.0"
    assert keys["type"] == "software"


def test_the_citation_names_the_version_and_repository_of_the_workspace() -> None:
    keys, _ = citation()
    package = workspace_package()
    assert keys["version"] == package["version"]
    assert keys["repository-code"] == package["repository"]


def test_the_citation_has_the_licences_of_the_workspace() -> None:
    _, text = citation()
    listed = re.search(r"^license:\n((?:  - .*\n)+)", text, re.MULTILINE)
    assert listed is not None
    licences = re.findall(r"- (.*)", listed[1])
    assert " OR ".join(licences) == workspace_package()["license"]


def test_the_readme_says_how_to_cite() -> None:
    assert "](CITATION.cff)" in (ROOT / "README.md").read_text()
