import contextlib
import errno
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lightlag import sockets

DAEMON = Path(__file__).parents[2] / "target/debug/lightlagd"
PATIENCE_S = 30.0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def status(folder: Path) -> dict[str, list[dict[str, object]]]:
    asked = [str(DAEMON), "status", "--json", "--config", str(folder / "lightlagd.toml")]
    done = subprocess.run(asked, capture_output=True, check=False)
    told: dict[str, list[dict[str, object]]] = (
        json.loads(done.stdout) if done.returncode == 0 else {"peers": []}
    )
    return told


@pytest.fixture(scope="module")
def daemons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two daemons that know each other, in the folders `near` and `far`."""
    if not DAEMON.exists():
        pytest.skip("there is no lightlagd; cargo build -p lightlag-daemon builds it")
    folder, port, socks = tmp_path_factory.mktemp("daemons"), free_port(), free_port()

    def key(name: str) -> str:
        (folder / name).mkdir()
        keygen = [str(DAEMON), "keygen", str(folder / name / "key.pem")]
        return subprocess.run(keygen, capture_output=True, check=True, text=True).stdout.strip()

    near, far = key("near"), key("far")
    (folder / "near/lightlagd.toml").write_text(
        f'[[socks]]\nlisten = "127.0.0.1:{socks}"\n[[peer]]\nname = "far"\nkey = "{far}"\n'
        f'tcp = "127.0.0.1:{port}"\nreach = ["*", "echo"]\n'
    )
    (folder / "far/lightlagd.toml").write_text(
        f'[listen]\ntcp = "127.0.0.1:{port}"\n'
        f'[[peer]]\nname = "near"\nkey = "{near}"\nserve = ["127.0.0.0/8", "echo"]\n'
    )
    with contextlib.ExitStack() as stack:
        for name in ("far", "near"):
            run = [str(DAEMON), "run", "--config", str(folder / name / "lightlagd.toml")]
            daemon = stack.enter_context(subprocess.Popen(run, stderr=subprocess.DEVNULL))
            stack.callback(daemon.kill)
        begun = time.monotonic()
        while not any(peer["is_known"] for peer in status(folder / "near")["peers"]):
            assert time.monotonic() - begun < PATIENCE_S, "the daemons do not know each other"
            time.sleep(0.02)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LIGHTLAG_SOCKS", f"127.0.0.1:{socks}")
            patch.setenv("LIGHTLAG_CONTROL", str(folder / "near/state/control.sock"))
            yield folder


@pytest.fixture
def echo(daemons: Path) -> Iterator[socket.socket]:
    """A service that gives back what it gets."""
    with sockets.listen("echo", control=str(daemons / "far/state/control.sock")) as listener:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    line, _ = listener.accept()
                    with line:
                        while some := line.recv(65536):
                            line.sendall(some)

        threading.Thread(target=serve, daemon=True).start()
        yield listener
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.usefixtures("echo")
def test_what_is_sent_to_a_service_comes_back_after_a_half_close() -> None:
    sent = os.urandom(300_000)
    with sockets.connect("echo", priority=3, timeout=PATIENCE_S) as line:

        def send() -> None:
            line.sendall(sent)
            line.shutdown(socket.SHUT_WR)

        threading.Thread(target=send).start()
        got = b""
        while some := line.recv(65536):
            got += some
    assert got == sent


@pytest.mark.usefixtures("echo")
def test_hints_can_be_seen_and_changed_while_the_connection_is_there() -> None:
    with sockets.connect("echo", priority=0, delay_most_ms=9000, timeout=PATIENCE_S) as line:
        assert sockets.hints(line) == sockets.Hints(priority=0, delay_most_ms=9000, peer="far")
        assert sockets.hints(line, priority=2).priority == 2
        assert sockets.hints(line) == sockets.Hints(priority=2, delay_most_ms=9000, peer="far")


def test_a_name_is_one_programs_until_its_socket_listens_no_more(daemons: Path, echo: socket.socket) -> None:
    control = str(daemons / "far/state/control.sock")
    with pytest.raises(OSError, match="already"):
        sockets.listen("echo", control=control)
    echo.shutdown(socket.SHUT_RDWR)  # close() waits for a thread in accept()
    with sockets.listen("echo", control=control):
        pass


@pytest.mark.usefixtures("daemons")
def test_errors_are_those_of_sockets() -> None:
    with pytest.raises(ConnectionRefusedError):
        sockets.connect("127.0.0.1", 1)
    with pytest.raises(OSError, match="No route to host") as raised:
        sockets.connect("nothing")
    assert raised.value.errno == errno.EHOSTUNREACH
    with pytest.raises(ValueError, match="priority must be 0 to 3"):
        sockets.connect("echo", priority=9)
    with pytest.raises(ValueError, match="must be host:port"):
        sockets.connect("echo", daemon="missing")
    with pytest.raises(sockets.NoDaemonError, match="at 127"):
        sockets.connect("echo", daemon="127.0.0.1:1")
    with pytest.raises(sockets.NoDaemonError, match="missing"):
        sockets.listen("echo", control="missing")
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as line,
        pytest.raises(ValueError, match="no connection"),
    ):
        sockets.hints(line)
