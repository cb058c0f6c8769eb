"""Texts use the words of the field: `words.txt` lists what to avoid, and `tools/words.py` finds it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
sys.path.insert(0, str(TOP / "tools"))

import words  # noqa: E402

BUILT = TOP / "target/debug"
# They quote the words to avoid.
QUOTES = ("test_words.py", "words.txt")


@pytest.mark.parametrize("group", words.groups())
def test_texts_use_the_words_of_the_field(group: str) -> None:
    paths = [path for path in words.groups()[group] if path.name not in QUOTES]
    found = [str(one) for path in paths for one in words.of_file(path)]
    assert not found, "\n".join(["see tests/python/words.txt", *found])


def helps(program: Path, *verbs: str) -> dict[str, str]:
    """The `--help` of a program and of all commands below it."""
    asked = [str(program), *verbs, "--help"]
    text = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    found = {" ".join([program.name, *verbs]): text}
    # Groups of commands stand between the usage and the options.
    listed = text.split("\nOptions:\n")[0].partition("Usage:")[2]
    names = re.findall(r"^  ([a-z][\w-]*)", listed, re.MULTILINE)
    for name in names:
        if name != "help":
            found |= helps(program, *verbs, name)
    return found


def test_help_uses_the_words_of_the_field() -> None:
    programs = [BUILT / name for name in ("lightlag", "lightlagd", "lightlag-run")]
    if not all(program.exists() for program in programs):
        pytest.skip("the programs are not built; `cargo build` builds them")
    texts = {verb: text for program in programs for verb, text in helps(program).items()}
    assert len(texts) > 25
    found = [str(one) for verb, text in texts.items() for one in words.findings(verb, text, ".txt")]
    assert not found, "\n".join(["see tests/python/words.txt", *found])


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Whoever is handed a rate begins at half of it.", "Whoever"),
        ("The delay that a scenario tells is used.", "tells"),
        ("The rate of so many\nflows is shared.", "so many"),
        ("A packet is to leave at once.", "is to leave"),
        ("Peers are picked by chance.", "by chance"),
        ("The way is short.", "way"),
        ("Data that nobody asked for are dropped.", "nobody"),
        ("Two carriers are built.", "carriers"),
    ],
)
def test_a_word_to_avoid_is_found_in_a_page_a_comment_and_a_string(text: str, word: str) -> None:
    commented = "\n".join(f"/// {line}" for line in text.splitlines())
    string = text.replace("\n", "\\\n    ")
    for source, ending in (
        (text, ".md"),
        (commented, ".rs"),
        (f'fail("{string}")', ".rs"),
        (f'"""{text}"""', ".py"),
    ):
        found = [re.sub(r"\s+", " ", one.words) for one in words.findings("here", source, ending)]
        assert word in found, (source, found)


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("A one-way delay in the same way. `tell` it.\n```sh\ntell whoever\n```\n", ".md"),
        ("let told = way(nobody); // The sender retries.\n", ".rs"),
        ("told = way(nobody)  # The sender retries.\n", ".py"),
    ],
)
def test_code_and_ordinary_english_are_left_alone(text: str, ending: str) -> None:
    assert not list(words.findings("here", text, ending))
