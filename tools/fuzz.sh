#!/usr/bin/env bash
# fuzz.sh DIR SECONDS: runs every fuzz target in DIR for SECONDS.  What it learns stays in build/fuzz/corpus; a crash
# leaves its input there and fails the run.
set -euo pipefail
folder=$1 seconds=$2
passed=0 failed=0
for program in "$folder"/fuzz_*; do
  if [ ! -x "$program" ] || [ -d "$program" ]; then continue; fi
  name=$(basename "$program")
  corpus=build/fuzz/corpus/$name
  seeds=fuzz/seeds/${name#fuzz_}
  mkdir -p "$corpus"
  echo "$name: $seconds s"
  folders=("$corpus")
  if [ -d "$seeds" ]; then folders+=("$seeds"); fi
  if "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
      -artifact_prefix="$corpus/../$name." "${folders[@]}" >"$corpus/../$name.log" 2>&1; then
    passed=$((passed + 1))
    grep -E 'number_of_executed_units|new_units_added' "$corpus/../$name.log" | sed 's/^/  /'
  else
    failed=$((failed + 1))
    tail -n 30 "$corpus/../$name.log"
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
