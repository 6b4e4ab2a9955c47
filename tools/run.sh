#!/usr/bin/env bash
# run.sh PROGRAM: the main job, as `make run` shows it.
set -euo pipefail
program=$1
command=(train Qwen/Qwen2.5-3B --device A100-PCIE-80GB --dtype bfloat16 --micro-batch 128 --seq 11 --mfu 0.354
         --tokens 1000000000 --carbon-g-per-kwh 400 --price-per-kwh 0.25)

echo "What it takes to train Qwen2.5-3B on 10^9 tokens with one A100, from its config.json, the batch shape and the MFU"
echo "that the job reaches: no power meter is read.  The power model was fitted by flopwatt to a public study's data."
echo
echo "\$ flopwatt ${command[*]}"
"$program" "${command[@]}"
