# Fuzzers: tests/fuzz/NAME.c is LLVMFuzzerTestOneInput() and nothing else; tests/fuzz/corpus/NAME/ has the inputs that found
# something, and a few to begin with. MODE=fuzz links them with libFuzzer; the other modes link replay.c, and the programs
# are tests that run the corpus.
FUZZ_BIN  := $(patsubst %.c,$(O)/bin/%,$(filter-out %/replay.c,$(wildcard tests/fuzz/*.c))) $(O)/bin/tests/fuzz/hip7_calls
FUZZ_MAIN := $(if $(filter fuzz,$(MODE)),-fsanitize=fuzzer,$(O)/tests/fuzz/replay.o)
FUZZ_NEED := $(filter %.o,$(FUZZ_MAIN)) $(O)/flags/ld
# vgpu_* see the insides of the virtual GPU, the others those of the driver and both libraries; these may start it.
FUZZ_VGPU := $(filter $(O)/bin/tests/fuzz/vgpu_%,$(FUZZ_BIN))
$(FUZZ_VGPU): $(O)/bin/tests/fuzz/%: $(O)/tests/fuzz/%.o $(O)/libvgpu.a $(FUZZ_NEED)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link) $< $(FUZZ_MAIN) -Wl,--whole-archive $(O)/libvgpu.a -Wl,--no-whole-archive -Wl,--export-dynamic \
		$(PKG_LIBS) -ldl -lm -o $@
FUZZ_HIP = $(O)/libhip.a
FUZZ_LIB = $(FUZZ_HIP) $(O)/libhsa.a
$(filter-out $(FUZZ_VGPU),$(FUZZ_BIN)): $(O)/bin/tests/fuzz/%: $(O)/tests/fuzz/%.o $$(FUZZ_LIB) $(O)/vgpu.o $(TEST_KERNELS) $(FUZZ_NEED)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link) $< $(FUZZ_MAIN) $(TEST_KERNELS) $(FUZZ_LIB) $(VGPU_LINK) $(PKG_LIBS) -ldl -lm -o $@
$(O)/bin/tests/fuzz/tuff_calls: FUZZ_LIB = $(O)/libdriver.a
# The fuzzer of HIP's calls a second time, with the library of version 7.
$(O)/libhip7.a: $(call api_obj,7) $(O)/api/kernels.o
$(O)/bin/tests/fuzz/hip7_calls: FUZZ_HIP = $(O)/libhip7.a
$(O)/tests/fuzz/hip7_calls.o: $(O)/tests/fuzz/hip_calls.abi7.o
	@cp $< $@

## fuzz          T='pattern...': a minute of each fuzzer that matches, or SECONDS=n, under ASan and UBSan with clang;
##               new inputs stay in build/fuzz/corpus, those that fail in build/fuzz/found
SECONDS ?= 60
.PHONY: fuzz run-fuzz
fuzz:
	+@$(MAKE) --no-print-directory MODE=fuzz O=build/fuzz run-fuzz
run-fuzz: $(FUZZ_BIN)
	@tests/fuzz/run.sh $(O) '$(SECONDS)' '$(or $(T),*)' $(FUZZ_BIN)
