"""Connections through `lightlagd`, which stay while what carries them changes.

Needs nothing but a daemon::

    from lightlag import sockets

    with sockets.connect("mars.example", 80, priority=3) as line:
        line.sendall(b"hello")

    with sockets.listen("echo") as listener:
        line, _ = listener.accept()

They return Python sockets, for `select`, `ssl` and all else that uses one.
"""

import errno
import http.client
import os
import socket
from dataclasses import dataclass
from urllib.parse import urlencode

__all__ = ["Hints", "NoDaemonError", "connect", "hints", "listen"]

_SOCKS = "127.0.0.1:1080"
_CONTROL = "/run/lightlag/control.sock"
_PATIENCE_S = 10
# RFC 1928, section 6.
_REFUSALS = {
    2: errno.EACCES,
    3: errno.ENETUNREACH,
    4: errno.EHOSTUNREACH,
    5: errno.ECONNREFUSED,
    6: errno.ETIMEDOUT,
    7: errno.EOPNOTSUPP,
    8: errno.EAFNOSUPPORT,
}


class NoDaemonError(ConnectionError):
    """No daemon answers where it should be."""


@dataclass(frozen=True)
class Hints:
    """How a connection is carried; omitted values are those of the daemon."""

    #: 0 to 3; higher goes first.
    priority: int | None = None
    #: Stored before it is acknowledged, and delivered though the program has left.
    durable: bool = False
    #: Milliseconds of one-way delay that the program bears.
    delay_most_ms: int | None = None
    #: By which of the other daemons.
    peer: str | None = None

    def __str__(self) -> str:
        said = {"priority": self.priority, "delay": self.delay_most_ms, "peer": self.peer}
        parts = [f"{key}={value}" for key, value in said.items() if value is not None]
        return ",".join(parts + ["durable"] * self.durable)

    @classmethod
    def parse(cls, text: str) -> "Hints":
        """Reads what a daemon says."""
        said = dict(part.partition("=")[::2] for part in text.strip().split(",") if part)
        number = {key: int(said[key]) for key in ("priority", "delay") if key in said}
        return cls(number.get("priority"), "durable" in said, number.get("delay"), said.get("peer"))


def connect(
    host: str,
    port: int = 0,
    *,
    priority: int | None = None,
    durable: bool = False,
    delay_most_ms: int | None = None,
    peer: str | None = None,
    timeout: float | None = None,
    daemon: str | None = None,
) -> socket.socket:
    """Connects to a host and a port, or, without a port, to a service.

    Args:
        host: A name that the far side knows, an address, or the name of a service.
        port: The port; 0 for a service.
        priority: 0 to 3; higher goes first.
        durable: Stored before it is acknowledged, and delivered though the program has left.
        delay_most_ms: Milliseconds of one-way delay that the program bears.
        peer: By which of the other daemons.
        timeout: Seconds that this call and those of the socket wait at most.
        daemon: Where the daemon takes SOCKS, `host:port`; else `LIGHTLAG_SOCKS`, else 127.0.0.1:1080.

    Raises:
        NoDaemonError: No daemon answers there.
        ValueError: The daemon does not take the hints.
        OSError: As for any socket: `ConnectionRefusedError`, `TimeoutError`, "No route to host".
    """
    if port == 0 and not host.endswith(".lightlag"):
        host += ".lightlag"
    where = daemon or os.environ.get("LIGHTLAG_SOCKS") or _SOCKS
    name, _, daemon_port = where.rpartition(":")
    if not daemon_port.isdigit():
        raise ValueError(f"daemon {where!r}; it must be host:port, as in {_SOCKS}")
    try:
        line = socket.create_connection((name.strip("[]"), int(daemon_port)), timeout)
    except ConnectionRefusedError as why:
        raise NoDaemonError(f"no lightlagd answers at {where}") from why
    try:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _ask(line, host, port, str(Hints(priority, durable, delay_most_ms, peer)))
    except BaseException:
        line.close()
        raise
    return line


def _ask(line: socket.socket, host: str, port: int, said: str) -> None:
    """The three messages of SOCKS5 (RFC 1928), with hints in the user's name (RFC 1929)."""
    method = 2 if said else 0
    line.sendall(bytes([5, 1, method]))
    if _read(line, 2) != bytes([5, method]):
        raise OSError(errno.EPROTO, "the daemon does not speak SOCKS5")
    if said:
        user = said.encode()
        # The password is not checked, but it must have a byte.
        line.sendall(bytes([1, len(user)]) + user + b"\x01-")
        if _read(line, 2)[1] != 0:
            raise ValueError(f"the daemon does not take the hints {said!r}; priority must be 0 to 3")
    line.sendall(b"\x05\x01\x00" + _address(host) + port.to_bytes(2, "big"))
    _, reply, _, kind = _read(line, 4)
    if reply != 0:
        number = _REFUSALS.get(reply, errno.ECONNABORTED)
        raise OSError(number, f"{os.strerror(number)}: {host}:{port}")
    _read(line, {1: 4, 4: 16}.get(kind) or _read(line, 1)[0])
    _read(line, 2)


def _address(host: str) -> bytes:
    for kind, family in ((1, socket.AF_INET), (4, socket.AF_INET6)):
        try:
            return bytes([kind]) + socket.inet_pton(family, host.strip("[]"))
        except OSError:
            continue
    name = host.encode()
    if not 0 < len(name) < 256:
        raise ValueError(f"host {host!r}; it must have 1 to 255 bytes")
    return bytes([3, len(name)]) + name


def _read(line: socket.socket, length: int) -> bytes:
    got = b""
    while len(got) < length:
        # Not a byte more: what follows is the application's.
        some = line.recv(length - len(got))
        if not some:
            raise ConnectionResetError(errno.ECONNRESET, "the daemon has closed the connection")
        got += some
    return got


def listen(service: str, *, backlog: int = 16, control: str | None = None) -> socket.socket:
    """Offers a service for as long as the socket that comes back is open.

    The daemon's own settings say who may reach it (`serve`). A daemon that is started again remembers it.

    Args:
        service: Its name.
        backlog: Connections that may wait.
        control: The socket of the daemon's owner; else `LIGHTLAG_CONTROL`, else /run/lightlag/control.sock.

    Raises:
        NoDaemonError: No daemon answers there.
        PermissionError: It belongs to somebody else.
        OSError: "Address already in use": another program has the name.
    """
    name = service.removesuffix(".lightlag").lower()
    listener = socket.create_server(("127.0.0.1", 0), backlog=backlog)
    try:
        to = "{}:{}".format(*listener.getsockname())
        inode = os.fstat(listener.fileno()).st_ino
        _tell("/service", {"name": name, "to": to, "listener": inode}, control)
    except BaseException:
        listener.close()
        raise
    return listener


def hints(
    line: socket.socket,
    *,
    priority: int | None = None,
    delay_most_ms: int | None = None,
    control: str | None = None,
) -> Hints:
    """Returns how a connection is carried, after the requested changes.

    Raises:
        NoDaemonError: No daemon answers there.
        ValueError: No other daemon carries this connection, or the daemon does not take the change.
    """
    host, port = line.getsockname()[:2]
    own = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    changes = str(Hints(priority=priority, delay_most_ms=delay_most_ms))
    return Hints.parse(_tell("/connection", {"from": own, "hints": changes}, control))


class _Control(http.client.HTTPConnection):
    """HTTP over the socket of the daemon's owner."""

    def __init__(self, path: str) -> None:
        super().__init__("lightlagd", timeout=_PATIENCE_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(_PATIENCE_S)
        self.sock.connect(self._path)


def _tell(path: str, query: dict[str, str | int], control: str | None) -> str:
    where = control or os.environ.get("LIGHTLAG_CONTROL") or _CONTROL
    connection = _Control(where)
    try:
        connection.request("POST", f"{path}?{urlencode(query)}")
        answer = connection.getresponse()
        said = answer.read().decode()
    except (FileNotFoundError, ConnectionRefusedError) as why:
        raise NoDaemonError(f"no lightlagd answers at {where}") from why
    finally:
        connection.close()
    if answer.status == http.HTTPStatus.CONFLICT:
        raise OSError(errno.EADDRINUSE, f"{os.strerror(errno.EADDRINUSE)}: {said}")
    if answer.status == http.HTTPStatus.BAD_REQUEST:
        raise ValueError(said)
    if answer.status != http.HTTPStatus.OK:
        raise OSError(errno.EPROTO, f"the daemon at {where} is of another version: {answer.status} {said}")
    return said
