# `make tour` and `make test` work in a fresh clone. Each target creates its environment from pinned versions if it is
# missing or out of date.

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$python"; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
RUN := $(VENV)/run.stamp
DEV := $(VENV)/dev.stamp
# Hundreds of tests start Python, and compiling segue takes longer than most of them need: keep what was compiled, even
# where the environment says otherwise, as in many images.
export PYTHONDONTWRITEBYTECODE :=
# Settings of `make busy`; TESTS are the files or folders of tests in which it chooses.
ROUNDS ?= 10
BUSY ?= 20
WORKERS ?= 16
TESTS ?=
# Of `make bench` and `make recipes`: the names of sections or recipes, where not all are to be run.
ONLY ?=
# Of `make compare`: an earlier models.json, whether to list rows, and whether to write the tables to docs/catalog.md.
BEFORE ?=
ROWS ?=
WRITE ?=

.PHONY: help tour test soak endurance busy frameworks recipes check bench wheel release image catalog compare lock docs shapes clients clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

tour: $(RUN) ## run a demo: one conversation with six providers, what each one receives, and what was changed for it
	@$(BIN)/python examples/tour.py

test: $(DEV) ## run the tests, in about ten minutes on two cores
	$(BIN)/pytest -q -n 2

soak: $(DEV) ## run the same tests with more examples, in less than twenty minutes
	SEGUE_SOAK=1 $(BIN)/pytest -q -n 2

endurance: $(DEV) $(VENV)/ray.stamp ## run the large tests: corpora of 100,000 conversations, Ray, a gateway with 500 streams, kills
	SEGUE_ENDURANCE=1 $(BIN)/pytest -q -s tests/bulk tests/gateway/test_endurance.py
	SEGUE_ENDURANCE=1 $(VENV)/ray/bin/python -m pytest -q --noconftest -p no:cacheprovider -o filterwarnings= tests/bulk/test_ray.py

busy: $(DEV) ## repeat tests with processes, threads, sockets or time ROUNDS (10) times, beside BUSY (20) busy processes
	$(BIN)/python scripts/busy.py --rounds $(ROUNDS) --busy $(BUSY) --workers $(WORKERS) $(TESTS)

frameworks: ## test each adapter with the real framework, in an environment of its own
	for name in pydantic_ai langchain openai_agents litellm; do $(MAKE) --no-print-directory framework-$$name || exit 1; done

recipes: $(DEV) ## run every recipe of the docs with its framework, in an environment of its own (needs npm for one; ONLY=name)
	$(BIN)/python scripts/recipes.py $(ONLY)

framework-%: | $(BIN)/python
	@test -d $(VENV)/$* || $(PYTHON) -m venv $(VENV)/$*
	@$(VENV)/$*/bin/python -m pip --disable-pip-version-check --quiet install -r requirements/frameworks/$*.txt --editable .
	$(VENV)/$*/bin/python -m pytest -q --noconftest -p no:cacheprovider -o filterwarnings= tests/adapters/test_$*.py

check: $(DEV) ## check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/refused-request.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec compose.yaml
	$(BIN)/hadolint Dockerfile

bench: $(VENV)/bench.stamp $(VENV)/proxies.stamp $(DEV) ## compare with other libraries: accepted requests and speed; write pages and plots to docs/
	$(VENV)/bench/bin/python -m bench $(ONLY)

wheel: $(DEV) ## build wheel and sdist, check what they contain, install the wheel on every Python that is present
	$(BIN)/python scripts/check_wheel.py

release: $(DEV) ## the same, and check that all dependencies have wheels for Python 3.11 to 3.14
	$(BIN)/python scripts/check_wheel.py --resolve

image: $(DEV) ## run the steps of the Dockerfile without Docker (needs Python 3.13)
	$(BIN)/python scripts/run_dockerfile.py

docs: $(DEV) ## print what is made from the code (tables, public names, reference), then build the site into build/site
	$(BIN)/python scripts/compile_catalog.py
	$(BIN)/python scripts/print_docs.py
	$(BIN)/python scripts/public_names.py
	$(BIN)/python tests/catalog/matrix.py > tests/catalog/matrix.txt
	$(BIN)/python scripts/reference.py
	$(BIN)/zensical build --strict --clean

shapes: $(DEV) ## update the tables of request fields from the types of the pinned SDKs
	$(BIN)/python scripts/shapes.py

clients: $(DEV) ## run six real clients through the gateway, and with sessions of each other; a run can be resumed (needs npm)
	PYTHONPATH=scripts $(BIN)/python -m clients --save; status=$$?; $(BIN)/python scripts/print_docs.py; exit $$status

catalog: $(VENV)/catalog.stamp ## update the model catalog from the packages that contain the facts
	$(VENV)/catalog/bin/python scripts/catalog.py --earlier $(VENV)/catalog/earlier
	$(BIN)/python scripts/compile_catalog.py

compare: $(VENV)/pi.stamp ## compare the model catalog with data that is not one of its sources; BEFORE=models.json adds a column
	$(BIN)/python scripts/compare_catalog.py $(VENV)/pi/package $(if $(BEFORE),--before $(BEFORE)) $(if $(ROWS),--rows) \
		$(if $(WRITE),--write)

lock: ## pin the newest versions of everything (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate \
		pyproject.toml requirements/run.in -o requirements/run.txt
	uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate \
		-c requirements/run.txt pyproject.toml requirements/run.in requirements/dev.in -o requirements/dev.txt
	rm -f requirements/bench.txt
	uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate \
		requirements/bench.in -o requirements/bench.txt

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "segue needs Python 3.11 or newer; set PYTHON=/path/to/it" >&2; exit 1; }
	@echo "Creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

# Dependencies are pinned. The package itself is installed in place, so that edits take effect immediately.
$(RUN): requirements/run.txt pyproject.toml | $(BIN)/python
	@$(PIP) install -r requirements/run.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): requirements/dev.txt requirements/local.txt $(RUN)
	@$(PIP) install -r requirements/dev.txt
	@$(PIP) install --no-deps -r requirements/local.txt
	@touch $@

$(VENV)/catalog.stamp: requirements/catalog.txt requirements/catalog-earlier.txt $(RUN)
	@$(PYTHON) -m venv $(VENV)/catalog
	@$(VENV)/catalog/bin/python -m pip --disable-pip-version-check --quiet install --no-deps -r requirements/catalog.txt
	@$(VENV)/catalog/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --upgrade \
		--target $(VENV)/catalog/earlier -r requirements/catalog-earlier.txt
	@touch $@

$(VENV)/ray.stamp: requirements/ray.txt pyproject.toml | $(BIN)/python
	@echo "Installing Ray into $(VENV)/ray; this takes some minutes the first time"
	@$(PYTHON) -m venv $(VENV)/ray
	@$(VENV)/ray/bin/python -m pip --disable-pip-version-check --quiet install -r requirements/ray.txt --editable .
	@touch $@

# Needs npm. The version is that of the figures in docs/catalog.md.
$(VENV)/pi.stamp: | $(BIN)/python
	@mkdir -p $(VENV)/pi
	@cd $(VENV)/pi && npm pack --silent @earendil-works/pi-ai@1.5.2 && tar xzf earendil-works-pi-ai-1.5.2.tgz
	@touch $@

# Other gateways, for the section "gateway". Without npm, Portkey is left out.
$(VENV)/proxies.stamp: requirements/proxies.txt | $(BIN)/python
	@echo "Installing other gateways into $(VENV)/proxies"
	@$(PYTHON) -m venv $(VENV)/proxies
	@$(VENV)/proxies/bin/python -m pip --disable-pip-version-check --quiet install -r requirements/proxies.txt
	@if command -v npm >/dev/null; then npm install --silent --prefix $(VENV)/proxies @portkey-ai/gateway@1.15.2; fi
	@touch $@

# The other libraries have their own environment: they pin versions of dependencies that conflict with ours.
$(VENV)/bench.stamp: requirements/bench.txt pyproject.toml | $(BIN)/python
	@echo "Installing the other libraries into $(VENV)/bench; this takes some minutes the first time"
	@$(PYTHON) -m venv $(VENV)/bench
	@$(VENV)/bench/bin/python -m pip --disable-pip-version-check --quiet install -r requirements/bench.txt
	@$(VENV)/bench/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --editable .
	@touch $@
