#!/usr/bin/env bash
# Every test of the project: Rust, then Python. Prints how long it took.
set -euo pipefail
cd "$(dirname "$0")/.."
started=$SECONDS
[ -e .venv/.ready ] && [ .venv/.ready -nt pyproject.toml ] || bash tools/venv.sh
echo "== rust: format, lints, tests"
cargo fmt --all --check
cargo clippy --quiet --workspace --all-targets -- -D warnings
cargo test --quiet --workspace
echo "== python: build, lints, types, tests"
# The dev profile shares its artefacts with the tests above.
PIP_QUIET=1 VIRTUAL_ENV=$PWD/.venv .venv/bin/maturin develop --quiet --profile dev
.venv/bin/ruff check --quiet python scenarios tests tools examples
.venv/bin/ruff format --check --quiet python scenarios tests tools examples
.venv/bin/mypy
.venv/bin/pytest -q
echo "all tests passed in $((SECONDS - started)) s"
