"""Finds the words of `tests/python/words.txt` in the texts of the repository.

words.py prints the count of each file; words.py PATH... prints every finding in these files and folders.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).resolve().parents[1]
LIST = TOP / "tests/python/words.txt"
FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,}).*?^(?P=fence)", re.MULTILINE | re.DOTALL)
QUIET = re.compile(r"`[^`\n]*`|\]\([^)\s]*\)|https?://\S+|<!--.*?-->", re.DOTALL)
# Longest first: a comment, a raw string, a string, and what would open either by mistake.
RUST = re.compile(
    r"//[^\n]*|/\*.*?\*/|b?r(?P<hash>#*)\".*?\"(?P=hash)|b?\"(?:\\.|[^\"\\])*\"|'(?:\\.[^']*|[^'\\])'",
    re.DOTALL,
)
PYTHON = re.compile(
    r"#[^\n]*|[rbfu]{0,2}(?P<three>\"\"\"|''')(?:\\.|.)*?(?P=three)|[rbfu]{0,2}\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'",
    re.DOTALL,
)
SHELL = re.compile(r"(?:^|(?<=\s))#[^\n]*|\"(?:\\.|[^\"\\])*\"|'[^']*'")
READERS = {
    ".rs": RUST,
    ".py": PYTHON,
    ".pyi": PYTHON,
    ".sh": SHELL,
    ".toml": re.compile(r"(?:^|(?<=\s))#[^\n]*"),
}


class Finding(NamedTuple):
    """A word to avoid: where it is, the words themselves, and what to write instead."""

    where: str
    line: int
    words: str
    better: str

    def __str__(self) -> str:
        return f"{self.where}:{self.line}: `{self.words}`; write: {self.better}"


def patterns() -> list[tuple[re.Pattern[str], str]]:
    """The list, compiled. A line without `=>` is an error."""
    lines = (line for line in LIST.read_text().splitlines() if line and not line.startswith("#"))
    pairs = (line.rsplit(" => ", 1) for line in lines)
    return [(re.compile(pattern, re.IGNORECASE | re.MULTILINE), better) for pattern, better in pairs]


def blank(text: re.Match[str]) -> str:
    """Spaces in place of `text`: lines keep their numbers, and no words become neighbours."""
    return re.sub(r"[^\n]", "\x00", text[0])


def prose(text: str, ending: str) -> str:
    """What a reader of a file reads as sentences; everything else is blank."""
    if ending == ".md":
        return QUIET.sub(blank, FENCE.sub(blank, text))
    reader = READERS.get(ending)
    if reader is not None:
        kept = [re.sub(r"[^\n]", "\x00", text[:0])]
        at = 0
        for found in reader.finditer(text):
            kept += [re.sub(r"[^\n]", "\x00", text[at : found.start()]), spoken(found[0])]
            at = found.end()
        text = "".join([*kept, re.sub(r"[^\n]", "\x00", text[at:])])
    return QUIET.sub(blank, text)


def spoken(piece: str) -> str:
    """A comment or a string as it reads: a continued line is one sentence."""
    return re.sub(r"^(\s*)(//[/!]?|#)", lambda mark: " " * len(mark[0]), piece, flags=re.MULTILINE)


def findings(where: str, text: str, ending: str) -> Iterator[Finding]:
    """Every word of the list in `text`."""
    read = prose(text, ending)
    # A sentence goes on in the next line.
    flat = re.sub(r"(?<=\S)\n(?=\S)", " ", read) if ending == ".md" else read
    for pattern, better in patterns_once():
        for found in pattern.finditer(flat):
            yield Finding(where, read.count("\n", 0, found.start()) + 1, found[0].strip(), better)


def patterns_once(cache: list[tuple[re.Pattern[str], str]] = []) -> list[tuple[re.Pattern[str], str]]:  # noqa: B006
    """The list, read once."""
    if not cache:
        cache.extend(patterns())
    return cache


GROUPS = {
    "docs": ["*.md", "docs/*.md", "docs/[!r]*/**/*.md", "docs/reference/python.md"],
    "reference": ["docs/reference/[!p]*.md"],
    "python": ["python/**/*.py", "python/**/*.pyi", "examples/**/*.py"],
    "tools": ["tools/*.py", "tools/*.sh", "tests/**/*.py", "fuzz/*.sh", ".ci/run"],
    "project": [".github/**/*.md", ".github/**/*.yml", "CITATION.cff"],
    "scenarios": ["scenarios/**/*.toml", "scenarios/**/*.py"],
}


def groups() -> dict[str, list[Path]]:
    """Files by group: one for the documents, one for each crate, and so on."""
    found = {
        name: [path for glob in globs for path in sorted(TOP.glob(glob))] for name, globs in GROUPS.items()
    }
    for crate in sorted((TOP / "crates").iterdir()):
        found[f"crates/{crate.name}"] = sorted(crate.glob("src/**/*.rs"))
        found[f"crates/{crate.name} tests"] = sorted(
            [*crate.glob("tests/**/*.rs"), *crate.glob("benches/**/*.rs")]
        )
    return {
        name: [path for path in paths if path.name != "words.py"] for name, paths in found.items() if paths
    }


def of_file(path: Path) -> list[Finding]:
    """Every word of the list in a file, by line."""
    where = str(path.relative_to(TOP)) if path.is_relative_to(TOP) else str(path)
    return sorted(findings(where, path.read_text(), path.suffix), key=lambda found: found.line)


def main(arguments: list[str]) -> int:
    """Prints counts or findings; exit code 1 if a named file has findings."""
    if arguments:
        named = [Path(one).resolve() for one in arguments]
        paths = [path for paths in groups().values() for path in paths]
        paths = [path for path in paths if any(path == one or one in path.parents for one in named)]
        found = [one for path in paths for one in of_file(path)]
        print("\n".join(map(str, found)))
        return 1 if found else 0
    total = 0
    for name, paths in groups().items():
        counts = {path: len(of_file(path)) for path in paths}
        total += sum(counts.values())
        print(f"{sum(counts.values()):6}  {name}")
        for path, count in counts.items():
            if count:
                print(f"{count:12}  {path.relative_to(TOP)}")
    print(f"{total:6}  in all")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
