# Pairs of functions that threads call at the same time: tests/pairs/NAME.c, under ThreadSanitizer; under AddressSanitizer the first
# thread is stopped in its call, and without a sanitizer the other one forks meanwhile.
PAIRS_BIN := $(patsubst %.c,$(O)/bin/%,$(wildcard tests/pairs/*.c)) $(O)/bin/tests/pairs/hip7
PAIRS_HIP = $(O)/libhip.a
$(PAIRS_BIN): $(O)/bin/tests/pairs/%: $(O)/tests/pairs/%.o $$(PAIRS_HIP) $(O)/libhsa.a $(O)/vgpu.o $(TEST_KERNELS) $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link) $< $(TEST_KERNELS) $(PAIRS_HIP) $(O)/libhsa.a $(VGPU_LINK) $(PKG_LIBS) -ldl -lm -o $@
# A second time with the library of version 7.
$(O)/bin/tests/pairs/hip7: PAIRS_HIP = $(O)/libhip7.a
$(O)/tests/pairs/hip7.o: $(O)/tests/pairs/hip.abi7.o
	@cp $< $@

## pairs         T='pattern...': each pair of functions on two and three threads under ThreadSanitizer, those of SEEDS
##               seeds from SEED on; a seed that found something repeats it
## stops         T='pattern...': the same with a thread that is stopped somewhere in its call, under AddressSanitizer, and
##               beside a fork
SEED  ?= 1
SEEDS ?= 3
.PHONY: pairs stops run-pairs
pairs:
	+@$(MAKE) --no-print-directory MODE=tsan run-pairs
stops:
	+@$(MAKE) --no-print-directory MODE=asan run-pairs
	+@$(MAKE) --no-print-directory run-pairs
run-pairs: $(PAIRS_BIN)
	@tests/pairs/run.sh $(O) '$(SEED)' '$(SEEDS)' '$(or $(T),*)' $(PAIRS_BIN)
