"""Python values as TOML, one line for each value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

Value: TypeAlias = "str | bool | int | float | Sequence[Value] | Mapping[str, Value]"
"""What a key of a scenario can be; a sequence is swept."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def document(keys: Mapping[str, Value]) -> str:
    """A TOML document in the order of the keys, which is the order of the axes of a sweep.

    Every value has a line of its own under its full name, so that errors can point at it.

    Raises:
        TypeError: A value has no counterpart in TOML.
    """
    return "".join(f"{line}\n" for line in _lines("", keys))


def _lines(path: str, keys: Mapping[str, Value]) -> Iterator[str]:
    for name, value in keys.items():
        full = f"{path}.{_key(name)}" if path else _key(name)
        if isinstance(value, Mapping) and value:
            yield from _lines(full, value)
        else:
            yield f"{full} = {inline(value)}"


def _key(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a key of a scenario is a string, not {name!r}")
    return name if _BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    # JSON's strings are TOML's basic strings, but for one control character that TOML escapes.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def inline(value: Value) -> str:
    """A value on one line.

    Raises:
        TypeError: It has no counterpart in TOML.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {inline(item)}" for name, item in value.items()) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(inline(item) for item in value) + "]"
    raise TypeError(f"a scenario cannot hold {value!r}: use text, numbers, true or false, lists and dicts")


def _number(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
