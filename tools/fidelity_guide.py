"""The blocks of docs/guide/peers.md, run as they are written: part of `make fidelity`.

python3 tools/fidelity_guide.py --binary target/release/lightlag [--only TEXT]

Each block that starts with `# NODE: ...` is a bash script that ends with the first failing command. It runs
in an empty folder, in a network of its own where that is allowed, since its ports are fixed. What it calls
`sent` must be in a file of `inbox`, if the block lists that folder. A block whose node is not installed is
skipped, with the reason.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from fidelity_bundles import MissingError, find
from fidelity_peers import find_hardy, find_ndnts
from ndn import find_ndnd

PAGE = Path(__file__).resolve().parent.parent / "docs" / "guide" / "peers.md"
BLOCK = re.compile(r"^```sh\n# ((\w+): [^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PATIENCE_S = 180


def on_path(*commands: str) -> list[Path]:
    """Commands that somebody has installed."""
    missing = [command for command in commands if shutil.which(command) is None]
    if missing:
        raise MissingError(f"{missing[0]} is not on PATH")
    return []


def ndnts_at_home(home: Path) -> list[Path]:
    """Puts the NDNts peer where the page has it."""
    (home / "ndnts").symlink_to(Path(find_ndnts()[1]).parent)
    return []


# What a node needs: the programs to put on PATH.
NODES: dict[str, Callable[[Path], list[Path]]] = {
    "dtn7": lambda _: [find("dtnd"), *on_path("xxd")],
    "Hardy": lambda _: [Path(find_hardy())],
    "HDTN": lambda _: on_path("bpsendfile", "bpreceivefile"),
    "ndnd": lambda _: [find_ndnd()],
    "NDNts": ndnts_at_home,
}


def alone() -> list[str]:
    """What gives a command a network of its own; nothing where that is not allowed."""
    prefix = ["unshare", "--net", "--", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    try:
        done = subprocess.run([*prefix, "true"], capture_output=True, check=False)
    except FileNotFoundError:
        return []
    return prefix if done.returncode == 0 else []


def play(script: str, folder: Path, home: Path, programs: list[Path]) -> str:
    """Runs a block to its end and ends all that it started; what is wrong."""
    path = ":".join([*(str(program.parent) for program in programs), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "HOME": str(home)}
    command = [*alone(), "bash", "-e", "-c", script]
    log = home / "log"
    with log.open("wb") as out:
        shell = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=out, stderr=out, start_new_session=True
        )
        try:
            code: int | None = shell.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()
    if code != 0:
        said = log.read_text(errors="replace").strip().splitlines()[-3:]
        return f"ended with {code}: {' | '.join(said)}"
    inbox = folder / "inbox"
    if "ls inbox" in script:
        sent = (folder / "sent").read_bytes()
        if not any(sent in file.read_bytes() for file in inbox.iterdir()):
            return "what was sent is not in inbox"
    return ""


def main() -> int:
    """Prints a line for each block."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--only", default="", help="blocks with this text")
    options = parser.parse_args()
    blocks = [found for found in BLOCK.findall(PAGE.read_text()) if options.only in found[0]]
    failed = skipped = 0
    for title, node, script in blocks:
        with tempfile.TemporaryDirectory() as name:
            folder, home = Path(name) / "folder", Path(name) / "home"
            folder.mkdir()
            home.mkdir()
            try:
                programs = NODES[node](home)
            except MissingError as why:
                skipped += 1
                print(f"guide, {title}: skipped, {why}")
                continue
            wrong = play(script, folder, home, [options.binary.resolve(), *programs])
        failed += bool(wrong)
        print(f"guide, {title}: {wrong or 'runs as written'}", flush=True)
    print(f"guide of peers: {failed} of {len(blocks)} blocks fail, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
