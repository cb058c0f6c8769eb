"""Two lightlagd, near and far, for tools that measure and check them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType


def keygen(binary: str, folder: Path) -> str:
    """Makes a key in a folder; its public half."""
    made = subprocess.run([binary, "keygen", folder / "key.pem"], check=True, capture_output=True, text=True)
    return made.stdout.strip()


def wait_for(port: int, host: str = "127.0.0.1", seconds: float = 20) -> None:
    """Waits until somebody listens."""
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection((host, port), 1).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


class Pair:
    """Runs both until it is left; `near` and `far` are what their settings say beside keys and each other."""

    def __init__(self, binary: str, near: str, near_peer: str, far: str, far_peer: str) -> None:
        self.binary = binary
        self.folder = tempfile.TemporaryDirectory(prefix="lightlagd-")
        folders = [Path(self.folder.name) / name for name in ("near", "far")]
        keys = []
        for folder in folders:
            folder.mkdir()
            keys.append(keygen(binary, folder))
        settings = [
            f'{near}\n[[peer]]\nname = "far"\nkey = "{keys[1]}"\n{near_peer}\n',
            f'{far}\n[[peer]]\nname = "near"\nkey = "{keys[0]}"\n{far_peer}\n',
        ]
        for folder, text in zip(folders, settings, strict=True):
            (folder / "lightlagd.toml").write_text(text)
        self.near, self.far = folders
        self.running: list[subprocess.Popen[bytes]] = []

    def run(self, folder: Path, before: list[str] | None = None) -> subprocess.Popen[bytes]:
        """Starts one, after other words of a command."""
        log = (folder / "log").open("ab")
        words = [*(before or []), self.binary, "run", "-c", str(folder / "lightlagd.toml")]
        one = subprocess.Popen(words, stdout=log, stderr=log)
        self.running.append(one)
        return one

    def __enter__(self) -> Pair:
        self.run(self.far)
        self.run(self.near)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, why: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one in self.running:
            one.send_signal(signal.SIGKILL)
            one.wait()
        if why is not None:
            for folder in (self.near, self.far):
                print(f"--- {folder.name}\n{(folder / 'log').read_text()[-3000:]}")
        self.folder.cleanup()


def processor_seconds(pid: int) -> float:
    """What a process has kept processors busy."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    """Memory that a process holds."""
    line = next(
        line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")
    )
    return int(line.split()[1]) * 1024 / 1e6
