#!/usr/bin/env bash
# Fuzzes every parser for SECONDS each: bash fuzz/run.sh [SECONDS] [TARGET ...]
# Works on the stable compiler: coverage comes from LLVM's sancov pass, the engine from libfuzzer-sys.
set -euo pipefail
cd "$(dirname "$0")"
seconds=${1:-600}
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for file in fuzz_targets/*.rs; do targets+=("$(basename "$file" .rs)"); done
fi
host=$(rustc -vV | sed -n 's/^host: //p')
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
# With an explicit target, build scripts and procedural macros stay uninstrumented.
cargo build --quiet --release --target "$host"
for target in "${targets[@]}"; do
  mkdir -p "corpus/$target" artifacts
  seeds=(); [ -d "seeds/$target" ] && seeds=("seeds/$target")
  echo "== $target, $seconds s"
  "target/$host/release/$target" "corpus/$target" "${seeds[@]}" -artifact_prefix="artifacts/$target-" \
    -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=4096 -verbosity=0 -print_final_stats=1 2>&1 |
    grep -E 'number_of_executed_units|SUMMARY|panicked|ERROR' || true
  if ls artifacts/"$target"-* >/dev/null 2>&1; then echo "$target: found something, see fuzz/artifacts" >&2; exit 1; fi
done
