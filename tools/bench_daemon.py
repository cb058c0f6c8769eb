"""How fast lightlagd carries streams, and what connections cost it: `make bench`.

python3 tools/bench_daemon.py --daemon target/release/lightlagd [--megabytes 2000]

Two daemons on loopback, TLS between them, beside socat: one of it, and two in a row. All in one run.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import socket
import subprocess
import sys
import threading
import time

from daemons import Pair, processor_seconds, resident_mb, wait_for

TARGET, FORWARD, TCP = 19401, 19402, 19403
RELAY, SECOND = 19404, 19405
IDLE = 10_000
SET_UPS = 3000
KEEPER = f"""
import socket
listener = socket.create_server(("127.0.0.1", {TARGET}), backlog=4096)
listener.accept()
held = [listener.accept() for _ in range({IDLE})]
print("all", flush=True)
import time; time.sleep(600)
"""
GOAL_SHARE, GOAL_MB, GOAL_US = 0.7, 200.0, 300.0


def sink(listener: socket.socket, done: threading.Event) -> None:
    """Reads whatever comes, one connection after the other, and says when one has ended."""
    room = bytearray(1 << 20)
    while True:
        try:
            peer, _ = listener.accept()
        except OSError:
            return
        while peer.recv_into(room):
            pass
        peer.close()
        done.set()


def close(listener: socket.socket) -> None:
    """Closes a listener and wakes a thread that waits in `accept`."""
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def rate(port: int, megabytes: int, done: threading.Event) -> float:
    """MB/s by a port to the sink."""
    done.clear()
    block = bytes(1 << 20)
    with socket.create_connection(("127.0.0.1", port)) as to:
        begun = time.monotonic()
        for _ in range(megabytes):
            to.sendall(block)
        to.shutdown(socket.SHUT_WR)
        done.wait()
        return megabytes * 1.048576 / (time.monotonic() - begun)


def relay(port: int, to: int) -> subprocess.Popen[bytes]:
    """A socat with the largest buffers that help it."""
    words = [
        "socat",
        "-b",
        "65536",
        f"TCP-LISTEN:{port},fork,reuseaddr,bind=127.0.0.1",
        f"TCP:127.0.0.1:{to}",
    ]
    return subprocess.Popen(words)


def throughput(megabytes: int) -> float:
    """Ours beside socat; the share of one of it."""
    listener = socket.create_server(("127.0.0.1", TARGET))
    done = threading.Event()
    threading.Thread(target=sink, args=(listener, done), daemon=True).start()
    relays = [relay(RELAY, TARGET), relay(SECOND, RELAY)] if shutil.which("socat") else []
    ways = {"lightlagd, two daemons, TLS": FORWARD}
    if relays:
        wait_for(SECOND)
        ways |= {"socat": RELAY, "socat, two in a row": SECOND}
    else:
        print("socat is not installed: nothing to compare with (apt-get install socat)")
    best = dict.fromkeys(ways, 0.0)
    # By turns, as machines are not as fast all the time.
    for _ in range(3):
        for name, port in ways.items():
            best[name] = max(best[name], rate(port, megabytes, done))
    for one in relays:
        one.kill()
    close(listener)
    ours = best["lightlagd, two daemons, TLS"]
    for name, figure in best.items():
        print(f"  {name:30} {figure:8.0f} MB/s   {ours / figure:5.2f}")
    return ours / best.get("socat", ours)


def idle(daemons: list[int]) -> float:
    """MB of the larger daemon with `IDLE` idle connections."""
    # In a process of its own: the number of open files of each is limited.
    keeper = subprocess.Popen([sys.executable, "-c", KEEPER], stdout=subprocess.PIPE, text=True)
    wait_for(TARGET)
    before = [resident_mb(pid) for pid in daemons]
    kept = []
    for _ in range(IDLE):
        kept.append(socket.create_connection(("127.0.0.1", FORWARD)))
    assert keeper.stdout is not None
    keeper.stdout.readline()
    after = [resident_mb(pid) for pid in daemons]
    held = f"{after[0]:.0f} and {after[1]:.0f} MB ({before[0]:.0f}, {before[1]:.0f} without)"
    print(f"  {IDLE} idle connections: {held}")
    for one in kept:
        one.close()
    keeper.kill()
    return max(after)


def set_up(daemons: list[int]) -> float:
    """Microseconds of a daemon for each connection that is made and closed, of the one that takes longer."""
    listener = socket.create_server(("127.0.0.1", TARGET), backlog=1024)
    threading.Thread(target=sink, args=(listener, threading.Event()), daemon=True).start()
    time.sleep(2)
    before = [processor_seconds(pid) for pid in daemons]
    for _ in range(SET_UPS):
        with socket.create_connection(("127.0.0.1", FORWARD)) as one:
            one.shutdown(socket.SHUT_WR)
            while one.recv(10):
                pass
    spent = [(processor_seconds(pid) - was) / SET_UPS * 1e6 for pid, was in zip(daemons, before, strict=True)]
    print(f"  a connection made and closed: {spent[0]:.0f} and {spent[1]:.0f} us of CPU")
    close(listener)
    return max(spent)


def main() -> int:
    """Measures, and prints what falls short."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--daemon", default="target/release/lightlagd")
    options.add_argument("--megabytes", type=int, default=2000)
    given = options.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    far = f'[listen]\ntcp = "127.0.0.1:{TCP}"'
    near = f'[[forward]]\nlisten = "127.0.0.1:{FORWARD}"\nto = "127.0.0.1:{TARGET}"\npeer = "far"'
    print("lightlagd on loopback, over TLS 1.3 on TCP")
    with Pair(given.daemon, near, f'tcp = "127.0.0.1:{TCP}"', far, 'serve = ["127.0.0.1"]') as pair:
        wait_for(FORWARD)
        time.sleep(1)
        daemons = [one.pid for one in reversed(pair.running)]
        share = throughput(given.megabytes)
        spent = set_up(daemons)
        held = idle(daemons) if hard >= IDLE + 1000 else 0.0
    short = []
    if share < GOAL_SHARE:
        short.append(f"{share:.2f} of socat, {GOAL_SHARE} is the goal")
    if held > GOAL_MB:
        short.append(f"{held:.0f} MB with {IDLE} idle connections, {GOAL_MB:.0f} is the goal")
    if spent > GOAL_US:
        short.append(f"{spent:.0f} us for a connection, {GOAL_US:.0f} is the goal")
    for line in short:
        print(f"  falls short: {line}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
