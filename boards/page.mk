# The page where odt plans and trains: docs/page/. Included by boards.mk, whose variables it uses.
#
#   make page        build/page/: static files for any web server; with the firmware of `make rp2040` and the files of
#                    `make mpy`, if these are built

PAGE := $(BUILD)/page
PAGE_JS := $(BUILD)/page_js
PAGE_C := $(filter-out native/threads.c,$(wildcard native/*.c native/common/*.c native/cores/*/*.c)) \
    $(filter-out native/kernels/features/% native/kernels/online/%,$(wildcard native/kernels/*/*.c)) \
    $(addprefix native/kernels/features/,logmel_i16.c motion_i16.c spectrum.c) \
    native/bindings/wasm.c
PAGE_SOURCES := $(wildcard docs/page/*.* docs/page/*/* docs/page/*/*/*) $(wildcard tests_device/rp2040js/*.mjs)
# As it is: `make page` builds no firmware.
PAGE_FIRMWARE = $(wildcard $(RP2040)/firmware.uf2 $(RP2040)/bootrom.bin)

.PHONY: page sources-chromium
sources-chromium:
	@$(SOURCES) chromium

page: $(PAGE)/.complete
	@$(if $(PAGE_FIRMWARE),cp -u $(PAGE_FIRMWARE) $(PAGE))
	@if [ -f $(MPY_PACKED)/base.pack ]; then python3 docs/page/install.py $(BUILD)/mpy $(PAGE); fi
	@echo '{"pico": $(if $(PAGE_FIRMWARE),true,false),' \
	    "\"install\": $$([ -f $(PAGE)/install.json ] && echo true || echo false)}" >$(PAGE)/parts.json
	@echo "odt: python3 -m http.server -d build/page serves it"

$(PAGE)/.complete: $(PAGE_SOURCES) $(ODT_PYTHON) $(shell find odt/host/cost odt/host/rows odt/host/traits -name '*.py') examples/gesture/motions.py examples/keyword/words.py \
    $(PAGE_JS)/odt.wasm $(PAGE_JS)/node_modules/.complete
	@rm -rf $(@D)
	@mkdir -p $(@D)
	python3 docs/page/pack.py $(@D)/odt.pack
	cp $(PAGE_JS)/odt.wasm $(@D)
	cd $(PAGE_JS) && node $(CURDIR)/docs/page/build.mjs $(CURDIR) $(@D)
	@touch $@

$(PAGE_JS)/node_modules/.complete: docs/page/package.json docs/page/package-lock.json
	@$(SOURCES) node
	@mkdir -p $(PAGE_JS)
	cp docs/page/package*.json $(PAGE_JS)
	cd $(PAGE_JS) && npm ci --no-audit --no-fund --silent
	@touch $@

# Without a libc; the flags of odt.h.
$(PAGE_JS)/odt.wasm: boards/wasm/string.h $(PAGE_C) \
    $(wildcard native/*.h native/common/*.h native/kernels/*/*.h native/cores/*.h native/cores/*/*)
	@$(SOURCES) wasm
	@rm -rf $(PAGE_JS)/objects
	@mkdir -p $(PAGE_JS)/objects
	printf '%s\n' $(PAGE_C) | xargs -P $(shell nproc) -I FILE sh -c 'clang --target=wasm32 -mbulk-memory -O2 -std=c99 \
	    -ffreestanding -fwrapv -ffp-contract=off -I boards/wasm -c FILE -o $(PAGE_JS)/objects/$$(echo FILE | tr / _).o'
	wasm-ld --no-entry --export=__heap_base --gc-sections --strip-all $(PAGE_JS)/objects/*.o -o $@
