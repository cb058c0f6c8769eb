"""Runs of a sweep on workers: of an executor, or of a Dask cluster."""

from __future__ import annotations

import functools
import os
import pickle
import queue
import time
import uuid
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeAlias

from lightlag import _lightlag
from lightlag._scenario import Scenario

TASK_S = 2.0
"""How long a task is meant to take: long beside what sending it costs, and short where a worker is lost."""

_RUNS_MAX = 1000
"""Most runs in a task."""

_WAIT_S = 0.05
"""How long Ctrl-C may go unheard while no task ends."""

Done: TypeAlias = "tuple[float, list[tuple[int, _lightlag.Metrics]]]"
"""The seconds that a task took, and of each of its runs the position and what it measured."""


def packed(scenario: Scenario, seeds: list[int | None]) -> bytes:
    """What a worker needs to know of a sweep."""
    return pickle.dumps((scenario, seeds))


@functools.lru_cache(maxsize=4)
def _plan(sweep: bytes) -> _lightlag.Plan:
    # A worker reads a scenario once, and keeps its contacts by seed.
    scenario, seeds = pickle.loads(sweep)
    return _lightlag.Plan(scenario.native, scenario.text, seeds, "")


def work(sweep: bytes, positions: list[int], judge: bool) -> Done:
    """A task: these runs of a sweep."""
    plan = _plan(sweep)
    began = time.perf_counter()
    done = plan.run(positions, judge)
    return time.perf_counter() - began, done


def of_executor(executor: Executor) -> tuple[Callable[..., Any], Callable[[], int]]:
    """How tasks are submitted to an executor, and how many at a time."""
    workers = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
    return executor.submit, lambda: 2 * int(workers) + 2


def of_client(client: Any) -> tuple[Callable[..., Any], Callable[[], int]]:
    """How tasks are submitted to a Dask cluster, which may grow and shrink, and how many at a time."""

    def submit(*call: Any) -> Any:
        # The dashboard shows tasks by what is before the last hyphen.
        return client.submit(*call, key=f"lightlag-{uuid.uuid4().hex}")

    return submit, lambda: 2 * sum(client.nthreads().values()) + 2


def run(
    folder: _lightlag.Folder,
    sweep: bytes,
    judge: bool,
    submit: Callable[..., Any],
    at_once: Callable[[], int],
    watch: Callable[[float, float], object] | None,
) -> None:
    """Does what is missing in a folder; results are kept as they come, and memory does not grow with them.

    Raises:
        Exception: What a run raised; what was finished until then is kept.
    """
    missing, running = deque(folder.missing()), set[Any]()
    wanted, finished = len(missing), 0
    ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
    run_s: float | None = None
    try:
        while missing or running:
            while missing and len(running) < at_once():
                count = 1 if run_s is None else int(min(max(TASK_S / run_s, 1), _RUNS_MAX))
                positions = [missing.popleft() for _ in range(min(count, len(missing)))]
                future = submit(work, sweep, positions, judge)
                running.add(future)
                future.add_done_callback(ended.put)
            try:
                # Ctrl-C does not end a wait without an end where signals restart system calls.
                future = ended.get(timeout=_WAIT_S)
            except queue.Empty:
                continue
            running.discard(future)
            took, done = future.result()
            for position, metrics in done:
                folder.add(position, metrics)
            finished += len(done)
            if watch is not None:
                watch(finished, wanted)
            # The latest tasks count most: points differ in length.
            mean = max(took / len(done), 1e-6)
            run_s = mean if run_s is None else 0.5 * (run_s + mean)
    finally:
        for future in running:
            future.cancel()
