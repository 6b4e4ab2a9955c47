#!/usr/bin/env bash
# Formats the C++ sources; with --check only says which ones would change (exit 77: clang-format-19 is not here).
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v clang-format-19 >/dev/null; then
  echo "clang-format-19 is not installed; skipped"
  exit 77
fi
mode=(-i)
if [ "${1:-}" = --check ]; then mode=(--dry-run --Werror); fi
mapfile -d '' -t sources < <(find . -name build -prune -o \( -name '*.cpp' -o -name '*.hpp' -o -name '*.h' \) -print0)
clang-format-19 "${mode[@]}" "${sources[@]}"
echo "${#sources[@]} files are formatted."
