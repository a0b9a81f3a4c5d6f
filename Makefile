# Two commands do everything: `make run` and `make test`. Needs Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH := $(VENV)/.bench

.DEFAULT_GOAL := help
.PHONY: help run test test-long lint format bench bench-full docs clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 14

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Sash needs Python 3.11 or newer; say which with PYTHON=…") if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(READY)

$(BENCH): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,bench]'
	@touch $(BENCH)

run: $(READY)  ## three pipelines on real flights, on an embedded Spark: tables, and a report in out/demo.html
	$(BIN)/sash demo

test: lint  ## lint, then every test, on two cores
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

test-long: $(BENCH)  ## the hard tests: many more random cases, clusters that lose workers
	SASH_TEST_EXAMPLES=2000 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m ''

lint: $(READY)  ## formatting, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(READY)  ## put the code in shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(BENCH)  ## the quick set: every experiment, small, under 5 minutes
	$(BIN)/sash bench

bench-full: $(BENCH)  ## all experiments as for a release, then the pages and plots of the docs
	$(BIN)/sash bench --full --into bench/results/full.json
	$(BIN)/sash bench report

docs: $(READY)  ## write what is made from the code, build the site in out/site, and run every example
	$(BIN)/python docs/build.py
	$(BIN)/python docs/reference.py
	$(BIN)/python docs/pictures.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python -m pytest tests/test_docs.py tests/sql/test_page.py tests/spark/test_page.py

clean:  ## remove the environment and what was made
	rm -rf $(VENV) out build dist
