# Programs that test: unit tests, tests/stack, tests/hsa, tests/long, benchmarks. tests/hip/hip.mk has those of HIP.
UNIT_SRC  := $(sort $(wildcard $(addsuffix /*_test.c,$(sort $(ROOMS) $(HSA_ROOMS) $(addprefix hsa/,$(HSA_FOLDERS)) \
	$(addprefix api/,$(API_FOLDERS)) $(VGPU_ROOMS)))))
# tests/hsa/tool_*.c are libraries that those programs load.
STACK_SRC := $(wildcard tests/stack/*.c) $(filter-out tests/hsa/tool_%,$(wildcard tests/hsa/*.c))
TEST_LIB  := $(call obj,$(wildcard tests/*.c))
UNIT_BIN  := $(patsubst %.c,$(O)/bin/%,$(UNIT_SRC))
STACK_BIN := $(patsubst %.c,$(O)/bin/%,$(STACK_SRC))
LONG_BIN  := $(patsubst %.c,$(O)/bin/%,$(wildcard tests/long/*.c))
BENCH_BIN := $(patsubst %.c,$(O)/bin/%,$(wildcard tests/bench/*.c))

link = $(CC) $(ALL_LDFLAGS)
$(O)/libtests.a: $(TEST_LIB)
$(O)/libvgpu.a: $(VGPU_OBJ)
$(O)/libhsa.a: $(call obj,$(HSA_SRC)) $(O)/shaders/shaders.o

# --- the driver with calls renamed that the tests let fail -----------------------------------------------------------
INJECT := $(foreach s,malloc calloc realloc strdup strndup free mmap open fcntl socket timerfd_create memfd_create fopen opendir \
	pthread_create,--redefine-sym $(s)=inject_$(s))
$(O)/libtuff-inject.a: $(O)/libdriver.a
$(O)/libhsa-inject.a: $(O)/libhsa.a
# HIP's is used with HSA's, which has the parts that they share.
$(O)/libhip.a: $(call api_obj,6) $(O)/api/kernels.o
$(O)/libhip-inject.a: $(O)/libhip.a
$(addprefix $(O)/,libtuff-inject.a libhsa-inject.a libhip-inject.a):
	$(call say,COPY,$@)$(OBJCOPY) -D $(INJECT) $< $@

# --- tests/stack, tests/long, tests/bench --------------------------------------------------------------------------
TUFF_LIB = $(O)/libdriver.a
$(O)/bin/tests/%: $(O)/tests/%.o $(TEST_LIB) $(TEST_KERNELS) $(O)/libcode.a $(O)/libdriver.a $(O)/vgpu.o $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link) $< $(TEST_LIB) $(TEST_KERNELS) $(O)/libcode.a $(TUFF_LIB) $(VGPU_LINK) $(PKG_LIBS) -ldl -lm -o $@
INJECTED := $(addprefix $(O)/bin/tests/stack/,inject embed)
$(INJECTED): $(O)/libtuff-inject.a
$(INJECTED): TUFF_LIB = $(O)/libtuff-inject.a
# They run the command, and what else is built.
$(addprefix $(O)/bin/tests/stack/,install manual null record tool) $(O)/bin/tests/clients/rocminfo: | all
# The test of make install makes and compiles as this build does.
$(O)/tests/stack/install.o: ALL_CFLAGS += -DBUILD_MODE='"$(MODE)"' -DBUILD_CC='"$(CC)"' \
	-DBUILD_SANITIZE='"$(filter -fsanitize%,$(OPT_$(MODE)))"'

# --- tests/hsa -----------------------------------------------------------------------------------------------------
# They know HSA's headers and the library alone. Their virtual GPU stands in front of the library's libc, too.
$(O)/bin/tests/hsa/%: $(O)/tests/hsa/%.o $(O)/libtests.a $(TEST_KERNELS) $(O)/libcode.a $(O)/vgpu.o $(HSA_LIB) $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link) $< $(HSA_EXTRA) $(TEST_KERNELS) $(VGPU_LINK) $(O)/libtests.a $(O)/libcode.a $(HSA_LIB) \
		-Wl,-rpath,'$$ORIGIN/../../../lib' -ldl -lm -o $@
HSA_INJECTED := $(addprefix $(O)/bin/tests/hsa/,inject growth_inject svm)
$(HSA_INJECTED): $(O)/libhsa-inject.a
$(HSA_INJECTED): HSA_LIB = $(O)/libhsa-inject.a $(PKG_LIBS)
# The test of the binary surface takes its list from our headers, and from Debian's in /usr/include/hsa.
ABI_LISTS := $(O)/tests/hsa/abi/ours.o $(O)/tests/hsa/abi/debians.o
$(O)/tests/hsa/abi/ours.o: ABI_INCLUDE = -Iinclude
$(O)/tests/hsa/abi/%.o: tests/hsa/abi/list.cc $(wildcard tests/hsa/abi/*.h include/hsa/*.h)
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(CLANG) -x c++ -std=c++11 -nostdinc++ -fPIC -Wall -Werror -DABI_LIST=abi_$* $(ABI_INCLUDE) -c $< -o $@
$(O)/bin/tests/hsa/abi: $(ABI_LISTS)
$(O)/bin/tests/hsa/abi: HSA_EXTRA = $(ABI_LISTS)
# Libraries that tests load.
$(O)/bin/tests/hsa/intercept $(O)/bin/tests/hsa/inside: | $(O)/lib/tests/tool_table.so
$(O)/bin/hsa/entry/tools_test $(O)/bin/hsa/entry/privileged_test: | $(O)/lib/tests/tool_count.so
$(O)/bin/vgpu/shim/files_test: | $(O)/lib/libtuff-vgpu.so
$(O)/lib/tests/%.so: $(O)/tests/hsa/%.o $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link) -shared $< -o $@

# --- unit tests ----------------------------------------------------------------------------------------------------
# They see the insides of what they test: vgpu/'s link all its objects, the driver's its archive.
$(O)/bin/vgpu/%: $(O)/vgpu/%.o $(O)/libvgpu.a $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link) $< -Wl,--whole-archive $(O)/libvgpu.a -Wl,--no-whole-archive -Wl,--export-dynamic $(PKG_LIBS) -ldl -lm -o $@
$(O)/bin/%_test: $(O)/%_test.o $(O)/libcode.a $(O)/libdriver.a $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link) $< $(O)/libcode.a $(O)/libdriver.a $(PKG_LIBS) -lm -o $@
# Those of flow/, pool/ and hsa/ may start the virtual GPU.
HSA_UNIT := $(filter $(addprefix $(O)/bin/,flow/% pool/% hsa/%),$(UNIT_BIN)) $(O)/bin/tests/bench/hsa
HSA_A     = $(O)/libhsa.a
$(HSA_UNIT): $(O)/bin/%: $(O)/%.o $(O)/libtests.a $(TEST_KERNELS) $(O)/libhsa.a $(O)/vgpu.o $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link) $< $(O)/libtests.a $(TEST_KERNELS) $(HSA_A) $(VGPU_LINK) $(PKG_LIBS) -ldl -lm -o $@
# Those of api/ have HIP's library of the newer interface, too.
API_UNIT := $(filter $(O)/bin/api/%,$(UNIT_BIN))
$(API_UNIT): $(O)/bin/%: $(O)/%.o $(O)/libtests.a $(TEST_KERNELS) $(O)/libhip.a $(O)/libhsa.a $(O)/vgpu.o $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link) $< $(O)/libtests.a $(TEST_KERNELS) $(O)/libhip.a $(O)/libhsa.a $(VGPU_LINK) $(PKG_LIBS) -ldl -lm -o $@
$(O)/bin/hsa/memory/inject_test: $(O)/libhsa-inject.a
$(O)/bin/hsa/memory/inject_test: HSA_A = $(O)/libhsa-inject.a

# --- HIP's benchmark, and its kernels as compilers made them before clang 18, and as they do since -------------------
BENCH_CO := $(foreach v,4 5,$(O)/tests/bench/hip/gfx908/kernels.v$(v).co)
$(BENCH_CO): $(O)/tests/bench/hip/gfx908/kernels.v%.co: tests/bench/hip/kernels.hip shaders/device.h $(O)/flags/device
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(CLANG) $(HIPFLAGS) --offload-arch=gfx908 -O2 -mcode-object-version=$* $< -o $@
$(O)/tests/bench/hip/bench.S: $(BENCH_CO)
BENCH_HIP := $(call obj,$(wildcard tests/bench/hip/*.c)) $(O)/tests/bench/hip/bench.o
$(O)/bin/tests/bench/hip: $(O)/tests/bench/hip.o $(BENCH_HIP) $(O)/libtests.a $(O)/vgpu.o $(O)/lib/libamdhip64.so.6 $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link) $< $(BENCH_HIP) $(VGPU_LINK) $(O)/libtests.a $(O)/lib/libamdhip64.so.6 $(HSA_LIB) $(PKG_LIBS) \
		-Wl,-rpath,'$$ORIGIN/../../../lib' -ldl -lm -o $@
$(O)/bin/tests/bench/growth: $(O)/tests/bench/growth.o $(O)/libtests.a $(TEST_KERNELS) $(O)/vgpu.o $(O)/lib/libamdhip64.so.6 $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link) $< $(TEST_KERNELS) $(VGPU_LINK) $(O)/libtests.a $(O)/lib/libamdhip64.so.6 $(HSA_LIB) $(PKG_LIBS) \
		-Wl,-rpath,'$$ORIGIN/../../../lib' -ldl -lm -o $@
