# Everything runs in .venv, made here from the registries; nothing else is needed but Python 3.11 or newer.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
TORCH  := $(shell sed -n 's/^ *"\(torch==[0-9.]*\)",$$/\1/p' pyproject.toml)
# One more than there are processors: tests also wait, for a browser, a server or a disk.
WORKERS ?= $(shell expr 1 + $$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN))
NATIVE := CMakeLists.txt $(wildcard src/deniable/neighbours/native/* src/deniable/channel/rays/native/*)

# Hundreds of tests start the command, and each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo serve test lint types browser java unit docs emulator check-slow asan clean

demo: $(VENV)/package            ## set up, then privatise a few sentences with the built-in embedding
	@$(BIN)/python examples/demo.py

serve: $(VENV)/serve             ## set up, then serve the API and the page at http://127.0.0.1:8000/
	@$(BIN)/deniable serve

test: lint types unit docs       ## set up, then run every check a fresh machine can run

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev
	$(BIN)/mypy

java:                            ## what Spark runs on; where it cannot be installed the tests of Spark are skipped, with a word
	@command -v java >/dev/null || test -n "$$JAVA_HOME" || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
		apt-get update -qq && { apt-get install -qq -y --no-install-recommends openjdk-17-jre-headless || \
		apt-get install -qq -y --no-install-recommends openjdk-21-jre-headless; }; } || \
		echo "No Java, and not root on Debian: the tests of Spark will be skipped."

unit: $(VENV)/dev browser java
	$(BIN)/pytest -n $(WORKERS)  # tests/conftest.py says which tests stay in one process

# Pages are tested in a real browser. Where none can be installed those tests are skipped and say so; CI demands one.
browser:
	@if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then :; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium chromium-driver >/dev/null; \
	else echo "no Chromium and no right to install it: the tests of pages in a browser are skipped"; \
	fi || echo "Chromium could not be installed: the tests of pages in a browser are skipped"

docs: $(VENV)/dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# The search for ARM is compiled and run without an ARM machine. Where the tools cannot be installed those tests are skipped and say so.
emulator:
	@if command -v aarch64-linux-gnu-g++ >/dev/null && command -v qemu-aarch64 >/dev/null; then :; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends g++-aarch64-linux-gnu qemu-user >/dev/null; \
	else echo "no cross compiler for ARM and no right to install it: the tests of the search on ARM are skipped"; \
	fi || echo "the cross compiler for ARM could not be installed: the tests of the search on ARM are skipped"

check-slow: $(VENV)/dev emulator ## the checks that take minutes or need the large data sets beside the repository
	$(BIN)/pytest -m slow

asan:                            ## the searches' tests with the native module under AddressSanitizer and UBSan
	test -x build/asan/bin/python || $(PYTHON) -m venv build/asan
	build/asan/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	build/asan/bin/python -m pip install --quiet --config-settings=cmake.define.DENIABLE_SANITIZE=ON \
		--config-settings=build-dir=build/asan-objects . pytest hypothesis
	LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libasan.so) $$($${CXX:-g++} -print-file-name=libstdc++.so)" \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc \
		build/asan/bin/python -m pytest --quiet tests/neighbours tests/channel tests/calibration \
		--ignore tests/gpu/test_torch_search.py --ignore tests/calibration/test_report_in_browser.py -k "not keyboard"

$(VENV)/bin/python:
	@echo "Making $(VENV), an environment of its own ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

$(VENV)/package: $(VENV)/bin/python pyproject.toml $(NATIVE)
	@echo "Installing deniable and its libraries, and compiling its search (a minute or two) ..."
	@$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/serve: $(VENV)/bin/python pyproject.toml $(NATIVE)
	@echo "Installing deniable and the libraries of its service (a minute or two) ..."
	@$(BIN)/python -m pip install --quiet --editable '.[serve]'
	@touch $@ $(VENV)/package

$(VENV)/dev: $(VENV)/bin/python pyproject.toml $(NATIVE)
	@$(BIN)/python -m pip show --quiet torch 2>/dev/null || $(BIN)/python -m pip install --quiet "$(TORCH)+cpu" 2>/dev/null || { \
		echo "pip's index has no CPU build of $(TORCH), so the default build is taken next: on Linux it brings CUDA, up to 6.4 GB."; \
		echo "To avoid that, stop here and let pip use an index with CPU builds (PIP_EXTRA_INDEX_URL)."; }
	@echo "Installing deniable and all that its tests need (some minutes) ..."
	@$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@ $(VENV)/package $(VENV)/serve

clean:
	rm -rf $(VENV) build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis
