"""What the docs and the programs print holds: links, names of tests, commands and their options."""

import contextlib
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
BUILT = TOP / "target/debug"
PAGES = [*sorted(TOP.glob("*.md")), *sorted((TOP / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Written by the reader, or made by a command before: not in the repository.
PORTS = (1080, 4560, 4561, 8118, 8191, 8192)


def commands() -> Iterator[tuple[Path, str]]:
    """Every line of a shell block of the docs that runs one of our programs."""
    for page in PAGES:
        for block in FENCE.findall(page.read_text()):
            for line in block.replace("\\\n", " ").splitlines():
                words = line.strip().removeprefix("sudo ")
                if words.startswith(("lightlag ", "lightlagd ")):
                    yield page, words


def built(program: str) -> Path:
    if not (BUILT / program).exists():
        pytest.skip(f"there is no {program}; cargo build builds it")
    return BUILT / program


def test_every_relative_link_leads_to_a_file() -> None:
    wrong = []
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            place = link.split("#")[0]
            if place and not re.match(r"[a-z]+:", place) and not (page.parent / place).exists():
                wrong.append(f"{page.name}: {link}")
    assert not wrong


def test_every_test_that_a_guide_names_exists() -> None:
    sources = "".join(file.read_text() for file in (TOP / "crates").rglob("*.rs"))
    known = set(re.findall(r"\bfn (\w+)", sources))
    named = set()
    for page in (TOP / "docs/guide/security.md", TOP / "docs/guide/daemon.md"):
        named |= set(re.findall(r"`([a-z0-9]+(?:_[a-z0-9]+){3,}_?(?:\.\.\.)?)`", page.read_text()))
    named = {name for name in named if not name.startswith("lightlagd_")}
    assert len(named) > 30
    lacks = [
        name
        for name in named
        if not any(
            one.startswith(name.removesuffix("...")) if name.endswith("...") else one == name for one in known
        )
    ]
    assert not lacks


def test_every_command_in_the_docs_has_the_options_that_are_written() -> None:
    program = {name: built(name) for name in ("lightlag", "lightlagd")}
    helps: dict[tuple[str, ...], str] = {}
    wrong, count = [], 0
    for page, line in commands():
        words = shlex.split(line.replace("; ", " ; "), comments=True)
        ends = [at for at, word in enumerate(words) if word in ("|", "&&", ";", ">")]
        words = words[: ends[0]] if ends else words
        own = words[: words.index("--")] if "--" in words else words
        verbs = (own[0], *([own[1], own[2]] if own[1] in ("names", "bundles") else [own[1]]))
        if verbs not in helps:
            asked = [str(program[verbs[0]]), *verbs[1:], "--help"]
            helps[verbs] = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
        count += 1
        options = [word.split("=")[0] for word in own[2:] if re.match(r"--?[a-z]", word)]
        known = re.findall(r"(?<![\w-])--?[a-z][\w-]*", helps[verbs])
        if not helps[verbs] or any(option not in known for option in options):
            wrong.append(f"{page.name}: {line}")
        scenarios = [word for word in own[2:] if word.startswith(("scenarios/", "examples/", "tools/"))]
        wrong += [f"{page.name}: {word} is not there" for word in scenarios if not (TOP / word).exists()]
    assert not wrong
    assert count > 60


def test_commands_of_the_docs_that_take_seconds_and_no_network_run() -> None:
    lightlag = built("lightlag")
    run, left = [], 0
    for _, line in commands():
        words = shlex.split(line, comments=True)
        quick = words[:2] == ["lightlag", "list"] or (
            words[:2] == ["lightlag", "run"] and len(words) > 2 and words[2].startswith("scenarios/papers/")
        )
        runs = quick and not any(word in words for word in ("--out", "|", "&&", "--capture", "--trace"))
        if runs and words not in run:
            run.append(words)
        left += not runs
    print(f"{len(run)} run here; {left} need a network, root, minutes or files of the reader")
    assert len(run) >= 2
    for words in run:
        done = subprocess.run(
            [str(lightlag), *words[1:]], cwd=TOP, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{words}: {done.stderr}"


def run_commands_of(page: str, count: int, folder: Path) -> None:
    """Runs the commands that a page shows, one after the other."""
    lightlag = built("lightlag")
    lines = [line for where, line in commands() if where.name == page]
    assert len(lines) == count
    for line in lines:
        words = [str(lightlag), *shlex.split(line, comments=True)[1:]]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}: {done.stderr}"


def test_every_command_of_the_guide_on_explanations_runs(tmp_path: Path) -> None:
    (tmp_path / "scenarios").symlink_to(TOP / "scenarios")
    run_commands_of("explain.md", 9, tmp_path)


def test_every_command_of_the_guide_on_the_page_runs(tmp_path: Path) -> None:
    (tmp_path / "scenarios").symlink_to(TOP / "scenarios")
    lines = [line for where, line in commands() if where.name == "view.md"]
    served = [line for line in lines if line.startswith("lightlag view ") and "--out" not in line]
    assert (len(lines), len(served)) == (6, 1)
    for line in lines:
        words = [str(built("lightlag")), *shlex.split(line, comments=True)[1:]]
        if line in served:
            with subprocess.Popen(
                [*words, "--no-open"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
            ) as page:
                assert page.stdout is not None
                address = page.stdout.readline()
                page.terminate()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\n", address)
            continue
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}: {done.stderr}"
    assert all((tmp_path / page).exists() for page in ("out/short/view.html", "point.html", "both.html"))


def test_every_command_of_the_guide_on_the_command_line_runs(tmp_path: Path) -> None:
    run_commands_of("command_line.md", 6, tmp_path)
    assert (tmp_path / "delivery.html").exists()


def _first_commands() -> list[str]:
    blocks = FENCE.findall((TOP / "docs/guide/daemon.md").read_text())
    first: str = next(block for block in blocks if "lightlagd example" in block)
    return first.splitlines()


def _play(lines: list[str], folder: Path) -> str:
    # What is asked for has no end of line.
    script = "\n".join(["set -e", *lines, "echo"])
    environment = {**os.environ, "PATH": f"{BUILT}:{os.environ['PATH']}"}
    with subprocess.Popen(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as shell:
        assert shell.stdout is not None
        try:
            said = shell.stdout.readline()
            while said and not said.startswith("{"):
                said = shell.stdout.readline()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGTERM)
        return said


def _needs_ports() -> None:
    built("lightlagd")
    if not shutil.which("curl"):
        pytest.skip("curl is not there")
    patience = 100
    while (port := next(filter(_is_taken, PORTS), None)) is not None:
        # A stopping daemon may take some seconds.
        if patience == 0:
            pytest.skip(f"port {port}, which the example uses, is taken")
        patience -= 1
        time.sleep(0.1)


def _is_taken(port: int) -> bool:
    with contextlib.closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_the_first_commands_of_the_daemon_show_its_status(tmp_path: Path) -> None:
    _needs_ports()
    said = _play(_first_commands(), tmp_path)
    assert '"peers"' in said, said


def test_what_the_example_prints_can_be_run_as_it_is(tmp_path: Path) -> None:
    _needs_ports()
    example = [str(BUILT / "lightlagd"), "example", "demo"]
    printed = subprocess.run(example, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    far, near, curl = printed.splitlines()
    curl = curl.replace("curl ", "curl --silent --retry 30 --retry-all-errors --retry-delay 1 ", 1)
    said = _play([f"{far} &", f"{near} &", curl], tmp_path)
    assert '"peers"' in said, said


HEADINGS = ["What it is for", "How it decides", "Parameters", "Try it", "Results", "Limitations", "Source"]


@pytest.mark.parametrize(
    "page", sorted((TOP / "docs/algorithms").glob("[a-z]*.md")), ids=lambda page: page.stem
)
def test_every_page_of_an_algorithm_has_the_same_form(page: Path) -> None:
    text = FENCE.sub("", page.read_text())
    assert text.startswith(f"# {page.stem}\n\n")
    kind, says = text.splitlines()[2].split(". ", 1)
    assert kind in ("Router", "Mechanism", "Controller", "Queue discipline", "Loss model", "Mobility model")
    assert says.endswith(".")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == HEADINGS
    bodies = re.split(r"^## .*$", text, flags=re.MULTILINE)[1:]
    assert all(body.strip() for body in bodies), "a section says nothing"
    index = (TOP / "docs/algorithms/README.md").read_text()
    assert f"]({page.name})" in index


def test_the_parameters_on_the_pages_are_those_of_the_program() -> None:
    checked = [
        sys.executable,
        str(TOP / "tools/parameters.py"),
        "--check",
        "--binary",
        str(built("lightlag")),
    ]
    done = subprocess.run(checked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_page_of_an_algorithm_runs_it_in_a_scenario_that_is_valid() -> None:
    checked = [sys.executable, str(TOP / "tools/try_it.py"), "--check", "--binary", str(built("lightlag"))]
    done = subprocess.run(checked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_algorithm_without_an_example_and_an_example_of_another_are_faults(tmp_path: Path) -> None:
    program = tmp_path / "lightlag"
    rows = '[{"name": "surfers", "kind": "tide"}, {"name": "cubic", "kind": "controller"}]'
    program.write_text(f"#!/bin/sh\n[ $1 = list ] && echo '{rows}' && exit\necho 'line 3 is wrong'; exit 1\n")
    program.chmod(0o755)
    checked = [sys.executable, str(TOP / "tools/try_it.py"), "--check", "--binary", str(program)]
    done = subprocess.run(checked, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "surfers has no example: add one to OTHERS of tools/try_it.py",
        "cubic: line 3 is wrong",
    ]


def test_the_reference_of_python_is_that_of_the_docstrings() -> None:
    checked = [sys.executable, str(TOP / "tools/python_api.py"), "--check"]
    done = subprocess.run(checked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
