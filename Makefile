# From a bare checkout with Python 3.11+ and make: `make demo`, `make test`. Nothing else to set up.

PYTHON ?= python3
VENV   ?= .venv
JOBS   ?= 2

BIN := $(VENV)/bin
# The pin in constraints.txt holds for every install.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# One BLAS thread a process, for NumPy outside the library too (oracles, rivals), which sets its own.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

# Tests start many processes: what one has compiled the others shall find, whatever is set outside.
COMPILED := PYTHONDONTWRITEBYTECODE=

# Extras behind `make test`.
TEST_EXTRAS := torch,plots,cli,dask,dev

# Behind `make paper`; one of them with options: make paper FIGURES=feature_selection ARGS="--choose cv"
FIGURES ?= intuition robustness approximation feature_selection information_bottleneck
PAPER_ARGS := $(if $(QUICK),--quick) $(ARGS)

# Behind `make fuzz`; one case alone: make fuzz SEED=0 ONLY=17; for a time: make fuzz SECONDS=3600
CASES ?= 5000
SEED  ?= 0

.PHONY: help demo test lint fuzz bench paper docs package format clean
.DEFAULT_GOAL := help

help:  ## show this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16

demo: $(VENV)/core  ## select the columns of a table that are most informative together
	@$(BIN)/python examples/demo.py

test: lint  ## lint, then run every test and every example in the docstrings
	$(COMPILED) $(ONE_THREAD) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

lint: $(VENV)/test  ## style, types, and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fuzz: $(VENV)/test  ## cases at random against a naive oracle (CASES=100000 SEED=1 SECONDS=600 ONLY=17)
	@$(ONE_THREAD) PYTHONPATH=tests $(BIN)/python -m fuzz --cases $(CASES) --seed $(SEED) \
	  $(if $(ONLY),--only $(ONLY)) $(if $(SECONDS),--seconds $(SECONDS))

bench: $(VENV)/bench  ## what is fast, against whom, as ratios in one run (over an hour; TASKS=... for some)
	$(BIN)/python benchmarks/run.py $(TASKS)

paper: $(VENV)/test  ## the paper's figures and tables, resuming (QUICK=1: small, in minutes)
	@set -e; for script in $(wildcard $(FIGURES:%=paper/%.py)); do \
	  echo "$$script $(PAPER_ARGS)"; $(ONE_THREAD) $(BIN)/python $$script $(PAPER_ARGS); \
	done

docs: $(VENV)/docs  ## build the pages in docs/_build/html, with the gallery; a warning is an error
	$(ONE_THREAD) $(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo docs/_build/html/index.html

package: $(VENV)/test  ## build sdist and wheel in dist/, and check both as a user would get them
	$(PIP) build
	$(ONE_THREAD) $(BIN)/python .ci/package.py

format: $(VENV)/test  ## put the code into the form that lint asks for
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove the environment and every cache
	rm -rf $(VENV) build dist docs/_build docs/generated docs/gallery .benchmarks .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Environments. Each stamp records one set of extras and is renewed when the requirements change.

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "lorenyi needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/core: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) -e .
	@touch $@

$(VENV)/test: pyproject.toml constraints.txt Makefile | $(VENV)/bin/python
	$(PIP) -e ".[$(TEST_EXTRAS)]"
	@touch $@ $(VENV)/core

# With the rivals that only benchmarks are run against.
$(VENV)/bench: $(VENV)/test
	$(PIP) -e ".[$(TEST_EXTRAS),bench]"
	@touch $@

# The reference imports what it documents, and the gallery runs, so all extras are among it.
$(VENV)/docs: pyproject.toml constraints.txt Makefile | $(VENV)/bin/python
	$(PIP) -e ".[torch,plots,cli,dask,docs]"
	@touch $@ $(VENV)/core
