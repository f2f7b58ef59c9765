# Two commands for a newcomer: `make sweep` and `make test`. Both set up .venv on first use.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: sweep test check lint format type unit golden results fuzz bench wheel clean

sweep: $(STAMP)
	$(BIN)/ireebench sweep argmax --models llama3

test: lint type unit

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

format: $(STAMP)
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .

type: $(STAMP)
	$(BIN)/mypy

unit: $(STAMP)
	$(BIN)/pytest -n 2 --dist loadgroup

# Golden files are rewritten by this command alone; read the diff before committing it.
golden: $(STAMP)
	IREEBENCH_UPDATE_GOLDEN=1 $(BIN)/pytest -q tests/golden

# The tables of the pages that quote measured results, from the stores committed beside them.
results: $(STAMP)
	$(BIN)/python benchmarks/results_tables.py

fuzz: $(STAMP)
	IREEBENCH_FUZZ=1 $(BIN)/pytest -q tests/unit -k fuzz --timeout 1200

bench: $(STAMP)
	$(BIN)/python benchmarks/sweep_throughput.py

wheel: $(STAMP)
	$(BIN)/python -m build --wheel --outdir dist

clean:
	rm -rf $(VENV) dist build ireebench-out .pytest_cache .mypy_cache .ruff_cache .hypothesis
