"""Draws figures with Vega, and says what is wrong with what was drawn; a test of the studies runs it.

Reads a JSON list of ``[name, specification]`` from standard input. A figure is right when it has marks, each
of them lies inside the axes of its plot, they use a good part of the vertical axis, and the numbers along an
axis ascend. Prints lines for each figure that is not right; exit code 1 if there is one.
"""

import itertools
import json
import math
import sys
from collections.abc import Iterator
from typing import Any

import vl_convert

# A mark may touch the edge of its plot: half of a line's width, in pixels.
EDGE = 1.0
# Of the height of the figure's plots, what their marks use at least.
USED = 0.2

Item = dict[str, Any]


def plots(group: Item) -> Iterator[Item]:
    """The groups that hold marks: one, or one for each panel; lines have a group of their own in theirs."""
    children = group.get("items", [])
    if any(mark.get("role") == "mark" and mark["marktype"] != "group" for mark in children):
        yield group
    for mark in children:
        if mark["marktype"] == "group" and mark.get("role") in {"frame", "scope", "cell", "mark"}:
            for item in mark["items"]:
                yield from plots({**item, "name": mark.get("name", "")})


def corners(item: Item, kind: str) -> Iterator[tuple[str, Any]]:
    """Coordinates of a mark that must lie inside; what is missing and needed is ``None``."""
    for axis, size in (("x", "width"), ("y", "height")):
        at = item.get(axis, None if kind in {"symbol", "line"} else 0)
        yield axis, at
        if kind == "rect" and size in item and at is not None:
            yield axis, None if item[size] is None else at + item[size]
        elif f"{axis}2" in item:
            yield axis, item[f"{axis}2"]


def wrong_in_plot(plot: Item) -> Iterator[str]:
    """What is wrong with the marks of a plot."""
    sizes = {"x": plot["width"], "y": plot["height"]}
    for mark in plot["items"]:
        if mark.get("role") != "mark" or mark["marktype"] == "group":
            continue
        name, kind = mark.get("name", mark["marktype"]), mark["marktype"]
        for item in mark["items"]:
            for axis, at in corners(item, kind):
                if item.get("defined", True) is False:
                    continue
                what = f"{name}: {axis} of `{item.get('description', '')}`"
                if at is None or not math.isfinite(at):
                    yield f"{what} is {at}"
                elif not -EDGE <= at <= sizes[axis] + EDGE:
                    yield f"{what} is {at:.0f} of {sizes[axis]}"


def heights(plot: Item) -> Iterator[float]:
    """Where the marks of a plot lie, as shares of its height."""
    for mark in plot["items"]:
        if mark.get("role") == "mark" and mark["marktype"] != "group":
            for item in mark["items"]:
                yield from (
                    at / plot["height"]
                    for axis, at in corners(item, mark["marktype"])
                    if axis == "y" and at is not None
                )


def number(text: str) -> float | None:
    """The number that a label shows; ``None`` where it shows a name or nothing."""
    text = text.replace(",", "").replace("\u2212", "-")
    units = {"k": 1e3, "M": 1e6, "G": 1e9, "m": 1e-3, "\u00b5": 1e-6}
    factor = units.get(text[-1:], 1.0)
    try:
        return float(text if factor == 1.0 else text[:-1]) * factor
    except ValueError:
        return None


def axes(group: Item) -> Iterator[tuple[str, list[Item]]]:
    """The labelled axes below a group: orientation and labels."""
    for mark in group.get("items", []):
        for item in mark["items"] if mark["marktype"] == "group" else []:
            if mark.get("role") == "axis":
                parts = [part for part in item["items"] if part.get("role") == "axis-label"]
                labels = [label for part in parts for label in part["items"]]
                if labels:
                    yield item["orient"], labels
            else:
                yield from axes(item)


def wrong_in_axis(orient: str, labels: list[Item]) -> Iterator[str]:
    """What is wrong with the labels of an axis."""
    shown = [label for label in labels if label["text"]]
    if len(shown) < 2 and len(labels) < 2:
        yield f"{orient} axis has {len(shown)} labels"
    axis, turn = ("x", 1) if orient in {"bottom", "top"} else ("y", -1)
    numbers = [number(label["text"]) for label in shown]
    places = [turn * label[axis] for label in shown]
    values = [(value, place) for value, place in zip(numbers, places, strict=True) if value is not None]
    if len(values) < len(shown):
        return
    values.sort()
    for before, after in itertools.pairwise(values):
        if not (before[0] < after[0] and before[1] < after[1]):
            yield f"{orient} axis: {before[0]} lies at {before[1]}, {after[0]} at {after[1]}"


def wrong(specification: Item) -> Iterator[str]:
    """All that is wrong with a figure."""
    root = vl_convert.vegalite_to_scenegraph(json.dumps(specification))["scenegraph"]
    drawn = [plot for item in root["items"] for plot in plots(item)]
    if not any(mark["items"] for plot in drawn for mark in plot["items"] if mark.get("role") == "mark"):
        yield "no marks"
        return
    for plot in drawn:
        yield from wrong_in_plot(plot)
    used = [share for plot in drawn for share in heights(plot)]
    if used and max(used) - min(used) < USED:
        yield f"the marks lie between {min(used):.2f} and {max(used):.2f} of the height"
    found = [axis for item in root["items"] for axis in axes(item)]
    if not {"bottom", "left"} <= {orient for orient, _ in found}:
        yield f"axes at {sorted({orient for orient, _ in found})} alone"
    for orient, labels in found:
        yield from wrong_in_axis(orient, labels)


def main() -> None:
    """Draws the figures of standard input."""
    failed = False
    for name, specification in json.load(sys.stdin):
        for line in list(wrong(specification))[:3]:
            print(f"{name}: {line}")
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
