# Everything runs in .venv, made here from the registries; nothing else is needed but Python 3.11 or newer.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
NATIVE := CMakeLists.txt $(wildcard src/deniable/neighbours/native/*)

.PHONY: demo test lint types unit docs check-slow benchmark clean

demo: $(VENV)/package            ## set up, then privatise a few sentences with the built-in embedding
	@$(BIN)/python examples/demo.py

test: lint types unit docs       ## set up, then run every check a fresh machine can run

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev
	$(BIN)/mypy

unit: $(VENV)/dev
	$(BIN)/pytest -n auto

docs: $(VENV)/dev
	$(BIN)/mkdocs build --strict --quiet

check-slow: $(VENV)/dev          ## the checks that take minutes or need the large data sets beside the repository
	$(BIN)/pytest -m slow

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

$(VENV)/package: $(VENV)/bin/python pyproject.toml $(NATIVE)
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/dev: $(VENV)/bin/python pyproject.toml $(NATIVE)
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@ $(VENV)/package

clean:
	rm -rf $(VENV) build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis
