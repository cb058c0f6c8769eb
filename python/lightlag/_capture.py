"""Captures of packets."""

from __future__ import annotations

import html
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from lightlag import _checks, _lightlag


@dataclass(frozen=True, eq=False)
class Capture:
    """What a capture shows."""

    text: str
    """Tables and anomalies, as ``lightlag capture`` prints them."""
    figures: dict[str, Any] = field(repr=False)
    """The same as ``lightlag capture --json`` prints it, with every pause and every loss."""
    directions: pl.DataFrame = field(repr=False)
    """A row for each direction of each flow. Units stand last in the names of columns."""
    notes: list[str]
    """What is wrong with the file, and which packets were skipped."""

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """What a notebook shows: the text as it is."""
        return f"<pre>{html.escape(self.text)}</pre>"


def capture(
    path: str | os.PathLike[str],
    *,
    filters: Sequence[str] = (),
    dccp_ports: Sequence[int] = (),
    interface: str | int | None = None,
    pause: str = "200 ms",
    html: str | os.PathLike[str] | None = None,
) -> Capture:
    """Analyses a capture of packets: flows, round trips, losses and the reaction to each, pauses.

    Args:
        path: The capture: pcap or pcapng, such as ``run(trace="run.pcapng")`` writes.
        filters: Only flows with this: an address, a port, an address with a port, or a protocol such as
            ``dccp`` (``lightlag capture --help`` lists them); of several all must hold.
        dccp_ports: UDP ports that carry DCCP (RFC 6773); by default 6511.
        interface: Only packets of this interface, by its name or, from 0, its number; by default each flow
            counts at the interface of its first packet.
        pause: Shortest pause that is reported, with its unit.
        html: Write a report with charts here; it works without a network.

    Raises:
        ScenarioError: The file cannot be read or is not a capture; a filter, a port or a pause is wrong.
    """
    ports = [_checks.port(port) for port in dccp_ports]
    asked = [filters] if isinstance(filters, str) else list(filters)
    wanted: _lightlag.CaptureWanted = {
        "filters": asked,
        "dccp_ports": ports,
        "interface": None if interface is None else str(interface),
        "pause": pause,
        "html": html is not None,
    }
    text, figures, directions, page = _lightlag.analyse_capture(Path(path), wanted)
    if html is not None and page is not None:
        _checks.written(Path(html), page)
    read: dict[str, Any] = json.loads(figures)
    return Capture(text, read, pl.read_parquet(io.BytesIO(directions)), read["notes"])
