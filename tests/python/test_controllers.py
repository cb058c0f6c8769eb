"""Congestion controllers that are written in Python."""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest

import lightlag
from lightlag import Ack, Advice, Cause, Loss, Sent

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples/python_controllers.py"))
FLOWS, CONSUMERS = str(EXAMPLE["FLOWS"]), str(EXAMPLE["CONSUMERS"])


@pytest.mark.parametrize(
    ("text", "rust", "python"),
    [
        (FLOWS, "new_reno", "python_new_reno"),
        (
            FLOWS,
            {"name": "new_reno", "initial_window": 10},
            {"name": "python_new_reno", "initial_window": 10},
        ),
        (FLOWS, "aimd", "python_aimd"),
        (CONSUMERS, "aimd", "python_aimd"),
        (CONSUMERS, {"name": "aimd", "beta": 0.8}, {"name": "python_aimd", "beta": 0.8}),
        (CONSUMERS, "new_reno", "python_new_reno"),
    ],
)
def test_the_same_controller_gives_the_same_run_in_both_languages(text: str, rust: Any, python: Any) -> None:
    scenario = lightlag.Scenario(text).set("seeds", [3])
    runs = [lightlag.run(scenario.copy().set("controller", name), series=True) for name in (rust, python)]
    assert runs[0].json() == runs[1].json()
    assert runs[0].delivered_bytes > 0
    assert runs[0].series is not None
    assert runs[1].series is not None
    assert runs[0].series.equals(runs[1].series)
    assert runs[1].violations == []


class Rate(lightlag.Controller):
    """What `fixed` does: a rate, or the planned one."""

    name = "python_fixed"
    bound = lightlag.parameter(0.0, unit="bit/s", low=0, high=1e12, meaning="May leave; 0: the planned rate.")

    def __init__(self) -> None:
        self.bit_per_s = int(self.bound) or self.planned_rate_bit_per_s

    def on_plan(self, now_ns: int, rate_bit_per_s: int) -> None:
        """Follow it."""
        if self.bound == 0:
            self.bit_per_s = rate_bit_per_s

    def rate(self) -> int | None:
        """The rate."""
        return self.bit_per_s


TRANSPORTS = """
duration = "200 s"
sample_every = "1 s"
[parameters]
controller = "fixed"
transport = "tcp"
[links.space]
from = "earth"
to = "mars"
rate = { steps = [{ at = "0 s", rate = "1 Mbit/s" }, { at = "5 s", rate = "500 kbit/s" }] }
delay = "1 s"
loss = 0.01
[flows.file]
from = "earth"
to = "mars"
transport = "$transport"
controller = "$controller"
planned_rate = "plan"
size = "1 MB"
"""


@pytest.mark.parametrize("transport", ["tcp", "dccp", "udpdtn", "ltp", "ltp-dccp", "adaptive"])
def test_a_controller_in_python_works_over_every_transport(transport: str) -> None:
    scenario = lightlag.Scenario(TRANSPORTS).set("transport", transport)
    if transport == "adaptive":
        scenario.set("flows.file.datagram_controller", "$controller")
    for rust, python in (
        ("fixed", "python_fixed"),
        ({"name": "fixed", "rate": "300 kbit/s"}, {"name": "python_fixed", "bound": "300 kbit/s"}),
    ):
        runs = [lightlag.run(scenario.copy().set("controller", name)) for name in (rust, python)]
        assert runs[0].json() == runs[1].json()
        assert runs[1].violations == []


class Everything(lightlag.Controller):
    """Looks at all that hooks can see."""

    name = "every_hook"
    rate_samples = True
    calls: ClassVar[dict[str, int]] = {}
    cwnd = lightlag.parameter(40_000, low=1, high=10**9, meaning="May be in flight.")
    every = lightlag.parameter(5.0, unit="s", low=1, meaning="Time between deadlines.")

    def __init__(self) -> None:
        assert (self.segment, self.packet, self.index) == (1460, 1500, 0)
        assert self.planned_rate_bit_per_s is None
        assert self.planned_round_trip_ns is None
        self.drawn = self.random.random()
        self.due_ns: int | None = None

    def told(self, hook: str) -> None:
        """Remember a call."""
        self.calls[hook] = self.calls.get(hook, 0) + 1

    def on_ack(self, ack: Ack) -> None:
        """Its parts fit each other."""
        self.told("on_ack")
        assert ack.now_s == ack.now_ns / 1e9
        if ack.rtt_ns is not None:
            assert ack.rtt_s == ack.rtt_ns / 1e9 >= 1
        if ack.sample is not None:
            self.told("sample")
            assert ack.sample.before + ack.sample.delivered <= ack.delivered
            assert ack.sample.interval_s == ack.sample.interval_ns / 1e9
        assert (ack.one_way_ns, ack.responder, ack.window, ack.report) == (None, None, None, None)
        if self.due_ns is None:
            self.due_ns = ack.now_ns + int(self.every * 1e9)

    def on_loss(self, loss: Loss) -> None:
        """Why."""
        self.told("on_loss")
        assert loss.cause in (Cause.GAP, Cause.TIMEOUT)
        assert loss.flight_size >= loss.in_flight
        assert loss.now_s >= 1

    def on_sent(self, sent: Sent) -> None:
        """How much."""
        self.told("on_sent")
        assert sent.now_s == sent.now_ns / 1e9
        assert 0 < sent.size <= sent.in_flight <= self.cwnd

    def on_deadline(self, now_ns: int) -> None:
        """Punctual."""
        self.told("on_deadline")
        assert now_ns == self.due_ns
        self.due_ns = now_ns + int(self.every * 1e9)

    def deadline(self) -> int | None:
        """The next."""
        return self.due_ns

    def window(self) -> int:
        """Always the same."""
        return self.cwnd

    def rate(self) -> int:
        """Hardly a limit."""
        return 10**9

    def advice(self) -> Advice:
        """Nothing unusual."""
        advice = Advice(low_priority_copies=0.5)
        assert (advice.timeout_ns, advice.probe_train, advice.low_priority_copies) == (None, 1, 0.5)
        assert advice.discovered_rate_bit_per_s is None
        return advice

    def observe(self) -> Mapping[str, float]:
        """For series."""
        return {"drawn": self.drawn}


def test_hooks_see_the_flow() -> None:
    Everything.calls.clear()
    scenario = lightlag.Scenario(FLOWS).set("controller", {"name": "every_hook", "every": "4 s"})
    scenario.set("flows.file.count", 1)
    result = lightlag.run(scenario, series=True)
    assert set(Everything.calls) == {"on_ack", "on_loss", "on_sent", "on_deadline", "sample"}
    assert result.flows["file"]["delivered_bytes"] == 2_000_000
    assert result.series is not None
    assert result.series.filter(pl.col("name") == "drawn")["value"].n_unique() == 1
    assert lightlag.run(scenario, series=True).json() == result.json()


def test_sweep_and_compare_take_controllers_in_python() -> None:
    scenario = lightlag.Scenario(CONSUMERS).set("controller", ["python_aimd", "python_new_reno"])
    runs = lightlag.sweep(scenario, seeds=range(3), threads=1)
    assert runs.equals(lightlag.sweep(scenario, seeds=range(3), threads=4))
    assert runs["violations"].sum() == 0
    differences = lightlag.compare(
        lightlag.sweep(lightlag.Scenario(CONSUMERS).set("controller", "aimd"), seeds=range(3)),
        lightlag.sweep(lightlag.Scenario(CONSUMERS).set("controller", "python_aimd"), seeds=range(3)),
        metrics="all",
    )
    assert differences["difference"].drop_nulls().to_list()
    assert (differences["difference"].drop_nulls() == 0).all()


def test_algorithms_lists_controllers() -> None:
    table = lightlag.algorithms().filter(pl.col("kind") == "controller")
    assert {"cubic", "contact_rate", "python_fixed"} <= set(table["name"])
    rate = table.row(by_predicate=pl.col("name") == "python_fixed", named=True)
    assert rate["parameters"] == [
        "bound = 0 bit/s (a number from 0 to 1000000000000): May leave; 0: the planned rate."
    ]


class Datagrams(lightlag.Controller):
    """For one transport only."""

    name = "python_datagrams"
    only_with = ("udpdtn",)

    def rate(self) -> int:
        """Some."""
        return 10**6


def test_a_controller_is_refused_over_a_transport_that_it_does_not_know() -> None:
    for text, transport in ((FLOWS, "tcp"), (CONSUMERS, "ndn")):
        with pytest.raises(
            lightlag.ScenarioError, match=f"not supported over transport `{transport}`; it works"
        ):
            lightlag.Scenario(text).set("controller", "python_datagrams").points()
    scenario = lightlag.Scenario(FLOWS).set("flows.file.transport", "udpdtn").set("flows.file.count", 1)
    assert lightlag.run(scenario.set("controller", "python_datagrams")).delivered_bytes == 2_000_000


@pytest.mark.parametrize(
    ("slip", "hook"),
    [
        ("on_ak", "on_ack"),
        ("on_lost", "on_loss"),
        ("on_send", "on_sent"),
        ("windows", "window"),
        ("advices", "advice"),
        ("deadlines", "deadline"),
        ("rate_sample", "rate_samples"),
    ],
)
def test_a_misspelt_hook_or_flag_is_an_error(slip: str, hook: str) -> None:
    with pytest.raises(TypeError, match=f"did you mean `{hook}`"):
        type("Slip", (lightlag.Controller,), {slip: lambda *_: None})


def test_what_cannot_be_a_controller_is_refused_when_its_class_is_made() -> None:
    def window(self: object) -> int:
        return 1

    base = (lightlag.Controller,)
    with pytest.raises(TypeError, match="must define `window` or `rate`"):
        type("Silent", base, {"name": "silent"})
    with pytest.raises(TypeError, match="is a hook; define it as a method"):
        type("Constant", base, {"name": "constant", "window": 5})
    one = lightlag.parameter(1, meaning="")
    with pytest.raises(TypeError, match="a parameter `segment`: every controller has that already"):
        type("Own", base, {"name": "own", "window": window, "segment": one})
    with pytest.raises(TypeError, match="`rate` of Rated is a hook"):
        type("Rated", base, {"name": "rated", "window": window, "rate": one})
    with pytest.raises(ValueError, match="unknown recovery `tahoe`; name one of `new_reno`, `sack`"):
        type("Old", base, {"name": "old", "window": window, "recovery": "tahoe"})
    for wrong in ({"timeout_ns": 0}, {"probe_train": 0}, {"low_priority_copies": float("inf")}):
        with pytest.raises(ValueError, match=f"`{next(iter(wrong))}` must be"):
            Advice(**wrong)


class OutOfOrderError(Exception):
    """Nothing that the package knows."""


class Broken(lightlag.Controller):
    """Does what it must not."""

    name = "broken_controller"
    how = lightlag.parameter(
        "raise", choices=["raise", "init", "float", "negative", "past", "advice", "observe"], meaning="How."
    )

    def __init__(self) -> None:
        if self.how == "init":
            raise OutOfOrderError("no instance")

    def on_ack(self, ack: Ack) -> None:
        """Everything but thanks."""
        if self.how == "raise":
            raise OutOfOrderError("no acknowledgement")

    def window(self) -> Any:
        """No amount of data."""
        return {"float": 1.5, "negative": -1}.get(self.how, 3000)

    def deadline(self) -> int | None:
        """For ever the same."""
        return 1_000_000_000 if self.how == "past" else None

    def advice(self) -> Any:
        """None that can be taken."""
        return "be careful" if self.how == "advice" else None

    def observe(self) -> Any:
        """No number."""
        return {"name": "value"} if self.how == "observe" else {}


@pytest.mark.parametrize("text", [FLOWS, CONSUMERS])
@pytest.mark.parametrize(
    ("how", "kind", "said", "hook"),
    [
        ("raise", OutOfOrderError, "no acknowledgement", "in `on_ack`"),
        ("init", OutOfOrderError, "no instance", "was made of flow 0"),
        ("float", TypeError, "float", "in `window`"),
        ("negative", OverflowError, "negative", "in `window`"),
        ("past", ValueError, "is not after 1000000000 ns, when the last", "in `deadline`"),
        ("advice", TypeError, "expected an Advice", "in `advice`"),
    ],
)
def test_what_a_hook_raises_is_raised_by_the_run(
    text: str, how: str, kind: type[BaseException], said: str, hook: str
) -> None:
    scenario = lightlag.Scenario(text).set("controller", {"name": "broken_controller", "how": how})
    for work in (lightlag.run, lightlag.sweep):
        with pytest.raises(kind, match=said) as raised:
            work(scenario)
        notes = getattr(raised.value, "__notes__", [f"{hook} `broken_controller`"])
        assert any(hook in note and "`broken_controller`" in note for note in notes), notes
    scenario.set("controller", {"name": "broken_controller", "how": "observe"})
    with pytest.raises(TypeError, match="str"):
        lightlag.run(scenario, series=True)
    assert lightlag.run(scenario.set("controller", "cubic")).violations == []
