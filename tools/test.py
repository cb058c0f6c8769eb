#!/usr/bin/env python3
"""Runs the tests of Rust, Python and the page; says how many passed, failed and were skipped, and why.

`--quick` runs the crates of the simulator alone. With LIGHTLAG_STRICT=1 a skipped test is a failure, unless
tests/skips.txt allows it. The whole output of the Rust tests is in target/test.log.
"""

import argparse
import contextlib
import fnmatch
import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
SKIPS = TARGET / "test.skips"
QUICK = ["protocols", "worlds", "scenario", "judge"]

BINARY = re.compile(r"^\s+Running .*?([^/ ]+?)(?:-[0-9a-f]{16})?\)$|^\s+Doc-tests (\w+)$")
ENDED = re.compile(r"^test result: .*; finished in ([\d.]+)s$")
TEST = re.compile(
    r"^test (.+?)(?: - should panic)?(?: - compile(?: fail)?)? \.\.\. "
    r"(ok|FAILED|ignored)(?:, (.*))?$"
)
PAGE_TEST = re.compile(r"^(not )?ok \d+ - (.*?)(?: # SKIP ?(.*))?$", re.MULTILINE)
LONG = re.compile(r"^test (.+?) has been running for over \d+ seconds$")
# No test takes as long on two loaded cores; one that waits for ever shall not hide the results of the others.
SILENCE_S = 900


class Watchdog:
    """Kills the tests of a command when they have printed nothing for SILENCE_S; the next ones still run.

    `waiting` says what they wait for.
    """

    def __init__(self, command: int, waiting: Callable[[], list[str]]) -> None:
        self.command, self.waiting, self.hung = command, waiting, list[str]()
        self.timer = self._timer()

    def _timer(self) -> threading.Timer:
        timer = threading.Timer(SILENCE_S, self._kill)
        timer.daemon = True
        timer.start()
        return timer

    def _kill(self) -> None:
        self.hung += self.waiting()
        for pid in [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]:
            with contextlib.suppress(ProcessLookupError):
                if pid != self.command and os.getpgid(pid) == self.command:
                    os.kill(pid, signal.SIGKILL)

    def feed(self) -> None:
        """Starts the time again."""
        self.timer.cancel()
        self.timer = self._timer()

    def __enter__(self) -> "Watchdog":
        return self

    def __exit__(self, error: object, *_: object) -> None:
        self.timer.cancel()
        if error:
            os.killpg(self.command, signal.SIGKILL)


@dataclass
class Tally:
    """Results of the tests; skipped ones by name, with the reasons."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    # How long each step and each program of tests took.
    seconds: dict[str, float] = field(default_factory=dict)

    @contextlib.contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Says what begins, and keeps how long it takes."""
        print(f"== {step}", flush=True)
        before = time.monotonic()
        yield
        self.seconds[step] = time.monotonic() - before

    def add(self, other: "Tally") -> None:
        """Counts the results of another one too."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped |= other.skipped
        self.seconds |= other.seconds

    def build(self, packages: list[str]) -> None:
        """Builds the Rust tests of these packages, and the programs."""
        select = selected(packages)
        # One build for the tests, the programs and the extension for Python: all with the same features.
        step(["cargo", "build", "--quiet", "--lib", "--bins", "--tests", *select])

    def rust(self, packages: list[str]) -> None:
        """Runs the Rust tests of these packages (none: of all) and counts them."""
        select = selected(packages)
        SKIPS.unlink(missing_ok=True)
        command = ["cargo", "test", "--no-fail-fast", *select]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, "LIGHTLAG_SKIPS": str(SKIPS)},
            start_new_session=True,
        )
        assert process.stdout is not None
        before, binary, shown, running = len(self.failed), "", False, set[str]()

        def waiting() -> list[str]:
            hung = sorted(running) or [binary]
            running.clear()
            return hung

        with (TARGET / "test.log").open("w") as log, Watchdog(process.pid, waiting) as watchdog:
            for line in process.stdout:
                log.write(line)
                watchdog.feed()
                if found := BINARY.match(line):
                    binary = found[1] or found[2]
                elif found := ENDED.match(line):
                    self.seconds[f"  {binary}"] = self.seconds.get(f"  {binary}", 0) + float(found[1])
                elif found := LONG.match(line):
                    running.add(f"{binary}::{found[1]}")
                elif found := TEST.match(line):
                    running.discard(f"{binary}::{found[1]}")
                    self._count(f"{binary}::{found[1]}", found[2], found[3])
                shown = (shown or line.startswith("failures:")) and not line.startswith("test result:")
                if shown:
                    print(line, end="", flush=True)
        self.failed += [f"{name} did not end within {SILENCE_S} s" for name in watchdog.hung]
        if process.wait() and len(self.failed) == before:
            self.failed.append(f"{binary}: it did not end as tests do; see {TARGET / 'test.log'}")
        for record in SKIPS.read_text().splitlines() if SKIPS.exists() else []:
            name, reason = record.split("\t", 1)
            self.passed -= name not in self.skipped and name not in self.failed
            self.skipped.setdefault(name, reason)

    def _count(self, name: str, outcome: str, reason: str | None) -> None:
        if outcome == "ok":
            self.passed += 1
        elif outcome == "FAILED":
            self.failed.append(name)
        else:
            self.skipped[name] = reason or "ignored"

    def python(self) -> None:
        """Runs pytest and counts its tests."""
        report = TARGET / "pytest.xml"
        report.unlink(missing_ok=True)
        # A process for each core; the tests of a file stay together, as they share daemons and ports.
        command = [".venv/bin/pytest", "-q", "-n", str(os.cpu_count() or 1), "--dist", "loadfile"]
        done = subprocess.run([*command, "--durations=10", f"--junitxml={report}"], check=False)
        if not report.exists():
            self.failed.append(f"pytest: exit code {done.returncode}")
            return
        before = len(self.failed)
        for case in ElementTree.parse(report).iter("testcase"):
            name = f"{case.get('classname')}::{case.get('name')}"
            skipped = case.find("skipped")
            if skipped is not None:
                self.skipped[name] = skipped.get("message") or ""
            elif case.find("failure") is not None or case.find("error") is not None:
                self.failed.append(name)
            else:
                self.passed += 1
        if done.returncode and len(self.failed) == before:
            self.failed.append(f"pytest: exit code {done.returncode}")

    def page(self, missing: str) -> None:
        """Runs the tests of the page in Chromium, on the page in the programs; `missing`: why it cannot."""
        if missing:
            self.skipped["web"] = missing
            return
        web = ROOT / "web"
        (web / "dist").mkdir(exist_ok=True)
        page = gzip.decompress((ROOT / "crates" / "page" / "page.html.gz").read_bytes())
        (web / "dist" / "page.html").write_bytes(page)
        together = ["--test-concurrency=2", "--test-reporter=tap"]
        tests = ["node", "--test", *together, *sorted(map(str, web.glob("test/*.test.mjs")))]
        environment = {**os.environ, "SLOW": "1"}
        # The tests of crates/web have built the worlds for Node.
        built = TARGET.resolve() / "tmp" / "web" / "node" / "lightlag_web.js"
        if built.exists():
            environment["LIGHTLAG_WEB_NODE"] = str(built)
        try:
            done = subprocess.run(
                tests, cwd=web, env=environment, capture_output=True, text=True, timeout=SILENCE_S
            )
        except subprocess.TimeoutExpired:
            self.failed.append(f"web: Chromium did not end within {SILENCE_S} s")
            return
        before = len(self.failed)
        for outcome, name, directive in PAGE_TEST.findall(done.stdout):
            self._count(f"web::{name}", "FAILED" if outcome else "skipped" if directive else "ok", directive)
        if done.returncode:
            print(done.stdout, done.stderr)
            if len(self.failed) == before:
                self.failed.append(f"web: exit code {done.returncode}")

    def unlisted(self) -> list[str]:
        """The skipped tests that tests/skips.txt does not allow."""
        lines = (ROOT / "tests" / "skips.txt").read_text().splitlines()
        rows = [[part.strip() for part in line.split("|")] for line in lines if line and line[0] != "#"]
        for row in rows:
            if len(row) != 3 or not all(row):
                form = "`TEST | REASON OF THE SKIP | WHY IT IS ALLOWED`"
                sys.exit(f"tests/skips.txt: `{' | '.join(row)}`: not {form}")
        match = fnmatch.fnmatchcase
        return [
            name
            for name, reason in self.skipped.items()
            if not any(match(name, test) and match(reason, why) for test, why, _ in rows)
        ]


def selected(packages: list[str]) -> list[str]:
    """Options of cargo for these packages; for all without any."""
    return [word for name in packages for word in ("--package", f"lightlag-{name}")] or ["--workspace"]


def step(*commands: list[str]) -> None:
    """Runs commands; the first that fails ends the tests."""
    for command in commands:
        done = subprocess.run(command, check=False)
        if done.returncode:
            sys.exit(done.returncode)


def extension() -> None:
    """Puts the package into .venv as it is in the source tree, with the extension built for the tests."""
    shutil.copy2(TARGET / "debug" / "lib_lightlag.so", ROOT / "python" / "lightlag" / "_lightlag.abi3.so")
    for packages in (ROOT / ".venv" / "lib").glob("python3*/site-packages"):
        (packages / "lightlag.pth").write_text(f"{ROOT / 'python'}\n")


def environment() -> int:
    """Makes .venv, unless it is there; the exit code."""
    ready = ROOT / ".venv" / ".ready"
    if ready.exists() and ready.stat().st_mtime >= (ROOT / "pyproject.toml").stat().st_mtime:
        return 0
    return subprocess.run(["bash", "tools/venv.sh"], check=False).returncode


def tools_of_the_page() -> str:
    """Installs the tools of the page; why they are missing, if they are."""
    if missing := [name for name in ("npm", "chromium") if not shutil.which(name)]:
        return f"{missing[0]} is not installed"
    install = ["npm", "ci", "--silent", "--no-fund", "--no-audit"]
    if not (ROOT / "web/node_modules").is_dir() and subprocess.run(install, cwd=ROOT / "web").returncode:
        return "npm cannot install the tools of the page"
    return ""


def everything(tally: Tally) -> None:
    """Lints and all tests."""
    # Downloads run while Rust is built.
    pool = ThreadPoolExecutor()
    ready, tools = pool.submit(environment), pool.submit(tools_of_the_page)
    with tally.timed("rust: format, lints"):
        clippy = ["cargo", "clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]
        step(["cargo", "fmt", "--all", "--check"], clippy)
    with tally.timed("rust: build"):
        tally.build([])
    with tally.timed("rust: tests"):
        tally.rust([])
    if code := ready.result():
        sys.exit(code)
    extension()
    with tally.timed("python: lints, types"):
        ruff, folders = ".venv/bin/ruff", ["python", "scenarios", "tests", "tools", "examples"]
        step(
            [ruff, "check", "--quiet", *folders],
            [ruff, "format", "--check", "--quiet", *folders],
            [".venv/bin/mypy"],
        )
    # The page's tests wait for frames, those of Python for sockets and processes.
    page = Tally()
    with tally.timed("python: tests; page: tests in Chromium"):
        shown = pool.submit(page.page, tools.result())
        tally.python()
        shown.result()
    tally.add(page)


def main() -> None:
    """Runs what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help=f"the crates {', '.join(QUICK)} alone")
    quick, started, tally = parser.parse_args().quick, time.monotonic(), Tally()
    os.chdir(ROOT)
    if quick:
        tally.build(QUICK)
        tally.rust(QUICK)
    else:
        everything(tally)
    strict = os.environ.get("LIGHTLAG_STRICT") == "1"
    unlisted = tally.unlisted() if strict else []
    for name in tally.failed:
        print(f"failed: {name}")
    for name, reason in tally.skipped.items():
        print(f"skipped: {name}: {reason}")
    for name in unlisted:
        print(f"failed: {name} was skipped, which tests/skips.txt does not allow")
    steps = [f"{name} {seconds:.0f} s" for name, seconds in tally.seconds.items() if name[0] != " "]
    programs = sorted((-seconds, name.strip()) for name, seconds in tally.seconds.items() if name[0] == " ")
    print("\n".join(steps))
    print(
        "slowest programs of tests:", ", ".join(f"{name} {-seconds:.0f} s" for seconds, name in programs[:8])
    )
    failed = len(tally.failed) + len(unlisted)
    print(f"in {time.monotonic() - started:.0f} s:")
    print(f"{tally.passed} passed, {failed} failed, {len(tally.skipped) - len(unlisted)} skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
