"""Draws figures with Vega, and says what is wrong with what was drawn; a test of the studies runs it.

Reads a JSON list of ``[name, specification]`` from standard input. A figure is right when each plot has
marks, all of them lie inside the axes of their plot, they use a good part of the vertical axis, the numbers
along an axis ascend, every axis belongs to a plot, and one of numbers has a title. No two texts of axes
touch, also in a wide font. Curves of several colours have a legend, whose entries differ and are drawn; no
title repeats its unit, no number is a zero with a sign. Prints lines for each figure that is not right;
exit code 1 if there is one.
"""

import itertools
import json
import math
import re
import sys
from collections.abc import Iterator
from typing import Any

import vl_convert

# A mark may touch the edge of its plot: half of the width of the thickest line, in pixels.
EDGE = 2.0
# Of the height of the figure's plots, what their marks use at least.
USED = 0.2
# Width of a character in the widest common font, as a share of the font's size: of narrow and of other
# characters, and the factor of bold ones.
NARROW, WIDE, BOLD = 0.36, 0.63, 1.1
# Height of a line of text, as a share of the font's size.
LINE = 1.2
# Between two texts, in pixels.
GAP = 1.0
# Between a plot and its axis, in pixels.
OFFSET = 30.0

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
                    yield f"{what} has no place"
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


def places(
    item: Item, at: tuple[float, float] = (0.0, 0.0)
) -> Iterator[tuple[Item, str, tuple[float, float]]]:
    """All items below one, with the role of their mark and where they lie in the figure."""
    for mark in item.get("items", []):
        for child in mark["items"]:
            here = (at[0] + (child.get("x") or 0), at[1] + (child.get("y") or 0))
            yield child, mark.get("role", ""), here
            if mark["marktype"] == "group":
                yield from places(child, here)


def width(text: str, item: Item) -> float:
    """Width of a line of text, in pixels."""
    characters = sum(NARROW if character in " .,:;'()|ijlt" else WIDE for character in text)
    bold = BOLD if item.get("fontWeight") == "bold" else 1.0
    return float(characters * bold * item["fontSize"])


def box(item: Item, at: tuple[float, float]) -> tuple[float, float, float, float] | None:
    """Left, top, right and bottom of a text; ``None`` of one that leans."""
    lines = item["text"] if isinstance(item["text"], list) else [item["text"]]
    long = max(width(str(line), item) for line in lines)
    high = len(lines) * LINE * item["fontSize"]
    aligned = {"left": 0.0, "center": 0.5, "right": 1.0}[item.get("align", "left")]
    based = {"top": 0.0, "middle": 0.5}.get(item.get("baseline", "alphabetic"), 1.0)
    x, y = at
    if item.get("angle", 0) == 0:
        left, top = x - aligned * long, y - based * high
        return left, top, left + long, top + high
    if item["angle"] in {-90, 270}:
        left, top = x - based * high, y - (1 - aligned) * long
        return left, top, left + high, top + long
    return None


def wrong_in_texts(root: Item) -> Iterator[str]:
    """Texts of axes that touch, in the order in which they are drawn."""
    shown, axis = [], 0
    for item, role, at in places(root):
        axis += role == "axis"
        if role in {"axis-label", "axis-title"} and item["text"] and item.get("opacity", 1) > 0:
            where = box(item, at)
            if where:
                shown.append((item["text"], role, axis, where))
    for one, other in itertools.combinations(shown, 2):
        # An axis keeps its title away from its labels itself.
        if one[2] == other[2] and one[1] != other[1]:
            continue
        (left, top, right, bottom), (left_2, top_2, right_2, bottom_2) = one[3], other[3]
        if left < right_2 + GAP and left_2 < right + GAP and top < bottom_2 and top_2 < bottom:
            yield f"`{one[0]}` touches `{other[0]}`"


def wrong_in_places(root: Item) -> Iterator[str]:
    """Axes below no plot, titles that repeat their unit, and zeros with a sign."""
    plotted = [
        (at, item)
        for item, role, at in places(root)
        if role in {"scope", "cell", "frame"} and "height" in item
    ]
    plotted.append(((root.get("x", 0), root.get("y", 0)), root))
    for item, role, (x, y) in places(root):
        if (
            role == "axis"
            and item["orient"] == "bottom"
            and any(part["role"] == "axis-label" for part in item["items"])
        ):
            below = [
                group
                for (left, top), group in plotted
                if abs(left - x) < 2 and 0 <= y - top - group["height"] < OFFSET
            ]
            if not below:
                yield f"an axis at {x:.0f}, {y:.0f} belongs to no plot"
        if role == "axis-title":
            text = " ".join(item["text"]) if isinstance(item["text"], list) else item["text"]
            unit = re.fullmatch(r"(.*) \((.*)\)", text)
            if unit and unit[2] in unit[1].split():
                yield f"the title `{text}` repeats its unit"
        if role == "mark" and re.fullmatch(r"[+\u2212-]0(\.0*)?", str(item.get("text", ""))):
            yield f"zero is written as {item['text']}"


def wrong_in_titles(root: Item) -> Iterator[str]:
    """Axes of numbers whose quantity is not named."""
    for item, role, _ in places(root):
        if role == "axis":
            texts = {part["role"]: [text.get("text") for text in part["items"]] for part in item["items"]}
            labels = [text for text in texts.get("axis-label", []) if text]
            if labels and all(number(text) is not None for text in labels) and not texts.get("axis-title"):
                yield f"an axis with `{labels[0]}` has no title"


def look(item: Item) -> tuple[Any, ...]:
    """What distinguishes a series from others: colour, shape and dashes."""
    colour = item.get("fill") if item.get("fill") not in {None, "transparent"} else item.get("stroke")
    return colour, item.get("shape"), tuple(item.get("strokeDash") or ())


def wrong_in_legend(root: Item, drawn: list[Item]) -> Iterator[str]:
    """Curves that nothing names, and names of nothing or of several things."""
    entries = [look(item) for item, role, _ in places(root) if role == "legend-symbol"]
    marks = [mark for plot in drawn for mark in plot["items"] if mark.get("role") == "mark"]
    colours = {look(item)[0] for mark in marks for item in mark["items"]}
    curves = {
        look(item)[0] for mark in marks if mark["marktype"] in {"line", "symbol"} for item in mark["items"]
    }
    legends = any(role == "legend-symbol" or role == "legend-gradient" for _, role, _ in places(root))
    if len(curves) > 1 and not legends:
        yield f"{len(curves)} curves without a legend"
    if len(set(entries)) < len(entries):
        yield "two entries of the legend look alike"
    for colour, *_ in entries:
        if colour not in colours:
            yield f"the legend names {colour}, which is not drawn"


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
    for item in root["items"]:
        yield from wrong_in_texts(item)
        yield from wrong_in_places(item)
        yield from wrong_in_titles(item)
        yield from wrong_in_legend(item, drawn)


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
