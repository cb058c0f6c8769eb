#!/usr/bin/env python3
"""Trials of what `make release` makes, from the artefact to a first report, without a developer's tools.

bare.py [TRIAL...]: without trials all of them: debian, program, image, python.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
MADE = ROOT / "out/release"
DEBIAN = "bookworm"
# Seconds from an artefact to the first report.
LIMIT = 60.0
EXAMPLE = ROOT / "examples/walkers.toml"
REPORT = """
import sys, lightlag
lightlag.sweep(lightlag.Scenario.read(sys.argv[1]), out=sys.argv[2])
print(lightlag.report(sys.argv[2]))
"""


class FailedError(Exception):
    """A trial that went wrong: one line."""


class AbsentError(FailedError):
    """There is no such artefact."""


class Stopwatch:
    """Runs commands that together have LIMIT seconds."""

    def __init__(self, *before: str) -> None:
        """Each command is put behind these words."""
        self.before, self.started = before, time.monotonic()

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self.started

    def run(self, *words: str | Path, code: int = 0) -> str:
        """What a command prints; it fails with another exit code and when the time is over."""
        command = [*self.before, *map(str, words)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=max(LIMIT - self.seconds, 0.1)
            )
        except subprocess.TimeoutExpired:
            raise FailedError(
                f"{' '.join(map(str, words))}: not done {LIMIT:.0f} s after the start"
            ) from None
        if done.returncode != code:
            said = (done.stderr or done.stdout).strip()[-500:]
            raise FailedError(f"{' '.join(map(str, words))}: exit code {done.returncode}: {said}")
        return done.stdout + done.stderr


def artefact(folder: Path, pattern: str) -> Path:
    """The one file of this name."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        failure = FailedError if found else AbsentError
        raise failure(f"{folder}: {len(found)} files {pattern}; expected one")
    return found[0]


def has_report(path: Path) -> None:
    """The report is a page with figures."""
    text = path.read_text() if path.exists() else ""
    if "<html" not in text or "vega" not in text:
        raise FailedError(f"{path.name} is not a report")


@contextmanager
def root_with(*files: Path) -> Iterator[Path]:
    """An empty root with these files at its top, and a folder `data`."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        (root / "data").mkdir(parents=True)
        (root / "tmp").mkdir()
        for file in files:
            shutil.copy2(file, root / file.name)
        yield root


def inside(root: Path) -> Stopwatch:
    """Commands in this root alone."""
    path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin"
    return Stopwatch("env", "-i", path, "HOME=/root", shutil.which("chroot") or "chroot", str(root))


def first_report(watch: Stopwatch, root: Path, example: str) -> None:
    """A sweep and its report, by the program in a root."""
    watch.run("lightlag", "sweep", example, "--out", "/data/swept")
    watch.run("lightlag", "report", "/data/swept")
    has_report(root / "data/swept/report.html")


def debian(folder: Path) -> str:
    """Both Debian packages in a Debian without a compiler."""
    kept = BUILT / "bare" / DEBIAN
    if not (kept / "usr/bin/dpkg").exists():
        shutil.rmtree(kept, ignore_errors=True)
        kept.parent.mkdir(parents=True, exist_ok=True)
        words = ["debootstrap", "--variant=minbase", DEBIAN, str(kept)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(kept, ignore_errors=True)
            raise FailedError(f"debootstrap: {(done.stderr or done.stdout).strip()[-200:]}")
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / "root"
        subprocess.run(["cp", "--archive", "--reflink=auto", kept, root], check=True)
        (root / "data").mkdir()
        packages = [artefact(folder, f"{name}_*.deb") for name in ("lightlag", "lightlagd")]
        for file in packages:
            shutil.copy2(file, root / file.name)
        watch = inside(root)
        watch.run("sh", "-c", "! command -v cc gcc python3")
        watch.run("dpkg", "--install", *(f"/{file.name}" for file in packages))
        first_report(watch, root, "/usr/share/doc/lightlag/examples/walkers.toml")
        seconds = watch.seconds
        watch.run("lightlagd", "example", "/data/example")
        watch.run("lightlagd", "check", "--config", "/data/example/near/lightlagd.toml")
        expected = (
            "usr/share/man/man1/lightlag.1.gz",
            "usr/share/man/man8/lightlagd.8.gz",
            "usr/share/bash-completion/completions/lightlag",
            "usr/share/zsh/vendor-completions/_lightlagd",
            "usr/lib/systemd/system/lightlagd.service",
            "usr/lib/sysusers.d/lightlag.conf",
        )
        if missing := [path for path in expected if not (root / path).exists()]:
            raise FailedError(f"the packages do not have {', '.join(missing)}")
        watch.run("dpkg", "--remove", "lightlagd", "lightlag")
        if (root / "usr/bin/lightlagd").exists():
            raise FailedError("lightlagd is still there after its package was removed")
    return f"from the packages to the first report in {seconds:.1f} s"


def program(folder: Path) -> str:
    """The static program in a root that has nothing else."""
    archive = artefact(folder, "lightlag-*-linux-musl.tar.gz")
    with root_with(EXAMPLE) as root:
        watch = inside(root)
        with tarfile.open(archive) as packed:
            packed.extractall(root, filter="data")
        (root / archive.name.removesuffix(".tar.gz")).rename(root / "usr")
        first_report(watch, root, f"/{EXAMPLE.name}")
        return f"from the archive to the first report in {watch.seconds:.1f} s"


def image(folder: Path) -> str:
    """The root of the image, as a container has it."""
    archive = artefact(folder, "lightlag-*.oci.tar")
    with tempfile.TemporaryDirectory() as temporary:
        layout, bundle = Path(temporary) / "layout", Path(temporary) / "bundle"
        watch = Stopwatch()
        with tarfile.open(archive) as packed:
            packed.extractall(layout, filter="data")
        tag = watch.run("umoci", "list", "--layout", layout).strip()
        watch.run("umoci", "unpack", "--image", f"{layout}:{tag}", bundle)
        root = bundle / "rootfs"
        (root / "data").mkdir(exist_ok=True)
        shutil.copy2(EXAMPLE, root / "data")
        within = inside(root)
        first_report(within, root, f"/data/{EXAMPLE.name}")
        return f"from the image to the first report in {watch.seconds:.1f} s"


def python(folder: Path) -> str:
    """The wheel in a fresh environment; pip compiles nothing."""
    wheel = artefact(folder, f"lightlag-*-manylinux*_{os.uname().machine}.whl")
    with tempfile.TemporaryDirectory() as temporary:
        venv, out = Path(temporary) / "venv", Path(temporary) / "swept"
        watch = Stopwatch()
        watch.run(sys.executable, "-m", "venv", venv)
        watch.run(venv / "bin/pip", "install", "--quiet", "--only-binary", ":all:", wheel)
        watch.run(venv / "bin/python", "-c", REPORT, EXAMPLE, out)
        has_report(out / "report.html")
        return f"from the wheel to the first report in {watch.seconds:.1f} s"


TRIALS: dict[str, Callable[[Path], str]] = {
    trial.__name__: trial for trial in (debian, program, image, python)
}


def missing(trial: str) -> str | None:
    """Why a trial cannot be made here; none where it can."""
    if trial == "python":
        return None
    if os.geteuid() != 0:
        return "only root can change the root folder"
    needed = {"debian": "debootstrap", "image": "umoci", "program": "chroot"}[trial]
    return None if shutil.which(needed) else f"there is no {needed}"


def main(names: list[str]) -> None:
    """Makes trials of what is in out/release; those that cannot be made here are named."""
    if unknown := [name for name in names if name not in TRIALS]:
        sys.exit(f"bare: {unknown[0]}: expected trials of {', '.join(TRIALS)}")
    for name in names:
        reason = missing(name)
        try:
            print(f"{name}: {f'not tried: {reason}' if reason else TRIALS[name](MADE)}", flush=True)
        except FailedError as failed:
            sys.exit(f"{name}: {failed}")


if __name__ == "__main__":
    main(sys.argv[1:] or list(TRIALS))
