# make help lists the targets. Everything built goes under build/.

.DEFAULT_GOAL := help

include boards/boards.mk

PYTHON := $(BUILD)/venv/bin/python
EXTENSION := pyproject.toml setup.py native/bindings/cpython.c native/bindings/entry_points.h \
    $(wildcard native/*.[ch] native/common/*.[ch] native/kernels/*/*.[ch] native/cores/*.h native/cores/*/*)

.PHONY: help
help:
	@echo "make run            set up, train the digits on CPython and on MicroPython, show the result"
	@echo "make pico           an emulated Raspberry Pi Pico with odt inside, and a REPL on it; pico-stock: without odt"
	@echo "make test           set up, run every test: host, unix port, Cortex-M on QEMU, RP2040"
	@echo "make test-fast      in less than two minutes on two cores, without emulators: what most changes break"
	@echo "make lint           ruff: layout and faults"
	@echo "make test-host      the tests that need no MicroPython"
	@echo "make test-device    the tests on MicroPython, on all machines"
	@echo "make test-stm32     the tests on an emulated STM32F405, with MPY_DIR=<MicroPython checkout>"
	@echo "make test-release   the tests on another release of MicroPython: Debian's next, or MPY_DIR=<a checkout>"
	@echo "make fuzz           fuzz what reads programs and files, FUZZ_SECONDS=600 in all"
	@echo "make sanitize       the binding for MicroPython under the address and undefined-behaviour sanitizers"
	@echo "make bench          what kernels and training steps cost on each machine; bench/costs/compare.py: two commits"
	@echo "make bench-accuracy accuracy against PyTorch (two hours); bench/ has more"
	@echo "make figures        renew bench/results and the documents' tables: ONLY=\"steps kernels\" | stale | documents"
	@echo "make stale          which results are older than what they depend on"
	@echo "make circuitpython  the package as CircuitPython's bundle has it (CPY_DIR=<checkout>: as .mpy files)"
	@echo "make docs           the documents as a site, in build/site"
	@echo "make page           the page where odt plans and trains, in build/page; make rp2040 page: with a virtual Pico"
	@echo "make lock           the newest versions of what is installed, into the lock files"
	@echo "make generate       write what is generated from odt/base/opcodes.py"
	@echo "make unix           MicroPython's unix port with odt inside"
	@echo "make unix-float30   the same with CircuitPython's 30-bit floats"
	@echo "make qemu           Cortex-M3, M4, M4F, M7, M33 and RISC-V images for QEMU"
	@echo "make rp2040         Raspberry Pi Pico firmware, and an emulator to run it"
	@echo "make firmware       firmware for a board, and what odt adds to it: BOARD=RPI_PICO | RPI_PICO2 | ..."
	@echo "make mpy            kernels and package as .mpy files for stock firmware"
	@echo "make mip            the same as packages for mip"
	@echo "make release        wheel, sources, packages for mip, kernels, firmware and checksums, into build/dist"
	@echo "make stock          MicroPython without odt, to test these"
	@echo "make clean          remove what was built, keep what was fetched"
	@echo "Give MPY_DIR=<MicroPython checkout> to build from it instead of Debian's packages."

# --- the host's Python ------------------------------------------------------------------------

# The versions that the lock files name: of what is installed, and of what builds it. PIP_BUILD_CONSTRAINT is newer pips'.
LOCK := .ci/constraints.txt
PIP_INSTALL = PIP_CONSTRAINT=$(LOCK) PIP_BUILD_CONSTRAINT=$(LOCK) $(PYTHON) -m pip install -q --disable-pip-version-check -c $(LOCK)

# The extension is installed, the package itself runs from the checkout.
$(BUILD)/venv/.run: $(EXTENSION)
	@$(SOURCES) venv python-headers
	@echo "odt: setting up build/venv, compiling the native module for this PC"
	@test -x $(PYTHON) || python3 -m venv $(BUILD)/venv
	@rm -rf $(BUILD)/lib.* $(BUILD)/temp.* # setuptools does not see changed headers
	@$(PIP_INSTALL) '.[plot]'
	@cd / && $(PYTHON) -c "import _odt" || { echo "odt: the native module did not compile: pip install -v . says why" >&2; exit 1; }
	@touch $@

$(BUILD)/venv/.test: $(BUILD)/venv/.run
	@echo "odt: installing what the tests need (PyTorch among it)"
	@$(PIP_INSTALL) '.[test]'
	@touch $@

.PHONY: venv
venv: $(BUILD)/venv/.test $(BUILD)/venv-flower/.done

# After a change of what is needed: in an environment of its own, with the newest versions there are.
.PHONY: lock
lock:
	python3 -m venv --clear $(BUILD)/lock
	$(BUILD)/lock/bin/python -m pip install -q --disable-pip-version-check packaging '.[test,search,monitor]'
	$(BUILD)/lock/bin/python .ci/lock.py constraints.txt
	python3 -m venv --clear $(BUILD)/lock
	$(BUILD)/lock/bin/python -m pip install -q --disable-pip-version-check packaging '.[flower]'
	$(BUILD)/lock/bin/python .ci/lock.py flower.txt
	for folder in tests_device/rp2040js docs/page; do (cd $$folder && \
	    npm install --package-lock-only --omit-lockfile-registry-resolved --no-audit --no-fund --silent) || exit 1; done
	@rm -rf $(BUILD)/lock

# The site needs these (pyproject.toml's extra "docs") and neither odt nor what its tests need.
DOCS := mkdocs mkdocs-material pymdown-extensions pygments
$(BUILD)/venv-docs/.done: PYTHON := $(BUILD)/venv-docs/bin/python
$(BUILD)/venv-docs/.done: $(LOCK)
	@$(SOURCES) venv
	@echo "odt: setting up build/venv-docs"
	@test -x $(PYTHON) || python3 -m venv $(BUILD)/venv-docs
	@$(PIP_INSTALL) $(DOCS)
	@touch $@

# Flower, beside the checkout: it wants other versions of what the tests have (pyproject.toml's extra "flower").
$(BUILD)/venv-flower/.done: PYTHON := $(BUILD)/venv-flower/bin/python
$(BUILD)/venv-flower/.done: LOCK := .ci/flower.txt
$(BUILD)/venv-flower/.done: .ci/flower.txt
	@$(SOURCES) venv
	@echo "odt: setting up build/venv-flower"
	@test -x $(PYTHON) || python3 -m venv $(BUILD)/venv-flower
	@$(PIP_INSTALL) flwr
	@touch $@

.PHONY: docs
docs: $(BUILD)/venv-docs/.done
	NO_MKDOCS_2_WARNING=1 $(BUILD)/venv-docs/bin/python -m mkdocs build -f .ci/mkdocs.yml --strict -q
	@echo "odt: open build/site/index.html"

.PHONY: generate
generate:
	python3 -m odt.host.generate

# --- what people call -------------------------------------------------------------------------

# What cannot be set up here is said, and the rest runs.
.PHONY: run
run:
	@echo "odt: 1/3 Python"
	@$(MAKE) --no-print-directory $(BUILD)/venv/.run || echo "odt: no build/venv: using python3 as it is"
	@echo "odt: 2/3 MicroPython's unix port (a minute when it is new)"
	@mkdir -p $(BUILD)
	@$(MAKE) --no-print-directory unix >$(BUILD)/unix.log 2>&1 || tail -n 4 $(BUILD)/unix.log
	@echo "odt: 3/3 training"
	@PYTHONPATH=. $$(test -e $(BUILD)/venv/.run && echo $(PYTHON) || echo python3) \
	    examples/digits/compare.py --picture $(BUILD)/digits.png \
	    $$(test -x $(BUILD)/unix/micropython && echo $(BUILD)/unix/micropython)

# With mpremote, and without what only the tests need.
$(BUILD)/venv/.board: $(BUILD)/venv/.run
	@$(PIP_INSTALL) mpremote
	@touch $@

# PICO=--no-repl: only keeps it running, until Ctrl-C.
.PHONY: pico pico-stock
pico: rp2040 $(BUILD)/venv/.board
	@PYTHONPATH=. $(PYTHON) -m odt pico $(PICO)
pico-stock: rp2040-emulator $(BUILD)/stock_rp2040/firmware.uf2 mpy $(BUILD)/venv/.board
	@PYTHONPATH=. $(PYTHON) -m odt pico --stock $(PICO)

# Files of tests go, whole, to a process for each core: what a file switches on, it switches on once. Those that take
# long, on machines, come first. Not more processes: an emulated board waits for mpremote a second of its own time.
PYTEST := $(PYTHON) -m pytest -q -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

.PHONY: test test-host test-fast test-device lint
test: machines page | sources-clang sources-chromium
	$(PYTEST) tests_device tests_host

test-host: venv $(PAGE_JS)/node_modules/.complete | sources-clang
	$(PYTEST) tests_host

test-fast: venv
	$(PYTEST) -m "not slow" tests_host

test-device: machines page | sources-chromium
	$(PYTEST) tests_device

# The version of ruff that the lock file names; tests_host/house/test_lint.py runs the same.
lint: venv
	$(PYTHON) -m ruff check -q .
	$(PYTHON) -m ruff format -q --check .

FUZZ_SECONDS ?= 600

.PHONY: fuzz
fuzz: venv | sources-clang
	$(PYTHON) tests_host/fuzz/fuzz.py --seconds $(FUZZ_SECONDS)

.PHONY: sanitize
sanitize: venv $(BUILD)/unix_sanitize/micropython
	$(PYTHON) -m pytest -q -s tests_device/checks/make/sanitize.py

# Side by side: each has stretches that keep one core busy. What apt installs comes before, alone.
.PHONY: machines
machines:
	@mkdir -p $(BUILD)
	@echo "odt: setting up build/venv, building MicroPython for every machine (log: build/machines.log)"
	@{ $(MAKE) --no-print-directory -j1 sources-machines && \
	    $(MAKE) --no-print-directory -j$(shell nproc) JOBS= --output-sync=recurse PIP_ONCE=1 venv all-machines; } \
	    >$(BUILD)/machines.log 2>&1 || \
	    { grep -B 20 -F '*** [' $(BUILD)/machines.log | tail -n 40; exit 1; }

.PHONY: sources-machines all-machines
sources-machines: sources-qemu sources-multilib rp2040-sources
	@$(SOURCES) node microbit venv python-headers

all-machines: unix unix-float30 qemu rp2040 stock mpy \
    $(foreach board,RPI_PICO RPI_PICO2 RPI_PICO2_RISCV stock_RPI_PICO2,$(BUILD)/$(board)/firmware.uf2)

# --- boards without kernels: ulab -----------------------------------------------------------------

# 30-bit floats, ulab, odt's Python; no kernels.
.PHONY: unix-ulab test-ulab
ifeq ($(wildcard $(ULAB_DIR)/code/micropython.mk),)
unix-ulab test-ulab:
	@echo "odt: give a clone of ulab: make $@ ULAB_DIR=<the clone>" >&2
	@exit 1
else
unix-ulab: $(BUILD)/unix_ulab/micropython
$(BUILD)/unix_ulab/micropython: $(ODT_FILES) $(wildcard boards/UNIX_FLOAT30/*) $(MPYCROSS) | sources-multilib
	$(STOCK_MAKE) $(UNIX_OPTIONS) BUILD=$(@D) VARIANT_DIR=$(CURDIR)/boards/UNIX_FLOAT30 FROZEN_MANIFEST=$(ODT_MANIFEST) \
	    USER_C_MODULES=$(abspath $(ULAB_DIR)) CFLAGS_EXTRA=-ffp-contract=off
	@touch $@

test-ulab: venv unix-ulab
	$(PYTHON) -m pytest -q tests_device/checks/make/with_ulab.py
endif

# --- CircuitPython ------------------------------------------------------------------------------

CPY_CROSS = $(wildcard $(CPY_DIR)/mpy-cross/build/mpy-cross)
CPY_UNIX = $(wildcard $(CPY_DIR)/ports/unix/build-standard/micropython)

.PHONY: circuitpython test-circuitpython
circuitpython:
	@python3 -m odt.host.release.circuitpython $(BUILD)/circuitpython $(if $(CPY_DIR),$(CPY_CROSS))

ifeq ($(and $(CPY_DIR),$(CPY_CROSS),$(CPY_UNIX)),)
test-circuitpython:
	@echo "odt: the tests on CircuitPython need its unix port$(if $(CPY_DIR), built in $(CPY_DIR))." >&2
	@echo "  Clone CircuitPython, in it run make -C mpy-cross and make -C ports/unix VARIANT=standard, and give it:" >&2
	@echo "  make test-circuitpython CPY_DIR=<the clone>" >&2
	@exit 1
else
test-circuitpython: venv
	CPY_DIR=$(CPY_DIR) $(PYTHON) -m pytest -q -s tests_device/checks/make/circuitpython.py
endif

.PHONY: bench bench-accuracy
bench: machines
	$(PYTHON) bench/costs/kernels.py
	$(PYTHON) bench/costs/steps.py
	$(PYTHON) bench/costs/host.py

bench-accuracy: venv
	$(PYTHON) bench/accuracy/accuracy.py
	$(PYTHON) bench/accuracy/hard.py

# All: many hours. On a clean commit, which the results name.
.PHONY: figures stale
figures: machines mip
	PYTHONPATH=. $(PYTHON) bench/renew.py $(ONLY)

stale:
	@python3 bench/renew.py --stale

.PHONY: release
release: machines mip
	$(PYTHON) .ci/release.py $(BUILD)

.PHONY: clean
clean:
	rm -rf $(filter-out $(BUILD)/src $(BUILD)/apt $(BUILD)/venv $(BUILD)/venv-docs $(BUILD)/venv-flower,$(wildcard $(BUILD)/*))
