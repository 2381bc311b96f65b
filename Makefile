# Every target makes its own virtual environment first; nothing has to be installed by hand.
PYTHON ?= python3
BIN := .venv/bin
# By the variable, the lock reaches the environments that pip builds packages in as well.
INSTALL = PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --editable

.PHONY: demo test test-slow fuzz bench lint

demo: .venv/.ready
	$(BIN)/dgb train cora

test: lint
	$(BIN)/pytest

test-slow: .venv/.tests-ready
	$(BIN)/pytest -m slow

fuzz: .venv/.tests-ready
	DGB_FUZZ=100000 $(BIN)/pytest tests/fuzz

bench: .venv/.ready
	$(INSTALL) '.[bench]'
	$(BIN)/python benchmarks/run.py

lint: .venv/.tests-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

.venv/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(INSTALL) '.[map]'
	touch $@

.venv/.tests-ready: .venv/.ready
	$(INSTALL) '.[test]'
	touch $@
