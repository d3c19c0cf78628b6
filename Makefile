# Two commands on a fresh machine: `make demo` runs a study on a model that comes with it; `make test` runs
# everything that CI runs. Both make their own .venv first. `make check` is the quick part, for every commit.

PYTHON ?= python3
PAGE ?= demo/report.html
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
DEMO_STAMP := $(VENV)/installed-for-the-demo
# Tests make and remove some hundred thousand small files: in memory, where there is room for a few gigabytes of them.
MEMORY := $(shell df -k --output=avail /dev/shm 2>/dev/null | tail -n 1)
SCRATCH := $(if $(shell [ "$(MEMORY)" -gt 8000000 ] 2>/dev/null && echo room),/dev/shm,$(or $(TMPDIR),/tmp))
PYTEST := TMPDIR=$(SCRATCH) $(BIN)/pytest
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The tests start the command hundreds of times: Python may keep what it compiled, whatever the shell says.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo check test tests wheel look browser lint types bench docs rulings interop clean

help:
	@echo "make demo     run a study on a small model, here, without a server or a key"
	@echo "make check    lint, types and the quick tests (under a minute)"
	@echo "make test     everything: what CI runs"
	@echo "make wheel    build the wheel and try it in an environment of its own (PYTHON=$(PYTHON))"
	@echo "make look     open a page in a browser and check it (PAGE=$(PAGE))"
	@echo "make bench    the benchmarks, with their bounds"
	@echo "make docs     write what is generated: the pages of commands and modules, transcripts, the outputs of the notebook"
	@echo "make rulings  break each ruling in a scratch copy; a test must fail each time"
	@echo "make interop  other people's servers and harnesses, each in an environment of its own"
	@echo "make clean    remove what the other targets made"

demo: $(DEMO_STAMP)
	$(BIN)/affidavit models pull smollm2
	$(BIN)/affidavit run examples/demo.toml
	@echo 'The command is $(BIN)/affidavit; to type it as it is shown here: export PATH="$$PWD/$(BIN):$$PATH"'

check: lint types
	AFFIDAVIT_LAWS=$${AFFIDAVIT_LAWS:-quick} $(PYTEST) -q -n 2 --dist loadfile -m "not slow"

test: lint types tests

# Most slow tests wait for processes, disks and servers: twice as many at once as there are cores, and whoever is done
# takes over what others have not begun.
tests: $(STAMP) browser
	$(PYTEST) -q -n 4 --dist worksteal --durations=10 -rs

wheel:
	$(PYTHON) tests/support/try_wheel.py dist

look: $(STAMP) browser
	AFFIDAVIT_PAGE=$(PAGE) $(PYTEST) -q -n 2 tests/results/test_report_browser.py

# Pages are tested in a real browser. As root on Debian it is installed; elsewhere those tests say what they lack.
browser:
	@if ! command -v chromium >/dev/null && [ "$$(id -u)" = 0 ] && [ -f /etc/debian_version ]; then \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; \
	fi

lint: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(STAMP)
	$(BIN)/mypy

bench: $(STAMP)
	@status=0; for each in contracts columns records runner scale figures page imports exchange; do $(BIN)/python benchmarks/$$each.py || status=1; done; exit $$status

docs: $(STAMP)
	PYTHONPATH=tests $(BIN)/python tests/support/write_commands_page.py
	$(BIN)/python tests/support/write_modules_page.py
	PYTHONPATH=tests $(BIN)/python tests/support/transcripts.py
	$(BIN)/python tests/support/write_notebook.py

rulings: $(STAMP)
	$(BIN)/python tests/support/break_rulings.py

# Heavy peers are no dependency of ours, of the tests or of CI: what is found here is kept in the tests as a fixture.
PEERS := litellm inspect lm_eval lighteval ppi
interop: $(STAMP) $(PEERS:%=.venv-interop/%/installed)
	$(BIN)/pytest -q -n 0 -rs tests/interop

.venv-interop/%/installed: tests/interop/%.txt
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/pip install -q -r $<
	@touch $@

$(VENV)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Affidavit needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)."; \
	  echo "On Debian 12 or newer: apt-get install python3. Or: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; \
	  exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make virtual environments. On Debian: apt-get install python3-venv"; \
	  exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(STAMP): pyproject.toml constraints.txt $(VENV)/python
	$(BIN)/pip install -q -c constraints.txt -e '.[dev,embedded,hf,bulk]'
	@touch $@ $(DEMO_STAMP)

$(DEMO_STAMP): pyproject.toml constraints.txt $(VENV)/python
	$(BIN)/pip install -q -c constraints.txt -e '.[embedded]'
	@touch $@

clean:
	rm -rf $(VENV) .venv-interop dist .mypy_cache .ruff_cache .hypothesis .pytest_cache
