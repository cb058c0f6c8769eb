"""Runs the attacks that take minutes, and prints what was held, survived and tried.

python3 tools/torture.py [--seconds-of-fuzzing 0] [CASE ...]

Each of these tests prints a line `torture: CASE; load held; faults survived; bad inputs tried`.
Exit code 1: an attack succeeded.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
MARKED = re.compile(r'#\[ignore = "minutes; run by make torture"\]\s*(?:#\[[^\n]*\]\s*)*fn (\w+)')
# Attacks of `make test` that print a row, too.
QUICK = (
    ("daemon", "a_thousand_stalled_connections_in_500_mb_of_address_space"),
    ("daemon", "hosts_that_take_all_of_"),
    ("cli", "sessions_that_carry_nothing_keep_no_sender_out_of_tcpcl"),
)
HEADS = ("attack", "load held", "faults survived", "bad inputs tried")
FUZZED = ("daemon_doors", "daemon_settings", "adaptive", "udpdtn")


def marked() -> list[tuple[str, str]]:
    """Crate and name of each test that is marked for this command."""
    found: list[tuple[str, str]] = []
    for file in sorted((TOP / "crates").rglob("*.rs")):
        crate = file.relative_to(TOP / "crates").parts[0]
        found += [(crate, name) for name in MARKED.findall(file.read_text(encoding="utf-8"))]
    return found


def run(name: str) -> tuple[int, str]:
    """Runs one test; its exit code and what it prints. The workspace is built as `make test` builds it."""
    command = ["cargo", "test", "--quiet", "--workspace", "--tests", name, "--"]
    command += ["--include-ignored", "--nocapture", "--test-threads=1"]
    done = subprocess.run(
        command, cwd=TOP, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return done.returncode, done.stdout


def fuzz(seconds: int) -> list[tuple[str, ...]]:
    """Fuzzes the readers of bytes from unknown hosts and peers; a row for each target."""
    rows: list[tuple[str, ...]] = []
    for target in FUZZED:
        command = ["bash", "fuzz/run.sh", str(seconds), target]
        done = subprocess.run(command, cwd=TOP, text=True, capture_output=True, check=False)
        inputs = re.search(r"number_of_executed_units:\s*(\d+)", done.stdout)
        said = f"{int(inputs[1]):,}" if inputs and done.returncode == 0 else "FAILED"
        rows.append((f"fuzzing {target}, {seconds} s", "", "", said))
    return rows


def main() -> int:
    """Runs all, prints the table, and says by its exit code whether anything went wrong."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seconds-of-fuzzing", type=int, default=0, help="for each of the four targets")
    options.add_argument("cases", nargs="*", help="parts of names of tests; all if none is given")
    given = options.parse_args()
    rows: list[tuple[str, ...]] = []
    failed = []
    for crate, name in (*QUICK, *marked()):
        if given.cases and not any(case in name for case in given.cases):
            continue
        print(f"{crate}: {name}", file=sys.stderr)
        code, said = run(name)
        lines = re.findall(r"torture: (.*)", said)
        rows += [tuple(cell.strip() for cell in line.split(";")) for line in lines]
        if code != 0 or not lines:
            failed.append(name)
            print(said, file=sys.stderr)
    if given.seconds_of_fuzzing:
        rows += fuzz(given.seconds_of_fuzzing)
    print("| " + " | ".join(HEADS) + " |\n|" + "---|" * len(HEADS))
    for row in rows:
        print("| " + " | ".join((*row, "", "", "")[: len(HEADS)]) + " |")
    failed += [row[0] for row in rows if "FAILED" in row]
    print(f"\n{len(rows)} attacks, {len(failed)} failed" + (": " + ", ".join(failed) if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
