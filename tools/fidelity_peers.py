"""Bundles to and from Hardy, and named data to and from NDNts: part of `make fidelity`.

python3 tools/fidelity_peers.py --binary target/release/lightlag [--seed 1] [--only TEXT]

Both are libraries of package registries at pinned versions: hardy-tcpclv4 of crates.io (Apache-2.0) and
@ndn/* of npm (ISC). The programs around them are in tools/peers; they are built into .tools the first time,
which takes minutes for Hardy. Sizes, segment sizes and keep-alives are drawn from the seed. One side is
killed while bundles pass. What a sender reports as accepted must have arrived; the rest is sent again.
Missing tools are skipped, with the reason.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from fidelity_bundles import TOOLS, MissingError, call, free_ports, running, wait_for

PEERS = Path(__file__).resolve().parent / "peers"
SIZE_MAX = 20_000_000
PATIENCE_S = 300.0


def find_hardy() -> str:
    """The program hardy-peer, on PATH or built into .tools."""
    target = TOOLS / "hardy"
    built = target / "release" / "hardy-peer"
    if found := shutil.which("hardy-peer"):
        return found
    if shutil.which("cargo") is None:
        raise MissingError("hardy-peer is not on PATH, and there is no cargo to build it")
    print("building hardy-tcpclv4 into .tools (minutes)", file=sys.stderr)
    manifest = str(PEERS / "hardy" / "Cargo.toml")
    command = ["cargo", "build", "--release", "--locked", "--manifest-path", manifest]
    done = subprocess.run(
        [*command, "--target-dir", str(target)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise MissingError(f"hardy-peer cannot be built: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    return str(built)


def find_ndnts() -> list[str]:
    """The command of the NDNts peer, with its packages in .tools."""
    home = TOOLS / "ndnts"
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise MissingError("there is no node or no npm")
    home.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "peer.mjs"):
        shutil.copy(PEERS / "ndnts" / name, home / name)
    if not (home / "node_modules" / "@ndn" / "rdr").exists():
        print("installing NDNts into .tools", file=sys.stderr)
        command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts"]
        done = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise MissingError(f"npm cannot install NDNts: {(done.stderr.strip().splitlines() or ['?'])[0]}")
    return [node, str(home / "peer.mjs")]


def digest(data: bytes) -> str:
    """Names bytes."""
    return hashlib.sha256(data).hexdigest()


# --- bundles --------------------------------------------------------------------------------


def bundle(draw: random.Random, length: int) -> bytes:
    """A bundle of version 7 from ipn:1.1 to ipn:2.1 with a payload of this length."""
    primary = bytes.fromhex("9f88070000820282020182028201018202820101821b") + draw.randbytes(8) + b"\0"
    return (
        primary
        + b"\x1a\x05\x26\x5c\x00\x85\x01\x01\x00\x00\x5b"
        + length.to_bytes(8)
        + draw.randbytes(length)
        + b"\xff"
    )


def drawn_bundles(draw: random.Random, folder: Path, count: int) -> list[Path]:
    """Bundles of 0 B to 20 MB, as many of each order of magnitude."""
    files = []
    for number in range(count):
        length = 0 if number == 0 else min(SIZE_MAX, int(10 ** draw.uniform(0, 7.31)))
        files.append(folder / f"{number}.bundle")
        files[-1].write_bytes(bundle(draw, length))
    return files


def arrived(folder: Path) -> set[str]:
    """Digests of the bundles in a folder."""
    return {digest(file.read_bytes()) for file in folder.iterdir() if file.suffix != ".part"}


def count(folder: Path) -> int:
    """Bundles in a folder."""
    return sum(1 for file in folder.iterdir() if file.suffix != ".part")


Send = Callable[[list[Path]], list[str]]
Accepted = Callable[[str], Iterable[str]]


def exchange(
    draw: random.Random, folder: Path, listener: list[str], ready: str, send: Send, accepted: Accepted
) -> tuple[list[str], str]:
    """Sends drawn bundles over three connections, kills the listener or the senders, and sends again."""
    inbox = folder / "inbox"
    inbox.mkdir()
    files = {str(file): digest(file.read_bytes()) for file in drawn_bundles(draw, folder, 24)}
    wrong: list[str] = []
    rounds = counted = kills = 0
    while missing := [name for name, sha in files.items() if sha not in arrived(inbox)]:
        rounds += 1
        if rounds > 12:
            return [*wrong, f"{len(missing)} of {len(files)} did not arrive in 12 rounds"], ""
        draw.shuffle(missing)
        log = folder / f"listener-{rounds}.log"
        with running(listener, log) as server:
            wait_for("the listener", log, ready)
            parts = [missing[at::3] for at in range(3) if missing[at::3]]
            senders = [
                subprocess.Popen(
                    send([Path(name) for name in part]),
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                )
                for part in parts
            ]
            if rounds <= 4:
                # In the middle: once some have arrived, or all senders have ended.
                goal = count(inbox) + draw.randint(1, max(1, len(missing) // 3))
                while count(inbox) < goal and any(sender.poll() is None for sender in senders):
                    time.sleep(0.005)
                victims = [server] if rounds % 2 else senders
                for victim in victims:
                    victim.kill()
                kills += len(victims)
            for sender in senders:
                said = sender.communicate(timeout=PATIENCE_S)[0]
                found = [str(folder / Path(name).name) for name in accepted(said)]
                counted += len(found)
                here = arrived(inbox)
                wrong += [
                    f"{Path(name).name} was accepted and is not there"
                    for name in found
                    if files[name] not in here
                ]
    extra = arrived(inbox) - set(files.values())
    wrong += [f"{len(extra)} files that were not sent"] if extra else []
    size = sum(Path(name).stat().st_size for name in files) / 1e6
    return wrong, f"{len(files)} bundles, {size:.0f} MB, {counted} accepted in {rounds} rounds, {kills} kills"


def hardy_keys(draw: random.Random) -> list[str]:
    """Settings of a session, drawn."""
    keepalive = draw.choice([0, 1, 5, 60, 65535])
    return [f"keepalive={keepalive}", f"segment={int(10 ** draw.uniform(2, 7))}"]


def to_hardy(binary: Path, draw: random.Random, folder: Path) -> tuple[list[str], str]:
    """From us to Hardy."""
    hardy = find_hardy()
    (port,) = free_ports(1)
    at, keys = f"127.0.0.1:{port}", hardy_keys(draw)
    listener = [hardy, "listen", at, str(folder / "inbox"), *keys]

    def send(files: list[Path]) -> list[str]:
        return [str(binary), "bundles", "send", *map(str, files), "--to", at, "--over", "tcp", "--json"]

    def accepted(said: str) -> Iterable[str]:
        # A sender that was killed may end in the middle of a line.
        lines = [json.loads(line) for line in said.splitlines(keepends=True) if line.endswith("\n")]
        return [line["file"] for line in lines if line.get("acknowledged")]

    wrong, line = exchange(draw, folder, listener, "listening", send, accepted)
    return wrong, f"{line}, {' '.join(keys)}"


def from_hardy(binary: Path, draw: random.Random, folder: Path) -> tuple[list[str], str]:
    """From Hardy to us."""
    hardy = find_hardy()
    (port,) = free_ports(1)
    at, keys = f"127.0.0.1:{port}", hardy_keys(draw)
    listener = [str(binary), "bundles", "listen", at, "--over", "tcp", "--folder", str(folder / "inbox")]

    def send(files: list[Path]) -> list[str]:
        return [hardy, "send", at, *map(str, files), *keys]

    def accepted(said: str) -> Iterable[str]:
        return [line.removeprefix("sent ") for line in said.splitlines() if line.startswith("sent ")]

    wrong, line = exchange(draw, folder, listener, "listening", send, accepted)
    return wrong, f"{line}, {' '.join(keys)}"


# --- named data -----------------------------------------------------------------------------


def names(binary: Path, kind: str, ours: bool, draw: random.Random, folder: Path) -> tuple[list[str], str]:
    """Signed objects of drawn sizes from one of both to the other; a wrong key is refused."""
    ndnts = find_ndnts()
    call([str(binary), "names", "keygen", "key"], folder)
    call([str(binary), "names", "keygen", "other"], folder)
    wrong, sizes = [], [0, int(10 ** draw.uniform(0, 5)), int(draw.uniform(1, SIZE_MAX))]
    took_s = 0.0
    for number, size in enumerate(sizes):
        file, into, refused, log = (folder / f"{number}{end}" for end in ("", ".got", ".refused", ".log"))
        file.write_bytes(draw.randbytes(size))
        (port,) = free_ports(1)
        segment, face, name = int(draw.uniform(500, 8001)), f"{kind}://127.0.0.1:{port}", f"/peer/{number}"
        own = [str(binary), "names"]
        if ours:
            put = [*own, "put", name, str(file), "--key", "key", "--listen", face]
            put += ["--segment-size", f"{segment} B"]
            get = [*ndnts, "get", kind, str(port), name]
        else:
            put = [*ndnts, "put", kind, str(port), name, str(file), "cert", str(segment)]
            get = [*own, "get", name, "--face", face]
        trusted = "key.pub" if ours else "cert"
        last = [[str(into), trusted], [str(refused), "other.pub"]]
        good, bad = [get + (words if ours else ["-o", words[0], "--trust", words[1]]) for words in last]
        with running(put, log):
            wait_for("the publisher", log, "listening")
            began = time.monotonic()
            call(good, folder)
            took_s += time.monotonic() - began
            if into.read_bytes() != file.read_bytes():
                wrong.append(f"{size} B differ")
            done = subprocess.run(bad, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
            if done.returncode == 0 or refused.exists():
                wrong.append("data by another key were taken")
            if not ours and "signed by another key" not in done.stderr:
                wrong.append(f"a wrong key was reported as: {done.stderr.strip()}")
    total = sum(sizes) / 1e6
    return wrong, f"{len(sizes)} objects of {', '.join(map(str, sizes))} B, {total * 8 / took_s:.0f} Mbit/s"


def main() -> int:
    """Prints what was exchanged with whom, and what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="checks with this text")
    parser.add_argument("--keep", type=Path, help="folder for logs and files")
    options = parser.parse_args()
    binary = options.binary.resolve()
    os.environ.pop("NDN_CLIENT_TRANSPORT", None)
    checks: dict[str, Callable[[random.Random, Path], tuple[list[str], str]]] = {
        "bundles to Hardy": functools.partial(to_hardy, binary),
        "bundles from Hardy": functools.partial(from_hardy, binary),
    }
    for kind in ("udp", "tcp"):
        for ours in (True, False):
            what = f"names {'to' if ours else 'from'} NDNts over {kind}"
            checks[what] = functools.partial(names, binary, kind, ours)
    failed, skipped = 0, 0
    with tempfile.TemporaryDirectory() as temporary:
        for number, (what, check) in enumerate(checks.items()):
            if options.only not in what:
                continue
            folder = (options.keep or Path(temporary)).resolve() / str(number)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            try:
                wrong, line = check(random.Random(f"{options.seed} {what}"), folder)
            except MissingError as why:
                skipped += 1
                print(f"{what}: skipped, {why}")
                continue
            except (RuntimeError, TimeoutError, OSError, subprocess.TimeoutExpired) as why:
                wrong, line = [str(why)], ""
            failed += bool(wrong)
            print(f"{what}: {'; '.join(wrong) or 'same'}; {line}", flush=True)
            if options.keep is None:
                shutil.rmtree(folder)
    print(f"peers: {failed} checks fail, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
