"""The native half of the package; users import what `lightlag` offers."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar, TypeAlias, TypedDict, final

VERSION: str
COMMIT: str

class ScenarioError(ValueError):
    """What is wrong with an input, where, and what would be right: always one line."""

Values: TypeAlias = list[tuple[str, str]]

# --- what hooks are shown ----------------------------------------------------------------------

class Bundle:
    """The facts of a bundle that never change."""

    @property
    def id(self) -> int:
        """Its number in the run."""
    @property
    def source(self) -> int:
        """Number of the node that created it."""
    @property
    def destination(self) -> int:
        """Number of its destination."""
    @property
    def size(self) -> int:
        """Bytes that it occupies in buffers and on links."""
    @property
    def created_s(self) -> float:
        """When it was created, in seconds into the run."""
    @property
    def expires_s(self) -> float:
        """When its lifetime ends, in seconds into the run; infinite if never."""
    @property
    def created_ns(self) -> int:
        """When it was created, in nanoseconds into the run, exactly."""
    @property
    def expires_ns(self) -> int:
        """When its lifetime ends, in nanoseconds into the run; 2**63 - 1 if never."""

class Replica(Bundle):
    """A copy of a bundle as it is stored at a node."""

    mark: int
    """What this algorithm wrote on the copy, a whole number from 0 to 2**64 - 1.

    It can be set in `on_created`, `on_received`, `on_sent` and `on_returned`; elsewhere setting it has no
    effect.
    """

    @property
    def received_s(self) -> float:
        """When this copy arrived here, in seconds into the run."""
    @property
    def received_ns(self) -> int:
        """The same in nanoseconds, exactly."""
    @property
    def hops(self) -> int:
        """Links crossed so far."""
    @property
    def sending(self) -> int:
        """Transfers of this copy in progress; while there are any it cannot be dropped."""
    def has_visited(self, node: int) -> bool:
        """Whether the copy has been at a node; known only if the router `records_path`."""

@final
class Link:
    """A link that is up, as one of its ends sees it."""

    @property
    def peer(self) -> int:
        """Who is at the other end."""
    @property
    def rate_bit_per_s(self) -> int:
        """Rate towards the peer."""
    @property
    def delay_s(self) -> float:
        """One-way delay towards the peer."""
    @property
    def delay_ns(self) -> int:
        """The same in nanoseconds, exactly."""
    @property
    def pipelined(self) -> bool:
        """Whether the next transfer begins when the last bit has left, not when it has arrived."""
    @property
    def peer_free(self) -> int:
        """Free bytes of the peer's buffer, as last reported; for mechanisms that set `needs_neighbours`."""
    @property
    def peer_capacity(self) -> int:
        """Bytes of the peer's buffer; for mechanisms that set `needs_neighbours`."""
    @property
    def peer_idle(self) -> bool:
        """Whether a transfer to the peer could start now; for mechanisms that set `needs_neighbours`."""

@final
class PlannedContact:
    """One direction of a link that is planned."""

    @property
    def sender(self) -> int:
        """Who can send."""
    @property
    def receiver(self) -> int:
        """To whom."""
    @property
    def start_s(self) -> float:
        """From when on, in seconds since the start of the run."""
    @property
    def end_s(self) -> float:
        """When the last bit must have left."""
    @property
    def start_ns(self) -> int:
        """The start in nanoseconds, exactly."""
    @property
    def end_ns(self) -> int:
        """The end in nanoseconds, exactly."""
    @property
    def rate_bit_per_s(self) -> int:
        """Planned rate."""
    @property
    def delay_s(self) -> float:
        """One-way light time."""
    @property
    def delay_ns(self) -> int:
        """The same in nanoseconds, exactly."""

@final
class Store:
    """A node's buffer. Each look makes new copies of what it shows."""

    @property
    def capacity(self) -> int:
        """How many bytes it can hold."""
    @property
    def used(self) -> int:
        """How many bytes it holds."""
    @property
    def free(self) -> int:
        """How many bytes still fit."""
    @property
    def replicas(self) -> list[Replica]:
        """The copies, oldest reception first."""
    def get(self, id: int) -> Replica | None:
        """The copy of a bundle."""
    def oldest_idle(self) -> Replica | None:
        """The copy that came first among those that are not being sent."""
    def __len__(self) -> int: ...
    def __contains__(self, id: int) -> bool: ...
    def __iter__(self) -> Iterator[Replica]: ...

@final
class Census:
    """Global counts of copies: an oracle that only a simulated world can give."""

    def made(self, id: int) -> int:
        """Copies of a bundle made so far, the first included."""
    def alive(self, id: int) -> int:
        """Copies of a bundle that exist."""
    def seen(self, id: int) -> int:
        """Nodes other than its source that have held a copy of a bundle, or got it as its destination."""
    @property
    def mean_made(self) -> float:
        """Mean of `made` over the bundles in the network; 0 without bundles."""
    @property
    def mean_alive(self) -> float:
        """Mean of `alive` over the bundles in the network; 0 without bundles."""

@final
class Local:
    """What a node knows when a hook is called; after the call, looking raises `RuntimeError`."""

    @property
    def now_s(self) -> float:
        """The time in seconds into the run."""
    @property
    def now_ns(self) -> int:
        """The same in nanoseconds, exactly."""
    @property
    def node(self) -> int:
        """This node."""
    @property
    def store(self) -> Store:
        """Its buffer."""
    @property
    def links(self) -> list[Link]:
        """Its links that are up, oldest first."""
    @property
    def application_free(self) -> int | None:
        """Free bytes of the application's storage; `None`: without bound.

        A bundle created here that is not stored waits there if it fits, and is lost otherwise.
        """
    @property
    def census(self) -> Census | None:
        """Global knowledge, for mechanisms that set `needs_census`; not in every hook."""

@final
class RateSample:
    """How fast data were delivered over about a round trip (draft-cheng-iccrg-delivery-rate-estimation)."""

    @property
    def delivered(self) -> int:
        """Bytes delivered between the sending of a segment and its acknowledgement."""
    @property
    def before(self) -> int:
        """Bytes that had been delivered when that segment was sent."""
    @property
    def interval_s(self) -> float:
        """The longer of the times that sending and acknowledging took, in seconds."""
    @property
    def interval_ns(self) -> int:
        """The same in nanoseconds, exactly."""

@final
class Window:
    """What became of the packets between two reports of a receiver, in bytes on the link."""

    @property
    def sent(self) -> int:
        """Bytes sent."""
    @property
    def received(self) -> int:
        """Bytes that arrived."""
    @property
    def train_bit_per_s(self) -> int | None:
        """Rate at which the packets of a probe train arrived; None: no train was complete."""

@final
class ArrivalCounts:
    """Packets that arrived since the start of the connection."""

    @property
    def high(self) -> int:
        """Of normal priority."""
    @property
    def low(self) -> int:
        """Copies of low priority."""

@final
class TfrcReport:
    """What a TFRC receiver measures (RFC 5348, section 3.2.2)."""

    @property
    def loss_event_rate(self) -> float:
        """Loss events per packet (p), 0 to 1."""
    @property
    def receive_rate_byte_per_s(self) -> int:
        """Bytes received per second over the last round trip at least (X_recv)."""

@final
class Ack:
    """What an acknowledgement says; times in seconds are rounded, those in nanoseconds exact."""

    @property
    def now_s(self) -> float:
        """When it arrived, in seconds into the run."""
    @property
    def now_ns(self) -> int:
        """The same in nanoseconds."""
    @property
    def acked(self) -> int:
        """Bytes acknowledged for the first time, cumulatively or selectively."""
    @property
    def rtt_s(self) -> float | None:
        """Round-trip time of the newest segment acknowledged here that was sent once, if there is one."""
    @property
    def rtt_ns(self) -> int | None:
        """The same in nanoseconds."""
    @property
    def one_way_s(self) -> float | None:
        """One-way delay by the two clocks, shifted by their offset, where the transport measures it."""
    @property
    def one_way_ns(self) -> int | None:
        """The same in nanoseconds."""
    @property
    def responder(self) -> int | None:
        """The producer or cache that sent the data, where responders identify themselves."""
    @property
    def in_flight(self) -> int:
        """Bytes still in flight."""
    @property
    def delivered(self) -> int:
        """Bytes acknowledged since the start of the connection."""
    @property
    def sample(self) -> RateSample | None:
        """Delivery rate, for controllers that set `rate_samples`, where the transport samples it."""
    @property
    def window(self) -> Window | None:
        """What became of everything sent since the receiver's last report, where it sends reports."""
    @property
    def arrivals(self) -> ArrivalCounts | None:
        """Packets that arrived, by priority, where `Advice` asks for copies of low priority."""
    @property
    def report(self) -> TfrcReport | None:
        """Measurements of a receiver of TFRC (RFC 5348)."""
    @property
    def ack_ratio(self) -> int:
        """Packets per acknowledgement that the other end was asked for; 0: it was not asked."""
    @property
    def recovering(self) -> bool:
        """Losses are being repaired: window laws that count acknowledgements hold still."""
    @property
    def recovered(self) -> bool:
        """This acknowledgement ended a recovery."""
    @property
    def limited(self) -> bool:
        """The window kept the sender from sending more."""

@final
class Cause:
    """Why data is considered lost: later data arrived, the network marked a packet, no answer came."""

    GAP: ClassVar[Cause]
    MARK: ClassVar[Cause]
    TIMEOUT: ClassVar[Cause]

@final
class Loss:
    """A loss or a congestion mark."""

    @property
    def now_s(self) -> float:
        """When it was detected, in seconds into the run."""
    @property
    def now_ns(self) -> int:
        """The same in nanoseconds, exactly."""
    @property
    def cause(self) -> Cause:
        """How it was detected."""
    @property
    def lost(self) -> int:
        """Bytes newly considered lost."""
    @property
    def flight_size(self) -> int:
        """Bytes sent and not acknowledged in order (FlightSize of RFC 5681), before this loss."""
    @property
    def in_flight(self) -> int:
        """Bytes still in flight, without what is lost."""
    @property
    def episode(self) -> bool:
        """The first loss since the last recovery: a window law reduces once per episode."""
    @property
    def again(self) -> bool:
        """The segment had been retransmitted, and the retransmission was lost too."""

@final
class Sent:
    """A packet that was sent."""

    @property
    def now_s(self) -> float:
        """When, in seconds into the run."""
    @property
    def now_ns(self) -> int:
        """The same in nanoseconds, exactly."""
    @property
    def size(self) -> int:
        """Bytes of its data."""
    @property
    def in_flight(self) -> int:
        """Bytes in flight, this packet included."""

# --- what hooks answer -------------------------------------------------------------------------

@final
class Drop:
    """Make room by dropping a copy that is not being sent."""

    def __new__(cls, id: int) -> Drop: ...
    @property
    def id(self) -> int:
        """Which bundle."""

@final
class Move:
    """Make room by moving a copy to a neighbour, an alternate custodian.

    Repeated for a copy that is already leaving, it means: wait.
    """

    def __new__(cls, id: int, to: int) -> Move: ...
    @property
    def id(self) -> int:
        """Which bundle."""
    @property
    def to(self) -> int:
        """To whom."""

@final
class Wait:
    """No room now: a bundle created here waits at the application; an offer is refused."""

    def __new__(cls) -> Wait: ...

@final
class RefusedIds:
    """Numbers of bundles that a mechanism does not accept any more, 0 to 16777216."""

    def __new__(cls) -> RefusedIds: ...
    def add(self, id: int) -> None:
        """Adds a number."""
    def discard(self, id: int) -> None:
        """Removes a number, if it is there."""
    def __contains__(self, id: int) -> bool: ...

@final
class Refusal:
    """Why a node does not take what it is offered."""

    HELD: ClassVar[Refusal]
    DELIVERED: ClassVar[Refusal]
    EXPIRED: ClassVar[Refusal]
    NO_SPACE: ClassVar[Refusal]
    DROPPED_BEFORE: ClassVar[Refusal]
    ROUTING: ClassVar[Refusal]
    CONGESTION: ClassVar[Refusal]

@final
class DropReason:
    """Why a copy was deleted."""

    OVERFLOW: ClassVar[DropReason]
    EXPIRED: ClassVar[DropReason]
    ACKNOWLEDGED: ClassVar[DropReason]
    HANDED_OVER: ClassVar[DropReason]
    REPLACED: ClassVar[DropReason]

@final
class AfterTransfer:
    """What a router does with its own copy after a transfer."""

    KEEP: ClassVar[AfterTransfer]
    GIVE_UP: ClassVar[AfterTransfer]

@final
class Advice:
    """What a controller asks of its transport beyond window and rate."""

    def __new__(
        cls,
        *,
        timeout_ns: int | None = None,
        probe_train: int = 1,
        low_priority_copies: float = 0.0,
        discovered_rate_bit_per_s: int | None = None,
    ) -> Advice: ...
    @property
    def timeout_ns(self) -> int | None:
        """How long to wait for an answer before it counts as lost; None: as RFC 6298 computes it."""
    @property
    def probe_train(self) -> int:
        """Packets sent back to back, from which the receiver measures the link's rate; 1: no train."""
    @property
    def low_priority_copies(self) -> float:
        """Copies of low priority per packet of data, 0 to 1000, whose arrivals the receiver counts."""
    @property
    def discovered_rate_bit_per_s(self) -> int | None:
        """Highest rate known to be deliverable, if the controller probes."""

# --- the lab -----------------------------------------------------------------------------------

class Asked(TypedDict):
    bundle: int | str | None
    all: bool
    lost: bool
    why: bool

class Wanted(TypedDict):
    judge: bool
    reports: bool
    series: bool
    trace: Path | None
    capture: str | None

@final
class ScenarioFile:
    @staticmethod
    def from_toml(name: str, text: str, folder: Path) -> ScenarioFile: ...
    @staticmethod
    def read(paths: list[Path], defaults: bool) -> ScenarioFile: ...
    def set(self, key: str, value: str) -> None: ...
    def copy(self) -> ScenarioFile: ...
    def seeds(self) -> list[int | None]: ...
    def ignored(self) -> list[tuple[str, str, str]]: ...
    def warnings(self) -> list[str]: ...
    def notes(self) -> list[str]: ...
    def text(self) -> str: ...
    def is_the_one(self) -> bool: ...
    def to_toml(self, point: int, folder: str) -> str: ...
    def points(self) -> tuple[list[Point], list[tuple[Values, str]]]: ...

@final
class Point:
    @property
    def name(self) -> str: ...
    @property
    def values(self) -> Values: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def nodes(self) -> list[str]: ...
    def run(
        self, number: int | None, wanted: Wanted, progress: Callable[[float, float], object] | None
    ) -> Outcome: ...
    def explain(self, number: int | None, asked: Asked) -> tuple[str, str]: ...

def schema() -> str: ...
def explain_trace(path: Path, asked: Asked) -> tuple[str, str]: ...

@final
class Outcome:
    @property
    def seed(self) -> int: ...
    def numbers(self) -> list[tuple[str, int | float]]: ...
    def parts(self) -> list[tuple[str, str, list[tuple[str, int | float]]]]: ...
    def json(self) -> str: ...
    def why(self) -> str | None: ...
    def latencies_s(self) -> list[float]: ...
    def violations(self) -> list[str]: ...
    def violations_total(self) -> int: ...
    def reports(self) -> list[tuple[Path, str]]: ...
    def series(self) -> bytes | None: ...

Run: TypeAlias = tuple[int, int, Values, list[tuple[str, float]]]
Told: TypeAlias = tuple[float, float | None, float | None, int]
Compared: TypeAlias = tuple[Values, str, Told | None, Told | None, Told | None, float | None, float | None]

Metrics: TypeAlias = list[tuple[str, float]]

Watch: TypeAlias = Callable[[float, float], object]

class Plan:
    def __new__(cls, scenario: ScenarioFile, text: str, seeds: list[int | None], code: str) -> Plan: ...
    def sweep(self, out: Path, threads: int, judge: bool, shard: str | None, watch: Watch | None) -> int: ...
    def run(self, positions: list[int], judge: bool) -> list[tuple[int, Metrics]]: ...
    def open(self, out: Path, shard: str | None) -> Folder: ...

class Folder:
    def missing(self) -> list[int]: ...
    def add(self, position: int, metrics: Metrics) -> None: ...
    def finish(self) -> int: ...

def bounds(scenario: ScenarioFile, text: str, seeds: list[int | None], watch: Watch | None) -> bytes: ...

class CaptureWanted(TypedDict):
    filters: list[str]
    dccp_ports: list[int]
    interface: str | None
    pause: str
    html: bool

def analyse_capture(path: Path, wanted: CaptureWanted) -> tuple[str, str, bytes, str | None]: ...

class Finished(TypedDict):
    text: str
    html: str
    claims: str
    figures: list[tuple[str, str, str, str]]
    tables: list[tuple[str, list[str], list[list[str]]]]
    runs: bytes
    warnings: list[str]
    violations: int

def studies() -> list[tuple[str, str, str, str]]: ...
def study(
    name: str,
    quick: bool,
    controller: str | None,
    seed: int | None,
    out: Path,
    threads: int,
    watch: Watch | None,
) -> Finished: ...
def merge(folder: Path) -> int: ...
def read_results(path: Path, any: bool) -> bytes: ...
def compare_runs(
    first: list[Run],
    second: list[Run],
    by: str | None,
    base: str | None,
    metrics: list[str],
) -> list[Compared]: ...

# --- figures -----------------------------------------------------------------------------------

Mark: TypeAlias = tuple[float | str, str, str | None, list[float]]

class Plot(TypedDict):
    title: str
    x: str
    y: str
    series: str
    baseline: str | None
    columns: int
    shared_y: bool
    marks: list[Mark]

def lines(shown: Plot) -> str: ...
def bars(shown: Plot) -> str: ...
def in_one_unit(texts: list[str]) -> tuple[list[float], str] | None: ...
def chart_html(title: str, specification: str) -> str: ...
def study_figures(folder: Path) -> list[tuple[str, str, str, str]]: ...
def report_html(folder: Path) -> str: ...

# --- the page ----------------------------------------------------------------------------------

@final
class Source: ...

def view_scenario(scenario: ScenarioFile, seed: int | None, point: int | None) -> list[Source]: ...
def view_path(path: Path, seed: int | None, point: int | None) -> list[Source]: ...
def view_page(sources: list[Source]) -> str: ...
def view_frame(page: str, height: str) -> str: ...

# --- algorithms --------------------------------------------------------------------------------

class Declared(TypedDict):
    kind: str
    name: str
    paper: str
    only_with: list[str]
    parameters: list[dict[str, object]]
    hooks: set[str]
    flags: set[str]
    recovery: str

DeclaredParameter: TypeAlias = tuple[str, str, float | bool | str, str, str]

def register(cls: type, declared: Declared) -> None: ...
def hook_names() -> list[str]: ...
def algorithms() -> list[tuple[str, str, str, list[str], list[DeclaredParameter]]]: ...
