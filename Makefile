# make help lists the targets. Everything built goes under build/.

.DEFAULT_GOAL := help

include boards/boards.mk

.PHONY: help
help:
	@echo "make venv           build/venv: Python with what the tests need"
	@echo "make unix           MicroPython's unix port with odt inside"
	@echo "make unix-float30   the same with CircuitPython's 30-bit floats"
	@echo "make qemu           Cortex-M3, M4, M4F and M7 images for QEMU"
	@echo "make rp2040         Raspberry Pi Pico firmware"
	@echo "make test-device    the tests that run on those machines"
	@echo "make clean          removes what was built, keeps what was fetched"
	@echo "Give MPY_DIR=<MicroPython checkout> to build from it instead of Debian's packages."

.PHONY: test-device
test-device: venv unix unix-float30 qemu
	$(BUILD)/venv/bin/python -m pytest tests_device

.PHONY: clean
clean:
	rm -rf $(filter-out $(BUILD)/src $(BUILD)/apt $(BUILD)/venv,$(wildcard $(BUILD)/*))
