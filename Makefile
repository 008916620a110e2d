# The only commands anyone must know. `make` lists them.

# The first Python here that is new enough; `make PYTHON=… test` takes another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all coverage bench lint types format docs lock clean clone-check postgres

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

setup: .tools/spark.ready postgres ## install everything that the other targets need (they do it themselves, too)

demo: .tools/spark.ready ## a small shop synced to Delta, killed half way, recovered, verified
	@$(BIN)/seamark demo

test: setup lint types ## lint, types, then every test that is not slow
	@$(BIN)/pytest -m 'not slow' --durations=15

test-all: setup lint types ## the same with the slow tests: the whole crash matrix, more generated examples
	@HYPOTHESIS_PROFILE=thorough $(BIN)/pytest --durations=25

coverage: setup ## which lines and branches the quick tests reach, in processes that they start, too
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest -m 'not slow' --quiet
	@$(BIN)/coverage combine --quiet && $(BIN)/coverage report

bench: setup ## measure against COPY, Spark JDBC and a bare MERGE
	@$(BIN)/python -m benchmarks

lint: .tools/python.ready ## style, formatting, import rules, and whether the lock fits pyproject.toml
	@$(BIN)/python tools/lock.py
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet || { echo 'Some files are not formatted: run `make format`'; exit 1; }
	@$(BIN)/lint-imports --no-logo

types: .tools/python.ready ## mypy --strict on src
	@$(BIN)/mypy

format: .tools/python.ready ## format the code and mend what ruff can mend
	@$(BIN)/ruff check --quiet --fix-only
	@$(BIN)/ruff format

docs: .tools/python.ready ## write the generated pages anew: command line, configuration files, connectors
	@$(BIN)/python -m seamark.cli.reference > .tools/page && mv .tools/page docs/reference/cli.md
	@$(BIN)/python -m seamark.config.reference > .tools/page && mv .tools/page docs/reference/config.md
	@$(BIN)/python -m seamark.registry > .tools/page && mv .tools/page docs/reference/connectors.md

lock: .tools/python.ready ## resolve requirements.lock anew from pyproject.toml (UPGRADE=1: newest versions)
	@PATH="$(BIN):$$PATH" $(BIN)/python tools/lock.py write $(if $(UPGRADE),--upgrade)

clone-check: ## for maintainers: make demo and make test in a fresh clone of HEAD, in a folder with a space in its name
	@tools/clone-check

clean: ## remove the environment, caches and whatever else the targets made
	rm -rf .venv .tools .seamark .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.tools/python.ready: requirements.lock pyproject.toml tools/environment.py
	@$(or $(PYTHON),$(error Python 3.11, 3.12 or 3.13 is needed: install one, or name it with `make PYTHON=…`)) tools/environment.py
	@touch $@

.tools/spark.ready: .tools/python.ready tools/spark.py
	@$(BIN)/python tools/spark.py
	@touch $@

postgres: .tools/python.ready
	@$(BIN)/python tools/postgres.py
