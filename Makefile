# Every target sets up what it needs: a virtual environment in .venv, the packages of
# requirements.lock, this project in editable form, and a browser. Stamps in .venv say what is done.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.SUFFIXES:

bin := .venv/bin
python := $(bin)/python
packages := .venv/.packages
browser := .venv/.browser

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

.PHONY: demo
demo: $(browser) ## Play the tea stall with the explorer: no model, no key
	@$(bin)/playtest run --gid sim-business-r2 --brief exam/games/sim-business-r2/brief.md --tester explorer

.PHONY: test
test: $(browser) ## Run the tests, without the slow ones
	@$(python) -m pytest -q -n 2

.PHONY: test-slow
test-slow: $(browser) ## Run the slow tests: long games, load and memory
	@$(python) -m pytest -q -m slow

.PHONY: check
check: $(packages) ## Lint, format, types, schema drift and layers
	@scripts/check

.PHONY: fix
fix: $(packages) ## Let ruff put right what it can
	@$(bin)/ruff check --quiet --fix . || true
	@$(bin)/ruff format --quiet .

.PHONY: soak
soak: $(browser) ## Play 100 rolls, every fifth with a crash, and see that nothing is left of them
	@$(python) -m bench.soak

.PHONY: bench
bench: $(browser) ## Measure seconds per step next to plain Playwright
	@$(python) -m bench

.PHONY: schema
schema: $(packages) ## Write schemas/*.json anew from the models
	@$(bin)/playtest schema --write

.PHONY: doctor
doctor: $(browser) ## Say what works on this machine
	@$(bin)/playtest doctor

.PHONY: lock
lock: ## Write requirements.lock anew with the newest versions that fit
	@scripts/lock

.PHONY: clean
clean: ## Remove .venv and caches; evidence stays
	@rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A copied or moved folder needs its own environment: the paths in the old one point elsewhere.
ifneq ($(shell cat .venv/.made-in 2>/dev/null),$(CURDIR))
$(packages): always
endif
.PHONY: always
always:

$(packages): requirements.lock pyproject.toml scripts/setup-python
	@scripts/setup-python
	@touch $@

# PLAYTEST_CHROMIUM names a browser of your own; nothing is installed then.
$(browser): $(packages)
	@$(python) -m playtest.browser.install "$${PLAYTEST_CHROMIUM:-}"
	@touch $@
