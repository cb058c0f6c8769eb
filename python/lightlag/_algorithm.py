"""Routers and congestion mechanisms that are written in Python, and what all algorithms have in common."""

from __future__ import annotations

import difflib
import hashlib
import inspect
import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, TypeVar, cast

import polars as pl

from lightlag import _lightlag
from lightlag._lightlag import (
    AfterTransfer,
    Bundle,
    Drop,
    DropReason,
    Local,
    Move,
    PlannedContact,
    Refusal,
    RefusedIds,
    Replica,
    Wait,
)

T = TypeVar("T", bool, int, float, str)

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_MISSPELT = 0.88
"""A name this similar to a hook or a flag (`difflib`) is a slip of the fingers; others are one's own."""


@dataclass(frozen=True)
class _Declared:
    default: bool | int | float | str
    unit: str
    low: float
    high: float
    choices: tuple[str, ...]
    meaning: str

    def told(self, name: str) -> dict[str, object]:
        """As the lab wants it."""
        number = isinstance(self.default, int) and not isinstance(self.default, bool)
        return {"name": name, "whole": number, **vars(self), "choices": list(self.choices)}


def parameter(
    default: T,
    *,
    meaning: str,
    unit: str = "",
    low: float = -math.inf,
    high: float = math.inf,
    choices: Sequence[str] = (),
) -> T:
    """Declares a parameter of an algorithm, as an attribute of its class.

    Instances have the scenario's value under the same name, or the default.

    Args:
        default: Its type is that of the parameter: a flag, a whole number, a number or a word.
        meaning: One sentence.
        unit: Unit of a number, as scenarios write it: "s", "B", "bit/s", "m".
        low: The smallest number allowed.
        high: The largest number allowed.
        choices: The words allowed.

    Raises:
        TypeError: A word without choices, or choices of something else.
    """
    if isinstance(default, str) != bool(choices):
        raise TypeError("a word needs choices, and nothing else has them")
    return cast("T", _Declared(default, unit, low, high, tuple(choices), meaning))


class _Algorithm:
    name: ClassVar[str] = ""
    """What scenarios call it; a class without a name of its own is not registered."""
    paper: ClassVar[str] = ""
    """Where it comes from."""
    only_with: ClassVar[Sequence[str]] = ()
    """Names of what it insists on: routers, for a mechanism; transports, for a controller; empty: any."""

    seed: int
    """The seed of the run."""

    _kind: ClassVar[str]
    _flags: ClassVar[tuple[str, ...]]
    _number: ClassVar[str]
    """The attribute that distinguishes instances."""
    _needed: ClassVar[tuple[str, ...]] = ()
    """Hooks of which a class must define one."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if hasattr(cls, "_kind") and "_kind" not in vars(cls):
            _check_hooks(cls)
            if vars(cls).get("name"):
                _register(cls)

    @cached_property
    def random(self) -> random.Random:
        """Random numbers of this instance's own: the same in every run with the same seed."""
        return random.Random(f"{self.name} {self.seed} {getattr(self, self._number)}")

    @classmethod
    def _made(cls, facts: Mapping[str, object], values: Mapping[str, object]) -> _Algorithm:
        """Makes an instance: everything is there before `__init__`, which takes no arguments."""
        made = cls.__new__(cls)
        for name, value in (*facts.items(), *values.items()):
            setattr(made, name, value)
        cast("Any", made).__init__()
        return made


class _AtNode(_Algorithm):
    node: int
    """The number of the node that this instance works for."""
    nodes: int
    """How many nodes there are, of numbers below this one."""
    plan: tuple[PlannedContact, ...]
    """The contacts known beforehand, by sender, receiver and start; empty without `needs_contact_plan`."""
    router_counts_copies: bool
    """For a mechanism: `Router.counts_copies` of the node's router."""
    router_has_single_copy_phase: bool
    """For a mechanism: `Router.single_copy_phase` of the node's router."""

    _number = "node"


class Mechanism(_AtNode):
    """Congestion control of a node: what to admit, keep, drop or move.

    A subclass with a `name` can be used by scenarios at once. Each node has an instance of its own,
    created for each run, that has `node`, `nodes`, `seed`, `random` and its parameters before
    ``__init__(self)`` is called. A subclass defines what differs from "no congestion control": hooks
    that it leaves out are never called.

    `at` is what the node knows, valid during the call. Exceptions end the run and are raised by `run`.
    """

    _kind = "mechanism"
    _flags = (
        "needs_census",
        "needs_neighbours",
        "needs_reception_order",
        "needs_receipts",
        "needs_charged",
        "smallest_first",
        "needs_contact_plan",
    )

    needs_census: ClassVar[bool] = False
    """Whether it needs `Local.census`: an oracle that only a simulated world can give."""
    needs_neighbours: ClassVar[bool] = False
    """Whether `Link.peer_free`, `Link.peer_capacity` and `Link.peer_idle` are kept up to date."""
    needs_reception_order: ClassVar[bool] = False
    """Whether copies are offered in the order of reception, whatever the scenario's send order."""
    needs_receipts: ClassVar[bool] = False
    """Whether nodes acknowledge what is delivered and delete copies; links are charged 8 bytes a receipt."""
    needs_charged: ClassVar[bool] = False
    """Whether links are charged for `state`, and for receipts under the policy `receipts`."""
    needs_contact_plan: ClassVar[bool] = False
    """Whether it reads `plan`, where the scenario has one, and is called when that is revised."""
    smallest_first: ClassVar[bool] = False
    """Whether the smallest of the bundles that wait at the application is stored first, not the oldest."""

    def make_room(self, at: Local, incoming: Bundle, preferred: int | None) -> Drop | Move | Wait | None:
        """How to make room for `incoming`, asked again until it fits. None refuses it.

        `preferred` is the bundle that the router would drop first, if it has an opinion. A copy that is
        being sent cannot be dropped. A copy moves over a link that is up. `Wait` lets a bundle that was
        created here wait at the application, and refuses an offer.
        """
        if preferred is not None:
            return Drop(preferred)
        oldest = at.store.oldest_idle()
        return None if oldest is None else Drop(oldest.id)

    def obsolete(self, at: Local) -> int | None:
        """A copy to drop before space is requested; called until it returns None."""
        return None

    def on_created(self, at: Local, replica: Replica) -> None:
        """A bundle was created here and will be stored; `replica.mark` can be set."""

    def state(self, at: Local) -> Mapping[int, float] | None:
        """What this node reports to a peer at the start of a contact: numbers under whole numbers."""
        return None

    def on_contact_up(self, at: Local, peer: int, state: dict[int, float] | None) -> None:
        """A contact with `peer` has begun; `state` is what it reported."""

    def on_contact_down(self, at: Local, peer: int) -> None:
        """The contact has ended."""

    def may_replicate(self, at: Local, replica: Replica, peer: int) -> bool:
        """Whether a copy may be given to `peer` now. Not called for deliveries to the destination."""
        return True

    def admit(self, at: Local, replica: Replica, sender: int) -> Refusal | None:
        """Whether an offered copy is taken; asked before room is made. None takes it."""
        return None

    def admit_created(self, at: Local, bundle: Bundle) -> Refusal | None:
        """Whether a bundle that an application hands over is stored. None stores it, if there is room.

        A bundle that is refused waits at the application and is tried again when something has changed.
        """
        return None

    def refused_ids(self) -> RefusedIds:
        """Bundles that it does not accept any more, unless this node is their destination.

        Peers know them and do not offer them; `admit` refuses the same. The mechanism keeps one
        `RefusedIds` and returns it here; it is read after `admit`, `make_room` and each hook whose
        name begins with `on_`.
        """
        return RefusedIds()

    def mark_for_peer(self, at: Local, replica: Replica) -> int:
        """The mark that the peer's new copy will carry; asked before `on_sent`."""
        return replica.mark

    def on_sent(self, at: Local, replica: Replica, peer: int, delivered: bool) -> None:
        """A copy has left for `peer`; `delivered` if it is the destination. `replica.mark` can be set."""

    def on_received(self, at: Local, replica: Replica, sender: int) -> None:
        """A copy has arrived and will be stored or delivered; `replica.mark` can be set."""

    def on_returned(self, at: Local, replica: Replica, peer: int) -> None:
        """`peer` had no room when the copy that was sent to it arrived; `replica.mark` can be set."""

    def on_receipt(self, at: Local, id: int, created_ns: int) -> None:
        """A bundle is known to be delivered, whether a copy is here or not."""

    def on_dropped(self, at: Local, bundle: Bundle, reason: DropReason) -> None:
        """A copy was dropped or removed here."""

    def on_moved(self, at: Local, bundle: Bundle, to: int, already_had: bool) -> None:
        """A copy has left for another custodian, or was given up because that `already_had` it."""

    def reclaim(self, at: Local, peer: int) -> int | None:
        """A copy to ask back from `peer` now that there is room again; asked until None."""
        return None

    def on_plan_revised(self, at: Local, plan: tuple[PlannedContact, ...]) -> None:
        """The node learns of another plan, which replaces `plan`."""

    def on_reclaim_refused(self, at: Local, peer: int, id: int) -> None:
        """`peer` no longer has the copy that was asked back."""

    def observe(self, at: Local) -> Mapping[str, float]:
        """What time series show of it."""
        return {}


class Router(_AtNode):
    """Decides which peers get a copy, in which order.

    As of `Mechanism`: a subclass with a `name` can be used by scenarios at once; each node has an
    instance of its own; omitted hooks are never called. Only `score` must be defined.
    Deliveries to destinations need no router.
    """

    _kind = "router"
    _flags = (
        "ranked",
        "counts_copies",
        "single_copy_phase",
        "records_path",
        "fixed_state",
        "needs_contact_plan",
    )
    _needed = ("score",)

    ranked: ClassVar[bool] = False
    """Whether offers are sorted by score over all links."""
    counts_copies: ClassVar[bool] = False
    """Whether a copy that is being sent must not be offered elsewhere: routers that count copies."""
    single_copy_phase: ClassVar[bool] = False
    """Whether a copy reaches a single-copy phase, in which it is forwarded only to its destination."""
    records_path: ClassVar[bool] = False
    """Whether copies carry the path that they took (`Replica.has_visited`)."""
    fixed_state: ClassVar[bool] = False
    """Whether peers get `state` at the start of a contact only, not whenever it changes: saves work."""
    needs_contact_plan: ClassVar[bool] = False
    """Whether it reads `plan`, where the scenario has one, and is called when that is revised."""

    def score(self, at: Local, replica: Replica, peer: int) -> float | None:
        """Value of sending a copy to `peer`, higher first if `ranked`; None: not now."""
        raise TypeError(f"router `{self.name}` must define `score`")

    def on_created(self, at: Local, replica: Replica) -> None:
        """A bundle was created here and will be stored; `replica.mark` can be set."""

    def state(self, at: Local) -> Mapping[int, float] | None:
        """What this node reports to a peer: numbers under whole numbers."""
        return None

    def on_contact_up(self, at: Local, peer: int, state: dict[int, float] | None) -> None:
        """A contact with `peer` has begun; `state` is what it reported."""

    def on_peer_state(self, at: Local, peer: int, state: dict[int, float]) -> None:
        """The state of `peer` has changed during the contact."""

    def on_contact_down(self, at: Local, peer: int) -> bool | None:
        """The contact has ended. True: scores may have risen, so that offers are made again."""

    def on_offering(self, at: Local) -> None:
        """The node is about to offer copies, by scores as they are now; only if `ranked`."""

    def on_refused(self, at: Local, replica: Replica, peer: int, why: Refusal) -> bool | None:
        """`peer` has refused a copy. True: scores may have risen, so that a `ranked` router offers again."""

    def delivers(self, at: Local, replica: Replica, peer: int) -> bool:
        """Whether a copy whose destination is `peer`, in contact now, is sent to it now."""
        return True

    def accept(self, at: Local, replica: Replica, sender: int) -> Refusal | None:
        """Whether an offer fits the routing; it is neither held, delivered nor expired. None takes it."""
        return None

    def mark_for_peer(self, replica: Replica) -> int:
        """The mark that the peer's new copy will carry; asked before `on_sent`."""
        return replica.mark

    def on_sent(self, at: Local, replica: Replica, peer: int, delivered: bool) -> AfterTransfer | None:
        """A copy has left for `peer`; none keeps this node's own. `replica.mark` can be set."""
        return AfterTransfer.KEEP

    def on_received(self, at: Local, replica: Replica, sender: int) -> None:
        """A copy has arrived and will be stored; `replica.mark` can be set."""

    def on_plan_revised(self, at: Local, plan: tuple[PlannedContact, ...]) -> None:
        """The node learns of another plan, which replaces `plan`."""

    def on_delivered(self, at: Local, bundle: Bundle, sender: int) -> None:
        """A bundle has arrived at its destination, this node, for the first time."""

    def take_acknowledged(self) -> Sequence[int]:
        """Bundles known to be delivered since the last call: copies of them are removed here."""
        return ()

    def victim(self, at: Local) -> int | None:
        """The copy that the router would drop first, as advice to the mechanism; not one being sent."""
        return None

    def observe(self, at: Local) -> Mapping[str, float]:
        """What time series show of it."""
        return {}


def _base(cls: type[_Algorithm]) -> type[_Algorithm]:
    return next(ancestor for ancestor in cls.__mro__ if "_kind" in vars(ancestor))


def _hooks(base: type[_Algorithm]) -> list[str]:
    return [hook for hook in _lightlag.hook_names() if hasattr(base, hook)]


def _check_hooks(cls: type[_Algorithm]) -> None:
    """A misspelt hook would never be called, without any notice."""
    base = _base(cls)
    known = _hooks(base)
    expected = [*known, *base._flags]
    for name in vars(cls):
        if name in known:
            _check_hook(cls, name, getattr(base, name))
        if name.startswith("_") or hasattr(base, name):
            continue
        is_hook = name.startswith("on_")
        near = difflib.get_close_matches(name, expected, n=1, cutoff=0.6 if is_hook else _MISSPELT)
        if near or is_hook:
            right = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(known)}"
            raise TypeError(f"{cls.__name__} defines `{name}`, which is not a hook; {right}")


def _check_hook(cls: type[_Algorithm], name: str, hook: Callable[..., object]) -> None:
    """A hook that cannot be called would end the first run only."""
    own = getattr(cls, name)
    if not callable(own):
        raise TypeError(f"`{name}` of {cls.__name__} is a hook; define it as a method")
    expected = list(inspect.signature(hook).parameters)
    try:
        inspect.signature(own).bind(*expected)
    except TypeError:
        raise TypeError(
            f"`{name}` of {cls.__name__} must take ({', '.join(expected)}), as the hook that it defines"
        ) from None


def _own_names(base: type[_Algorithm]) -> set[str]:
    """What every algorithm of this kind has; no parameter can be called so."""
    return {*dir(base), *(name for ancestor in base.__mro__ for name in inspect.get_annotations(ancestor))}


def _register(cls: type[_Algorithm]) -> None:
    if not _NAME.fullmatch(cls.name):
        raise TypeError(f"`{cls.name}` is not a name for an algorithm: use lower case, digits and `_`")
    base = _base(cls)
    if (base._kind, cls.name) in _built_in():
        raise TypeError(f"`{cls.name}` is a {base._kind} of Lightlag; give {cls.__name__} another name")
    hooks = {hook for hook in _hooks(base) if getattr(cls, hook) is not getattr(base, hook)}
    if base._needed and not hooks.intersection(base._needed):
        raise TypeError(f"{base._kind} `{cls.name}` must define `{'` or `'.join(base._needed)}`")
    declared = {
        name: value
        for ancestor in reversed(cls.__mro__)
        for name, value in vars(ancestor).items()
        if isinstance(value, _Declared)
    }
    if taken := _own_names(base).intersection(declared):
        raise TypeError(
            f"`{cls.name}` cannot call a parameter `{min(taken)}`: every {base._kind} has that already"
        )
    _lightlag.register(
        cls,
        {
            "kind": cls._kind,
            "name": cls.name,
            "paper": cls.paper or f"{cls.__module__}.{cls.__qualname__}",
            "only_with": list(cls.only_with),
            "parameters": [value.told(name) for name, value in declared.items()],
            "hooks": hooks,
            "flags": {flag for flag in cls._flags if getattr(cls, flag)},
            "recovery": getattr(cls, "recovery", ""),
        },
    )
    _REGISTERED[cls.name] = cls


_REGISTERED: dict[str, type[_Algorithm]] = {}


@cache
def _built_in() -> frozenset[tuple[str, str]]:
    """Kind and name of every algorithm in Rust."""
    return frozenset((row[0], row[1]) for row in _lightlag.algorithms())


def code_named_in(text: str) -> str:
    """A digest of the algorithms in Python that a scenario names: their source and their parameters.

    Empty if it names none. What their methods call outside their classes is not part of it.
    """
    used = [cls for name, cls in sorted(_REGISTERED.items()) if re.search(rf"\b{name}\b", text)]
    digest = hashlib.sha256()
    for ancestor in (ancestor for cls in used for ancestor in cls.__mro__):
        if ancestor.__module__.partition(".")[0] in {"lightlag", "builtins"}:
            continue
        digest.update(_source(ancestor).encode())
        parameters = {key: value for key, value in vars(ancestor).items() if isinstance(value, _Declared)}
        digest.update(repr(sorted(parameters.items())).encode())
    return digest.hexdigest()[:16] if used else ""


def _source(cls: type) -> str:
    try:
        return inspect.getsource(cls)
    except (OSError, TypeError):
        # A class that was typed into a prompt has no file.
        methods = {name: value.__code__ for name, value in vars(cls).items() if inspect.isfunction(value)}
        return repr([(name, code.co_code, code.co_names) for name, code in sorted(methods.items())])


def algorithms() -> pl.DataFrame:
    """All algorithms that scenarios can name, those in Python included.

    Routers, mechanisms, controllers, queue disciplines, loss models and mobility models.

    Returns:
        A row for each: `kind`, `name`, `paper`, `only_with` (routers or transports that it insists on;
        empty: any) and `parameters`, each as ``name = default unit (what is allowed): what it means``.
    """
    rows = [
        {
            "kind": kind,
            "name": name,
            "paper": paper,
            "only_with": only_with,
            "parameters": [_line(*parameter) for parameter in parameters],
        }
        for kind, name, paper, only_with, parameters in _lightlag.algorithms()
    ]
    schema = {"kind": pl.String, "name": pl.String, "paper": pl.String}
    lists = {"only_with": pl.List(pl.String), "parameters": pl.List(pl.String)}
    return pl.DataFrame(rows, schema={**schema, **lists})


def _line(name: str, unit: str, default: float | bool | str, domain: str, meaning: str) -> str:
    value = f"{default:g}" if isinstance(default, float) else str(default).lower()
    return f"{name} = {value}{' ' if unit else ''}{unit} ({domain}): {meaning}"
