"""What is released beside the programs: the citation, the source package, what `make install` puts where."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import tomllib

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import licences  # noqa: E402


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


def test_the_newest_section_of_the_changelog_is_the_version_of_the_workspace() -> None:
    sections = re.findall(
        r"^## (\S+)(?: - (\d{4}-\d\d-\d\d))?$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    assert [name for name, date in sections if not date] == ["Unreleased"]
    assert sections[1][0] == workspace_package()["version"]


def test_the_citation_has_the_licences_of_the_workspace() -> None:
    _, text = citation()
    listed = re.search(r"^license:\n((?:  - .*\n)+)", text, re.MULTILINE)
    assert listed is not None
    licences = re.findall(r"- (.*)", listed[1])
    assert " OR ".join(licences) == workspace_package()["license"]


def test_the_guide_names_the_files_of_this_version() -> None:
    text = (ROOT / "docs/guide/install.md").read_text()
    named = re.findall(r"lightlagd?[-_](\d[\w.]*\d)[-_](?:amd64|x86_64|cp310)", text)
    assert len(named) >= 4
    assert set(named) == {workspace_package()["version"]}


def test_the_licences_in_a_program_are_those_of_linked_libraries_and_each_text_is_there_once() -> None:
    text = licences.texts(["lightlag-socket"], "x86_64-unknown-linux-gnu")
    assert re.search(r"^rustix [\d.]+: .*Apache-2.0.*; https://", text, re.MULTILINE)
    # Only tests use it.
    assert "\ntempfile " not in text
    assert text.count("TERMS AND CONDITIONS FOR USE, REPRODUCTION") < text.count("; https://")
    assert "Permission is hereby granted, free of charge" in text


def test_the_readme_says_how_to_cite() -> None:
    readme = (ROOT / "README.md").read_text()
    for page in ("CITATION.cff", "docs/guide/cite.md"):
        assert f"]({workspace_package()['repository']}/blob/main/{page})" in readme


def test_the_bibtex_entry_is_that_of_the_citation() -> None:
    keys, text = citation()
    page = (ROOT / "docs/guide/cite.md").read_text()
    entry = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", page, re.MULTILINE))
    author = re.search(r"^  - name: (.*)$", text, re.MULTILINE)
    assert author is not None
    assert entry == {
        "title": f"{{{keys['title'].strip(chr(34))}}}",
        "author": f"{{{author[1]}}}",
        "year": keys["date-released"][:4],
        "version": keys["version"],
        "license": workspace_package()["license"],
        "url": keys["repository-code"],
    }


def read_outside_of_their_crates(crate: Path) -> set[str]:
    """The paths that a build of this crate reads outside of it, as its sources write them."""
    macro = re.compile(r'include_(?:str|bytes|dir)!\(\s*"([^"]+)"|#\[path = "([^"]+)"\]')
    found = set()
    for source in [*crate.glob("src/**/*.rs"), *crate.glob("build.rs")]:
        # What only tests read comes with no package.
        text = re.sub(r"#\[cfg\((?:test|doctest)\)\]\n.*\n", "", source.read_text())
        for match in macro.finditer(text):
            named = (match[1] or match[2]).replace("$CARGO_MANIFEST_DIR", str(crate))
            if not Path(os.path.normpath(source.parent / named)).is_relative_to(crate):
                found.add(named)
    return found


def test_a_packaged_crate_reads_nothing_outside_of_it() -> None:
    for crate in (ROOT / "crates").iterdir():
        outside = read_outside_of_their_crates(crate)
        # Not packaged.
        if crate.name == "manual":
            assert any("daemon/src" in path for path in outside)
        else:
            assert not outside, f"crates/{crate.name}: make links in it to what it reads: {outside}"


def test_the_crates_name_each_other_by_the_version_of_the_workspace() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    named = {name: entry for name, entry in workspace["dependencies"].items() if name.startswith("lightlag-")}
    assert len(named) > 9
    assert {entry["version"] for entry in named.values()} == {f"={workspace['package']['version']}"}


BUILT = ("lightlag", "lightlagd", "lightlag-run", "liblightlag.so", "liblightlag.a", "liblightlag_run.so")


def install(folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs tools/install.sh on a folder in which each built file holds its own name."""
    built = folder / "built"
    built.mkdir(exist_ok=True)
    for name in BUILT:
        (built / name).write_text(name)
    for name in ("lightlag", "lightlagd"):
        (built / name).write_text(f"#!/bin/sh\necho {name} $*\n")
        (built / name).chmod(0o755)
    command = ["bash", str(ROOT / "tools/install.sh"), str(built)]
    return subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, check=False)


def test_install_puts_each_built_file_and_nothing_outside_of_the_prefix(tmp_path: Path) -> None:
    done = install(tmp_path, DESTDIR=str(tmp_path / "root"), PREFIX="/opt/lag")
    assert (done.returncode, done.stderr) == (0, "")
    major = workspace_package()["version"].split(".")[0]
    installed = {
        "bin/lightlag-run": "lightlag-run",
        f"lib/liblightlag.so.{major}": "liblightlag.so",
        "lib/liblightlag.so": "liblightlag.so",
        "lib/liblightlag.a": "liblightlag.a",
        "lib/lightlag/liblightlag_run.so": "liblightlag_run.so",
        "share/bash-completion/completions/lightlag": "lightlag completions bash\n",
        "share/zsh/site-functions/_lightlagd": "lightlagd completions zsh\n",
        "share/fish/vendor_completions.d/lightlag.fish": "lightlag completions fish\n",
    }
    top = tmp_path / "root/opt/lag"
    for path, content in installed.items():
        assert (top / path).read_text() == content, path
    assert all(os.access(top / "bin" / name, os.X_OK) for name in ("lightlag", "lightlagd", "lightlag-run"))
    outside = [path for path in (tmp_path / "root").rglob("*") if path.is_file() and top not in path.parents]
    assert outside == []


def test_installed_files_name_their_prefix_and_version(tmp_path: Path) -> None:
    assert install(tmp_path, DESTDIR=str(tmp_path / "root"), PREFIX="/opt/lag").returncode == 0
    top = tmp_path / "root/opt/lag"
    unit = (top / "lib/systemd/system/lightlagd.service").read_text()
    described = (top / "lib/pkgconfig/lightlag.pc").read_text()
    assert "/opt/lag/bin/lightlagd" in unit
    assert f"Version: {workspace_package()['version']}" in described
    assert not re.search(r"@[A-Z]+@", unit + described)
    assert {path.name for path in (top / "share/man").rglob("*.[1-8]")} == {
        "lightlag.1",
        "lightlag.3",
        "lightlag-run.1",
        "lightlagd.8",
    }


def test_install_refuses_a_relative_prefix(tmp_path: Path) -> None:
    done = install(tmp_path, DESTDIR=str(tmp_path / "root"), PREFIX="usr")
    assert (done.returncode, done.stderr) == (2, "install: PREFIX=usr: it must begin with /\n")
    assert not (tmp_path / "root").exists()


def test_install_fails_without_the_laboratory(tmp_path: Path) -> None:
    install(tmp_path, DESTDIR=str(tmp_path / "first"), PREFIX="/usr")
    (tmp_path / "built/lightlag").unlink()
    command = ["bash", str(ROOT / "tools/install.sh"), str(tmp_path / "built")]
    env = {**os.environ, "DESTDIR": str(tmp_path / "root"), "PREFIX": "/usr"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "lightlag" in done.stderr


def test_what_tries_wheels_runs_bundles_packets_and_names_and_writes_the_same_each_time(
    tmp_path: Path,
) -> None:
    files = [tmp_path / "first.json", tmp_path / "second.json"]
    for file in files:
        command = [sys.executable, str(ROOT / "tools/smoke.py"), str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "a sweep of 4 runs" in done.stdout
    assert files[0].read_bytes() == files[1].read_bytes()
    figures = json.loads(files[0].read_text())
    assert len(figures) == 5
    assert figures[0]["created"] == 175
    assert all(one["goodput_bit_per_s"] > 0 for one in figures[1:])


def test_workflows_name_each_action_by_its_commit_and_can_write_in_the_drafting_job_alone() -> None:
    workflows = {path.name: path.read_text() for path in (ROOT / ".github/workflows").glob("*.yml")}
    assert workflows.keys() == {"test.yml", "wheels.yml", "release.yml"}
    commits: dict[str, set[str]] = {}
    for name, text in workflows.items():
        for action, at in re.findall(r"uses: ([^.@\s][^@\s]*)@(.*)", text):
            assert re.fullmatch(r"[0-9a-f]{40} # v\d+\.\d+\.\d+", at), f"{name}: {action}@{at}"
            commits.setdefault(action, set()).add(at)
        assert "permissions:\n  contents: read\n" in text, name
        assert text.count(": write") == (name == "release.yml"), name
    assert all(len(named) == 1 for named in commits.values()), commits
