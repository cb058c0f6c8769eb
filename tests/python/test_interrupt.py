"""Ctrl-C, and how far a run has come."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import lightlag

LONG = """
import lightlag, sys, time
from concurrent.futures import ThreadPoolExecutor
walk = lightlag.Scenario.read(sys.argv[1]).set("duration", "90 d")
print("ready", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print(time.time(), flush=True)
"""


@pytest.mark.parametrize("after_s", [0.05, 0.4, 1.5])
@pytest.mark.parametrize(
    "work",
    [
        "lightlag.run(walk, judge=False)",
        "lightlag.explain(walk)",
        "lightlag.sweep(walk, seeds=range(1000), threads=2)",
        'lightlag.sweep(walk.set("duration", "1 h"), seeds=range(10**5), executor=ThreadPoolExecutor(2))',
    ],
)
def test_ctrl_c_ends_what_would_take_minutes(work: str, after_s: float) -> None:
    walkers = Path(__file__).parents[2] / "examples/walkers.toml"
    command = [sys.executable, "-c", LONG.format(work=work), str(walkers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        time.sleep(after_s)
        running.send_signal(signal.SIGINT)
        raised, _ = running.communicate(timeout=60)
    # How soon is no matter for a test on a machine that may be busy; that it is not at the end is.
    assert raised.strip(), "no KeyboardInterrupt was raised"
    assert running.returncode == 0


def test_a_run_says_how_far_it_has_come(walk: lightlag.Scenario) -> None:
    told: list[tuple[float, float]] = []

    def tell(now_s: float, lasts_s: float) -> None:
        told.append((now_s, lasts_s))

    walk.set("duration", "20 d")
    lightlag.run(walk, judge=False, progress=tell)
    assert told == sorted(told), "time does not run backwards"
    assert all(0 <= now_s <= lasts_s == 20 * 86_400 for now_s, lasts_s in told)


def test_what_its_watcher_raises_ends_a_run(walk: lightlag.Scenario) -> None:
    class EnoughError(Exception):
        pass

    def tell(now_s: float, lasts_s: float) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        lightlag.run(
            walk.set("duration", "200 d").set("traffic.mail.interval", "60 s"), judge=False, progress=tell
        )
