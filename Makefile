# The doors of the project.  Each one alone, on a Debian 12 with git, make and root (or sudo), installs what is missing
# from the distribution's packages, configures, builds and runs; a second run does only what changed.
#
#   make build    the program: build/release/flopwatt        make lint     clang-tidy, formatting, layers, headers
#   make run      the main job: power of a training run      make fuzz     every fuzz target, FUZZ_SECONDS each
#   make test     everything that is tested                  make format   clang-format over all sources
#   make bench    the benchmarks                             make clean    forget all builds
#
# Variables: JOBS=N, WERROR=ON (warnings are errors), FLOPWATT_SHARED=DIR (measured data; tests that need it are
# skipped without), FLOPWATT_SKIP_DEPS=1 (install nothing), CMAKE_ARGS="-D…".
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
MAKEFLAGS += --no-print-directory

JOBS ?= $(shell nproc)
WERROR ?= OFF
FUZZ_SECONDS ?= 60
FLOPWATT_SHARED ?= $(realpath ../shared/data)
export FLOPWATT_SKIP_DEPS

# Quicker where they happen to be installed, never needed.  Without ccache the modules are compiled eight sources at a
# time, in a third of the time.
faster = $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache,\
              -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=8) \
         $(if $(shell command -v mold),-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold)
configure = cmake --preset $(1) --log-level=WARNING -DFLOPWATT_SHARED='$(FLOPWATT_SHARED)' \
            -DFLOPWATT_WERROR=$(WERROR) $(faster) $(CMAKE_ARGS) $(2) >/dev/null
build = cmake --build build/$(1) -j $(JOBS) $(2)
# Longest tests first would need a history; ctest keeps one by itself.
ctest = ctest --test-dir build/$(1) -j $(JOBS) --output-on-failure $(2)

.PHONY: build run test sanitize bench lint fuzz format headers clean
build:
	tools/install-deps.sh build
	$(call configure,release)
	$(call build,release,--target flopwatt_program)

run: build
	tools/run.sh build/release/flopwatt

test:
	tools/install-deps.sh build torch slurm report browser
	$(call configure,release)
	$(call build,release)
	$(call build,release,--target report-assets)
	$(call ctest,release)

# With clang: the second compiler that everything must pass, and quicker than GCC at instrumented code.  Each source by
# itself: it must include what it uses.
sanitize:
	tools/install-deps.sh build fuzz
	$(call configure,asan-ubsan,-DCMAKE_UNITY_BUILD=OFF)
	$(call build,asan-ubsan)
	$(call ctest,asan-ubsan,-LE 'lint|browser|slurm')

# Every public header compiles alone.
headers:
	tools/install-deps.sh build
	$(call configure,release)
	$(call build,release,--target all_verify_interface_header_sets)

bench:
	tools/install-deps.sh build bench
	$(call configure,bench)
	$(call build,bench,--target benchmarks)
	for program in build/bench/benchmarks/*_benchmark; do "$$program"; done

lint:
	tools/install-deps.sh build lint
	$(call configure,lint,-DCMAKE_UNITY_BUILD=OFF)
	$(call build,lint)
	$(call build,lint,--target all_verify_interface_header_sets)
	$(call ctest,lint,-L lint)

fuzz:
	tools/install-deps.sh build fuzz
	$(call configure,fuzz)
	$(call build,fuzz,--target fuzzers)
	tools/fuzz.sh build/fuzz/fuzz $(FUZZ_SECONDS)

format:
	tools/install-deps.sh format
	tools/format.sh

clean:
	rm -rf build
