# HIP programs of tests/hip and tests/clients/hip, and OpenMP's. The table tests/hip/matrix has what is compiled for which
# library, and which GPUs it runs on. A test is a script around `tuff run`, $(O)/bin/tests/hip/PROGRAM.GPU for example. In a
# sanitizer's build its runtime is loaded first.
#
# Our own are compiled by clang 19 with our headers. They need Debian's clang-tools-19 and, for mathematical functions and
# printf, rocm-device-libs (make deps-check). Those on Debian's libamdhip64, and OpenMP's, are tests where Debian's packages
# are installed (make deps-clients).
# What puts code for several chips into one program. clang prints a path of what it has.
OUR_HIP_READY := $(and $(DEVICE_LIBS),$(filter /%,$(shell $(CLANG) --print-prog-name=clang-offload-bundler 2>/dev/null)))
HIP_READY     := $(if $(shell $(DEPS) missing hip),,yes)

# --- tests ----------------------------------------------------------------------------------------------------
HIP_SRC    := $(sort $(wildcard tests/hip/*.hip tests/clients/hip/*.hip))
HIP_MATRIX := $(O)/tests/hip/matrix.mk
# Defines HIP_GPUS, HIP_TESTS_KIND, and for each test RUN_PROGRAM, RUN_GPU and RUN_VARIABLES.
ifneq ($(BUILDS),)
include $(HIP_MATRIX)
endif
$(HIP_MATRIX): tests/hip/matrix tests/hip/matrix.awk $(HIP_SRC)
	@mkdir -p $(@D) $(O)/hip $(O)/clients
	@awk -v out='$(O)' -v sources='$(HIP_SRC)' -f tests/hip/matrix.awk tests/hip/matrix >$@

HIP_TESTS    := $(foreach k,ours ours5 abi5 abi6 abi7 preload generic clr hipcc hipcc-ours openmp long,$(HIP_TESTS_$(k)))
RUNTIME_asan := libasan.so
RUNTIME_tsan := libtsan.so
# A sanitizer's red zones make the libraries' thread-local storage larger than glibc keeps room for.
RUNTIME      := $(strip $(if $(RUNTIME_$(MODE)),LD_PRELOAD=$(shell $(CC) -print-file-name=$(RUNTIME_$(MODE))) \
	ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 TSAN_OPTIONS="die_after_fork=0 $$TSAN_OPTIONS") \
	$(if $(SANITIZED),GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096))
RUN_LIBRARIES :=
# Debian's library is found before ours in a folder with nothing else in it.
$(HIP_TESTS_hipcc) $(HIP_TESTS_openmp) $(HIP_TESTS_long): private RUN_LIBRARIES := env LD_LIBRARY_PATH="$$b/clr:$$b/lib"
$(HIP_TESTS_hipcc) $(HIP_TESTS_openmp) $(HIP_TESTS_long): | $(O)/clr/libamdhip64.so.5
$(HIP_TESTS): $(HIP_MATRIX) tests/hip/hip.mk | lib $(O)/tuff
	@mkdir -p $(@D)
	@printf '%s\n' '#!/bin/sh' 'b=$$(dirname "$$0")/../../..' \
		'exec $(if $(RUNTIME)$(RUN_VARIABLES),env $(strip $(RUNTIME) $(RUN_VARIABLES)) )"$$b/tuff" run --gpu $(RUN_GPU) -- $(if $(RUN_LIBRARIES),$(RUN_LIBRARIES) )"$$b/$(RUN_PROGRAM)"' >$@
	@chmod +x $@

# --- Debian's device library, with the chips that it lacks -------------------------------------------------------
# Its part for a chip is one constant, 1000 * major + 100 * minor + stepping: 10300 in oclc_isa_version_1030.bc, 9010 in 90a's.
OUR_DEVICE_LIBS := $(O)/hip/device-libs
LATER_CHIPS     := 1100:11000 1101:11001 1102:11002 1103:11003 1200:12000 1201:12001
$(OUR_DEVICE_LIBS)/.ready: tests/hip/hip.mk
	@rm -rf $(@D) && mkdir -p $(@D)
	@ln -s $(DEVICE_LIBS)/*.bc $(@D)
	@for chip in $(LATER_CHIPS); do \
		rm -f $(@D)/oclc_isa_version_$${chip%:*}.bc; \
		echo "@__oclc_ISA_version = linkonce_odr protected local_unnamed_addr addrspace(4) constant i32 $${chip#*:}, align 4" | \
			$(CLANG) -x ir --target=amdgcn-amd-amdhsa -nogpulib -Wno-override-module -emit-llvm -c - \
			-o $(@D)/oclc_isa_version_$${chip%:*}.bc || exit 1; done
	@touch $@

# --- programs of clang 19, by their kinds -----------------------------------------------------------------------
# --rocm-path: clang's own header comes first (include/hip/README.md).
OUR_HIP      := $(CLANG) -x hip --rocm-path=include --rocm-device-lib-path=$(OUR_DEVICE_LIBS) -std=c++17 -O2 -Wall -Wextra -Werror \
	-I. -Iinclude $(PKG_CFLAGS)
OUR_HIP_DEPS := $(wildcard include/hip/*.h include/hip/*/*.h) $(wildcard tests/hip/*.h) tests/clients/hip/hip.h tests/check.h \
	tests/hip/hip.mk $(O)/flags/hip $(OUR_DEVICE_LIBS)/.ready
FLAGS_hip    := $(OUR_HIP)

HIP_RPATH         := -Wl,-rpath,'$$ORIGIN/../lib'
# The library that libamdhip64.so names has the newer interface.
HIP_FLAGS.ours    :=
HIP_LINK.ours     := -L$(O)/lib -lamdhip64 $(HIP_RPATH)
HIP_FLAGS.preload := -mllvm -amdgpu-kernarg-preload-count=16
HIP_LINK.preload  := $(HIP_LINK.ours)
# clang 19 warns of code object version 6, which generic targets need; Debian 12's device library does not have them.
HIP_FLAGS.generic := -mcode-object-version=6 -w -nogpulib
HIP_LINK.generic  := $(HIP_LINK.ours)
HIP_FLAGS.abi5    := -DTUFF_HIP_ABI=5 -no-hip-rt
HIP_LINK.abi5     := -x none $(O)/lib/libamdhip64.so.5 $(HIP_RPATH)
HIP_FLAGS.abi7    := -DTUFF_HIP_ABI=7 -no-hip-rt
HIP_LINK.abi7     := -x none $(O)/lib/libamdhip64.so.7 $(O)/lib/libhiprtc.so.7 $(HIP_RPATH)
HIP_FLAGS.ours5   := $(HIP_FLAGS.abi5)
HIP_LINK.ours5    := $(HIP_LINK.abi5)
# Debian's library has the older interface, and knows hidden arguments of code object version 4 only; clang 19's for printf
# it does not (docs/support.md). It names two functions as C++ does: old_names.c.
HIP_FLAGS.clr     := -DTUFF_HIP_ABI=5 -no-hip-rt -mcode-object-version=4
HIP_LINK.clr      := -x none $(O)/clr/old_names.o $(O)/clr/libamdhip64.so.5 -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../clr'
define compile_hip
@mkdir -p $(@D)
$(call say,CLANG,$@)$(OUR_HIP) $(HIP_FLAGS$(suffix $@)) $< -o $@ $(HIP_LINK$(suffix $@)) -lstdc++ -lm -lpthread $$(cat $@.row)
endef
$(O)/hip/%.ours: tests/hip/%.hip $(O)/hip/%.ours.row $(OUR_HIP_DEPS) | $(O)/lib/libamdhip64.so
	$(compile_hip)
$(O)/hip/%.preload: tests/hip/%.hip $(O)/hip/%.preload.row $(OUR_HIP_DEPS) | $(O)/lib/libamdhip64.so
	$(compile_hip)
$(O)/hip/%.generic: tests/hip/%.hip $(O)/hip/%.generic.row $(OUR_HIP_DEPS) | $(O)/lib/libamdhip64.so
	$(compile_hip)
$(O)/hip/%.abi5: tests/hip/%.hip $(O)/hip/%.abi5.row $(OUR_HIP_DEPS) | $(O)/lib/libamdhip64.so.5
	$(compile_hip)
$(O)/hip/%.abi7: tests/hip/%.hip $(O)/hip/%.abi7.row $(OUR_HIP_DEPS) | $(O)/lib/libamdhip64.so.7 $(O)/lib/libhiprtc.so.7
	$(compile_hip)
$(O)/hip/clients.%.ours5: tests/clients/hip/%.hip $(O)/hip/clients.%.ours5.row $(OUR_HIP_DEPS) | $(O)/lib/libamdhip64.so.5
	$(compile_hip)
$(O)/hip/%.clr: tests/hip/%.hip $(O)/hip/%.clr.row $(OUR_HIP_DEPS) $(O)/clr/old_names.o
	$(compile_hip)
$(O)/hip/clients.%.clr: tests/clients/hip/%.hip $(O)/hip/clients.%.clr.row $(OUR_HIP_DEPS) $(O)/clr/old_names.o
	$(compile_hip)
$(O)/clr/old_names.o: tests/hip/old_names.c $(OUR_HIP_DEPS) | $(O)/clr/libamdhip64.so.5
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) -O2 -Wall -Wextra -Werror -DTUFF_HIP_ABI=5 -Iinclude -c $< -o $@
$(O)/clr/libamdhip64.so.5:
	@mkdir -p $(@D)
	@ln -sf /usr/lib/x86_64-linux-gnu/$(@F) $@
$(addprefix $(O)/hip/bad_arguments.,ours abi5): tests/hip/bad_arguments.h api/names.h

# A library that a program loads, and others that are copies of it.
$(O)/hip/plugin.ours.so: tests/hip/plugin/library.hip $(OUR_HIP_DEPS) | $(O)/lib/libamdhip64.so
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(OUR_HIP) $(addprefix --offload-arch=,$(HIP_GPUS)) -shared -fPIC $< -o $@ -L$(O)/lib -lamdhip64
$(O)/hip/plugin.ours: $(O)/hip/plugin.ours.so
# Others are tools of HSA's.
$(O)/hip/intercept.ours: | $(O)/lib/tests/tool_intercept.so
$(O)/hip/intercept_waits.ours: tests/hsa/tool_handlers.h | $(O)/lib/tests/tool_handlers.so

# Programs in C, which need no compiler of kernels: one that is linked with the library, and one that loads it.
HIP_C := $(CC) -std=c11 -O2 -Wall -Wextra -Werror -I. -Iinclude
$(O)/hip/%.ours: tests/hip/%.c $(OUR_HIP_DEPS) | $(O)/lib/libamdhip64.so
	@mkdir -p $(@D)
	$(call say,CC,$@)$(HIP_C) $< -o $@ -L$(O)/lib -lamdhip64 $(HIP_RPATH)
$(O)/hip/late.abi%: tests/hip/late.c $(OUR_HIP_DEPS) | $(HIP_LIBS)
	@mkdir -p $(@D)
	$(call say,CC,$@)$(HIP_C) -DLIBRARY='"libamdhip64.so.$*"' $< -o $@ -ldl
$(O)/hip/foreign/libhsa-runtime64.so.1: tests/hip/mixed/hsa.c hsa/names.h hsa/exports.map
	@mkdir -p $(@D)
	$(call say,CC,$@)$(HIP_C) -fno-builtin -shared -fPIC -Wl,-soname,$(@F),--version-script=hsa/exports.map $< -o $@
$(O)/hip/mixed.ours: tests/hip/mixed.c $(OUR_HIP_DEPS) $(O)/hip/foreign/libhsa-runtime64.so.1 | $(HIP_LIBS)
	@mkdir -p $(@D)
	$(call say,CC,$@)$(HIP_C) $< -o $@ -ldl

# --- programs of Debian's hipcc, and of LLVM's OpenMP ------------------------------------------------------------
# hipcc is clang 15. Without that variable it looks for GPUs, although it is told which.
HIPCC := HCC_AMDGPU_TARGET=gfx906 hipcc -std=c++17 -O2 -Wall -Wextra -Werror -I.
$(O)/clients/%: tests/clients/hip/%.hip $(O)/clients/%.row tests/clients/hip/hip.h tests/check.h tests/hip/hip.mk
	@mkdir -p $(@D)
	$(call say,HIPCC,$@)$(HIPCC) $< -o $@ $$(cat $@.row)

# OMP_ROOT: where Debian's packages for clang 19 were unpacked, if not installed.
OMP_LIB     := $(OMP_ROOT)/usr/lib/llvm-19/lib
OMP_READY   := $(if $(SANITIZED),,$(and $(wildcard $(OMP_LIB)/libomptarget-amdgpu-gfx906.bc),$(OUR_HIP_READY)))
OMP_HEADERS := $(wildcard $(OMP_LIB)/clang/19/include $(OMP_ROOT)/usr/include)
$(O)/clients/openmp: tests/clients/openmp.c $(O)/clients/openmp.row tests/check.h tests/hip/hip.mk
	@mkdir -p $(@D)
	$(call say,CLANG,$@)clang-19 -O2 -Wall -Wno-pass-failed -I. $(addprefix -I,$(OMP_HEADERS)) -fopenmp $$(cat $@.row) \
		--rocm-device-lib-path=$(DEVICE_LIBS) $< -o $@ -L$(OMP_LIB) -Wl,-rpath,$(OMP_LIB)

# --- what the headers define, beside tables, and the tables beside Debian's headers --------------------------------
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
	$(call say,LD,$@)$(link) $^ -o $@

# --- our library with its allocations renamed -----------------------------------------------------------------------
HIP_INJECTED := $(addprefix $(O)/bin/tests/hip/,graph_freed graph_unloaded inject inside inside_pairs recover refused unload)
$(HIP_INJECTED): $(O)/bin/tests/hip/%: $(O)/tests/hip/%.o $(O)/libtests.a $(TEST_KERNELS) $(O)/vgpu.o $(O)/libhip-inject.a $(O)/libhsa-inject.a $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link) $(filter %.o,$^) -Wl,--export-dynamic $(O)/libhip-inject.a $(O)/libhsa-inject.a $(O)/libtests.a $(PKG_LIBS) -ldl -lm -o $@

# --- programs in C with the virtual GPU inside, on the shared library ------------------------------------------------
HIP_INSIDE := $(addprefix $(O)/bin/tests/hip/,ends strangers)
$(HIP_INSIDE): $(O)/bin/tests/hip/%: $(O)/tests/hip/%.o $(O)/libtests.a $(TEST_KERNELS) $(O)/vgpu.o $(O)/lib/libamdhip64.so.6 $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link) $< $(TEST_KERNELS) $(VGPU_LINK) $(O)/libtests.a $(O)/lib/libamdhip64.so.6 $(HSA_LIB) $(PKG_LIBS) \
		-Wl,-rpath,'$$ORIGIN/../../../lib' -ldl -lm -o $@

# --- the tests that can be run here -------------------------------------------------------------------------------
CLIENT_TESTS  := $(if $(HIP_READY),$(HIP_TESTS_hipcc) $(HIP_TESTS_hipcc-ours) $(O)/bin/tests/clients/rocminfo) \
	$(if $(OMP_READY),$(HIP_TESTS_openmp))
CLIENT_LONG_TESTS := $(if $(HIP_READY),$(HIP_TESTS_long))
OUR_HIP_TESTS := $(O)/bin/tests/hip/abi $(HIP_INJECTED) $(HIP_INSIDE) $(if $(OUR_HIP_READY),$(foreach k,ours abi5 abi6 abi7 preload generic,$(HIP_TESTS_$(k))) \
	$(if $(HIP_READY),$(HIP_TESTS_ours5) $(HIP_TESTS_clr)))
HIP_LEFT_OUT  := $(if $(HIP_READY),,HIP programs of AMD's compiler (make deps-clients)) \
	$(if $(OUR_HIP_READY),,HIP programs of clang (make deps-check))
