#!/usr/bin/env bash
# install-deps.sh GROUP…: installs those Debian packages of the groups that are missing.  Touches neither the network
# nor root's rights when everything is there.  FLOPWATT_SKIP_DEPS=1 skips it (other distributions, own tool chains).
set -euo pipefail

declare -A packages=(
  # What configures, compiles and tests.  Python 3 runs the layer check and the golden transcripts;
  # ROCm SMI's library is opened by a test of what it says where there is no device.
  [build]="g++ cmake ninja-build pkg-config python3 nlohmann-json3-dev libtomlplusplus-dev libfmt-dev libexpected-dev
           libeigen3-dev libboost-math-dev libcli11-dev libsqlite3-dev libcpp-httplib-dev prometheus-cpp-dev libgtest-dev libgmock-dev
           librocm-smi64-1"
  [format]="clang-format-19"
  [lint]="clang-19 clang-tidy-19 clang-format-19"
  [fuzz]="clang-19 libclang-rt-19-dev"
  [fast]="mold"
  [bench]="libbenchmark-dev"
  # A Slurm of one node, on which a test runs a sweep as a job array.
  [slurm]="slurm-wlm munge"
  # The training-step workload.  Without OpenBLAS LibTorch runs on the reference BLAS, at a tenth of the speed.
  [torch]="libtorch-dev libopenblas0-pthread"
  # What fetches and runs the scripts of reports, and what opens a report in a test.
  [report]="nodejs npm"
  [browser]="chromium"
)

# Groups of programs that often come from elsewhere, in packages of other names: nothing is installed where one is there.
present() {
  case $1 in
    report)
      command -v npm >/dev/null && command -v node >/dev/null &&
        node -e 'process.exit(parseInt(process.versions.node) >= 18 ? 0 : 1)' ;;
    browser) command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ;;
    *) false ;;
  esac
}

if [ "${FLOPWATT_SKIP_DEPS:-0}" = 1 ]; then exit 0; fi
wanted=()
for group in "$@"; do
  if [ -z "${packages[$group]:-}" ]; then
    echo "flopwatt: no package group '$group'; choose from: ${!packages[*]}" >&2
    exit 2
  fi
  if present "$group"; then continue; fi
  read -r -d '' -a names <<<"${packages[$group]}" || true
  wanted+=("${names[@]}")
done

if [ ${#wanted[@]} -eq 0 ]; then exit 0; fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "flopwatt: this is not a Debian system; install the equivalents of: ${wanted[*]}" >&2
  echo "flopwatt: then run again with FLOPWATT_SKIP_DEPS=1" >&2
  exit 4
fi

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=absent
  if [ "$status" != installed ]; then missing+=("$package"); fi
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "flopwatt: missing packages, and neither root nor sudo here; as root run: apt-get install ${missing[*]}" >&2
    exit 4
  fi
  as_root=(sudo)
fi
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}
echo "Installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt update && apt install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "flopwatt: the packages could not be installed; install by hand: ${missing[*]}" >&2
  exit 4
fi
