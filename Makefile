# `make run` serves Jieda and `make test` checks everything; `make` alone lists the rest.
# Needs Python 3.11 or later, make and git. Everything is installed into .venv, the site generators of `make sites` into
# .venv-sites; outside the checkout lie only what uv and pip keep of their downloads and what the encoder is laid out
# into, 83 MB in the user's cache directory, shared by all checkouts and sites.

VENV := .venv
SITES := .venv-sites
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LOCKS := requirements/build.txt requirements/dev.txt

# The first interpreter that runs and is new enough: a name on PATH may be a shim for one that is not installed.
PYTHON ?= $(shell for name in python3.11 python3 python3.12 python3.13 python3.14 python; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$name; break; }; done)

HOST ?= $(or $(JIEDA_HOST),127.0.0.1)
PORT ?= $(or $(JIEDA_PORT),8000)
EVAL ?= tests/judged.jsonl tests/judged_new_entries.jsonl tests/diagnosis/judged/open.jsonl
# Python compiles a module when it is first imported; compiling all of them takes a quarter of an installation.
PIP := -m pip --disable-pip-version-check
PIP_INSTALL := $(PIP) install --quiet --no-compile
# Install what a lock file names: by uv in a fifth of pip's time, by pip where it is told of another index, which uv would
# not ask, or where uv cannot.
INSTALL = @echo 'Installing requirements/$(2).txt'; ! $(BIN)/python $(PIP) config list | grep -q index && \
	$(BIN)/uv pip install --quiet --system-certs --python $(1) --require-hashes --no-build-isolation -r requirements/$(2).txt || \
	$(1)/bin/python $(PIP_INSTALL) --require-hashes --no-build-isolation --use-pep517 -r requirements/$(2).txt

# Bytecode of the checkout is kept, so that the second start is quicker than the first.
unexport PYTHONDONTWRITEBYTECODE
# An active virtual environment or a PYTHONPATH must not leak into this one.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

.DEFAULT_GOAL := help
.PHONY: help install run test suite test-opensearch quick coverage lint types check format eval bench chaos soak fuzz attacks week lock dist sbom sites audit clean FORCE

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

install: $(STAMP) ## Install everything into .venv (quick when nothing changed)

# A checkout that was moved has scripts that point to its old place; the stamp remembers the place.
ifneq ($(shell cat $(STAMP) 2>/dev/null),$(CURDIR))
$(STAMP): FORCE
endif

$(STAMP): pyproject.toml $(LOCKS)
	@if [ -z "$(PYTHON)" ]; then \
		echo "Jieda needs Python 3.11 or later, and none was found; name one: make install PYTHON=/path/to/python3.11" >&2; exit 1; fi
	@"$(PYTHON)" -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("Jieda needs Python 3.11 or later; $(PYTHON) is %d.%d" % v[:2])'
	@if [ -f $(STAMP) ] && [ "$$(cat $(STAMP))" != "$(CURDIR)" ] || ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
		echo "Creating $(VENV) with $(PYTHON)"; \
		"$(PYTHON)" -m venv --clear $(VENV) || { echo "On Debian and Ubuntu, 'venv' is a package of its own: apt install python3-venv" >&2; exit 1; }; fi
	$(BIN)/python $(PIP_INSTALL) --require-hashes -r requirements/lock.txt || echo "uv cannot be installed here; pip takes a minute longer."
	$(call INSTALL,$(VENV),build)
	$(call INSTALL,$(VENV),dev)
	$(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@printf '%s' '$(CURDIR)' > $(STAMP)

run: install ## Serve on http://127.0.0.1:8000/ and pick up edited content (HOST, PORT)
	exec env JIEDA_RELOAD_CONTENT=$(or $(JIEDA_RELOAD_CONTENT),1) JIEDA_WORKBENCH=$(or $(JIEDA_WORKBENCH),1) $(BIN)/jieda serve --host "$(HOST)" --port "$(PORT)"

# Two processes more than there are cores, at most eight: each waits for servers and browsers a third of its time, and with
# one more a fifth of two cores stood idle; the quick tests only compute. A module stays in one of them; their order is
# that of tests/conftest.py.
CORES = $(shell cores=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$((cores < 6 ? cores : 6)))
PROCESSES = $(shell echo $$(($(CORES) + 2)))
quick: PROCESSES = $(CORES)
PYTEST = $(BIN)/python -m pytest -n $(or $(JOBS),$(PROCESSES)) --dist loadfile --no-loadscope-reorder --max-worker-restart 0

# With --jobs the types are checked beside the first tests.
test: install lint types check suite ## Lint, types, content and all tests, as in continuous integration (ARGS, JOBS)

suite: install ## All tests and nothing else (ARGS, JOBS)
	$(PYTEST) $(ARGS)

test-opensearch: install ## Tests against a real OpenSearch cluster of three nodes, needs mvn and Java (ARGS)
	$(BIN)/python -m tests.support.opensearch $(ARGS)

quick: install lint types ## Lint, types and the tests that need no server, browser or long computation
	$(PYTEST) -m "not server and not browser and not slow" --hypothesis-profile quick $(ARGS)

coverage: install ## All tests, and the lines of app/ that none of them runs
	$(PYTEST) --cov --cov-report=term-missing $(ARGS)

lint: install ## Lint and check the formatting, changing nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install ## Check the types
	$(BIN)/mypy

check: install ## Check the content files
	$(BIN)/jieda check

format: install ## Format the code and fix what lint can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

eval: install ## Measure relevance over judged queries (EVAL=files of JSON lines)
	$(BIN)/jieda eval $(EVAL) $(ARGS)

bench: install ## Run every benchmark in bench/
	@for file in $$(grep -l __main__ bench/*.py); do \
		echo "== $$file"; $(BIN)/python -m "bench.$$(basename "$$file" .py)" || exit 1; done

chaos: install ## Kill the server and damage its files; every next start must be right (ARGS, see trials/chaos.py)
	$(BIN)/python -m trials.chaos $(ARGS)

soak: install ## Serve under load and a content change a second (ARGS, see trials/soak.py)
	$(BIN)/python -m trials.soak $(ARGS)

fuzz: install ## Feed nonsense to everything that reads other people's input (ARGS, see trials/fuzz.py)
	$(BIN)/python -m trials.fuzz $(ARGS)

attacks: install ## Try in ten ways to slow down another reader, and print what that reader notices (ARGS, see trials/attacks.py)
	$(BIN)/python -m trials.attacks $(ARGS)

week: install ## A week of questions in a few minutes, some without an answer; the report must name what is missing (ARGS, see trials/week.py)
	$(BIN)/python -m trials.week $(ARGS)

# Extras are kept: for `coverage[toml]` pip looks at the newest release of coverage, and refuses it, unless that very name
# is pinned.
LOCK := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-strip-extras --python-version 3.11 $(ARGS)
lock: export UV_CUSTOM_COMPILE_COMMAND = make lock
lock: install ## Lock the dependencies again (ARGS=--upgrade for newer ones)
	$(LOCK) pyproject.toml --extra mcp -o requirements/runtime.txt
	$(LOCK) pyproject.toml --group dev -c requirements/runtime.txt -o requirements/dev.txt
	$(LOCK) --group build -c requirements/dev.txt -o requirements/build.txt
	$(LOCK) --group sites -o requirements/sites.txt

dist: install ## Build the wheel and the source distribution into dist/
	$(BIN)/python -m hatchling build -d dist

VERSION := $(shell sed -n 's/^VERSION = "\(.*\)"/\1/p' app/jieda/version.py 2>/dev/null)
sbom: install ## Write the bill of materials to dist/, as CycloneDX
	@mkdir -p dist
	$(BIN)/python requirements/sbom.py > dist/jieda-$(VERSION).cdx.json
	@echo dist/jieda-$(VERSION).cdx.json

sites: install ## Install, apart from the rest, the site generators with which tests of <jieda-search> build pages
	$(BIN)/python -m venv $(SITES)
	$(call INSTALL,$(SITES),sites)

# What audits is not locked: it should know the newest, and it is never shipped. --strict: a package about which nothing
# could be learned is a failure, for otherwise all would be well where nobody can be asked.
audit: install ## Ask PyPI about known vulnerabilities in what is shipped (needs the internet)
	$(BIN)/python -m venv $(VENV)/audit
	$(VENV)/audit/bin/python -m pip install --quiet --upgrade pip-audit
	$(VENV)/audit/bin/pip-audit --strict --require-hashes --disable-pip -r requirements/runtime.txt $(ARGS)

clean: ## Remove .venv, the index and everything else that was made here
	rm -rf $(VENV) $(SITES) .jieda .mypy_cache .pytest_cache .ruff_cache .hypothesis test-results dist
