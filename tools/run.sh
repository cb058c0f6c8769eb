#!/usr/bin/env bash
# The main job within minutes: the quick study and two real places, a report and a table.
set -euo pipefail
cd "$(dirname "$0")/.."
started=$SECONDS
say() { printf '\n== %s\n' "$*"; }

[ -e .venv/.ready ] && [ .venv/.ready -nt pyproject.toml ] || { say "Python environment"; bash tools/venv.sh; }
say "build"
cargo build --quiet --release -p lightlag-cli
bin=target/release/lightlag

# Results of an older build would not be resumed.
rm -rf out/study/dtn-congestion-quick out/earth_mars out/helsinki

say "the quick study of congestion control in DTNs"
"$bin" study dtn-congestion --quick --out out/study/dtn-congestion-quick

say "Earth and Mars: contacts and light times from the ephemeris"
.venv/bin/python scenarios/places/earth_mars.py --out out/earth_mars.contacts
"$bin" sweep scenarios/earth_mars.toml --set contacts.plan.file="$PWD/out/earth_mars.contacts" --out out/earth_mars
"$bin" report out/earth_mars

say "Helsinki: people who walk a real street map"
.venv/bin/python scenarios/places/helsinki.py --out out/maps
"$bin" sweep scenarios/helsinki.toml --out out/helsinki
"$bin" report out/helsinki

say "pictures"
.venv/bin/python tools/pictures.py out/study/dtn-congestion-quick/figures out/pictures

say "done in $((SECONDS - started)) s"
echo "open out/study/dtn-congestion-quick/report.html, out/earth_mars/report.html, out/helsinki/report.html"
