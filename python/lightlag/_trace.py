"""Traces of runs as tables with names, categories and durations."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl

from lightlag._lightlag import ScenarioError

KINDS: dict[str, tuple[str, ...]] = {
    "bundles": (
        *("node", "reply", "created", "rejected", "contact_up", "rate", "contact_down", "started", "aborted"),
        *("sent", "stored", "delivered", "refused", "control", "gone", "sample", "position", "end"),
    ),
    "packets": ("offered", "arrived", "dropped", "delivered", "end"),
    "names": ("offered", "arrived", "dropped", "asked", "delivered", "produced", "hit", "refused", "end"),
}
"""Kinds of records in each world."""

_NODES = ("node", "peer", "holder", "from", "to")
"""Columns that hold names of nodes."""
_FEW = ("what", "why", "link", "flow", "prefix", "consumer", "producer")
"""Columns of text with few values."""
_RATES = ("rate", "rate_back")
_NEVER_NS = 2**63 - 1


def read(path: Path, nodes: list[str]) -> pl.DataFrame:
    """The records of a trace in Parquet.

    Numbers of nodes, links and so on give way to their names, and numbers of nanoseconds to durations.
    """
    table = pl.read_parquet(path)
    world = "bundles" if "bundle" in table.columns else "names" if "consumer" in table.columns else "packets"
    named = [name for name in table.columns if name.endswith("_name")]
    table = table.drop([name.removesuffix("_name") for name in named], strict=False)
    table = table.rename({name: name.removesuffix("_name") for name in named})
    kinds, places = pl.Enum(KINDS[world]), pl.Enum(nodes)

    def column(name: str) -> pl.Expr:
        one = pl.col(name)
        if name.endswith("_ns"):
            stem = name.removesuffix("_ns")
            return pl.when(one != _NEVER_NS).then(one).cast(pl.Duration("ns")).alias(stem)
        if name.endswith("_ms"):
            return (one.cast(pl.Int64) * 1_000_000).cast(pl.Duration("ns")).alias(name.removesuffix("_ms"))
        if name == "kind":
            return one.cast(pl.String).cast(kinds)
        if name in _NODES:
            return one.cast(pl.String).cast(places)
        if name in _FEW:
            return one.cast(pl.String).cast(pl.Categorical)
        return one.alias(f"{name}_bit_per_s") if name in _RATES else one

    first = ["time_ns", "kind"]
    return table.select(column(name) for name in [*first, *(n for n in table.columns if n not in first)])


def series(parquet: bytes, nodes: list[str]) -> pl.DataFrame:
    """The samples of a run, with durations and names in the place of numbers."""
    table = pl.read_parquet(io.BytesIO(parquet))
    time = pl.col("time_ns").cast(pl.Duration("ns")).alias("time")
    names = pl.col("name").cast(pl.Categorical)
    if "node" in table.columns:
        numbers = dict(enumerate(nodes))
        node = pl.col("node").replace_strict(numbers, return_dtype=pl.Enum(nodes))
        return table.select(time, node, names, "value")
    ends = [pl.col(name).cast(pl.Categorical) for name in ("flow", "link")]
    return table.select(time, *ends, names, "value")


def of_kind(trace: pl.DataFrame | None, kind: str) -> pl.DataFrame:
    """The records of one kind, with the columns that they fill."""
    if trace is None:
        raise ScenarioError("records: the run kept no trace; run it with `trace=True`")
    dtype = trace.schema["kind"]
    known = dtype.categories.to_list() if isinstance(dtype, pl.Enum) else []
    if kind not in known:
        raise ScenarioError(f"records: unknown kind `{kind}`; known: {', '.join(known)}")
    rows = trace.filter(pl.col("kind") == kind).drop("kind")
    return rows.select(name for name in rows.columns if rows[name].null_count() < len(rows) or name == "time")
