"""Puts the table and the picture of `make run` into the README: readme.py, after `make run`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import vl_convert

import results

TOP = Path(__file__).resolve().parents[1]
REPOSITORY = "https://github.com/lightlag/lightlag"
MARKS = ("<!-- results -->\n", "<!-- /results -->")
PICTURE = TOP / "docs/images/earth_mars.png"
ROUTERS = {
    "epidemic": "epidemic",
    "prophet": "PRoPHET",
    "spray_and_wait copies=10": "spray and wait",
    "contact_graph": "contact graph",
}
MECHANISMS = ("none", "rrcc", "afner", "storage_routing", "credit", "copy_value")
COLOURS = ("#b8bcc8", "#8fa8c8", "#c8b8a0", "#a0bfae", "#7d8fb3", "#e07b00")


def table(tasks: list[results.Task]) -> str:
    """Tasks down; the best, the next best and the bound across."""
    lines = ["| task | best | | next best, not ours | | bound |", "|---|---|---|---|---|---|"]
    for task in tasks:
        best, other = (f"{named(one[0])} | {results.shown(task, one[1])}" for one in (task.best, task.next))
        bound = f"{task.bound} {task.unit}".strip()
        lines.append(f"| {task.name} | **{best.replace(' | ', '** | **')}** | {other} | {bound} |")
    return "\n".join(["", *lines, "", ""])


def named(method: str) -> str:
    """A method with its page."""
    first, _, rest = method.partition(" ")
    page = TOP / f"docs/algorithms/{first}.md"
    link = f"[{first}]({REPOSITORY}/blob/main/docs/algorithms/{first}.md)" if page.exists() else first
    return f"{link} {rest}".strip()


def bars(points: list[dict[str, Any]], bound: float) -> dict[str, Any]:
    """Bundles delivered between Earth and Mars by router and mechanism, with the bound as a line."""
    rows = [
        {
            "router": ROUTERS[point["values"]["router"]],
            "mechanism": point["values"]["mechanism"],
            **{key: point["metrics"]["delivery_prob"][key] for key in ("mean", "low", "high")},
        }
        for point in points
    ]
    routers = {"field": "router", "sort": list(ROUTERS.values()), "title": None, "axis": {"labelAngle": 0}}
    order = {"field": "mechanism", "sort": list(MECHANISMS)}
    colour = {
        **order,
        "scale": {"domain": MECHANISMS, "range": COLOURS},
        "title": None,
        "legend": {"orient": "bottom"},
    }
    across = {"x": routers, "xOffset": order}
    share = {"scale": {"domain": [0, 1]}, "title": "mean, 95 % interval"}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": 620,
        "height": 260,
        "background": "white",
        "title": {"text": "Mars rovers to Earth, 48 h: share of bundles delivered", "anchor": "start"},
        "data": {"values": rows},
        "layer": [
            {
                "mark": {"type": "bar"},
                "encoding": {
                    **across,
                    "y": {"field": "mean", "type": "quantitative", **share},
                    "color": colour,
                },
            },
            {
                "mark": {"type": "rule"},
                "encoding": {
                    **across,
                    "y": {"field": "low", "type": "quantitative"},
                    "y2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "rule", "strokeDash": [6, 4], "color": "#c62828"},
                "encoding": {"y": {"datum": bound}},
            },
            {
                "data": {"values": [{"text": f"bound: {bound:.3f}"}]},
                "mark": {"type": "text", "align": "left", "dy": 9, "color": "#c62828"},
                "encoding": {"text": {"field": "text"}, "x": {"value": 4}, "y": {"datum": bound}},
            },
        ],
    }


def main() -> int:
    """Writes README.md and its picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=str(TOP / "target/release/lightlag"))
    tasks = [task(results.Lab(parser.parse_args().binary)) for task in results.TASKS]
    points = json.loads((results.EARTH_MARS / "summary.json").read_text())["points"]
    PICTURE.write_bytes(vl_convert.vegalite_to_png(bars(points, float(tasks[0].bound)), scale=2))
    readme = TOP / "README.md"
    before, rest = readme.read_text().split(MARKS[0])
    readme.write_text(before + MARKS[0] + table(tasks) + MARKS[1] + rest.split(MARKS[1])[1])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
