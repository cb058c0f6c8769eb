"""Draws Vega-Lite specifications as PNG and SVG: pictures.py FOLDER_OF_SPECIFICATIONS OUT."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import vl_convert


def main() -> int:
    """Draws every `*.vl.json` of the folder."""
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    source, out = Path(sys.argv[1]), Path(sys.argv[2])
    specifications = sorted(source.glob("*.vl.json"))
    if not specifications:
        print(f"{source}: no *.vl.json in it; name a folder of figures", file=sys.stderr)
        return 2
    out.mkdir(parents=True, exist_ok=True)
    for path in specifications:
        specification = json.loads(path.read_text())
        name = path.name.removesuffix(".vl.json")
        (out / f"{name}.png").write_bytes(vl_convert.vegalite_to_png(specification, scale=2))
        (out / f"{name}.svg").write_text(vl_convert.vegalite_to_svg(specification))
        print(out / f"{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
