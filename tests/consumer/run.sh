#!/usr/bin/env bash
# run.sh HOW BUILD_DIR CXX SOURCE_DIR VERSION: a consumer project gets flopwatt by HOW (package, pkg-config or source),
# is built in a folder of its own, and runs.
set -euo pipefail
how=$1 build=$2 cxx=$3 source=$4 version=$5
here=$source/tests/consumer
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "$how" != source ]; then
  cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
fi
case $how in
  package)
    cmake -S "$here" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$cxx" \
      -DCMAKE_PREFIX_PATH="$work/prefix"
    cmake --build "$work/build"
    ;;
  pkg-config)
    PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name flopwatt.pc)")
    export PKG_CONFIG_PATH
    mkdir "$work/build"
    read -r -a flags <<<"$(pkg-config --cflags --libs flopwatt)"
    "$cxx" -std=c++20 -o "$work/build/consumer" "$here/main.cpp" "${flags[@]}"
    # Every installed header finds what it includes.
    (cd "$work/prefix/include" && find flopwatt -name '*.hpp' | sort | sed 's/.*/#include "&"/') >"$work/all.cpp"
    "$cxx" -std=c++20 -fsyntax-only "$work/all.cpp" "${flags[@]}"
    ;;
  source)
    cmake -S "$here" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER="$cxx" \
      -DFLOPWATT_FROM=source -DFLOPWATT_SOURCE="$source"
    cmake --build "$work/build" --target consumer
    ;;
esac
said=$("$work/build/consumer")
if [ "$said" != "$version 3.35 TB/s" ]; then
  echo "the consumer said: $said"
  exit 1
fi
