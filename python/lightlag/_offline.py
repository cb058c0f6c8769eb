"""Altair charts that notebooks show and that are saved without a network."""

from __future__ import annotations

import html
import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import altair as alt
from altair.utils.mimebundle import spec_to_mimebundle

from lightlag import _lightlag


class _Offline(alt.TopLevelMixin):
    """What Altair loads from the network is here part of the page, or drawn at once."""

    def save(self, fp: Any, format: Any = None, *args: Any, **options: Any) -> None:
        """Saves the chart; HTML holds all that it needs.

        Args:
            fp: A path, or a file that is open for writing.
            format: ``json``, ``html``, ``png``, ``svg`` or ``pdf``; by default the end of the path. The last
                three need ``pip install lightlag[figures]``.
            args: Further arguments of Altair's `save`.
            options: Further options of Altair's `save`.
        """
        is_path = isinstance(fp, (str, os.PathLike))
        if format != "html" and not (is_path and format is None and Path(fp).suffix == ".html"):
            super().save(fp, format, *args, **options)
        elif is_path:
            Path(fp).write_text(self._page(), encoding="utf-8")
        else:
            fp.write(self._page())

    def _page(self) -> str:
        title = self.to_dict().get("title", "")
        text = title if isinstance(title, str) else title.get("text", "")
        return _lightlag.chart_html(str(text) or "Lightlag", json.dumps(self.to_dict()))

    def _repr_mimebundle_(self, *args: Any, **options: Any) -> Any:
        """What a notebook shows: a drawing; without vl-convert a page in a frame."""
        if alt.renderers.active != "default":
            return super()._repr_mimebundle_(*args, **options)
        if find_spec("vl_convert"):
            return spec_to_mimebundle(self.to_dict(), "svg", mode="vega-lite")
        page = html.escape(self._page())
        frame = f'<iframe srcdoc="{page}" width="100%" height="450" frameborder="0"></iframe>'
        return {"text/html": frame}


class LayerChart(_Offline, alt.LayerChart):
    """Layers over common axes."""


class FacetChart(_Offline, alt.FacetChart):
    """Small multiples."""


class VConcatChart(_Offline, alt.VConcatChart):
    """Charts below each other."""
