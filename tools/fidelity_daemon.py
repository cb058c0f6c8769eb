"""Programs as they are, through two lightlagd, while the delay goes from nothing to 5 s and back, twice.

python3 tools/fidelity_daemon.py --binary target/release/lightlag [--minutes 20]

curl (by SOCKS and by HTTP CONNECT), scp and ssh (OpenSSH), rsync, git clone and iperf3, one after the other
and again, over `lightlag emulate` of scenarios/papers/adaptive_short.toml: every file comes as it was.
Part of `make fidelity`. Needs root; missing programs are skipped.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from daemons import keygen, wait_for

SCENARIO = "scenarios/papers/adaptive_short.toml"
FAR = "10.77.0.2"
TCP, UDPDTN, NEAR_UDPDTN, SOCKS, HTTP = 4560, 4560, 4561, 1080, 8118
WEB, SSH, IPERF = 8000, 2222, 5201
# Bytes of a file: at 70 kB/s about half a minute.
FILE = 2_000_000
# Nothing that works takes longer: eight round trips of 10 s before the first byte, and a file.
PATIENCE = 400


def make(folder: Path, binary: Path) -> None:
    """Keys, settings and files for both sides."""
    keys = {}
    for name in ("near", "far"):
        (folder / name).mkdir()
        keys[name] = keygen(str(binary.with_name("lightlagd")), folder / name)
    (folder / "near/lightlagd.toml").write_text(f"""
[listen]
udpdtn = "10.77.0.1:{NEAR_UDPDTN}"
[[socks]]
listen = "127.0.0.1:{SOCKS}"
[[http]]
listen = "127.0.0.1:{HTTP}"
[[peer]]
name = "far"
key = "{keys["far"]}"
tcp = "{FAR}:{TCP}"
udpdtn = "{FAR}:{UDPDTN}"
reach = ["*"]
datagram = 1076
first_rate = "70 kB"
""")
    (folder / "far/lightlagd.toml").write_text(f"""
[listen]
tcp = "{FAR}:{TCP}"
udpdtn = "{FAR}:{UDPDTN}"
[[peer]]
name = "near"
key = "{keys["near"]}"
serve = ["127.0.0.1"]
datagram = 1076
first_rate = "70 kB"
""")
    web = folder / "web"
    web.mkdir()
    draws = random.Random(1)
    (web / "file").write_bytes(draws.randbytes(FILE))
    (folder / "up").write_bytes(draws.randbytes(FILE))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(web / "work")]
    subprocess.run(["git", "init", "-q", str(web / "work")], check=True)
    (web / "work/data").write_bytes(draws.randbytes(FILE // 2))
    (web / "work/text").write_text("once\n")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "all"], check=True)
    subprocess.run(["git", "clone", "-q", "--bare", str(web / "work"), str(web / "all.git")], check=True)
    subprocess.run(["git", "-C", str(web / "all.git"), "update-server-info"], check=True)
    if shutil.which("ssh-keygen"):
        for name in ("host", "client"):
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True
            )
        shutil.copy(folder / "client.pub", folder / "authorized")
        (folder / "sshd_config").write_text(f"""
ListenAddress 127.0.0.1:{SSH}
HostKey {folder}/host
AuthorizedKeysFile {folder}/authorized
StrictModes no
PermitRootLogin yes
PidFile none
LoginGraceTime 0
Subsystem sftp internal-sftp
""")


def serve(folder: Path, binary: Path) -> None:
    """The far side: daemon and services."""
    log = (folder / "far/log").open("ab")
    words = [
        [str(binary.with_name("lightlagd")), "run", "-c", str(folder / "far/lightlagd.toml")],
        [
            sys.executable,
            "-m",
            "http.server",
            str(WEB),
            "--bind",
            "127.0.0.1",
            "--directory",
            str(folder / "web"),
        ],
    ]
    if shutil.which("iperf3"):
        words.append(["iperf3", "-s", "-B", "127.0.0.1", "-p", str(IPERF)])
    if Path("/usr/sbin/sshd").exists():
        Path("/run/sshd").mkdir(exist_ok=True)
        words.append(["/usr/sbin/sshd", "-D", "-e", "-f", str(folder / "sshd_config")])
    running = [subprocess.Popen(one, stdout=log, stderr=log) for one in words]
    for one in running:
        one.wait()


def sha(path: Path) -> str:
    """Digest of a file; empty without the file."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def programs(folder: Path, run: Path) -> dict[str, tuple[list[str], Path, Path]]:
    """Name: its command, what it makes, and what that must be like."""
    got, web, up = folder / "got", folder / "web/file", folder / "up"
    proxy = f"socks5h://127.0.0.1:{SOCKS}"
    preload = [str(run), "--also-loopback", "--socks", f"127.0.0.1:{SOCKS}"]
    options = ["-q", "-i", str(folder / "client"), "-o", "StrictHostKeyChecking=no"]
    options += ["-o", f"UserKnownHostsFile={folder}/known"]
    port = f"-p {SSH}"
    shell = f"ssh {' '.join(options)} {port}"
    all_of = {
        "curl, SOCKS": (
            ["curl", "-sf", "-o", str(got), "--proxy", proxy, f"http://127.0.0.1:{WEB}/file"],
            got,
            web,
        ),
        "curl, HTTP CONNECT": (
            [
                "curl",
                "-sf",
                "-o",
                str(got),
                "-p",
                "-x",
                f"http://127.0.0.1:{HTTP}",
                f"http://127.0.0.1:{WEB}/file",
            ],
            got,
            web,
        ),
        "git clone": (
            [
                "git",
                "-c",
                f"http.proxy={proxy}",
                "clone",
                "-q",
                f"http://127.0.0.1:{WEB}/all.git",
                str(folder / "clone"),
            ],
            folder / "clone/data",
            web.with_name("work") / "data",
        ),
    }
    if run.exists():
        all_of |= {
            "ssh": ([*preload, *shell.split(), "root@127.0.0.1", f"cat {web}"], got, web),
            "scp, there": (
                [*preload, "scp", *options, "-P", str(SSH), str(up), f"root@127.0.0.1:{got}"],
                got,
                up,
            ),
            "scp, back": (
                [*preload, "scp", *options, "-P", str(SSH), f"root@127.0.0.1:{web}", str(got)],
                got,
                web,
            ),
            "rsync": ([*preload, "rsync", "-e", shell, f"root@127.0.0.1:{web}", str(got)], got, web),
            "iperf3": (
                [
                    *preload,
                    "iperf3",
                    "-c",
                    "127.0.0.1",
                    "-p",
                    str(IPERF),
                    "-n",
                    "1M",
                    "--json",
                    "--connect-timeout",
                    "120000",
                ],
                got,
                got,
            ),
        }
    needs = {"ssh": "ssh", "scp, there": "scp", "scp, back": "scp", "rsync": "rsync", "iperf3": "iperf3"}
    missing = [name for name, program in needs.items() if not shutil.which(program)]
    for name in missing:
        all_of.pop(name, None)
    return all_of


def wait_for_web(folder: Path) -> None:
    """The far side may need some time to begin."""
    fetch = [
        "curl",
        "-sf",
        "-o",
        os.devnull,
        "--proxy",
        f"socks5h://127.0.0.1:{SOCKS}",
        f"http://127.0.0.1:{WEB}/",
    ]
    for _ in range(100):
        if subprocess.run(fetch, check=False).returncode == 0:
            return
        time.sleep(0.2)
    raise SystemExit(f"the far side does not begin: {(folder / 'far/log').read_text()}")


def work(folder: Path, binary: Path, minutes: float) -> None:
    """The near side: the daemon, and one program after the other."""
    log = (folder / "near/log").open("ab")
    daemon = str(binary.with_name("lightlagd"))
    settings = str(folder / "near/lightlagd.toml")
    near = subprocess.Popen([daemon, "run", "-c", settings], stdout=log, stderr=log)
    wait_for(SOCKS)
    wait_for_web(folder)
    begun, rows = time.monotonic(), []
    todo = programs(folder, binary.with_name("lightlag-run"))
    while time.monotonic() - begun < minutes * 60:
        for name, (command, made, like) in todo.items():
            shutil.rmtree(folder / "clone", ignore_errors=True)
            (folder / "got").unlink(missing_ok=True)
            since = time.monotonic()
            row: dict[str, Any] = {"program": name, "at_s": since - begun}
            try:
                done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
                if name in ("ssh", "iperf3"):
                    made.write_bytes(done.stdout)
                row["said"] = done.stderr.decode(errors="replace")[-200:] if done.returncode else ""
                row["right"] = done.returncode == 0 and sha(made) == sha(like) != ""
            except subprocess.TimeoutExpired:
                row |= {"said": f"not done in {PATIENCE} s", "right": False}
            row["took_s"] = time.monotonic() - since
            rows.append(row)
            with (folder / "rows.json").open("w") as file:
                json.dump(rows, file)
            if time.monotonic() - begun >= minutes * 60:
                break
    status = subprocess.run([daemon, "status", "--json", "-c", settings], capture_output=True, check=False)
    (folder / "status.json").write_bytes(status.stdout)
    near.kill()


def tell(rows: list[dict[str, Any]], status: str) -> None:
    """A line for each program that ran, and one for each switch."""
    print("program             begun    took   right")
    for row in rows:
        right = "yes" if row["right"] else "NO"
        print(f"{row['program']:19} {row['at_s']:5.0f} s {row['took_s']:5.0f} s   {right} {row['said']}")
    if status:
        peer = json.loads(status)["peers"][0]
        print(f"{peer['switches']} switches")
        for ago, stack, why in peer["history"]:
            print(f"  {ago:6.0f} s before the end: {stack}: {why}")


def main() -> int:
    """Runs both sides, and prints the result."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--binary", type=Path, default=Path("target/release/lightlag"))
    options.add_argument("--minutes", type=float, default=20)
    options.add_argument("--side", choices=["near", "far"], help=argparse.SUPPRESS)
    options.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = options.parse_args()
    binary = given.binary.resolve()
    if given.side == "far":
        serve(given.folder, binary)
        return 0
    if given.side == "near":
        work(given.folder, binary, given.minutes)
        return 0
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists():
        print("programs through lightlagd: not checked, as that needs root and /dev/net/tun")
        return 0
    with tempfile.TemporaryDirectory(prefix="lightlagd-") as name:
        folder = Path(name)
        make(folder, binary)
        own = f"{sys.executable} {Path(__file__).resolve()} --binary {binary} --folder {folder}"
        near = [*own.split(), "--side", "near", "--minutes", str(given.minutes)]
        emulate = [
            str(binary),
            "emulate",
            SCENARIO,
            "--mtu",
            "1076 B",
            "--far",
            f"exec {own} --side far",
            "--",
            *near,
        ]
        done = subprocess.run(emulate, check=False, stdout=subprocess.DEVNULL)
        rows = json.loads((folder / "rows.json").read_text()) if (folder / "rows.json").exists() else []
        status = (folder / "status.json").read_text() if (folder / "status.json").exists() else ""
        logs = "".join((folder / side / "log").read_text()[-2000:] for side in ("near", "far"))
    tell(rows, status)
    wrong = [row for row in rows if not row["right"]]
    if wrong or not rows or done.returncode != 0:
        print(logs)
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
