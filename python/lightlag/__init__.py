"""Lightlag: a laboratory for congestion control where the network is late, lossy or absent.

A scenario and a seed make a run, always the same one::

    import lightlag

    scenario = lightlag.Scenario.read("scenario.toml").set("mechanism", "credit")
    print(lightlag.run(scenario, seed=1).delivery_prob)

    runs = lightlag.sweep(scenario.set("buffer", ["500 kB", "1 MB"]), seeds=range(5))
    lightlag.figures.lines(runs, x="buffer", y="delivery_prob").save("figure.svg")

Routers, congestion mechanisms and congestion controllers of one's own are subclasses of `Router`,
`Mechanism` and `Controller`; a scenario names them like any other.
"""

from lightlag import figures
from lightlag._algorithm import Mechanism, Router, algorithms, parameter
from lightlag._bound import bound
from lightlag._capture import Capture, capture
from lightlag._controller import Controller
from lightlag._explain import Explanation, explain
from lightlag._lightlag import (
    COMMIT,
    VERSION,
    Ack,
    Advice,
    AfterTransfer,
    ArrivalCounts,
    Bundle,
    Cause,
    Census,
    Drop,
    DropReason,
    Link,
    Local,
    Loss,
    Move,
    PlannedContact,
    RateSample,
    Refusal,
    RefusedIds,
    Replica,
    ScenarioError,
    Sent,
    Store,
    TfrcReport,
    Wait,
    Window,
)
from lightlag._run import Result, run
from lightlag._scenario import Point, Scenario
from lightlag._study import Study, studies, study
from lightlag._sweep import compare, merge, read, report, sweep
from lightlag._view import Page, view

__version__ = VERSION
__commit__ = COMMIT

__all__ = [
    "Ack",
    "Advice",
    "AfterTransfer",
    "ArrivalCounts",
    "Bundle",
    "Capture",
    "Cause",
    "Census",
    "Controller",
    "Drop",
    "DropReason",
    "Explanation",
    "Link",
    "Local",
    "Loss",
    "Mechanism",
    "Move",
    "Page",
    "PlannedContact",
    "Point",
    "RateSample",
    "Refusal",
    "RefusedIds",
    "Replica",
    "Result",
    "Router",
    "Scenario",
    "ScenarioError",
    "Sent",
    "Store",
    "Study",
    "TfrcReport",
    "Wait",
    "Window",
    "algorithms",
    "bound",
    "capture",
    "compare",
    "explain",
    "figures",
    "merge",
    "parameter",
    "read",
    "report",
    "run",
    "studies",
    "study",
    "sweep",
    "view",
]
