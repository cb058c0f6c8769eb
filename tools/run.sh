#!/usr/bin/env bash
# Measures the strongest mechanism of each part in minutes: a quick study, two real places, reports, and a table.
set -euo pipefail
cd "$(dirname "$0")/.."
started=$SECONDS
mkdir -p out/logs
say() { printf '\n== %s\n' "$*"; }
# Runs a command; its output goes to out/logs/NAME.txt, of which the end is shown if it fails.
logged() {
  local log="out/logs/$1.txt" before=$SECONDS
  shift
  "$@" > "$log" 2>&1 || { tail -n 20 "$log" | cut -c 1-110 >&2; echo "failed; all of it: $log" >&2; exit 1; }
  echo "   $((SECONDS - before)) s; output: $log"
}

[ -e .venv/.ready ] && [ .venv/.ready -nt pyproject.toml ] || { say "Python environment"; logged venv bash tools/venv.sh; }
say "build"
logged build cargo build --release -p lightlag-cli --features lightlag-cli/daemon
bin=target/release/lightlag

# Results of an older build would not be resumed.
rm -rf out/study/dtn-congestion-quick out/earth_mars out/helsinki out/results

say "quick study of congestion control in delay-tolerant networks"
logged study "$bin" study dtn-congestion --quick --out out/study/dtn-congestion-quick

say "Earth and Mars: contacts and light times from the ephemeris"
logged contacts .venv/bin/python scenarios/places/earth_mars.py --out out/earth_mars.contacts
logged earth_mars "$bin" sweep scenarios/earth_mars.toml --set contacts.plan.file="$PWD/out/earth_mars.contacts" \
  --out out/earth_mars
logged earth_mars_report "$bin" report out/earth_mars


say "Helsinki: people who walk a real street map"
logged map .venv/bin/python scenarios/places/helsinki.py --out out/maps
logged helsinki "$bin" sweep scenarios/helsinki.toml --out out/helsinki
logged helsinki_report "$bin" report out/helsinki

say "pictures"
logged pictures .venv/bin/python tools/pictures.py out/study/dtn-congestion-quick/figures out/pictures

say "walkers, deep space, named data, connections"
logged results .venv/bin/python tools/results.py --binary "$bin"

say "done in $((SECONDS - started)) s; reports for any browser:"
printf '   %s\n' out/study/dtn-congestion-quick/report.html out/earth_mars/report.html out/helsinki/report.html
echo
cat out/logs/results.txt
say "Earth and Mars, none beside copy_value; open it in a browser:"
echo "   $PWD/out/earth_mars/view.html"
