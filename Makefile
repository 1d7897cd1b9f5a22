# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
# Short names for the scripts in scripts/, which do the work. Each target sets up whatever it needs.
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help demo test test-all asan tsan clang fuzz chaos checks adversary bench gpu-test gpu-test2 gpu-bench tidy reference format install uninstall deb clean

help: ## explain the targets
	@echo "Troupe. Each of these installs what is missing (Debian, Ubuntu), builds, and runs:"
	@echo
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18
	@echo
	@echo "JOBS=n says how much to do at once; by default as much as cores and memory allow."

demo: ## run the demo
	@scripts/demo $(ARGS)
test: ## build everything, run all tests
	@scripts/test release $(ARGS)
test-all: ## the tests, also those of which test runs a sample: hours
	@TROUPE_TESTS=all scripts/test release $(ARGS)
asan: ## the tests under the address and undefined-behaviour sanitizers
	@scripts/test asan $(ARGS)
tsan: ## the tests under the thread sanitizer
	@scripts/test tsan $(ARGS)
clang: ## the tests built by clang
	@scripts/test clang $(ARGS)
fuzz: ## the fuzz targets, SECONDS=60 each
	@scripts/fuzz $(or $(SECONDS),60)
chaos: ## 2,000 real faults under load, ARGS="--faults 20000 --seed 7" for others
	@scripts/chaos $(ARGS)
checks: ## test-all asan tsan clang fuzz chaos tidy, one after another: hours; ARGS="asan tidy" for some
	@scripts/checks $(ARGS)
adversary: ## hostile workers, unkind programs and failing system calls, SECONDS=600 in all
	@scripts/adversary $(or $(SECONDS),600)
bench: ## measure against the bare calls, ARGS=--json for programs
	@scripts/bench $(ARGS)
gpu-test: ## all tests that need a GPU, on the first one here; ARGS=blas for one program
	@scripts/gpu test $(ARGS)
gpu-test2: ## all tests that need two GPUs
	@scripts/gpu test2 $(ARGS)
gpu-bench: ## measure against raw CUDA on the first GPU here, ARGS=--quick
	@scripts/gpu bench $(ARGS)
tidy: ## clang-tidy over all sources
	@scripts/tidy
reference: ## the API reference, build/reference/html; and docs/pictures
	@scripts/reference
format: ## clang-format over all sources
	@scripts/format
install: ## install to PREFIX=/usr/local, after test without compiling again
	@scripts/install $(or $(PREFIX),/usr/local)
uninstall: ## remove the installation
	@scripts/uninstall $(or $(PREFIX),/usr/local)
deb: ## a Debian package of the build, in build/packages
	@scripts/deb
clean: ## remove build/
	rm -rf build
