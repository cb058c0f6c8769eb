"""Runs the notebooks of docs/tutorials and makes pages of the manual from them.

tutorials.py                runs all, keeps their outputs, writes their pages and pictures
tutorials.py --check        fails if a page is not that of its notebook; runs nothing
tutorials.py --code FOLDER  writes the code of each as a module, for type checkers
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import nbformat
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbconvert import MarkdownExporter

TOP = Path(__file__).resolve().parents[1]
FOLDER = TOP / "docs/tutorials"
TIMEOUT_S = 300
NOTE = (
    "This page is the notebook [{name}.ipynb](https://github.com/lightlag/lightlag/blob/main/docs/tutorials/"
    "{name}.ipynb) with its outputs.\n"
)


def notebooks() -> list[Path]:
    """The notebooks, in their order."""
    return sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> nbformat.NotebookNode:
    """A notebook."""
    return nbformat.read(path, as_version=4)


def executed(path: Path) -> nbformat.NotebookNode:
    """A notebook with fresh outputs; it runs in an empty folder.

    Raises:
        nbclient.exceptions.CellExecutionError: A cell raised.
    """
    book = read(path)
    with tempfile.TemporaryDirectory() as folder:
        place = {"metadata": {"path": folder}}
        manager = KernelManager(kernel_name="python3", transport="ipc", ip=f"{folder}/kernel")
        NotebookClient(book, km=manager, timeout=TIMEOUT_S, resources=place).execute(cleanup_kc=True)
    return book


def code(path: Path) -> str:
    """All code of a notebook."""
    return "\n\n".join(cell.source for cell in read(path).cells if cell.cell_type == "code") + "\n"


def stripped(book: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Without bars, warnings and whatever else differs from one execution to the next."""
    book.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    for number, cell in enumerate(book.cells):
        cell.metadata = nbformat.from_dict({})
        cell.id = f"cell-{number}"
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return book


def page(path: Path) -> dict[Path, str]:
    """The page of a notebook and its pictures, by their paths."""
    exporter = MarkdownExporter()
    text, resources = exporter.from_notebook_node(
        read(path), {"unique_key": path.stem, "output_files_dir": path.stem}
    )
    # The heading stays first.
    heading, _, rest = text.strip().partition("\n")
    rest = re.sub(r"<style>.*?</style>\s*", "", rest, flags=re.DOTALL)
    rest = re.sub(r"\((\w+)\.ipynb\)", r"(\1.md)", rest).replace("![svg]", "![Chart]")
    note = NOTE.format(name=path.stem)
    made = {path.with_suffix(".md"): f"{heading}\n\n{note}{rest}\n"}
    for name, picture in resources["outputs"].items():
        made[path.parent / name] = picture.decode()
    return made


def check() -> int:
    """Whether the pages are those of the notebooks."""
    stale = [
        made
        for path in notebooks()
        for made, text in page(path).items()
        if not made.exists() or made.read_text() != text
    ]
    for path in stale:
        print(f"{path.relative_to(TOP)} is stale; `python3 tools/tutorials.py` writes it", file=sys.stderr)
    return int(bool(stale))


def main() -> int:
    """Runs what the command line asks for."""
    if sys.argv[1:] == ["--check"]:
        return check()
    if sys.argv[1:2] == ["--code"]:
        for path in notebooks():
            Path(sys.argv[2], f"{path.stem}.py").write_text(code(path))
        return 0
    for path in notebooks():
        nbformat.write(stripped(executed(path)), path)
        for made, text in page(path).items():
            made.parent.mkdir(exist_ok=True)
            made.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
