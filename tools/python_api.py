"""Writes docs/reference/python.md from the docstrings of the package: python_api.py [--check]."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
PACKAGE = TOP / "python/lightlag"
PAGE = TOP / "docs/reference/python.md"
# Modules that users import by name, beside `lightlag` itself.
MODULES = ("figures", "sockets")
HEAD = """# Python API

Generated from the docstrings by `tools/python_api.py`; a test fails if this page is stale.
How to use the package: [Python](../guide/python.md).
"""
Defined = ast.ClassDef | ast.FunctionDef


def tree(path: Path) -> ast.Module:
    """A parsed module."""
    return ast.parse(path.read_text())


def definitions() -> dict[str, Defined]:
    """Classes and functions of all modules by name; implementations win over the stubs of the native half."""
    stubs = sorted(PACKAGE.glob("*.pyi"))
    sources = [path for path in sorted(PACKAGE.glob("_*.py")) if path.name != "__init__.py"]
    found: dict[str, Defined] = {}
    for path in [*stubs, *sources]:
        for node in tree(path).body:
            if isinstance(node, Defined):
                found[node.name] = node
    return found


def exported() -> list[str]:
    """`__all__` of the package."""
    for node in tree(PACKAGE / "__init__.py").body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return sorted(ast.literal_eval(node.value), key=str.lower)
    raise SystemExit(f"{PACKAGE / '__init__.py'}: no __all__")


def prose(node: ast.AST) -> str:
    """A docstring as Markdown: sections as lists, examples as code."""
    text = ast.get_docstring(node) if isinstance(node, Defined | ast.Module) else None
    lines, section = [], ""
    for line in (text or "").splitlines():
        heading = re.fullmatch(r"(Args|Returns|Raises|Yields|Attributes|Example):", line)
        argument = re.fullmatch(r" {4}(\*{0,2}\w[\w, ]*): (.*)", line)
        if heading:
            section = heading[1]
            lines += ["", f"**{heading[1]}**", ""]
        elif argument:
            name = (
                f"`{argument[1]}`"
                if re.fullmatch(r"[\w*, ]*", argument[1]) and section != "Returns"
                else argument[1]
            )
            lines.append(f"- {name}: {argument[2]}")
        else:
            lines.append(re.sub(r"::$", ":", line))
    return "\n".join(lines)


def signature(node: ast.FunctionDef, owner: str = "") -> str:
    """A call as a user writes it."""
    arguments = node.args
    if owner and arguments.args and arguments.args[0].arg in ("self", "cls"):
        arguments = ast.arguments(**{**vars(arguments), "args": arguments.args[1:]})
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{owner}{node.name}({ast.unparse(arguments)}){returns}"


def call(node: ast.FunctionDef, owner: str, level: str) -> str:
    """A function: its name, how it is called, and its docstring."""
    return f"{level} {owner}{node.name}\n\n```python\n{signature(node, owner)}\n```\n\n{prose(node)}\n"


def is_public(node: ast.AST) -> bool:
    """Whether users may call it."""
    return isinstance(node, Defined) and not node.name.startswith("_")


def decorators(node: ast.FunctionDef) -> list[str]:
    """Their names."""
    return [ast.unparse(one) for one in node.decorator_list]


def is_attribute(node: ast.FunctionDef) -> bool:
    """Whether it is a property or its setter."""
    return any(one == "property" or one.endswith(".setter") for one in decorators(node))


def attributes(node: ast.ClassDef) -> Iterator[tuple[str, str, str]]:
    """Name, type and meaning of properties and of annotated fields with a docstring behind them."""
    for at, one in enumerate(node.body):
        if isinstance(one, ast.FunctionDef) and "property" in decorators(one) and is_public(one):
            kind = ast.unparse(one.returns) if one.returns else ""
            yield one.name, kind, " ".join((ast.get_docstring(one) or "").split())
        elif isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            behind = node.body[at + 1] if at + 1 < len(node.body) else None
            is_text = isinstance(behind, ast.Expr) and isinstance(behind.value, ast.Constant)
            text = behind.value.value if is_text else ""  # type: ignore[union-attr]
            if not one.target.id.startswith("_"):
                yield one.target.id, ast.unparse(one.annotation), " ".join(str(text).split())


def of_class(node: ast.ClassDef) -> Iterator[str]:
    """A class: attributes as a table, then methods."""
    bases = f"({', '.join(ast.unparse(base) for base in node.bases)})" if node.bases else ""
    yield f"### {node.name}\n\n```python\nclass {node.name}{bases}\n```\n\n{prose(node)}\n"
    rows = list(attributes(node))
    if rows:
        yield "| attribute | type | meaning |\n|---|---|---|"
        for name, kind, text in rows:
            yield f"| `{name}` | `{kind.replace('|', 'or')}` | {text} |"
        yield ""
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and is_public(one) and not is_attribute(one):
            yield call(one, f"{node.name}.", "####")


def page() -> str:
    """The whole page."""
    known = definitions()
    parts = [HEAD, "## lightlag\n"]
    for name in exported():
        node = known.get(name)
        if isinstance(node, ast.ClassDef):
            parts += of_class(node)
        elif node is not None:
            parts.append(call(node, "", "###"))
    for module in MODULES:
        source = tree(PACKAGE / f"{module}.py")
        parts.append(f"## lightlag.{module}\n\n{prose(source)}\n")
        for one in source.body:
            if is_public(one) and isinstance(one, ast.FunctionDef):
                parts.append(call(one, f"{module}.", "###"))
            elif is_public(one) and isinstance(one, ast.ClassDef):
                parts += of_class(one)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


def main() -> int:
    """Writes the page, or checks it."""
    present = page()
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text() != present:
            print(
                "docs/reference/python.md is stale; `python3 tools/python_api.py` writes it", file=sys.stderr
            )
            return 1
        return 0
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(present)
    return 0


if __name__ == "__main__":
    sys.exit(main())
