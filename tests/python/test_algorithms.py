"""Routers and mechanisms that are written in Python."""

import re
import runpy
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest

import lightlag
from lightlag import (
    AfterTransfer,
    Bundle,
    Drop,
    DropReason,
    Link,
    Local,
    Move,
    PlannedContact,
    Refusal,
    Replica,
    _lightlag,
)


class PythonNone(lightlag.Mechanism):
    """What `none` does, hook by hook."""

    name = "python_none"

    def make_room(self, at: Local, incoming: Bundle, preferred: int | None) -> Drop | None:
        """The oldest goes."""
        if preferred is not None:
            return Drop(preferred)
        idle = [replica for replica in at.store.replicas if replica.sending == 0]
        return Drop(idle[0].id) if idle else None

    def admit(self, at: Local, replica: Replica, sender: int) -> Refusal | None:
        """Everything."""
        assert replica.id not in at.store
        assert any(link.peer == sender for link in at.links)
        return None

    def may_replicate(self, at: Local, replica: Replica, peer: int) -> bool:
        """Always."""
        return replica.expires_s > at.now_s


class PythonEpidemic(lightlag.Router):
    """What `epidemic` does."""

    name = "python_epidemic"
    fixed_state = True

    def score(self, at: Local, replica: Replica, peer: int) -> float:
        """Everybody gets everything."""
        return 0.0


class PythonSpray(lightlag.Router):
    """Binary Spray and Wait by marks on copies."""

    name = "python_spray"
    counts_copies = True
    single_copy_phase = True
    fixed_state = True
    copies = lightlag.parameter(10, low=1, high=1000, meaning="Copies of each bundle.")

    def on_created(self, at: Local, replica: Replica) -> None:
        """All copies are here."""
        replica.mark = self.copies

    def score(self, at: Local, replica: Replica, peer: int) -> float | None:
        """Gives to a peer if there is more than one."""
        return 0.0 if replica.mark > 1 else None

    def mark_for_peer(self, replica: Replica) -> int:
        """The lesser half leaves."""
        return max(replica.mark // 2, 1)

    def on_sent(self, at: Local, replica: Replica, peer: int, delivered: bool) -> AfterTransfer | None:
        """The larger half stays."""
        replica.mark = max(replica.mark - max(replica.mark // 2, 1), 1)
        return None


@pytest.mark.parametrize(
    ("key", "rust", "python"),
    [
        ("mechanism", "none", "python_none"),
        ("router", "epidemic", "python_epidemic"),
        ("router", {"name": "spray_and_wait", "copies": 6}, {"name": "python_spray", "copies": 6}),
    ],
)
def test_the_same_algorithm_gives_the_same_run_in_both_languages(
    walk: lightlag.Scenario, key: str, rust: Any, python: Any
) -> None:
    runs = [lightlag.run(walk.copy().set(key, value)) for value in (rust, python)]
    assert runs[0].json() == runs[1].json()
    assert runs[1].violations == []


def test_a_mechanism_moves_copies_of_a_router_in_python_in_their_single_copy_phase(
    walk: lightlag.Scenario,
) -> None:
    walk.set("mechanism", "storage_routing").set("buffer", "200 kB")
    routers = ({"name": name, "copies": 6} for name in ("spray_and_wait", "python_spray"))
    runs = [lightlag.run(walk.copy().set("router", router)) for router in routers]
    assert runs[0].json() == runs[1].json()


class Everything(lightlag.Mechanism):
    """Looks at all that hooks can see, and keeps what it saw."""

    name = "everything"
    needs_census = True
    needs_neighbours = True
    calls: ClassVar[dict[str, int]] = {}
    lock = threading.Lock()
    share = lightlag.parameter(0.5, low=0, high=1, meaning="A number.")
    wait = lightlag.parameter(60.0, unit="s", low=0, meaning="A time.")
    count = lightlag.parameter(3, low=0, high=10, meaning="A whole number.")
    eager = lightlag.parameter(True, meaning="A flag.")
    side = lightlag.parameter("here", choices=["here", "there"], meaning="A word.")

    def __init__(self) -> None:
        assert 0 <= self.node < self.nodes == 10
        assert isinstance(self.count, int)
        self.drawn = self.random.random()

    def told(self, hook: str, at: Local) -> None:
        """Remember a call."""
        assert at.node == self.node
        self.calls[hook] = self.calls.get(hook, 0) + 1

    def on_created(self, at: Local, replica: Replica) -> None:
        """Mark it."""
        self.told("on_created", at)
        assert (replica.source, replica.hops, replica.received_s) == (self.node, 0, at.now_s)
        assert replica.created_s == at.now_s
        assert replica.expires_s == pytest.approx(at.now_s + 600)
        replica.mark = 7

    def state(self, at: Local) -> Mapping[int, float]:
        """Report which node this is."""
        self.told("state", at)
        return {self.node: self.share}

    def on_contact_up(self, at: Local, peer: int, state: dict[int, float] | None) -> None:
        """Hear it."""
        self.told("on_contact_up", at)
        assert state == {peer: self.share}
        [link] = [link for link in at.links if link.peer == peer]
        assert isinstance(link, Link)
        assert (link.rate_bit_per_s, link.delay_s) == (250_000, 0.0)

    def on_contact_down(self, at: Local, peer: int) -> None:
        """The link is gone."""
        self.told("on_contact_down", at)
        assert all(link.peer != peer for link in at.links)

    def admit(self, at: Local, replica: Replica, sender: int) -> Refusal | None:
        """Count with the oracle."""
        self.told("admit", at)
        if at.census is not None:
            assert at.census.made(replica.id) >= at.census.alive(replica.id) >= 1
            assert at.census.mean_made >= at.census.mean_alive >= 1
        return Refusal.CONGESTION if replica.hops >= self.count else None

    def mark_for_peer(self, at: Local, replica: Replica) -> int:
        """Count links."""
        return replica.mark + 1

    def on_received(self, at: Local, replica: Replica, sender: int) -> None:
        """What `mark_for_peer` wrote."""
        self.told("on_received", at)
        assert replica.mark == 7 + replica.hops

    def on_sent(self, at: Local, replica: Replica, peer: int, delivered: bool) -> None:
        """Seen by the peer."""
        self.told("on_sent", at)
        assert not delivered or replica.destination == peer

    def on_dropped(self, at: Local, bundle: Bundle, reason: DropReason) -> None:
        """Why."""
        self.told("on_dropped", at)
        assert reason in (DropReason.OVERFLOW, DropReason.EXPIRED)
        assert bundle.id not in at.store

    def obsolete(self, at: Local) -> int | None:
        """Old ones."""
        self.told("obsolete", at)
        for replica in at.store:
            if replica.sending == 0 and at.now_s - replica.received_s > self.wait:
                return replica.id
        return None

    def make_room(self, at: Local, incoming: Bundle, preferred: int | None) -> Drop | None:
        """The newest goes."""
        self.told("make_room", at)
        assert at.store.used + at.store.free == at.store.capacity == 400_000
        assert len(at.store) == len(at.store.replicas)
        oldest = at.store.oldest_idle()
        if oldest is None:
            return None
        found = at.store.get(oldest.id)
        assert found is not None
        assert found.received_s == oldest.received_s
        assert at.store.get(1_000_000) is None
        return Drop(oldest.id)

    def observe(self, at: Local) -> Mapping[str, float]:
        """For series."""
        self.told("observe", at)
        return {"drawn": self.drawn}


def test_hooks_see_the_node_and_write_on_copies(walk: lightlag.Scenario) -> None:
    Everything.calls.clear()
    walk.set("mechanism", {"name": "everything", "wait": "2 min", "count": 4, "side": "there"})
    result = lightlag.run(walk, series=True)
    hooks = "on_created state on_contact_up on_contact_down admit on_received on_sent on_dropped obsolete"
    assert set(Everything.calls) == {*hooks.split(), "make_room", "observe"}
    assert result.violations == []
    assert result.series is not None
    drawn = result.series.filter(pl.col("name").cast(pl.String) == "drawn")
    assert drawn["value"].n_unique() == 10
    assert lightlag.run(walk, series=True).json() == result.json()


REPOSITORY = Path(__file__).parents[2]


def rust_hooks(file: str, trait: str, events: tuple[str, ...]) -> set[str]:
    """The methods of a trait; in place of `on_event` and `on_copy`, a hook for each variant."""
    source = (REPOSITORY / "crates/protocols/src" / file).read_text()
    body = re.search(rf"pub trait {trait}(?:: Send)? {{\n(.*?)\n}}\n", source, re.S)
    assert body is not None
    methods = set(re.findall(r"^    fn (\w+)", body[1], re.M)) - {"on_event", "on_copy"}
    for event in events:
        variants = re.search(rf"pub enum {event}(?:<'a>)? {{\n(.*?)\n}}\n", source, re.S)
        assert variants is not None
        names = re.findall(r"^    ([A-Z]\w+)", variants[1], re.M)
        methods |= {"on" + re.sub("([A-Z])", r"_\1", name).lower() for name in names}
    return methods


def python_hooks(base: type) -> set[str]:
    """The methods of a base class that are hooks."""
    return {name for name, value in vars(base).items() if callable(value) and not name.startswith("_")}


def test_python_reaches_every_hook_that_rust_has() -> None:
    assert python_hooks(lightlag.Router) == rust_hooks("dtn/router.rs", "Router", ("RouterEvent",))
    events = ("MechanismEvent", "CopyEvent")
    # `admit` takes two kinds of `Incoming`; in Python each has a hook.
    mechanism = rust_hooks("dtn/mechanism.rs", "Mechanism", events) | {"admit_created"}
    assert python_hooks(lightlag.Mechanism) == mechanism
    controller = rust_hooks("controllers/mod.rs", "Controller", ("ControllerEvent",))
    assert python_hooks(lightlag.Controller) == controller
    assert python_hooks(lightlag.Router) | mechanism | controller == set(_lightlag.hook_names())


@pytest.mark.parametrize(
    "router", ["epidemic", {"name": "spray_and_wait", "copies": 6}, "python_spray", "prophet"]
)
@pytest.mark.parametrize(("buffer", "size"), [("200 kB", "50..100 kB"), ("400 kB", "1..100 kB")])
def test_a_mechanism_in_python_agrees_with_the_one_in_rust(
    walk: lightlag.Scenario, router: Any, buffer: str, size: str
) -> None:
    runpy.run_path(str(REPOSITORY / "examples/copy_value.py"))
    walk.set("router", router).set("buffer", buffer).set("traffic.mail.size", size)
    both = ("copy_value", "python_copy_value")
    runs = [lightlag.run(walk.copy().set("mechanism", name), series=True) for name in both]
    assert runs[0].json() == runs[1].json()
    assert runs[0].series is not None
    assert runs[1].series is not None
    assert runs[0].series.equals(runs[1].series)
    assert runs[1].violations == []


class Planner(lightlag.Mechanism):
    """Keeps what it is shown of plans."""

    name = "planner"
    needs_contact_plan = True
    seen: ClassVar[list[tuple[int, float, tuple[tuple[int, int, float], ...]]]] = []

    def __init__(self) -> None:
        self.look(0.0, self.plan)

    def look(self, now_s: float, plan: tuple[PlannedContact, ...]) -> None:
        """Another plan."""
        self.seen.append((self.node, now_s, tuple((c.sender, c.receiver, c.start_s) for c in plan)))

    def on_plan_revised(self, at: Local, plan: tuple[PlannedContact, ...]) -> None:
        """The node learns of it."""
        self.look(at.now_s, plan)


def test_a_mechanism_in_python_reads_the_plan_that_its_node_knows_and_its_revisions() -> None:
    rows = [{"a": "base", "b": "far", "start": "60 s", "end": "90 s"}]
    table: dict[str, Any] = {"kind": "table", "plan": True, "rate": "1 Mbit/s", "delay": "2 s", "rows": rows}
    later = {**table, "known_from": "30 s", "known_to": "base"}
    for number, contacts in enumerate([table, later]):
        Planner.seen.clear()
        scenario = lightlag.Scenario(
            duration="100 s",
            buffer="1 MB",
            router="epidemic",
            mechanism="planner",
            nodes={"base": {}, "far": {}},
            contacts={"sky": contacts},
            traffic={"mail": {"from": "base", "to": "far", "interval": "10 s", "size": "1 kB"}},
        )
        lightlag.run(scenario)
        both = ((0, 1, 60.0), (1, 0, 60.0))
        known: list[list[Any]] = [
            [(0, 0.0, both), (1, 0.0, both)],
            [(0, 0.0, ()), (1, 0.0, ()), (0, 30.0, both)],
        ]
        first = known[number]
        # Later ones are made only to ask them for their properties.
        assert list(dict.fromkeys(Planner.seen))[: len(first)] == first


def test_parameters_have_ranges_units_and_defaults(walk: lightlag.Scenario) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"share": 2.0}, "a number from 0 to 1"),
        ({"count": 2.5}, "a whole number from 0 to 10"),
        ({"wait": 60}, "s"),
        ({"side": "elsewhere"}, 'one of "here", "there"'),
        ({"eager": "yes"}, "true or false"),
        ({"shar": 0.5}, "has no parameter `shar`"),
    ]
    for values, complaint in wrong:
        with pytest.raises(lightlag.ScenarioError, match=complaint):
            walk.copy().set("mechanism", {"name": "everything", **values}).points()


def test_algorithms_lists_what_rust_brings_and_what_was_registered() -> None:
    table = lightlag.algorithms()
    assert table.columns == ["kind", "name", "paper", "only_with", "parameters"]
    assert {"epidemic", "python_epidemic"} <= set(table.filter(pl.col("kind") == "router")["name"])
    mine = table.row(by_predicate=pl.col("name") == "everything", named=True)
    assert mine["kind"] == "mechanism"
    assert mine["parameters"][1] == "wait = 60 s (a number from 0 to inf): A time."


def test_an_algorithm_that_is_registered_later_is_found_by_older_scenarios(walk: lightlag.Scenario) -> None:
    walk.set("mechanism", "late")
    with pytest.raises(lightlag.ScenarioError, match="not known"):
        walk.points()

    class Late(lightlag.Mechanism):
        name = "late"
        only_with = ("epidemic",)

    assert lightlag.run(walk).json() == lightlag.run(walk.copy().set("mechanism", "none")).json()
    with pytest.raises(lightlag.ScenarioError, match="refuses router"):
        walk.set("router", "prophet").points()


@pytest.mark.parametrize(
    ("slip", "hook"),
    [
        ("make_rom", "make_room"),
        ("makeroom", "make_room"),
        ("admits", "admit"),
        ("observes", "observe"),
        ("may_replicat", "may_replicate"),
        ("mark_for_peers", "mark_for_peer"),
        ("needs_recipts", "needs_receipts"),
        ("on_recieved", "on_received"),
    ],
)
def test_a_misspelt_hook_or_flag_is_an_error(slip: str, hook: str) -> None:
    with pytest.raises(TypeError, match=f"did you mean `{hook}`"):
        type("Slip", (lightlag.Mechanism,), {slip: lambda *_: None})


def test_methods_of_ones_own_need_no_hook() -> None:
    own = ("rooms", "statistics", "marks", "score_of", "reclaimed", "created", "_make_rom", "needs")
    type("Own", (lightlag.Mechanism,), dict.fromkeys(own, lambda *_: None))


def test_what_cannot_be_an_algorithm_is_refused_when_its_class_is_made() -> None:
    with pytest.raises(TypeError, match="did you mean `on_received`"):
        type("Misspelt", (lightlag.Mechanism,), {"on_recieved": lambda self: None})
    with pytest.raises(TypeError, match="must define `score`"):
        type("Silent", (lightlag.Router,), {"name": "silent"})
    with pytest.raises(TypeError, match="`credit` is a mechanism of Lightlag; give Mine another name"):
        type("Mine", (lightlag.Mechanism,), {"name": "credit"})
    with pytest.raises(TypeError, match=r"`make_room` of Few must take \(self, at, .*\), as the hook"):
        type("Few", (lightlag.Mechanism,), {"name": "few", "make_room": lambda self, at: None})
    with pytest.raises(TypeError, match="not a name for an algorithm"):
        type("Loud", (lightlag.Mechanism,), {"name": "Loud Name"})
    with pytest.raises(TypeError, match="a parameter `seed`"):
        type("Own", (lightlag.Mechanism,), {"name": "own", "seed": lightlag.parameter(1, meaning="")})
    with pytest.raises(ValueError, match="the default of parameter `far`"):
        type("Far", (lightlag.Mechanism,), {"name": "far", "far": lightlag.parameter(9, high=1, meaning="")})
    with pytest.raises(TypeError, match="choices"):
        lightlag.parameter("word", meaning="")


class OutOfOrderError(Exception):
    """Nothing that the package knows."""


class Broken(lightlag.Mechanism):
    """Does what it must not."""

    name = "broken"
    how = lightlag.parameter(
        "raise", choices=["raise", "init", "number", "gone", "far", "answer", "exit"], meaning="How."
    )

    def __init__(self) -> None:
        if self.how == "init":
            raise OutOfOrderError("no instance")

    def make_room(self, at: Local, incoming: Bundle, preferred: int | None) -> Any:
        """Everything but room."""
        if self.how == "exit":
            raise SystemExit(3)
        answers = {
            "number": 7,
            "gone": Drop(1_000_000),
            "far": Move(at.store.replicas[0].id, self.node),
            "answer": Drop,
        }
        if self.how not in answers:
            raise OutOfOrderError("no room")
        return answers[self.how]


@pytest.mark.parametrize(
    ("how", "kind", "said"),
    [
        ("raise", OutOfOrderError, "no room"),
        ("init", OutOfOrderError, "no instance"),
        ("number", TypeError, "expected a Drop"),
        ("gone", ValueError, "no copy of bundle 1000000"),
        ("far", ValueError, "no link to it is up"),
        ("answer", TypeError, "expected a Drop"),
        ("exit", SystemExit, "3"),
    ],
)
def test_what_a_hook_raises_is_raised_by_the_run(
    walk: lightlag.Scenario, how: str, kind: type[BaseException], said: str
) -> None:
    walk.set("mechanism", {"name": "broken", "how": how})
    for work in (lightlag.run, lightlag.sweep):
        with pytest.raises(kind, match=said) as raised:
            work(walk)
        assert "broken" in str(getattr(raised.value, "__notes__", "broken"))
    assert lightlag.run(walk.set("mechanism", "none")).violations == []


def test_what_a_hook_saw_cannot_be_seen_after_its_call(walk: lightlag.Scenario) -> None:
    seen: list[Local] = []

    class Keeps(lightlag.Mechanism):
        name = "keeps"

        def on_contact_up(self, at: Local, peer: int, state: dict[int, float] | None) -> None:
            for old in seen:
                with pytest.raises(RuntimeError, match="ends with the hook's call"):
                    _ = old.store.used
            seen[:] = [at]
            assert at.store.used >= 0

    lightlag.run(walk.set("mechanism", "keeps"))
    assert seen[0].now_s > 0
    for look in ("links", "census"):
        with pytest.raises(RuntimeError, match="ends with the hook's call"):
            getattr(seen[0], look)


def test_a_run_inside_a_hook_leaves_the_outer_view_alone(walk: lightlag.Scenario) -> None:
    inner = walk.copy().set("duration", "2 min")
    runs: list[lightlag.Result] = []

    class Nested(lightlag.Mechanism):
        name = "nested"

        def on_contact_up(self, at: Local, peer: int, state: dict[int, float] | None) -> None:
            if not runs:
                before = at.store.used
                runs.append(lightlag.run(inner))
                assert at.store.used == before

    outer = lightlag.run(walk.set("mechanism", "nested"))
    assert runs[0].sim_time == 120.0
    assert outer.sim_time == 1200.0


def test_an_algorithm_in_python_can_be_swept_on_threads(walk: lightlag.Scenario) -> None:
    walk.set("mechanism", ["python_none", "everything"])
    assert lightlag.sweep(walk, seeds=range(4), threads=1).equals(
        lightlag.sweep(walk, seeds=range(4), threads=4)
    )
