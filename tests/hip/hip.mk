# HIP programs compiled by clang 19 with our own headers: tests/hip/ shows what they offer, on our library; and the programs
# of tests/clients/hip, on our library and on Debian's. They need Debian's clang-tools-19 and, for mathematical functions
# and printf, rocm-device-libs: check installs them. A test is $(O)/bin/tests/hip/PROGRAM.GPU, or .clr on Debian's library; a script around `tuff run`.
OUR_HIP_READY := $(and $(wildcard $(OMP_DEVICE)/ocml.bc),$(OFFLOAD_TOOLS))
OUR_HIP_GPUS  := $(HIP_GPUS)
# --rocm-path: clang's own header comes first (include/hip/README.md).
OUR_HIP       := $(CLANG) -x hip --rocm-path=include --rocm-device-lib-path=$(OMP_DEVICE) -std=c++17 -O2 -Wall -Wextra -Werror -I. -Iinclude
OUR_HIP_DEPS  := $(wildcard include/hip/*.h include/hip/*/*.h) $(wildcard tests/hip/*.h) tests/clients/hip/hip.h tests/check.h tests/hip/hip.mk

OUR_HIP_FLAGS_print_buffered := -mprintf-kind=buffered
# Linked by lld from bitcode, without optimization: the headers' functions that nobody calls are still there then.
OUR_HIP_FLAGS_clock := -O0 -fgpu-rdc
# Another driver on the same card.
OUR_HIP_FLAGS_external := $(shell pkg-config --cflags --libs libdrm_amdgpu libdrm)
# It speaks HSA, too.
OUR_HIP_FLAGS_grids_shared := -lhsa-runtime64
OUR_HIP_ENV_bad_arguments  := env TUFF_VGPU_STRICT=report
# It loses what it adds.
OUR_HIP_ENV_atomic_fine := env TUFF_VGPU_STRICT=off
OUR_HIP_FLAGS_atomic_fine := -munsafe-fp-atomics
# Its table is long, and how fast it runs does not matter.
OUR_HIP_FLAGS_bad_arguments := -O0
# Tables, too, of calls that are made once each.
STATUSES := $(patsubst tests/hip/%.hip,%,$(wildcard tests/hip/statuses_*.hip))
$(foreach p,$(STATUSES),$(eval OUR_HIP_FLAGS_$(p) := -O0))
# Images are not the same on all GPUs; of the others it does not matter which one answers.
STATUSES_OF_ONE := $(filter-out statuses_images,$(STATUSES))
$(addprefix $(O)/hip/,$(STATUSES_OF_ONE)): OUR_HIP_GPUS := gfx908
# our_hip_test PROGRAM NAME GPU BINARY LIST
define our_hip_test
$(5) += $(O)/bin/tests/hip/$(1).$(2)
$(O)/bin/tests/hip/$(1).$(2): $(O)/$(4) tests/hip/hip.mk
	@mkdir -p $$(@D)
	@{ echo '#!/bin/sh'; echo 'b=$$$$(dirname "$$$$0")/../../..'; \
	echo 'exec $(CLIENT_ENV) $(OUR_HIP_ENV_$(1)) $(OUR_HIP_ENV_$(3)) $(HIP_ENV_$(3)) "$$$$b/tuff" run --gpu $(or $(HIP_SPEC_$(3)),$(3)) -- "$$$$b/$(4)"'; } >$$@ && chmod +x $$@
endef

# Our library, which libamdhip64.so names: the newer interface.
$(O)/hip/%: tests/hip/%.hip $(OUR_HIP_DEPS) | $(O)/lib/libamdhip64.so
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(OUR_HIP) $(addprefix --offload-arch=,$(OUR_HIP_GPUS)) $< -o $@ -L$(O)/lib -lamdhip64 -lstdc++ -lm \
		-lpthread -Wl,-rpath,'$$ORIGIN/../lib' $(OUR_HIP_FLAGS_$*)
OUR_HIP_PROGRAMS := $(patsubst tests/hip/%.hip,%,$(wildcard tests/hip/*.hip))
# The same program speaks the older interface.
$(O)/hip/%.5: tests/hip/%.hip $(OUR_HIP_DEPS) | $(O)/lib/libamdhip64.so.5
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(OUR_HIP) -DTUFF_HIP_ABI=5 -no-hip-rt --offload-arch=gfx908 $< -o $@ -x none $(O)/lib/libamdhip64.so.5 \
		-lstdc++ -lm -lpthread -Wl,-rpath,'$$ORIGIN/../lib' $(OUR_HIP_FLAGS_$*)
# Programs with Debian's libraries, which name that interface.
$(O)/hip/clients.%.5: tests/clients/hip/%.hip $(OUR_HIP_DEPS) | $(O)/lib/libamdhip64.so.5
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(OUR_HIP) -DTUFF_HIP_ABI=5 -no-hip-rt $(addprefix --offload-arch=,$(OUR_HIP_GPUS)) $< -o $@ -x none $(O)/lib/libamdhip64.so.5 \
		-lstdc++ -lm -lpthread -Wl,-rpath,'$$ORIGIN/../lib' $(HIP_FLAGS_$*)
$(foreach p,$(if $(HIP_READY),prim hiprand hipsparse),$(foreach g,$(OUR_HIP_GPUS),$(eval $(call our_hip_test,clients.$(p),$(g),$(g),hip/clients.$(p).5,OUR_HIP_TESTS))))
$(foreach p,pools pool_streams pool_ipc bad_arguments tracer $(STATUSES),$(eval $(call our_hip_test,$(p),abi5,gfx908,hip/$(p).5,OUR_HIP_TESTS)))
# A grid that is stopped: by an early watchdog.
OURS_WITHOUT := copies_devices lost_devices grid_lost reset ipc_peers pool_peers pool_memory bad_arguments graph_devices $(STATUSES_OF_ONE)
HIP_SPEC_watched := gfx908:watchdog_ms=100
$(eval $(call our_hip_test,grid_lost,gfx908,watched,hip/grid_lost,OUR_HIP_TESTS))
$(foreach g,$(OUR_HIP_GPUS),$(eval HIP_SPEC_watched_$(g) := $(g):watchdog_ms=100))
$(foreach g,$(OUR_HIP_GPUS),$(eval $(call our_hip_test,reset,$(g),watched_$(g),hip/reset,OUR_HIP_TESTS)))
# Two of them.
HIP_SPEC_watched_two := gfx908:watchdog_ms=100,gfx908:watchdog_ms=100
$(eval $(call our_hip_test,lost_devices,gfx908,watched_two,hip/lost_devices,OUR_HIP_TESTS))
# A GPU whose memory is soon all used.
HIP_SPEC_little := gfx908:vram=256M
$(eval $(call our_hip_test,pool_memory,little,little,hip/pool_memory,OUR_HIP_TESTS))
# Kernels whose first arguments are in registers when they begin.
$(O)/hip/%.preload: tests/hip/%.hip $(OUR_HIP_DEPS) | $(O)/lib/libamdhip64.so
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(OUR_HIP) --offload-arch=gfx90a -mllvm -amdgpu-kernarg-preload-count=16 $< -o $@ -L$(O)/lib -lamdhip64 \
		-lstdc++ -lm -lpthread -Wl,-rpath,'$$ORIGIN/../lib'
$(foreach p,launch values graph_nodes graph_large heap,$(eval $(call our_hip_test,$(p),preload,gfx90a,hip/$(p).preload,OUR_HIP_TESTS)))
# Two GPUs: tests/clients/clients.mk has which; and two that do not reach one another.
HIP_SPEC_unconnected := gfx908:p2p=0,gfx908:p2p=0
# Whether they do is found out by trying, which is reported.
OUR_HIP_ENV_unconnected := env TUFF_VGPU_STRICT=report
$(eval $(call our_hip_test,tools,hive,hive,hip/tools,OUR_HIP_TESTS))
$(foreach g,hive unconnected,$(eval $(call our_hip_test,ipc_peers,$(g),$(g),hip/ipc_peers,OUR_HIP_TESTS)))
$(foreach g,hive mixed unconnected,$(eval $(call our_hip_test,copies_devices,$(g),$(g),hip/copies_devices,OUR_HIP_TESTS)))
$(foreach g,hive mixed unconnected,$(eval $(call our_hip_test,pool_peers,$(g),$(g),hip/pool_peers,OUR_HIP_TESTS)))
$(foreach g,hive mixed unconnected,$(eval $(call our_hip_test,graph_devices,$(g),$(g),hip/graph_devices,OUR_HIP_TESTS)))
$(foreach g,hive mixed unconnected,$(eval $(call our_hip_test,streams_random,$(g),$(g),hip/streams_random,OUR_HIP_TESTS)))
$(foreach g,hive mixed,$(eval $(call our_hip_test,graph_random,$(g),$(g),hip/graph_random,OUR_HIP_TESTS)))
$(foreach p,$(STATUSES),$(eval $(call our_hip_test,$(p),hive,hive,hip/$(p),OUR_HIP_TESTS)))
$(foreach p,$(STATUSES_OF_ONE),$(eval $(call our_hip_test,$(p),gfx908,gfx908,hip/$(p),OUR_HIP_TESTS)))
$(foreach g,mixed unconnected,$(eval $(call our_hip_test,statuses_devices,$(g),$(g),hip/statuses_devices,OUR_HIP_TESTS)))
$(foreach p,$(filter-out $(OURS_WITHOUT),$(OUR_HIP_PROGRAMS)),$(foreach g,$(OUR_HIP_GPUS),$(eval $(call our_hip_test,$(p),$(g),$(g),hip/$(p),OUR_HIP_TESTS))))

# Every function of both libraries; which GPU does not matter. Streams that nothing orders write the same memory: the
# virtual GPU may say so, and goes on.
$(O)/hip/bad_arguments $(O)/hip/bad_arguments.5: tests/hip/bad_arguments.h api/names.h
$(O)/hip/bad_arguments: OUR_HIP_GPUS := gfx908
$(eval $(call our_hip_test,bad_arguments,gfx908,gfx908,hip/bad_arguments,OUR_HIP_TESTS))

# A library that a program loads, and others that are copies of it.
$(O)/hip/plugin.so: tests/hip/plugin/library.hip $(OUR_HIP_DEPS) | $(O)/lib/libamdhip64.so
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(OUR_HIP) $(addprefix --offload-arch=,$(OUR_HIP_GPUS)) -shared -fPIC $< -o $@ -L$(O)/lib -lamdhip64
$(O)/hip/plugin: $(O)/hip/plugin.so

# A program in C, which needs no compiler of kernels.
$(O)/hip/plain: tests/hip/plain.c $(OUR_HIP_DEPS) | $(O)/lib/libamdhip64.so
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) -std=c11 -O2 -Wall -Wextra -Werror -I. -Iinclude $< -o $@ -L$(O)/lib -lamdhip64 -Wl,-rpath,'$$ORIGIN/../lib'
$(eval $(call our_hip_test,plain,gfx908,gfx908,hip/plain,OUR_HIP_TESTS))
# And one that is linked with none of the libraries.
$(O)/hip/late_%: tests/hip/late.c tests/check.h tests/hip/hip.mk | $(HIP_LIBS)
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) -std=c11 -O2 -Wall -Wextra -Werror -I. -DLIBRARY='"libamdhip64.so.$*"' $< -o $@ -ldl
$(foreach v,5 6,$(eval $(call our_hip_test,late,abi$(v),gfx908,hip/late_$(v),OUR_HIP_TESTS)))

# Debian's library speaks the older interface, and knows hidden arguments of code object version 4 only; clang 19's for
# printf it does not (docs/support.md). A folder with nothing else in it lets it be found before ours. It names two
# functions as C++ does: old_names.c.
CLR_HIP = $(OUR_HIP) -DTUFF_HIP_ABI=5 -mcode-object-version=4 --offload-arch=gfx908
CLR_LINK = -no-hip-rt -x none $(O)/clr/old_names.o $(O)/clr/libamdhip64.so.5 -lstdc++ -lm -lpthread -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../clr'
$(O)/clr/old_names.o: tests/hip/old_names.c $(OUR_HIP_DEPS) | $(O)/clr/libamdhip64.so.5
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) -O2 -Wall -Wextra -Werror -DTUFF_HIP_ABI=5 -Iinclude -c $< -o $@
$(O)/clr/clients.%: tests/clients/hip/%.hip $(OUR_HIP_DEPS) $(O)/clr/old_names.o
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(CLR_HIP) $< -o $@ $(CLR_LINK) $(HIP_FLAGS_$*)
$(O)/clr/%: tests/hip/%.hip $(OUR_HIP_DEPS) $(O)/clr/old_names.o
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(CLR_HIP) $< -o $@ $(CLR_LINK)
CLR_WITHOUT := intercept copies_devices lost_devices launch gather print_buffered external tracer module_managed eight bad_arguments assertion link tools printf print heap fault ipc ipc_killed ipc_peers virtual grids grids_shared arrays references ipc_event grid_lost rules reset plugin threads serial submissions overlap streams_% statuses_%
$(foreach p,$(filter-out $(CLR_WITHOUT) peers,$(HIP_PROGRAMS)),$(eval $(call our_hip_test,clients.$(p),clr,gfx908,clr/clients.$(p),CLR_TESTS)))
$(eval $(call our_hip_test,clients.peers,clr,hive,clr/clients.peers,CLR_TESTS))
# Pools, graphs, capture: where AMD's departs from CUDA's contract, ours does not.
$(foreach p,$(filter-out $(CLR_WITHOUT) pool% capture graph_%,$(OUR_HIP_PROGRAMS)),$(eval $(call our_hip_test,$(p),clr,gfx908,clr/$(p),CLR_TESTS)))

# What the headers define, beside tables, and the tables beside Debian's headers.
HIP_ABI_LISTS := $(O)/tests/hip/abi/ours5.o $(O)/tests/hip/abi/ours6.o \
	$(O)/tests/hip/abi/$(if $(wildcard /usr/include/hip/hip_runtime_api.h),debians,absent).o
HIP_ABI_FLAGS_ours5   := -DRELEASE=57 -DTUFF_HIP_ABI=5 -Iinclude -Wall -Wextra -Werror -Wno-deprecated-declarations
HIP_ABI_FLAGS_ours6   := -DRELEASE=64 -DTUFF_HIP_ABI=6 -Iinclude -Wall -Wextra -Werror -Wno-deprecated-declarations
HIP_ABI_FLAGS_debians := -DRELEASE=52 -D__HIP_PLATFORM_AMD__ -w
$(addprefix $(O)/tests/hip/abi/,ours5.o ours6.o debians.o): $(O)/tests/hip/abi/%.o: tests/hip/abi/list.c $(OUR_HIP_DEPS) $(wildcard tests/hip/abi/*.h)
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(CLANG) -std=gnu11 -fPIC -DABI_LIST=abi_$* $(HIP_ABI_FLAGS_$*) -c $< -o $@
$(O)/bin/tests/hip/abi: $(O)/tests/hip/abi.o $(HIP_ABI_LISTS)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) $^ -o $@

HEADER_TESTS = $(O)/bin/tests/hip/abi $(HIP_INJECTED) $(if $(OUR_HIP_READY),$(OUR_HIP_TESTS) $(if $(HIP_READY),$(CLR_TESTS)))
