"""Bundles to and from other implementations, and what tshark says of them: `make fidelity`.

python3 tools/fidelity_bundles.py --binary target/release/lightlag [--keep FOLDER]

dtn7-rs speaks TCPCLv4 and bundles in UDP, licklider LTP over UDP (with losses of its own making). Both are of
crates.io, at pinned versions; they are taken from PATH, or built the first time into .tools, which takes
minutes. Each sends to us and is sent to, and the received files are compared. What passes is captured where
that is allowed, and tshark finds no malformed packet in it. Missing tools are skipped, with the reason.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent / ".tools"
# Commands, and the crates that they come from.
CRATES = {"dtnd": "dtn7@0.21.0", "licklider": "licklider-cli@0.1.1"}
# dtn7-rs takes transfers of 64,000 bytes at most.
PAYLOAD_BYTES = {"tcp": 60_000, "udp": 1_000, "ltp-udp": 200_000}
PATIENCE_S = 60.0


class MissingError(Exception):
    """A tool that is not available here, and why."""


def find(command: str) -> Path:
    """A command, on PATH or built into .tools."""
    named = shutil.which(command)
    if named:
        return Path(named)
    built = TOOLS / "bundles" / "bin" / command
    if built.exists():
        return built
    if shutil.which("cargo") is None:
        raise MissingError(f"{command} is not on PATH, and there is no cargo to build it")
    install = ["cargo", "install", "--locked", "--root", str(built.parent.parent), CRATES[command]]
    print(f"building {CRATES[command]} into {built.parent}", file=sys.stderr)
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["it said nothing"]
        raise MissingError(f"{CRATES[command]} cannot be built: {said[-1]}")
    return built


def free_ports(count: int) -> list[int]:
    """Ports that are free for TCP and UDP now."""
    ports: list[int] = []
    while len(ports) < count:
        with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
            tcp.bind(("127.0.0.1", 0))
            port = tcp.getsockname()[1]
            try:
                udp.bind(("127.0.0.1", port))
            except OSError:
                continue
            if port not in ports:
                ports.append(port)
    return ports


@contextmanager
def running(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends with the block; what it says is in `log`."""
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out, cwd=log.parent) as process:
        try:
            yield process
        finally:
            process.terminate()


def wait_for(what: str, found: Path, text: str) -> None:
    """Waits until a log says something."""
    until = time.monotonic() + PATIENCE_S
    while text not in found.read_text(errors="replace"):
        if time.monotonic() > until:
            raise TimeoutError(f"{what}: it never said `{text}`: {found.read_text(errors='replace')[-300:]}")
        time.sleep(0.05)


def call(command: list[str], folder: Path) -> str:
    """Runs a command to its end; what it printed."""
    done = subprocess.run(command, capture_output=True, cwd=folder, timeout=PATIENCE_S, check=False)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise RuntimeError(f"{Path(command[0]).name} ended with {done.returncode}: {said[-300:]}")
    return done.stdout.decode(errors="replace")


def payload(folder: Path, name: str, length: int) -> Path:
    """Bytes without a pattern."""
    path = folder / name
    path.write_bytes(random.Random(name).randbytes(length))
    return path


def digest(data: bytes) -> str:
    """Names bytes."""
    return hashlib.sha256(data).hexdigest()[:16]


@contextmanager
def capturing(file: Path, wanted: str) -> Iterator[None]:
    """Captures what passes the loopback, where that is allowed."""
    if shutil.which("dumpcap") is None:
        yield
        return
    command = ["dumpcap", "-q", "-i", "lo", "-f", wanted, "-w", str(file), "-P"]
    with running(command, file.with_suffix(".log")):
        until = time.monotonic() + 5
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.3)
        yield
        time.sleep(0.5)


def dissected(file: Path, port: int, transport: str, protocol: str) -> list[str]:
    """What is wrong with a capture, by tshark; and prints what there is in it."""
    if not file.exists() or shutil.which("tshark") is None:
        print(f"  {protocol}: not captured, as dumpcap or tshark is not installed or allowed")
        return []
    decode = ["-d", f"{transport}.port=={port},{protocol}"]
    command = [
        "tshark",
        "-r",
        str(file),
        *decode,
        "-T",
        "fields",
        "-e",
        "frame.protocols",
        "-e",
        "_ws.malformed",
    ]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    seen = sum(1 for line in lines if protocol in line.split("\t")[0])
    malformed = sum(1 for line in lines if "alformed" in line)
    print(f"  tshark: {len(lines)} packets, {seen} with {protocol}, {malformed} malformed")
    wrong = [f"tshark finds {malformed} malformed packets"] if malformed else []
    return wrong if seen else [*wrong, f"tshark finds no {protocol}"]


def kept(folder: Path) -> list[bytes]:
    """What our listener has kept."""
    return (
        [file.read_bytes() for file in folder.iterdir() if file.suffix != ".part"] if folder.exists() else []
    )


def check_dtn7(binary: Path, over: str, folder: Path) -> list[str]:
    """A bundle from dtn7-rs to us and one from us to dtn7-rs; what is wrong."""
    dtnd = find("dtnd")
    tools = {name: str(dtnd.with_name(name)) for name in ("dtnsend", "dtnrecv")}
    web, theirs, ours = free_ports(3)
    sent, mine = (payload(folder, name, PAYLOAD_BYTES[over]) for name in ("theirs", "ours"))
    node = [str(dtnd), "-n", "node1", "-w", str(web), "-C", f"{over}:port={theirs}:bind=127.0.0.1"]
    node += ["-e", "in", "-D", "mem", "-W", str(folder), "--disable_nd"]
    node += ["-s", f"{over}://127.0.0.1:{ours}/lightlag", "-j", "1s"]
    listen = [str(binary), "bundles", "listen", f"127.0.0.1:{ours}", "--over", over, "--folder", "kept"]
    capture = folder / f"{over}.pcap"
    with running([*listen, "--count", "1"], folder / "ours.log") as listener:
        wait_for("our listener", folder / "ours.log", "listening")
        with running(node, folder / "dtnd.log"), capturing(capture, f"port {theirs} or port {ours}"):
            time.sleep(2)
            call([tools["dtnsend"], "-p", str(web), "-r", "dtn://lightlag/in", str(sent)], folder)
            listener.wait(PATIENCE_S)
            # A bundle of theirs for themselves, as bytes in hexadecimal after a line that names it.
            made = [
                tools["dtnsend"],
                "-D",
                "-p",
                str(web),
                "-s",
                "dtn://lightlag/",
                "-r",
                "dtn://node1/in",
                str(mine),
            ]
            bundle = folder / "ours.bundle"
            bundle.write_bytes(bytes.fromhex(call(made, folder).strip().splitlines()[-1]))
            send = [
                str(binary),
                "bundles",
                "send",
                str(bundle),
                "--to",
                f"127.0.0.1:{theirs}",
                "--over",
                over,
            ]
            call(send, folder)
            time.sleep(1)
            call([tools["dtnrecv"], "-p", str(web), "-e", "in", "-o", "got"], folder)
    wrong = []
    # A node that passes a bundle on adds blocks: its payload is what must be the same.
    if not any(sent.read_bytes() in bundle for bundle in kept(folder / "kept")):
        wrong.append("what dtn7-rs sent differs from what we received")
    if (folder / "got").read_bytes() != mine.read_bytes():
        wrong.append("what we sent differs from what dtn7-rs received")
    print(f"{over}, dtn7-rs: {digest(sent.read_bytes())} to us, {digest(mine.read_bytes())} from us")
    if over == "tcp":
        wrong += dissected(capture, ours, "tcp", "tcpcl") + dissected(capture, theirs, "tcp", "tcpcl")
    else:
        wrong += dissected(capture, ours, "udp", "bundle")
    return wrong


def check_licklider(binary: Path, folder: Path) -> list[str]:
    """A block from licklider to us and one from us to licklider, with losses of its making; what is wrong."""
    licklider = str(find("licklider"))
    ours, theirs, here = free_ports(3)
    sent, mine = (payload(folder, name, PAYLOAD_BYTES["ltp-udp"]) for name in ("theirs", "ours"))
    listen = [str(binary), "bundles", "listen", f"127.0.0.1:{ours}", "--over", "ltp-udp", "--folder", "kept"]
    # What licklider sends is not a bundle.
    listen.append("--opaque")
    capture = folder / "ltp.pcap"
    with capturing(capture, f"udp port {ours} or udp port {theirs}"):
        with running([*listen, "--count", "1"], folder / "ours.log") as listener:
            wait_for("our listener", folder / "ours.log", "listening")
            send = [licklider, "send", str(sent), "--to", f"2@127.0.0.1:{ours}", "--engine", "1"]
            call(
                [*send, "--listen", f"127.0.0.1:{theirs}", "--red", "all", "--impair", "loss=0.2,seed=7"],
                folder,
            )
            listener.wait(PATIENCE_S)
        receive = [licklider, "recv", "--listen", f"127.0.0.1:{theirs}", "--engine", "2"]
        receive += ["--peer", f"1@127.0.0.1:{here}", "--out", "got"]
        with running(receive, folder / "licklider.log") as receiver:
            time.sleep(1)
            send = [
                str(binary),
                "bundles",
                "send",
                str(mine),
                "--to",
                f"127.0.0.1:{theirs}",
                "--over",
                "ltp-udp",
            ]
            # It knows its peers by engine and place.
            call([*send, "--engine", "1", "--from", f"127.0.0.1:{here}", "--rate", "20 Mbit/s"], folder)
            receiver.wait(PATIENCE_S)
    wrong = []
    if kept(folder / "kept") != [sent.read_bytes()]:
        wrong.append("what licklider sent differs from what we received")
    if (folder / "got").read_bytes() != mine.read_bytes():
        wrong.append("what we sent differs from what licklider received")
    print(f"ltp-udp, licklider: {digest(sent.read_bytes())} to us, {digest(mine.read_bytes())} from us")
    return wrong + dissected(capture, ours, "udp", "ltp")


def main() -> int:
    """Prints what was exchanged with whom, and what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--keep", type=Path, help="folder for captures and logs")
    options = parser.parse_args()
    binary = options.binary.resolve()
    checks: dict[str, Callable[[Path], list[str]]] = {
        "dtn7-rs over tcp": lambda folder: check_dtn7(binary, "tcp", folder),
        "dtn7-rs over udp": lambda folder: check_dtn7(binary, "udp", folder),
        "licklider over ltp-udp": lambda folder: check_licklider(binary, folder),
    }
    failed = False
    with tempfile.TemporaryDirectory() as name:
        for number, (what, check) in enumerate(checks.items()):
            folder = (options.keep or Path(name)).resolve() / str(number)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            try:
                wrong = check(folder)
            except MissingError as why:
                print(f"{what} is skipped: {why}")
                continue
            except (RuntimeError, TimeoutError, OSError, subprocess.TimeoutExpired) as why:
                wrong = [str(why)]
            failed |= bool(wrong)
            print(f"  {what}: {'; '.join(wrong) or 'nothing is wrong'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
