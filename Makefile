# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The short names of everyday work; CMake and ctest do it.
PRESET ?= dev
BUILD := build/$(PRESET)
# Packages are installed once per machine and per version of the script.
STAMP := build/.setup-$(shell sha1sum scripts/setup.sh | cut -c1-12)
# The virtual environment that the Python package is built and tested in.
PYTHON_STAMP := build/.python-$(shell sha1sum python/requirements.txt | cut -c1-12)
# NVIDIA's assembler and disassembler in that environment.
GPU_STAMP := build/.gpu-$(shell sha1sum scripts/gpu_tools.sh | cut -c1-12)
# What the peers of the benchmarks are installed by.
BENCH_STAMP := build/.bench-$(shell sha1sum bench/requirements.txt | cut -c1-12)
SHELL := /bin/bash

.PHONY: all build build-python demo test test-all bench models random fuzz format tidy clean
all: build

$(STAMP): scripts/setup.sh
	scripts/setup.sh
	@mkdir -p build && touch $@

$(PYTHON_STAMP): python/requirements.txt $(STAMP)
	test -x .venv/bin/python || python3 -m venv .venv
	.venv/bin/pip install --quiet --disable-pip-version-check -r python/requirements.txt
	@touch $@

# They are optional: where they cannot be installed now, the next make tries again.
$(GPU_STAMP): scripts/gpu_tools.sh $(PYTHON_STAMP)
	@if scripts/gpu_tools.sh; then touch $@; fi

$(BENCH_STAMP): bench/requirements.txt $(PYTHON_STAMP)
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -r bench/requirements.txt
	-.venv/bin/python -m pip install --quiet --disable-pip-version-check iree-base-compiler iree-base-runtime
	@touch $@

build: $(STAMP)
	@test -f $(BUILD)/build.ninja || cmake --preset $(PRESET)
	cmake --build --preset $(PRESET)

# With the virtual environment the build has the Python package, too.
build-python: $(STAMP) $(PYTHON_STAMP) $(GPU_STAMP)
	@test $(BUILD)/build.ninja -nt $(PYTHON_STAMP) || cmake --preset $(PRESET)
	cmake --build --preset $(PRESET)

demo: build
	@scripts/demo.sh $(BUILD)

test: build-python
	scripts/test.sh $(BUILD)

# The same, and everything again for each kind of CPU that this machine can be.
test-all: build-python
	scripts/test_all.sh $(BUILD)

# Models and operators beside PyTorch, Inductor, ONNX Runtime and IREE, and beside what the machine sustains. What is in
# build/bench.json already is not measured again; BENCH='--rows=models --budget=600' chooses and slices (bench/cpu.py).
bench: build $(BENCH_STAMP)
	.venv/bin/python bench/cpu.py --tool=$(BUILD)/bin/tilewright --json=build/bench.json $(BENCH)

models: build
	scripts/models.sh

# Models drawn at random, N of them from SEED on: more than the tests have. Failures stay in build/random.
N ?= 100
SEED ?= 1000
random: build
	scripts/random_models.sh $(BUILD) $(SEED) $(N)

# Fuzzes the readers of files, each for SECONDS_EACH; goes on where the last run stopped.
SECONDS_EACH ?= 600
fuzz: $(STAMP)
	SECONDS_EACH=$(SECONDS_EACH) scripts/fuzz.sh

format:
	scripts/format.sh

tidy: build
	scripts/tidy.sh $(BUILD)

clean:
	rm -rf build
