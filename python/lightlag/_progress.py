"""How far a run, a sweep or a study has come: a bar, or a function of the caller."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import Any, TypeAlias

Progress: TypeAlias = "Callable[[float, float], object] | bool | None"
"""A function, which gets how much is done and how much there is; `None`: a bar, if a person is watching;
`True`: a bar; `False`: nothing."""

_AFTER_S = 2.0
"""What ends sooner needs no bar."""

_Watch: TypeAlias = Callable[[float, float], object]
_Watching: TypeAlias = "AbstractContextManager[_Watch | None]"

_RUN = "running {percentage:3.0f}% {bar} {remaining} left"
_RUNS = "{n:.0f}/{total:.0f} runs {bar} {remaining} left"


def of_run(progress: Progress) -> _Watching:
    """Watches a run, which counts seconds of its own time."""
    return _watching(progress, _RUN)


def of_runs(progress: Progress) -> _Watching:
    """Watches a sweep, which counts runs."""
    return _watching(progress, _RUNS)


@contextmanager
def _watching(progress: Progress, form: str) -> Generator[_Watch | None]:
    if callable(progress):
        yield progress
    elif progress is False or (progress is None and not _is_watched()):
        yield None
    else:
        bar = _Bar(form)
        try:
            yield bar.show
        finally:
            bar.close()


class _Bar:
    """A bar that appears once the number of things is known."""

    def __init__(self, form: str) -> None:
        self._form = form
        self._bar: Any = None

    def show(self, done: float, everything: float) -> None:
        if self._bar is None:
            self._bar = _tqdm()(total=everything, bar_format=self._form, delay=_AFTER_S, leave=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _tqdm() -> Any:
    with warnings.catch_warnings():
        # A notebook without widgets gets a bar of text.
        warnings.simplefilter("ignore")
        return import_module("tqdm.auto").tqdm


def _is_watched() -> bool:
    """Whether standard error is a terminal, or this is a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    in_notebook = shell is not None and "IPKernelApp" in shell.config
    return in_notebook or (sys.stderr is not None and sys.stderr.isatty())
