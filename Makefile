# Everything happens in .venv; each target sets up what it needs.
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
# A process per core; tests/support/scheduling.py says which tests share one.
PARALLEL := -n auto --maxprocesses 8

# What a contributor of an estimator, a selector, an interval or a check needs, without any optional library.
QUICK := tests/estimators tests/intervals tests/selectors tests/diagnostics/test_contract.py tests/models/test_contract.py \
	src/counterfold/estimators src/counterfold/selectors src/counterfold/intervals src/counterfold/diagnostics \
	--ignore tests/selectors/test_pasif.py --ignore tests/selectors/test_subsampling.py \
	--ignore src/counterfold/selectors/_subsampling.py -k "not pasif"  # which need torch

.PHONY: demo quick test test-all lint docs bench methods traps json licences notebooks torture clean

demo: .venv/installed  ## evaluate a policy on embedded data with known truth
	$(BIN)/counterfold demo

quick: .venv/quick  ## linters and the core tests in under a minute, on one engine
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy --follow-imports silent --ignore-missing-imports -p counterfold.estimators -p counterfold.selectors -p counterfold.intervals -p counterfold.diagnostics
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pytest -m "not slow and not statistical and not spark" $(PARALLEL) $(QUICK) $(ARGS)

test: .venv/dev lint  ## what CI runs: lint, types, layers, and all but the slow tests
	$(BIN)/python -m pytest -m "not slow" $(PARALLEL) $(ARGS)

test-all: .venv/dev lint  ## the slow tests, too, and how much of the code tests run
	$(BIN)/python -m pytest --cov $(PARALLEL) $(ARGS)

lint: .venv/dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# The notice that is silenced is about the tool's own future; warnings about pages stay, and are errors.
docs: .venv/dev  ## build the documentation into build/site; it opens from the disk
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

bench: .venv/dev  ## ratios against naive loops and reading alone, and what some choices do; ARGS=--quick for minutes
	$(BIN)/python benchmarks/estimators.py
	$(BIN)/python benchmarks/naive_loop.py
	$(BIN)/python benchmarks/choices.py
	$(BIN)/python benchmarks/pasif.py
	$(BIN)/python benchmarks/doses.py
	$(BIN)/python benchmarks/scale.py $(ARGS)

torture: .venv/dev .venv-fuzz/installed  ## attack the package for an hour or so, and write how it ended into the docs
	TORTURE_FUZZER=$$(test -e .venv-fuzz/atheris && echo $(CURDIR)/.venv-fuzz/bin/python || echo $(CURDIR)/$(BIN)/python) \
	$(BIN)/python -m torture --page docs/torture.md $(ARGS)

traps: .venv/dev  ## write the page of mistakes and how they end into the docs
	PYTHONPATH=tests/support $(BIN)/python -m traps.page > docs/traps.md

json: .venv/dev  ## write the page of the fields of JSON into the docs
	PYTHONPATH=tests/support $(BIN)/python -m json_page > docs/json.md

licences: .venv/dev  ## write the licences of all dependencies into the docs
	PYTHONPATH=tests/support $(BIN)/python -m licences > docs/licences.md

notebooks: .venv/dev  ## run the notebooks of the docs anew, and store what they show
	$(BIN)/python docs/notebooks/execute.py

methods: .venv/installed  ## write the table of all methods into the docs
	$(BIN)/counterfold methods --markdown > docs/methods.md

clean:
	rm -rf .venv .venv-fuzz build dist src/*.egg-info

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e .
	touch $@

# atheris has no wheel for every Python; without it hypothesis fuzzes.
.venv-fuzz/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-fuzz
	.venv-fuzz/bin/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e .
	-.venv-fuzz/bin/python -m pip install --quiet --disable-pip-version-check atheris && touch .venv-fuzz/atheris
	touch $@

.venv/quick: .venv/installed
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e ".[quick]"
	touch $@

.venv/dev: .venv/installed
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e ".[dev,docs,learn,onnx,plot,report,skops,spark,sql,torch]"
	touch $@
