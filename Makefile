# Two commands do everything: `make run` and `make test`. Needs Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help run test test-long lint format bench bench-fifo bench-frames bench-streams bench-spans bench-spark bench-spark-streams bench-sql bench-papers bench-cold docs clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 14

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Sash needs Python 3.11 or newer; say which with PYTHON=…") if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(READY)

run: $(READY)  ## three pipelines on real flights, on an embedded Spark: tables, and a report in out/demo.html
	$(BIN)/sash demo

test: lint  ## lint, then every test, on two cores
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-long: $(READY)  ## the hard tests: many more random cases, clusters that lose workers
	SASH_TEST_EXAMPLES=2000 $(BIN)/python -m pytest -n 2 --dist loadfile -m ''

lint: $(READY)  ## formatting, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(READY)  ## put the code in shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: bench-fifo bench-frames bench-streams bench-spans bench-spark bench-spark-streams bench-cold  ## the benchmarks

bench-fifo: $(READY)  ## window algorithms against each other and against Polars
	$(BIN)/python -m bench.fifo

bench-sql: $(READY)  ## window calls in SQL, by Sash and by Spark
	$(BIN)/python -m bench.sql

bench-frames: $(READY)  ## window functions over frames against DuckDB and Polars
	$(BIN)/python -m bench.frames

bench-streams: $(READY)  ## continuous queries in process, against Polars, DuckDB, River and Bytewax
	$(BIN)/python -m bench.streams

bench-spans: $(READY)  ## events that last: the paper's techniques, and a join on Spark
	$(BIN)/python -m bench.spans

bench-spark: $(READY)  ## window functions on Spark against Spark's own
	$(BIN)/python -m bench.spark

bench-spark-streams: $(READY)  ## continuous queries on Structured Streaming against Spark's window()
	$(BIN)/python -m bench.spark_streams

bench-papers: $(READY)  ## the experiments of the 2022 paper on TPC-H, with their plots
	$(BIN)/python -m bench.papers.holistic_2022

bench-cold: $(READY)  ## how long a fresh process takes to its first answer
	$(BIN)/python -m bench.cold_start

docs: $(READY)  ## write what is made from the code, build the site in out/site, and run every example
	$(BIN)/python docs/build.py
	$(BIN)/python docs/reference.py
	$(BIN)/python docs/pictures.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python -m pytest tests/test_docs.py tests/sql/test_page.py tests/spark/test_page.py

clean:  ## remove the environment and what was made
	rm -rf $(VENV) out build dist
