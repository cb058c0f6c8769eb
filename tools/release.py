#!/usr/bin/env python3
"""Makes what is released into out/release, and tries it where nothing of a developer is installed.

release.py [STEP...]: without steps all of them, in this order: program, packages, image, wheels, source,
crates, check. PROFILE is the cargo profile, `dist` by default. Needs rustup, Python 3.11, and of Debian
musl-tools, umoci and debootstrap.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import tomllib

import bare
import licences

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "out/release"
PROFILE = os.environ.get("PROFILE", "dist")
MACHINE = platform.machine()
MUSL = f"{MACHINE}-unknown-linux-musl"
GNU = f"{MACHINE}-unknown-linux-gnu"
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAMS = BUILT / MUSL / ("debug" if PROFILE == "dev" else PROFILE)
VERSION: str = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
CRATES = {"lightlag": "lightlag-cli", "lightlagd": "lightlag-daemon"}
LARGEST_PROGRAM = 25_000_000
TEXTS = ("README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE-APACHE", "LICENSE-MIT")
# Not on crates.io: they need the repository, Python, or the library that `make install` puts beside them.
UNPUBLISHED = ("lightlag-manual", "lightlag-python", "lightlag-run")


# No path of the machine that builds is in what it makes.
os.environ["RUSTFLAGS"] = " ".join(
    f"--remap-path-prefix={path}={name}"
    for path, name in (
        (os.environ.get("CARGO_HOME", Path.home() / ".cargo"), "cargo"),
        (os.environ.get("RUSTUP_HOME", Path.home() / ".rustup"), "rustup"),
        (ROOT, "lightlag"),
    )
)


def run(*words: str | Path, **env: str) -> str:
    """Runs a command at the top of the repository and gives its output; ends where it fails."""
    command = [str(word) for word in words]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **env}, stdout=subprocess.PIPE, text=True, check=True
        )
    except FileNotFoundError:
        sys.exit(f"release: there is no {command[0]}; install it (see {Path(__file__).name} --help)")
    except subprocess.CalledProcessError as failed:
        sys.exit(f"release: {' '.join(command[:4])} failed (exit code {failed.returncode})")
    return done.stdout


def stamp() -> int:
    """The time of the commit, in seconds: that of all files."""
    return int(run("git", "log", "-1", "--format=%ct"))


def pack(files: dict[str, Path | bytes], to: Path) -> None:
    """Writes a tar file: the same bytes from the same files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in sorted(files.items()):
            data = content if isinstance(content, bytes) else content.read_bytes()
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(data), stamp()
            entry.mode = 0o755 if isinstance(content, Path) and os.access(content, os.X_OK) else 0o644
            archive.addfile(entry, io.BytesIO(data))
    to.write_bytes(gzip.compress(buffer.getvalue(), mtime=0))


def program() -> None:
    """Static programs, which need no library of the machine; `lightlag` with its texts as an archive."""
    run("rustup", "target", "add", MUSL)
    features = ["--features", "lightlag-cli/daemon"]
    crates = ["-p", "lightlag-cli", "-p", "lightlag-daemon"]
    run("cargo", "build", "--locked", "--profile", PROFILE, "--target", MUSL, *crates, *features)
    built = PROGRAMS / "lightlag"
    if "INTERP" in run("readelf", "--program-headers", "--wide", built):
        sys.exit(f"release: {built}: expected a static program")
    if PROFILE == "dist" and built.stat().st_size > LARGEST_PROGRAM:
        sys.exit(f"release: {built}: {built.stat().st_size} bytes; at most {LARGEST_PROGRAM}")
    name = f"lightlag-{VERSION}-{MUSL}"
    files: dict[str, Path | bytes] = {f"{name}/{text}": ROOT / text for text in TEXTS}
    for path in sorted(installed("lightlag").rglob("*")):
        if path.is_file():
            files[f"{name}/{path.relative_to(PROGRAMS / 'stage/lightlag/usr')}"] = path
    files[f"{name}/LICENCES.txt"] = licences.texts(["lightlag-cli"], MUSL).encode()
    pack(files, OUT / f"{name}.tar.gz")


def installed(part: str) -> Path:
    """A root with one part of what `make install` installs."""
    stage = PROGRAMS / "stage" / part
    shutil.rmtree(stage, ignore_errors=True)
    run("bash", "tools/install.sh", PROGRAMS, part, DESTDIR=str(stage), PREFIX="/usr")
    return stage


def packages() -> None:
    """Debian packages of `lightlag` and `lightlagd`."""
    architecture = run("dpkg", "--print-architecture").strip()
    for part in ("lightlag", "lightlagd"):
        stage, control = installed(part), ROOT / "packaging/deb" / part
        # Where Debian has them.
        zsh = stage / "usr/share/zsh"
        (zsh / "site-functions").rename(zsh / "vendor-completions")
        for page in (stage / "usr/share/man").rglob("*.[1-8]"):
            Path(f"{page}.gz").write_bytes(gzip.compress(page.read_bytes(), mtime=0))
            page.unlink()
        texts = stage / "usr/share/doc" / part
        texts.mkdir(parents=True, exist_ok=True)
        (texts / "changelog.gz").write_bytes(gzip.compress((ROOT / "CHANGELOG.md").read_bytes(), mtime=0))
        own = [(ROOT / name).read_text() for name in ("LICENSE-MIT", "LICENSE-APACHE")]
        (texts / "copyright").write_text("\n".join(["Apache-2.0 OR MIT\n", *own]))
        (texts / "LICENCES.gz").write_bytes(
            gzip.compress(licences.texts([CRATES[part]], MUSL).encode(), mtime=0)
        )
        size = sum(path.stat().st_size for path in stage.rglob("*") if path.is_file()) // 1024
        shutil.copytree(control, stage / "DEBIAN")
        for script in (stage / "DEBIAN").iterdir():
            script.chmod(0o755)
        text = (control / "control").read_text()
        for word, value in {"VERSION": VERSION, "ARCHITECTURE": architecture, "SIZE": str(size)}.items():
            text = text.replace(f"@{word}@", value)
        (stage / "DEBIAN/control").write_text(text)
        (stage / "DEBIAN/control").chmod(0o644)
        name = f"{part}_{VERSION}_{architecture}.deb"
        run("dpkg-deb", "--root-owner-group", "--build", stage, OUT / name, SOURCE_DATE_EPOCH=str(stamp()))


def image() -> None:
    """An OCI image with the two static programs and nothing else."""
    layout, tag = PROGRAMS / "image", f"{PROGRAMS / 'image'}:{VERSION}"
    shutil.rmtree(layout, ignore_errors=True)
    run("umoci", "init", "--layout", layout)
    run("umoci", "new", "--image", tag)
    for name in ("lightlag", "lightlagd"):
        run("umoci", "insert", "--image", tag, PROGRAMS / name, f"/usr/bin/{name}")
    architecture = {"x86_64": "amd64", "aarch64": "arm64"}[MACHINE]
    words = ["--config.entrypoint", "/usr/bin/lightlag", "--config.workingdir", "/data", "--os", "linux"]
    labels = {"version": VERSION, "licenses": "Apache-2.0 OR MIT", "title": "lightlag"}
    for key, value in labels.items():
        words += ["--config.label", f"org.opencontainers.image.{key}={value}"]
    run("umoci", "config", "--image", tag, "--architecture", architecture, *words)
    run("umoci", "gc", "--layout", layout)
    archive = OUT / f"lightlag-{VERSION}-{MACHINE}.oci.tar"
    run("tar", "--create", "--file", archive, "--directory", layout, ".")


def tools() -> Path:
    """The folder of programs of an environment with what builds wheels."""
    folder = ROOT / ".tools/release"
    if not (folder / "bin/maturin").exists():
        run(sys.executable, "-m", "venv", folder)
        run(folder / "bin/pip", "install", "--quiet", "--requirement", ROOT / "packaging/requirements.txt")
    return folder / "bin"


def wheels() -> None:
    """Wheels for any Linux with glibc 2.17 or musl 1.2, of Python 3.10 and later."""
    path = f"{tools()}:{os.environ['PATH']}"
    run("rustup", "target", "add", GNU, MUSL)
    for target, linux in ((GNU, "manylinux_2_17"), (MUSL, "musllinux_1_2")):
        words = ["--target", target, "--compatibility", linux, "--zig", "--out", str(OUT)]
        run("maturin", "build", "--quiet", "--locked", "--profile", PROFILE, *words, PATH=path)


def source() -> None:
    """The source package of Python, built once."""
    run(tools() / "maturin", "sdist", "--out", OUT)
    words = ["wheel", "--quiet", "--no-deps", "--wheel-dir", str(PROGRAMS / "from-source")]
    env = {"CARGO_TARGET_DIR": str(BUILT), "MATURIN_PEP517_ARGS": "--profile dev"}
    run(tools() / "pip", *words, OUT / f"lightlag-{VERSION}.tar.gz", **env)


def crates() -> None:
    """The crates for crates.io: cargo builds each from its package, and installs `lightlag` from them."""
    words = [word for name in UNPUBLISHED for word in ("--exclude", name)]
    run("cargo", "package", "--quiet", "--locked", "--workspace", *words)
    (OUT / "crates").mkdir(exist_ok=True)
    patches: list[str] = []
    for packed in (BUILT / "package").glob(f"*-{VERSION}.crate"):
        shutil.copy2(packed, OUT / "crates")
        name = packed.name.removesuffix(f"-{VERSION}.crate")
        patches += ["--config", f'patch.crates-io.{name}.path="{packed.with_suffix("")}"']
    root, command = PROGRAMS / "installed", BUILT / "package" / f"lightlag-cli-{VERSION}"
    options = ["--debug", "--quiet", "--force", "--root", str(root), "--path", str(command)]
    run("cargo", "install", *options, *patches, CARGO_TARGET_DIR=str(BUILT))
    transfer = [str(root / "bin/lightlag"), "transfer", "--help"]
    refused = subprocess.run(transfer, capture_output=True, text=True, check=False)
    if refused.returncode != 2 or "cargo install lightlag-cli --features daemon" not in refused.stderr:
        sys.exit(f"release: lightlag without the feature daemon: transfer --help: {refused.stderr}")


def check() -> None:
    """Installs and uses what was made, in a bare Debian and in a fresh environment of Python."""
    bare.main(list(bare.TRIALS))


def sums() -> None:
    """Writes SHA256SUMS, and prints each file with its size."""
    files = sorted(path for path in OUT.rglob("*") if path.is_file() and path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(OUT)}\n" for path in files]
    (OUT / "SHA256SUMS").write_text("".join(lines))
    for path in files:
        print(f"{path.stat().st_size / 1e6:8.2f} MB  {path.relative_to(ROOT)}")


STEPS: dict[str, Callable[[], None]] = {
    step.__name__: step for step in (program, packages, image, wheels, source, crates, check)
}


def main(words: list[str]) -> None:
    """Does the steps that are named, or all."""
    if unknown := [word for word in words if word not in STEPS]:
        sys.exit(f"release: {unknown[0]}: expected steps of {', '.join(STEPS)}\n\n{__doc__}")
    OUT.mkdir(parents=True, exist_ok=True)
    for name in words or STEPS:
        print(f"release: {name}", flush=True)
        STEPS[name]()
    sums()


if __name__ == "__main__":
    main(sys.argv[1:])
