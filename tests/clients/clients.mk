# HIP programs on Debian's own libamdhip64, and OpenMP by LLVM, over our HSA and the virtual GPU: part of `make check`
# where Debian's packages are installed, which `make check-clients` does. A test is $(O)/bin/tests/clients/PROGRAM.GPU, a
# script around `tuff run`. In a sanitizer's build its runtime is loaded first.
HIP_PACKAGES := rocminfo hipcc libamdhip64-dev librocrand-dev librocsparse-dev libhiprand-dev libhipsparse-dev librocprim-dev
HIP_READY    := $(shell \
	[ "$$(dpkg-query -W -f '$${db:Status-Status}\n' $(HIP_PACKAGES) 2>/dev/null | grep -c '^installed')" = $(words $(HIP_PACKAGES)) ] && echo yes)

RUNTIME_asan := libasan.so
RUNTIME_tsan := libtsan.so
CLIENT_ENV   := $(if $(RUNTIME_$(MODE)),env LD_PRELOAD=$(shell $(CC) -print-file-name=$(RUNTIME_$(MODE))) \
		ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 TSAN_OPTIONS=die_after_fork=0)

HIP_GPUS  := gfx906 gfx908 gfx90a
# Debian's compiler for HIP, clang 15. Without that variable it looks for GPUs, although it is told which.
HIPCC       = HCC_AMDGPU_TARGET=gfx906 hipcc
HIPCC_FLAGS := -std=c++17 -O2 -Wall -Wextra -Werror -I. $(addprefix --offload-arch=,$(HIP_GPUS))
# hip_test PROGRAM NAME LIST: on Debian's library, which is found before ours in a folder with nothing else in it.
define hip_test
$(3) += $(O)/bin/tests/clients/$(1).$(2)
$(O)/bin/tests/clients/$(1).$(2): $(O)/clients/$(1) tests/clients/clients.mk | $(O)/clr/libamdhip64.so.5
	@mkdir -p $$(@D)
	@{ echo '#!/bin/sh'; echo 'b=$$$$(dirname "$$$$0")/../../..'; \
	echo 'exec $(CLIENT_ENV) $(HIP_ENV_$(2)) "$$$$b/tuff" run --gpu $(or $(HIP_SPEC_$(2)),$(2)) -- env LD_LIBRARY_PATH="$$$$b/clr:$$$$b/lib" "$$$$b/clients/$(1)"'; } >$$@ && chmod +x $$@
endef
# The same program on ours: libamdhip64.so.5.
define hip_test_ours
$(3) += $(O)/bin/tests/clients/$(1).ours.$(2)
$(O)/bin/tests/clients/$(1).ours.$(2): $(O)/clients/$(1) tests/clients/clients.mk
	@mkdir -p $$(@D)
	@{ echo '#!/bin/sh'; echo 'b=$$$$(dirname "$$$$0")/../../..'; \
	echo 'exec $(CLIENT_ENV) $(HIP_ENV_$(2)) "$$$$b/tuff" run --gpu $(or $(HIP_SPEC_$(2)),$(2)) -- "$$$$b/clients/$(1)"'; } >$$@ && chmod +x $$@
endef
$(O)/clr/libamdhip64.so.5:
	@mkdir -p $(@D)
	@ln -sf /usr/lib/x86_64-linux-gnu/$(@F) $@

# A generator has 131072 engines to set up: on the other chips it is left to check-long.
HIP_GPUS_random  := gfx908
# Two alike in one system, connected; and two that are not. Peers are off unless they are asked for.
HIP_GPUS_peers := hive mixed
HIP_ENV_hive   := env TUFF_PEER_ACCESS=1
HIP_ENV_mixed  := env TUFF_PEER_ACCESS=1
HIP_SPEC_hive  := gfx908:hive=1,gfx908:hive=1
HIP_SPEC_mixed := gfx906:numa=0:p2p=1,gfx90a:numa=1:p2p=1
# Each chip by itself, and two at a time.
HIP_GPUS_grid  := $(HIP_GPUS) two
HIP_SPEC_two   := gfx908,gfx908
HIP_FLAGS_random := -lrocrand -Wno-\#warnings
HIP_FLAGS_sparse := -lrocsparse
HIP_FLAGS_hiprand := -lhiprand -Wno-\#warnings
HIP_FLAGS_hipsparse := -lhipsparse
HIP_PROGRAMS := $(patsubst tests/clients/hip/%.hip,%,$(wildcard tests/clients/hip/*.hip))
$(foreach p,$(HIP_PROGRAMS),$(foreach g,$(or $(HIP_GPUS_$(p)),$(HIP_GPUS)),$(eval $(call hip_test,$(p),$(g),HIP_TESTS))))
$(foreach g,gfx906 gfx90a,$(eval $(call hip_test,random,$(g),HIP_LONG_TESTS)))
$(foreach p,$(HIP_PROGRAMS),$(foreach g,$(or $(HIP_GPUS_$(p)),gfx908),$(eval $(call hip_test_ours,$(p),$(g),HIP_TESTS))))

$(O)/clients/%: tests/clients/hip/%.hip tests/clients/hip/hip.h tests/check.h tests/clients/clients.mk
	@mkdir -p $(@D)
	$(call say,HIPCC,$@)$(HIPCC) $(HIPCC_FLAGS) $< -o $@ $(HIP_FLAGS_$*)

# OpenMP by LLVM's offloading, in Debian's packages for clang 19. OMP_ROOT: where they were unpacked, if not installed.
OMP_PACKAGES := libomp-19-dev clang-tools-19 rocm-device-libs
OMP_LIB      := $(OMP_ROOT)/usr/lib/llvm-19/lib
OMP_DEVICE   := /usr/lib/x86_64-linux-gnu/amdgcn/bitcode
# What puts code for several chips into one program. clang gives the path of what it has.
OFFLOAD_TOOLS := $(filter /%,$(shell $(CLANG) --print-prog-name=clang-offload-bundler 2>/dev/null))
OMP_READY    := $(if $(findstring sanitize,$(OPT_$(MODE))),,$(and $(wildcard $(OMP_LIB)/libomptarget-amdgpu-gfx906.bc),$(wildcard $(OMP_DEVICE)/ocml.bc),$(OFFLOAD_TOOLS)))
OMP_HEADERS  := $(wildcard $(OMP_LIB)/clang/19/include $(OMP_ROOT)/usr/include)
$(O)/clients/openmp: tests/clients/openmp.c tests/check.h tests/clients/clients.mk
	@mkdir -p $(@D)
	$(call say,CLANG,$@)clang-19 -O2 -Wall -Wno-pass-failed -I. $(addprefix -I,$(OMP_HEADERS)) -fopenmp $(addprefix --offload-arch=,$(HIP_GPUS)) \
		--rocm-device-lib-path=$(OMP_DEVICE) $< -o $@ -L$(OMP_LIB) -Wl,-rpath,$(OMP_LIB)
$(foreach g,$(HIP_GPUS),$(eval $(call hip_test,openmp,$(g),OMP_TESTS)))

# The tests that can be run here.
HIP_MISSING  := $(if $(findstring sanitize,$(OPT_$(MODE))),their libraries know no sanitizer,make check-clients installs what they need)
CLIENT_TESTS := $(if $(HIP_READY),$(HIP_TESTS) $(O)/bin/tests/clients/rocminfo) $(if $(OMP_READY),$(OMP_TESTS))
CLIENT_LONG_TESTS := $(if $(HIP_READY),$(HIP_LONG_TESTS))
