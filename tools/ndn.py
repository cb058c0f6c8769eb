"""Real NDN software for the tools that run it beside ours: ndnd's forwarder and tools, and python-ndn's.

They come at pinned versions, the first time into .tools. Everything runs on loopback, on free ports, and ends
with its `with` block.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".tools"
NDND_MODULE = "github.com/named-data/ndnd"
NDND_VERSION = "v1.5.3"
PYTHON_NDN = "python-ndn==0.5.2"
# What a packet of a path takes besides its payload: IPv4 and UDP headers, as `lightlag emulate` counts them.
IP_UDP_BYTES = 28
# Bytes of a UDP payload between two forwarders: what ndnd takes by itself, and what fragments nothing.
MTU, MTU_WHOLE = 1420, 8800
# NDNLPv2 around a whole packet and around a fragment, as ndnd writes it: LpPacket, Sequence, FragIndex,
# FragCount, PitToken, Fragment; and what ndnd takes a fragment's to be when it cuts.
LP_WHOLE, LP_FRAGMENT, LP_RESERVED = 4 + 8 + 4, 4 + 10 + 3 + 3 + 8 + 4, 8 + 18 + 8
STARTING_S = 20.0


class MissingError(Exception):
    """Software that is not available here, and why."""


def link_bytes(data_bytes: float, mtu: int = MTU) -> float:
    """Bytes of IP packets that a Data packet of `data_bytes` takes between two forwarders."""
    room = mtu - LP_RESERVED
    if data_bytes <= room:
        return data_bytes + LP_WHOLE + IP_UDP_BYTES
    return data_bytes + math.ceil(data_bytes / room) * (LP_FRAGMENT + IP_UDP_BYTES)


class FetchError(Exception):
    """A fetch that ended without its object, and what was said."""


def last_line(text: str) -> str:
    """What a failed command said last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"


def install(command: list[str], where: Path, env: dict[str, str], what: str) -> None:
    """Runs an installer; MissingError with its last line when it fails."""
    print(f"installing {what} into {TOOLS.name}/ ...", file=sys.stderr, flush=True)
    done = subprocess.run(
        command, cwd=where, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise MissingError(f"{what} could not be installed: {last_line(done.stderr)}")


def find_ndnd() -> Path:
    """The ndnd command: $NDND, on PATH, or built by Go into .tools; MissingError where none of them works."""
    named = os.environ.get("NDND") or shutil.which("ndnd")
    if named:
        if not os.access(named, os.X_OK):
            print(f"NDND={named} is no program; name the ndnd command", file=sys.stderr)
            sys.exit(2)
        return Path(named).resolve()
    home = TOOLS / "ndnd"
    binary = home / "bin" / "ndnd"
    if not binary.exists():
        go = shutil.which("go")
        if go is None:
            raise MissingError("ndnd is neither in $NDND nor on PATH, and there is no `go` to build it with")
        home.mkdir(parents=True, exist_ok=True)
        # A module of our own with a pinned requirement: `go install ...@latest` finds no version of ndnd.
        (home / "go.mod").write_text(f"module tools\ngo 1.25.0\nrequire {NDND_MODULE} {NDND_VERSION}\n")
        flags = {"GOFLAGS": "-buildvcs=false -mod=mod", "GOBIN": str(binary.parent)}
        install([go, "install", f"{NDND_MODULE}/cmd/ndnd"], home, flags, f"ndnd {NDND_VERSION} (minutes)")
    return binary


def python_with(name: str, package: str) -> Path:
    """The commands of a PyPI package in an environment of its own. MissingError where pip cannot get it."""
    home = TOOLS / name
    done = home / package
    if not done.exists():
        TOOLS.mkdir(exist_ok=True)
        install([sys.executable, "-m", "venv", str(home)], ROOT, {}, "a Python environment")
        install([str(home / "bin" / "pip"), "install", "--quiet", package], ROOT, {}, package)
        done.touch()
    return home / "bin"


def find_pyndntools() -> Path:
    """The pyndntools command of python-ndn. MissingError where pip cannot get it."""
    return python_with("python-ndn", PYTHON_NDN) / "pyndntools"


def free_port() -> int:
    """A port that is free now for UDP and for TCP."""
    while True:
        with (
            socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp,
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        ):
            tcp.bind(("127.0.0.1", 0))
            port = int(tcp.getsockname()[1])
            try:
                udp.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def digest(path: Path) -> str:
    """SHA-256 of a file; empty for one that is not there."""
    if not path.exists():
        return ""
    state = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            state.update(part)
    return state.hexdigest()


def random_file(path: Path, size: int) -> Path:
    """Fills a file with random bytes."""
    with path.open("wb") as file:
        while size > 0:
            size -= file.write(os.urandom(min(size, 1 << 20)))
    return path


class Running:
    """A process in the background; its output is in a file, and it ends with the `with` block."""

    def __init__(self, command: list[str], log: Path, env: dict[str, str], stdin: Path | None = None) -> None:
        self.what = " ".join(Path(word).name if word.startswith("/") else word for word in command[:3])
        self.log = log
        with log.open("wb") as out, (stdin or Path(os.devnull)).open("rb") as source:
            self.process = subprocess.Popen(
                command, stdin=source, stdout=out, stderr=out, env={**os.environ, **env}
            )

    def __enter__(self) -> Running:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Asks it to end, and ends it."""
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def said(self) -> str:
        """All that it has said so far."""
        return self.log.read_text(errors="replace")

    def check(self) -> None:
        """RuntimeError when it has ended by itself."""
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.what} ended: {last_line(self.said())}")

    def until_said(self, pattern: str, patience_s: float = STARTING_S) -> re.Match[str]:
        """Waits for words of it. RuntimeError when they do not come."""
        end = time.monotonic() + patience_s
        while True:
            if found := re.search(pattern, self.said()):
                return found
            self.check()
            if time.monotonic() > end:
                raise RuntimeError(f"{self.what} did not say `{pattern}` within {patience_s:g} s")
            time.sleep(0.02)


CONFIG = """\
core: {{log_level: WARN}}
faces:
  udp: {{enabled_unicast: true, enabled_multicast: false, port_unicast: {port}, default_mtu: {mtu}}}
  tcp: {{enabled: true, port_unicast: {port}}}
  unix: {{enabled: true, socket_path: {socket}}}
  websocket: {{enabled: false}}
  http3: {{enabled: false}}
fw: {{threads: 2}}
tables: {{content_store: {{admit: {cache}, serve: {cache}}}}}
"""


@dataclass(frozen=True)
class Counters:
    """Traffic of all faces of a kind, by `ndnd fw face-list`, whose count of outgoing bytes is wrong."""

    in_data: int
    in_bytes: int
    out_data: int

    def since(self, before: Counters) -> Counters:
        """What has gone through in between."""
        return Counters(
            self.in_data - before.in_data, self.in_bytes - before.in_bytes, self.out_data - before.out_data
        )


class Forwarder(Running):
    """An ndnd forwarder of its own configuration: a Unix socket, UDP and TCP on one port of loopback."""

    def __init__(self, ndnd: Path, folder: Path, name: str, mtu: int = MTU, cache: bool = False) -> None:
        self.ndnd, self.port = ndnd, free_port()
        self.socket = folder / f"{name}.sock"
        self.env = {"NDN_CLIENT_TRANSPORT": f"unix://{self.socket}"}
        config = folder / f"{name}.yml"
        text = CONFIG.format(port=self.port, mtu=mtu, socket=self.socket, cache=str(cache).lower())
        config.write_text(text)
        super().__init__([str(ndnd), "fw", "run", str(config)], folder / f"{name}.log", {})

    def __enter__(self) -> Forwarder:
        """Waits until it answers."""
        end = time.monotonic() + STARTING_S
        while not self.answers():
            self.check()
            if time.monotonic() > end:
                raise RuntimeError(f"{self.what} did not open {self.socket}")
            time.sleep(0.05)
        return self

    def answers(self) -> bool:
        """Whether its socket takes connections."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            return probe.connect_ex(str(self.socket)) == 0

    def uri(self, kind: str) -> str:
        """How clients reach it: by `unix`, `udp` or `tcp`."""
        return f"unix://{self.socket}" if kind == "unix" else f"{kind}4://127.0.0.1:{self.port}"

    def control(self, *words: str) -> str:
        """Runs `ndnd fw` on it."""
        command = [str(self.ndnd), "fw", *words]
        done = subprocess.run(
            command, env={**os.environ, **self.env}, capture_output=True, text=True, check=False, timeout=30
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {last_line(done.stderr)}")
        return done.stdout

    def route(self, prefix: str, face: str) -> None:
        """Sends the Interests of a prefix to a face, which it makes."""
        self.control("face-create", f"remote={face}")
        told = self.control("route-add", f"prefix={prefix}", f"face={face}")
        if "Status=200" not in told:
            raise RuntimeError(f"no route for {prefix} to {face}: " + told)

    def counters(self, kind: str) -> Counters:
        """Sums over its faces of a kind: `udp4`, or `fd` for those of the Unix socket."""
        pattern = rf"remote={kind}://.*{{in={{\d+i (\d+)d \d+n (\d+)B}} out={{\d+i (\d+)d"
        rows = [tuple(map(int, row)) for row in re.findall(pattern, self.control("face-list"))]
        return Counters(*(sum(row[column] for row in rows) for column in range(3)))


@dataclass(frozen=True)
class Link:
    """Both directions of an emulated path between two forwarders."""

    rate: str
    round_trip: str
    queue: str
    loss: float = 0.0

    def toml(self) -> str:
        """The scenario of it."""
        return (
            f'duration = "1 d"\n[links.path]\nfrom = "near"\nto = "far"\nrate = "{self.rate}"\n'
            f'round_trip = "{self.round_trip}"\nqueue = "{self.queue}"\nloss = {self.loss}\n'
            '[flows.none]\nfrom = "near"\nto = "far"\ncontroller = "new_reno"\nsize = "1 B"\n'
        )


class Emulated(Running):
    """`lightlag emulate` in front of a UDP port of loopback."""

    def __init__(self, lightlag: Path, folder: Path, link: Link, to_port: int) -> None:
        scenario = folder / f"path-{to_port}.toml"
        scenario.write_text(link.toml())
        to = f"127.0.0.1:{to_port}"
        command = [str(lightlag), "emulate", str(scenario), "--listen", "127.0.0.1:0", "--to", to]
        super().__init__(command, folder / f"path-{to_port}.log", {})

    def __enter__(self) -> Emulated:
        """Waits until it listens."""
        self.port = int(self.until_said(r"listening at \S+:(\d+)")[1])
        return self

    @property
    def uri(self) -> str:
        """The face that leads through it."""
        return f"udp4://127.0.0.1:{self.port}"


class TwoForwarders(ExitStack):
    """A consumer's forwarder and a producer's, and an emulated link between the two."""

    def __init__(self, programs: Programs, folder: Path, link: Link, mtu: int = MTU) -> None:
        super().__init__()
        self.near = self.enter_context(Forwarder(programs.ndnd, folder, "near", mtu))
        self.far = self.enter_context(Forwarder(programs.ndnd, folder, "far", mtu))
        self.path = self.enter_context(Emulated(programs.lightlag, folder, link, self.far.port))

    def route(self, prefix: str) -> None:
        """Sends Interests of a prefix over the path."""
        self.near.route(prefix, self.path.uri)


@dataclass(frozen=True)
class Programs:
    """The commands that publish and fetch, by the name of their maker: `ndnd`, `python-ndn`, `lightlag`."""

    ndnd: Path
    lightlag: Path
    pyndntools: Path | None = None

    def publishing(
        self, who: str, at: Forwarder, face: str, name: str, file: Path, segment: int = 8000
    ) -> Running:
        """Publishes a file; returns when its prefix is registered. ValueError: it makes no such segments."""
        uri, stdin, env = at.uri(face), None, {"NDN_CLIENT_TRANSPORT": at.uri(face)}
        if who == "ndnd":
            if segment != 8000:
                raise ValueError("ndnd put makes segments of 8000 B only")
            command, stdin = [str(self.ndnd), "put", "--expose", name], file
        elif who == "python-ndn":
            command = [str(self.pyndntools), "serve-rdrcontent", "--size", str(segment), name, str(file)]
        else:
            command = [str(self.lightlag), "names", "put", name, str(file), "--face", uri]
            command += ["--segment-size", f"{segment} B"]
        log = file.parent / f"put{name.replace('/', '-')}.log"
        running = Running(command, log, env, stdin)
        end = time.monotonic() + STARTING_S + file.stat().st_size / 1e6
        try:
            while f"prefix={name} " not in at.control("route-list"):
                running.check()
                if time.monotonic() > end:
                    raise RuntimeError(f"{running.what} did not register {name}: {last_line(running.said())}")
                time.sleep(0.1)
        except BaseException:
            running.__exit__(None, None, None)
            raise
        return running

    def fetch(
        self, who: str, uri: str, name: str, into: Path, patience_s: float, controller: str | None = None
    ) -> float:
        """Fetches an object into a file; seconds from command to whole file. FetchError: it does not come."""
        into.unlink(missing_ok=True)
        env = {**os.environ, "NDN_CLIENT_TRANSPORT": uri}
        if who == "ndnd":
            command = [str(self.ndnd), "cat", name]
        elif who == "python-ndn":
            # It asks for the metadata by the name that it is given.
            command = [str(self.pyndntools), "fetch-rdrcontent", "-o", str(into), f"{name}/32=metadata"]
        else:
            command = [str(self.lightlag), "names", "get", name, "-o", str(into), "--face", uri]
            # As the others do here: keys are tested elsewhere.
            command += ["--insecure"]
            command += ["--controller", controller] if controller else []
        began = time.monotonic()
        with (into if who == "ndnd" else Path(os.devnull)).open("wb") as out:
            try:
                done = subprocess.run(
                    command, stdout=out, stderr=subprocess.PIPE, env=env, timeout=patience_s, check=False
                )
            except subprocess.TimeoutExpired:
                raise FetchError(f"not there after {patience_s:g} s") from None
        took_s = time.monotonic() - began
        if done.returncode:
            raise FetchError(reason(done.stderr.decode(errors="replace")))
        return took_s


def reason(text: str) -> str:
    """Why a fetch failed: the error of a log line where there is one, otherwise the last line."""
    found = re.findall(r'err="?([^"\n]+)', text)
    return str(found[-1]) if found else last_line(text)
