# Every target makes its own virtual environment first; nothing has to be installed by hand.
PYTHON ?= python3
BIN := .venv/bin
# The lock holds for the environments that pip builds packages in as well.
LOCKED = PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt
PIP = $(LOCKED) $(BIN)/python -m pip install --quiet
INSTALL = $(PIP) --editable

.PHONY: demo test tests test-fast test-slow fuzz bench lint test-lowest test-long audit test-wheel

demo: .venv/.ready
	$(BIN)/dgb train cora

# Two processes, each with one thread: threads of small products would wait for each other, and spin.
PYTEST = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest \
	--numprocesses 2 --no-loadscope-reorder

# Linters next to the tests: they have one process, and machines that test have two cores.
test: .venv/.tests-ready
	+$(MAKE) --jobs 2 lint tests

tests: .venv/.tests-ready
	$(PYTEST) --durations 15

# The method, the readers of data and the commands: what most changes touch.
test-fast: .venv/.tests-ready
	$(PYTEST) tests/model tests/views tests/train tests/data \
	tests/test_imports.py tests/test_recipe.py tests/test_cli.py tests/test_use.py

test-slow: .venv/.tests-ready
	$(BIN)/pytest -m slow

fuzz: .venv/.tests-ready
	DGB_FUZZ=100000 $(BIN)/pytest tests/fuzz

test-lowest: .venv-lowest/.ready
	.venv-lowest/bin/pytest

test-wheel: .venv/.tests-ready
	$(BIN)/pytest -m slow tests/supply/test_wheel.py

test-long: test-slow fuzz test-lowest audit

# Strict, because a service that does not know a name otherwise counts as one without faults.
audit: .venv-audit/.ready
	.venv-audit/bin/pip-audit --strict --disable-pip --no-deps --requirement constraints.txt || { \
	echo 'audit: a pin has a known fault (listed above), or could not be looked up' \
	'("not found", no connection): then nothing has been shown, try again from elsewhere' >&2; exit 1; }

bench: .venv/.ready
	$(INSTALL) '.[bench]'
	$(BIN)/python benchmarks/run.py

lint: .venv/.tests-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The pip that comes with Python 3.11 takes about twice as long to look for a package.
.venv/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	-$(PIP) --upgrade pip
	$(INSTALL) '.[map]'
	touch $@

# Not after .ready: two installs would take longer than one of all. pip compiles in one process, and
# where nothing is compiled and no bytecode may be written, every process of the tests does it again.
# Half of it nobody imports: other packages' own tests, and parts of them that have another use.
UNUSED = tests|_tests|benchmarks|testing/_internal|rllib|serve|mypy|mypyc|physics|devtools|dialects
UNUSED := $(UNUSED)|_inductor|quack|combinatorics|signal|spark|distutils|fontTools|hypothesis
.venv/.tests-ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	-$(PIP) --upgrade pip
	$(INSTALL) '.[test]' --no-compile
	-$(BIN)/python -m compileall -q -j 0 -x '/($(UNUSED))/' .venv src > /dev/null
	touch .venv/.ready $@

.venv-lowest/.ready: pyproject.toml constraints.txt scripts/lowest.py
	$(PYTHON) -m venv --clear .venv-lowest
	$(PYTHON) scripts/lowest.py > .venv-lowest/constraints.txt
	PIP_CONSTRAINT=.venv-lowest/constraints.txt \
	.venv-lowest/bin/python -m pip install --quiet --editable '.[test]'
	touch $@

.venv-audit/.ready:
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/python -m pip install --quiet 'pip-audit==2.10.1'
	touch $@
