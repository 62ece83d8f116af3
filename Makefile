# The targets that people and continuous integration use alike.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Two tests at a time, with a thread each: threads that wait for one another take far longer.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

.PHONY: demo test slow check bench wheel clean

demo: $(VENV)/train.stamp
	$(BIN)/symshift run smoke runs/smoke

test: $(VENV)/dev.stamp
	$(PYTEST) -m "not slow"

slow: $(VENV)/dev.stamp
	$(PYTEST) -m slow

check: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/dev.stamp
	for script in benchmarks/*.py; do $(BIN)/python $$script; done

# Builds the wheel, installs it in an empty environment, and runs it outside the checkout.
wheel: $(VENV)/dev.stamp
	rm -rf build dist
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir dist .
	$(PYTHON) -m venv dist/venv
	dist/venv/bin/pip install --quiet -c constraints.txt dist/symshift-*.whl
	cd dist && venv/bin/symshift doctor && venv/bin/symshift generate ltl tried --train 100 --size 1-9
	cd dist && venv/bin/symshift verify tried

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/train.stamp: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet -c constraints.txt -e ".[train]"
	touch $@

$(VENV)/dev.stamp: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet -c constraints.txt -e ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist runs *.egg-info
