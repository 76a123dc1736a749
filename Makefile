# Every target sets up what it needs, under .venv/, once. `make help` lists them.
# A Python 3.12 or newer and uv are looked for; PYTHON=/path/to/python3.12 names one.
RUN := @sh tools/run

.DEFAULT_GOAL := help
.PHONY: help demo test lint format types web test-web fix docs screenshots build release dev lock upgrade clean \
	test-main test-py313 test-py314 test-scaly-a1 test-lowest

help: ## List the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22
	@echo
	@echo "A test target takes pytest's arguments: make test-main ARGS='tests/test_codec.py -k delta'"

demo: ## Render an example with the real scaly, list the recording, say how to open the viewer
	$(RUN) demo

test: ## Run all of the checks below
	$(RUN) test

lint: ## Ruff's rules
	$(RUN) lint

format: ## Ruff's format
	$(RUN) format

types: ## Mypy, strict
	$(RUN) types

test-web: ## The front end: biome, TypeScript's types, vitest
	$(RUN) test-web

web: ## Serve your recordings, and bundle the page anew at every change
	$(RUN) web

docs: ## Build the site of docs/ into .cache/docs, warnings as errors
	$(RUN) docs

screenshots: ## Take the pictures of docs/ anew, from real runs in Chromium
	$(RUN) screenshots

build: ## Build the sdist, and the wheel from it, into dist/
	$(RUN) build

release: ## Build, check (twine, contents, installs), describe (checksums, SBOM) into dist/
	$(RUN) release

test-main: ## The whole suite, browser tests too, against the built wheel
	$(RUN) main $(ARGS)

test-py313: ## The suite on Python 3.13
	$(RUN) py313 $(ARGS)

test-py314: ## The suite on Python 3.14, where there is one
	$(RUN) py314 $(ARGS)

test-scaly-a1: ## The suite with the oldest scaly, 0.1.0a1
	$(RUN) scaly-a1 $(ARGS)

test-lowest: ## The suite with the lowest versions of the dependencies
	$(RUN) lowest $(ARGS)

dev: ## Set up .venv/dev, with scaly-viz installed editable
	$(RUN) dev

fix: ## Format, and fix what can be fixed, Python and TypeScript
	$(RUN) fix

lock: ## Write requirements.lock anew after a change of pyproject.toml
	$(RUN) lock

upgrade: ## Write requirements.lock anew with the newest versions
	$(RUN) upgrade

clean: ## Remove environments, caches and builds
	$(RUN) clean
