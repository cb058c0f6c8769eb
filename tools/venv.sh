#!/usr/bin/env bash
# A Python environment in .venv with the development tools of pyproject.toml.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ ! -x .venv/bin/python ]; then
  python3 -m venv .venv || { echo "python3 -m venv failed; on Debian: apt-get install python3-venv" >&2; exit 2; }
fi
.venv/bin/python -m pip install --quiet --upgrade pip
# The [dev] group alone: the package itself is built by maturin.
.venv/bin/python - <<'PY' > .venv/requirements.txt
import tomllib
print("\n".join(tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["dev"]))
PY
.venv/bin/python -m pip install --quiet --requirement .venv/requirements.txt
touch .venv/.ready
