# tuff: GNU make, gcc or clang, Debian packages. `make help` lists the targets.

MODE    ?= release
O       ?= build/$(MODE)
CC      ?= gcc
ifeq ($(origin CC),default)
CC      := gcc
endif
CLANG   ?= clang-19
PREFIX  ?= /usr/local
PKGS    := libdrm_amdgpu libdrm libelf numa libpng json-c

.DEFAULT_GOAL := all

# The rooms, lowest first; embed/ and hsa/ stand side by side. An #include may only name a room to the left of its own
# (tools/layers.sh).
ROOMS      := drv vm cs sdma embed
HSA_ROOMS  := drv vm cs sdma flow pool hsa
API_ROOMS  := $(HSA_ROOMS) api
# Folders of hsa/, lowest first.
HSA_FOLDERS := core signal memory code queue copy image ipc entry
VGPU_ROOMS := vgpu $(patsubst %/,%,$(wildcard vgpu/*/ vgpu/*/*/))

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wpointer-arith -Wundef -Wvla -Wformat=2 -Wwrite-strings -Wno-missing-field-initializers
OPT_release := -O2 -g
OPT_debug   := -O0 -g3 -DTUFF_DEBUG=1
# Instrumented code confuses gcc's flow analysis: -Wmaybe-uninitialized is for the other modes.
OPT_asan    := -O1 -g -fsanitize=address -fno-omit-frame-pointer -DTUFF_DEBUG=1 -Wno-maybe-uninitialized
OPT_ubsan   := -O1 -g -fsanitize=undefined -fno-sanitize-recover=all -DTUFF_DEBUG=1 -Wno-maybe-uninitialized
OPT_tsan    := -O1 -g -fsanitize=thread -DTUFF_DEBUG=1 -Wno-maybe-uninitialized
ifndef OPT_$(MODE)
$(error MODE is one of release, debug, asan, ubsan, tsan)
endif

# V=1 shows whole commands.
ifeq ($(V),)
say = @printf '%-6s %s\n' $(1) $(2);
endif

HAVE_PKGS := $(shell pkg-config --exists $(PKGS) 2>/dev/null && echo yes)
PKG_CFLAGS := $(if $(HAVE_PKGS),$(shell pkg-config --cflags $(PKGS)))
PKG_LIBS   := $(if $(HAVE_PKGS),$(shell pkg-config --libs libdrm_amdgpu libdrm libelf numa))
TOOL_LIBS  := $(if $(HAVE_PKGS),$(shell pkg-config --libs libpng json-c)) -lm

ALL_CFLAGS  := -std=gnu11 -fPIC -pthread -fvisibility=hidden -fno-strict-aliasing -ffp-contract=off \
	-D_GNU_SOURCE $(OPT_$(MODE)) $(WARN) -Iinclude -I. -I$(O) $(PKG_CFLAGS) $(CFLAGS)
ALL_LDFLAGS := -pthread $(OPT_$(MODE)) $(LDFLAGS)

# The first build installs missing packages; being included, the stamp makes make start over with their flags.
ifeq ($(filter deps layers format format-check clean help uninstall install-ldconf uninstall-ldconf,$(MAKECMDGOALS)),)
include $(O)/deps.stamp
endif
$(O)/deps.stamp: tools/deps.sh
	@tools/deps.sh
	@mkdir -p $(O) && touch $(O)/deps.stamp
# What tests need beyond that: headers to compare ours with, the model checker, and what clang compiles HIP programs with.
ifneq ($(filter check% $(O)/bin/%,$(MAKECMDGOALS)),)
include $(O)/check-deps.stamp
endif
$(O)/check-deps.stamp: tools/deps.sh Makefile
	@tools/deps.sh libhsa-runtime-dev spin clang-tools-19 rocm-device-libs
	@mkdir -p $(O) && touch $(O)/check-deps.stamp

# --- sources, by glob -----------------------------------------------------------------------------------------
room_src  = $(filter-out %_test.c,$(wildcard $(1)/*.c))
obj       = $(patsubst %.c,$(O)/%.o,$(1))
DRV_SRC   := $(foreach r,$(ROOMS),$(call room_src,$(r)))
HSA_SRC   := $(foreach r,$(filter-out hsa,$(HSA_ROOMS)) $(addprefix hsa/,$(HSA_FOLDERS)),$(call room_src,$(r)))
VGPU_SRC  := $(foreach r,$(VGPU_ROOMS),$(call room_src,$(r)))
# Lane loops are written once and compiled twice: for any x86-64, and for AVX2.
VGPU_OBJ  := $(call obj,$(VGPU_SRC)) $(patsubst %.c,$(O)/%.avx2.o,$(filter-out %_test.c,$(wildcard vgpu/isa/valu/lanes_*.c)))
# The tuff command carries the device tests.
TOOL_SRC  := $(call room_src,tools) $(call room_src,tests/device)
UNIT_SRC  := $(wildcard $(addsuffix /*_test.c,$(sort $(ROOMS) $(HSA_ROOMS) $(addprefix hsa/,$(HSA_FOLDERS)) $(VGPU_ROOMS))))
# tests/hsa/tool_*.c are libraries that those programs load.
STACK_SRC := $(wildcard tests/stack/*.c) $(filter-out tests/hsa/tool_%,$(wildcard tests/hsa/*.c))
LONG_SRC  := $(wildcard tests/long/*.c)
BENCH_SRC := $(wildcard tests/bench/*.c)
TEST_LIB  := $(call obj,$(wildcard tests/*.c))

UNIT_BIN  := $(patsubst %.c,$(O)/bin/%,$(UNIT_SRC))
STACK_BIN := $(patsubst %.c,$(O)/bin/%,$(STACK_SRC))
LONG_BIN  := $(patsubst %.c,$(O)/bin/%,$(LONG_SRC))
BENCH_BIN := $(patsubst %.c,$(O)/bin/%,$(BENCH_SRC))

HIP_LIBS  := $(O)/lib/libamdhip64.so.5 $(O)/lib/libamdhip64.so.6
HIPRTC_LINKS := $(O)/lib/libhiprtc.so.5 $(O)/lib/libhiprtc.so.6

.PHONY: all lib examples headers demo check check-long check-clients check-hip check-contract check-flow bench deps layers format format-check install clean help shaders
.SECONDARY:
.DELETE_ON_ERROR:

all: lib $(O)/tuff $(O)/man3 examples headers
lib: $(O)/libtuff.a $(O)/lib/libtuff.so $(O)/lib/libtuff-vgpu.so $(O)/lib/libtuff-gate.so $(O)/lib/libhsa-runtime64.so $(HIP_LIBS) $(O)/lib/libamdhip64.so $(HIPRTC_LINKS) $(O)/lib/libhiprtc.so $(O)/lib/include \
	$(O)/tuff-uninstalled.pc

# --- device code ----------------------------------------------------------------------------------------------
# HIP C++ without ROCm: no device library and no header but our own.
GFX      := gfx900 gfx902 gfx904 gfx906 gfx908 gfx909 gfx90a gfx90c gfx942
HIPFLAGS := -x hip -I. --offload-device-only -nogpuinc -nogpulib -std=c++17 -Wall -Werror -fno-ident \
	--no-gpu-bundle-output
include shaders/shaders.mk
include tests/code/code.mk
include tests/clients/clients.mk
include tests/hip/hip.mk

# What the command says of its build. Reports of tests go to REPORT_TO: whoever packages tuff sets it, to an address or a
# page for issues.
REPORT_TO ?= the place that you have tuff from
COMMIT    := $(or $(shell git describe --always --dirty --abbrev=12 2>/dev/null),unknown)
LIBDRM    := $(or $(shell pkg-config --modversion libdrm_amdgpu 2>/dev/null),unknown)
.PHONY: force
$(O)/tools/build.h: force
	@mkdir -p $(@D)
	@printf '#define BUILD_%s "%s"\n' COMMIT '$(COMMIT)' LIBDRM '$(LIBDRM)' REPORT_TO '$(REPORT_TO)' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(addprefix $(O)/tools/,main.o test_machine.o test_device.o): $(O)/tools/build.h

# --- host code ------------------------------------------------------------------------------------------------
$(O)/%.o: %.c $(O)/deps.stamp
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# Loops over lanes are there to be vectorised; floating-point exceptions are masked, and nobody reads errno.
$(O)/vgpu/isa/valu/lanes_%.o: ALL_CFLAGS += -O3 -fno-math-errno -fno-trapping-math

$(O)/%.avx2.o: %.c $(O)/deps.stamp
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) -mavx2 -mfma -mf16c -mbmi2 -mlzcnt -DISA_AVX2=1 -MMD -MP -c $< -o $@

# ThreadSanitizer itself calls what the shim stands in front of, before it is ready for instrumented code.
ifeq ($(MODE),tsan)
$(O)/vgpu/shim/%.o: ALL_CFLAGS += -fno-sanitize=thread
endif

# For our own programs: all of the driver. For others: one object in which only the names of include/tuff/ are global.
$(O)/libdriver.a: $(call obj,$(DRV_SRC)) $(O)/shaders/shaders.o
$(O)/libtuff.a: $(O)/libtuff.o
$(O)/libtuff.o: $(call obj,$(DRV_SRC)) $(O)/shaders/shaders.o
	$(call say,LD,$@)$(LD) -r $^ -o $@ && objcopy --localize-hidden $@
# The same as a shared library. Handles and the count of forks are its static data: it stays (nodelete), whoever closes it.
$(O)/lib/libtuff.so.0: $(call obj,$(DRV_SRC)) $(O)/shaders/shaders.o embed/exports.map
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) -shared $(ALL_LDFLAGS) -Wl,-soname,$(@F) -Wl,--version-script=$(filter %.map,$^) -Wl,-Bsymbolic-functions -Wl,-z,nodelete \
		-Wl,--no-undefined-version $(if $(findstring sanitize,$(OPT_$(MODE))),,-Wl,-z,defs) $(filter %.o,$^) $(PKG_LIBS) -o $@
$(O)/lib/libtuff.so: $(O)/lib/libtuff.so.0
	@ln -sf $(<F) $@
$(O)/libvgpu.a: $(VGPU_OBJ)
$(O)/%.a:
	@rm -f $@
	$(call say,AR,$@)$(AR) rcs $@ $^

# Stands before programs that look for ROCm's driver; of nobody's sanitizer.
$(O)/lib/libtuff-gate.so: tools/gate/gate.c $(O)/deps.stamp
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) -std=gnu11 -fPIC -shared -fvisibility=hidden -D_GNU_SOURCE -O2 -g $(WARN) \
		-Wl,-soname,libtuff-gate.so $< -ldl -o $@

$(O)/lib/libtuff-vgpu.so: $(VGPU_OBJ) vgpu/shim/exports.map
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) -shared $(ALL_LDFLAGS) -Wl,-soname,libtuff-vgpu.so -Wl,--version-script=vgpu/shim/exports.map \
		$(VGPU_OBJ) -ldl -lm -o $@

# ROCr's name and version node. Calls among its own functions stay inside, whoever defines the same names. Threads run in
# it, and end in it: it stays (nodelete), whoever closes it.
HSA_LIB := $(O)/lib/libhsa-runtime64.so.1
$(HSA_LIB): $(call obj,$(HSA_SRC)) $(O)/shaders/shaders.o hsa/exports.map
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) -shared $(ALL_LDFLAGS) -Wl,-soname,$(@F) -Wl,--version-script=hsa/exports.map -Wl,-Bsymbolic-functions -Wl,-z,nodelete \
		$(if $(findstring sanitize,$(OPT_$(MODE))),,-Wl,-z,defs) $(filter %.o,$^) $(PKG_LIBS) -ldl -lm -o $@
$(O)/lib/libhsa-runtime64.so: $(HSA_LIB)
	@ln -sf $(<F) $@

# AMD's HIP library, of two interfaces: from the same sources, each compiled for its layouts. They need our HSA library, which
# stands beside them, and not another that the system may have.
# Folders of api/, lowest first: tools/layers.sh checks their order.
API_FOLDERS := base stream tool memory pool module exec image graph rtc device
API_SRC := $(foreach f,$(API_FOLDERS),$(call room_src,api/$(f)))
# What it shares with the rooms below by having it, too: code without state that matters.
API_PARTS := drv/config.c drv/error.c drv/handle.c drv/lock.c drv/log.c drv/process.c vm/tree.c
# What programs call all the time is compiled to be fast, all else to be small.
API_FAST   := $(addprefix api/,base/error base/retire base/root device/context exec/copy exec/event exec/fill exec/grid exec/launch \
	graph/graph_exec graph/graph_launch memory/memory module/binary module/module pool/pool_cache pool/pool_space \
	stream/capture stream/frontier stream/stream stream/stream_info stream/stream_memory stream/stream_wait stream/timestamp \
	device/device)
OPT_small  := $(if $(filter release,$(MODE)),-Os)
api_opt     = $(if $(filter $(API_FAST),$(1)),,$(OPT_small))
api_obj = $(patsubst %.c,$(O)/%.abi$(1).o,$(API_SRC)) $(call obj,$(API_PARTS))
$(O)/%.abi5.o: %.c $(O)/deps.stamp
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) $(call api_opt,$*) -DTUFF_HIP_ABI=5 -MMD -MP -c $< -o $@
$(O)/%.abi6.o: %.c $(O)/deps.stamp
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) $(call api_opt,$*) -DTUFF_HIP_ABI=6 -MMD -MP -c $< -o $@
$(O)/api/exports%.map: api/exports.sh api/names.h
	@mkdir -p $(@D)
	@api/exports.sh api/names.h $* >$@
$(O)/lib/libamdhip64.so.5: $(call api_obj,5) $(O)/api/kernels.o $(O)/api/exports5.map $(HSA_LIB)
$(O)/lib/libamdhip64.so.6: $(call api_obj,6) $(O)/api/kernels.o $(O)/api/exports6.map $(HSA_LIB)
$(HIP_LIBS):
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) -shared $(ALL_LDFLAGS) -Wl,-soname,$(@F) -Wl,--version-script=$(filter %.map,$^) -Wl,-Bsymbolic-functions -Wl,-z,nodelete \
		-Wl,--no-undefined-version -Wl,-rpath,'$$ORIGIN' $(if $(findstring sanitize,$(OPT_$(MODE))),,-Wl,-z,defs) $(filter %.o,$^) $(HSA_LIB) -o $@
$(O)/lib/libamdhip64.so: $(O)/lib/libamdhip64.so.6
	@ln -sf $(<F) $@
# hiprtc is a library of its own as well, whose names have no versions: ours has them in the other.
$(HIPRTC_LINKS): $(O)/lib/libhiprtc.so%: $(O)/lib/libamdhip64.so%
	@ln -sf $(<F) $@
$(O)/lib/libhiprtc.so: $(O)/lib/libamdhip64.so.6
	@ln -sf $(<F) $@
# Where hiprtc finds them.
$(O)/lib/include:
	@mkdir -p $(@D)
	@ln -sfn $(CURDIR)/include $@

# For programs that carry the virtual GPU inside: one object in which only its door and the libc names that it stands in
# front of are global. They are exported, so that libdrm's calls reach them; driver and virtual GPU share no symbol.
$(O)/vgpu.o: $(VGPU_OBJ)
	$(call say,LD,$@)$(LD) -r $^ -o $@ && objcopy --localize-hidden $@
VGPU_LINK = $(O)/vgpu.o -Wl,--export-dynamic
TEST_KERNELS = $(O)/tests/kernels/test.o $(O)/tools/kernels/demo.o
TUFF_LIB = $(O)/libdriver.a

$(O)/tuff: $(call obj,$(TOOL_SRC)) $(O)/libdriver.a $(O)/vgpu.o $(TEST_KERNELS)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) $(call obj,$(TOOL_SRC)) $(TEST_KERNELS) $(O)/libdriver.a $(VGPU_LINK) \
		$(PKG_LIBS) $(TOOL_LIBS) -ldl -o $@

$(O)/bin/tests/%: $(O)/tests/%.o $(TEST_LIB) $(TEST_KERNELS) $(O)/libcode.a $(O)/libdriver.a $(O)/vgpu.o
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) $< $(TEST_LIB) $(TEST_KERNELS) $(O)/libcode.a $(TUFF_LIB) $(VGPU_LINK) $(PKG_LIBS) -ldl -lm -o $@

# Programs of HSA know its headers and the library alone. Their virtual GPU stands in front of the library's libc, too.
$(O)/libtests.a: $(TEST_LIB)
$(O)/bin/tests/hsa/%: $(O)/tests/hsa/%.o $(O)/libtests.a $(TEST_KERNELS) $(O)/libcode.a $(O)/vgpu.o $(HSA_LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) $< $(HSA_EXTRA) $(TEST_KERNELS) $(VGPU_LINK) $(O)/libtests.a $(O)/libcode.a $(HSA_LIB) \
		-Wl,-rpath,'$$ORIGIN/../../../lib' -ldl -lm -o $@
# The test of the binary surface takes its list from our headers, and from Debian's in /usr/include/hsa.
ABI_LISTS := $(O)/tests/hsa/abi/ours.o $(O)/tests/hsa/abi/debians.o
$(O)/tests/hsa/abi/ours.o: ABI_INCLUDE = -Iinclude
$(O)/tests/hsa/abi/%.o: tests/hsa/abi/list.cc $(wildcard tests/hsa/abi/*.h include/hsa/*.h) $(O)/check-deps.stamp
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(CLANG) -x c++ -std=c++11 -nostdinc++ -fPIC -Wall -Werror -DABI_LIST=abi_$* $(ABI_INCLUDE) -c $< -o $@
$(O)/bin/tests/hsa/abi: $(ABI_LISTS)
$(O)/bin/tests/hsa/abi: HSA_EXTRA = $(ABI_LISTS)
# Loaded by that program.
$(O)/bin/tests/hsa/queues: | $(O)/lib/tests/tool_table.so
$(O)/lib/tests/%.so: $(O)/tests/hsa/%.o
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) -shared $(ALL_LDFLAGS) $< -o $@

# The driver with its allocations renamed, for the tests that fail each of them.
INJECT := malloc calloc realloc strdup strndup free mmap
$(O)/libtuff-inject.a: $(O)/libdriver.a
	$(call say,COPY,$@)objcopy $(foreach s,$(INJECT),--redefine-sym $(s)=inject_$(s)) $< $@
$(O)/libhsa-inject.a: $(O)/libhsa.a
	$(call say,COPY,$@)objcopy $(foreach s,$(INJECT),--redefine-sym $(s)=inject_$(s)) $< $@
# HIP's with HSA's, which has the parts that they share.
$(O)/libhip-inject.a: $(patsubst %.c,$(O)/%.abi6.o,$(API_SRC)) $(O)/api/kernels.o
	@rm -f $@ && $(AR) rcs $@.tmp $^
	$(call say,COPY,$@)objcopy $(foreach s,$(INJECT),--redefine-sym $(s)=inject_$(s)) $@.tmp $@ && rm $@.tmp
HIP_INJECTED := $(addprefix $(O)/bin/tests/hip/,inject recover)
$(HIP_INJECTED): $(O)/bin/tests/hip/%: $(O)/tests/hip/%.o $(O)/libtests.a $(TEST_KERNELS) $(O)/vgpu.o $(O)/libhip-inject.a $(O)/libhsa-inject.a
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) $(filter %.o,$^) -Wl,--export-dynamic $(O)/libhip-inject.a $(O)/libhsa-inject.a $(O)/libtests.a $(PKG_LIBS) -ldl -lm -o $@
INJECTED := $(addprefix $(O)/bin/tests/stack/,inject embed)
HSA_INJECTED := $(addprefix $(O)/bin/tests/hsa/,inject growth_inject)
$(HSA_INJECTED): $(O)/libhsa-inject.a
$(HSA_INJECTED): HSA_LIB = $(O)/libhsa-inject.a $(PKG_LIBS)
$(INJECTED): $(O)/libtuff-inject.a
$(INJECTED): TUFF_LIB = $(O)/libtuff-inject.a

# The test of make install makes and compiles as this build does.
$(O)/tests/stack/install.o: ALL_CFLAGS += -DBUILD_MODE='"$(MODE)"' -DBUILD_CC='"$(CC)"' \
	-DBUILD_SANITIZE='"$(filter -fsanitize%,$(OPT_$(MODE)))"'

# Unit tests see the insides of what they test: vgpu/'s link all its objects, the driver's its archive.
$(O)/bin/vgpu/%: $(O)/vgpu/%.o $(O)/libvgpu.a
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) $< -Wl,--whole-archive $(O)/libvgpu.a -Wl,--no-whole-archive -Wl,--export-dynamic \
		$(PKG_LIBS) -ldl -lm -o $@
$(O)/bin/%_test: $(O)/%_test.o $(O)/libcode.a $(O)/libdriver.a
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) $< $(O)/libcode.a $(O)/libdriver.a $(PKG_LIBS) -lm -o $@
$(O)/libhsa.a: $(call obj,$(HSA_SRC)) $(O)/shaders/shaders.o
# Those of flow/, pool/ and hsa/ may start the virtual GPU.
HSA_UNIT := $(O)/libtests.a $(TEST_KERNELS) $(O)/libhsa.a $(O)/vgpu.o
HSA_A = $(O)/libhsa.a
HSA_UNIT_LIBS = $(O)/libtests.a $(TEST_KERNELS) $(HSA_A) $(VGPU_LINK) $(PKG_LIBS) -ldl -lm
$(O)/bin/hsa/memory/inject_test: $(O)/libhsa-inject.a
$(O)/bin/hsa/memory/inject_test: HSA_A = $(O)/libhsa-inject.a
$(O)/bin/pool/%_test: $(O)/pool/%_test.o $(HSA_UNIT)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) $< $(HSA_UNIT_LIBS) -o $@
$(O)/bin/flow/%_test: $(O)/flow/%_test.o $(HSA_UNIT)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) $< $(HSA_UNIT_LIBS) -o $@
$(O)/bin/tests/bench/hsa: $(O)/tests/bench/hsa.o $(HSA_UNIT)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) $< $(HSA_UNIT_LIBS) -o $@
# Its kernels, as compilers made them before clang 18, and as they do now.
BENCH_CO := $(foreach v,4 5,$(O)/tests/bench/hip/gfx908/kernels.v$(v).co)
$(BENCH_CO): $(O)/tests/bench/hip/gfx908/kernels.v%.co: tests/bench/hip/kernels.hip shaders/device.h Makefile $(O)/deps.stamp
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(CLANG) $(HIPFLAGS) --offload-arch=gfx908 -O2 -mcode-object-version=$* $< -o $@
$(O)/tests/bench/hip/bench.S: $(BENCH_CO) shaders/embed.sh
	$(call say,EMBED,$@)shaders/embed.sh bench $(BENCH_CO) >$@
$(O)/tests/bench/hip/bench.o: $(O)/tests/bench/hip/bench.S
	$(call say,CC,$@)$(CC) -c $< -o $@
BENCH_HIP := $(call obj,$(wildcard tests/bench/hip/*.c)) $(O)/tests/bench/hip/bench.o
$(O)/bin/tests/bench/hip: $(O)/tests/bench/hip.o $(BENCH_HIP) $(O)/libtests.a $(O)/vgpu.o $(O)/lib/libamdhip64.so.6
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) $< $(BENCH_HIP) $(VGPU_LINK) $(O)/libtests.a $(O)/lib/libamdhip64.so.6 $(HSA_LIB) $(PKG_LIBS) \
		-Wl,-rpath,'$$ORIGIN/../../../lib' -ldl -lm -o $@
$(O)/bin/hsa/%_test: $(O)/hsa/%_test.o $(HSA_UNIT)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) $< $(HSA_UNIT_LIBS) -o $@

# Examples are built as their readers would: with the public headers and the public library, and nothing else of ours.
EXAMPLES := $(addprefix $(O)/examples/,$(basename $(notdir $(wildcard tests/examples/*.c tests/examples/*.cc))))
EXAMPLE_CODE := $(patsubst %,$(O)/examples/vadd.%.co,$(GFX))
examples: $(EXAMPLES) $(EXAMPLE_CODE)
$(O)/examples/%: tests/examples/%.c $(O)/libtuff.a $(wildcard include/tuff/*.h)
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) -std=c11 -Wall -Wextra -Wpedantic -Werror -D_GNU_SOURCE $(OPT_$(MODE)) -Iinclude $< $(O)/libtuff.a \
		$(PKG_LIBS) -pthread -lm -o $@
# An example in C++ has the shared library. clang compiles it without a C++ library, which need not be installed.
$(O)/examples/%: tests/examples/%.cc $(O)/lib/libtuff.so $(wildcard include/tuff/*.h)
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(CLANG) -x c++ -std=c++11 -nostdinc++ -fno-exceptions -Wall -Wextra -Wpedantic -Werror -O2 -Iinclude -c $< -o $@.o
	@$(CC) $(OPT_$(MODE)) $@.o -L$(O)/lib -ltuff -Wl,-rpath,'$$ORIGIN/../lib' -pthread -o $@
$(O)/examples/vadd.%.co: tests/examples/vadd.hip
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(CLANG) $(HIPFLAGS) --offload-arch=$* -O2 $< -o $@

# Each public header by itself, as strict compilers see it; for C++ no header of a C++ library is needed.
PUBLIC_H := $(wildcard include/*/*.h include/hip/api/*.h)
headers: $(patsubst %,$(O)/%.ok,$(PUBLIC_H))
$(O)/include/%.ok: include/% $(PUBLIC_H)
	@mkdir -p $(@D)
	$(call say,CHECK,$<)check() { echo 'extern int nothing;' | "$$@" -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -include $< -; }; \
		for std in c99 c11; do \
		check $(CC) -x c -std=$$std || exit; \
		check $(CLANG) -x c -std=$$std || exit; done; \
		check $(CLANG) -x c++ -std=c++11 -nostdinc++ && touch $@

# --- targets for people ---------------------------------------------------------------------------------------
deps:
	@tools/deps.sh

demo: all
	$(O)/tuff demo --gpu gfx908 --picture $(O)/mandelbrot.png

# Device tests run on each of these; unit and stack tests are programs that bring their own. Most end a job that
# hangs after the two seconds of Linux 7.0.
CHECK_CHIPS := gfx900 gfx902 gfx906 gfx908 gfx909 gfx90a gfx90c
CHECK_GPUS  := $(CHECK_CHIPS:%=%:watchdog_ms=2000) gfx1100 gfx906:watchdog_ms=2000:p2p=1,gfx908:p2p=1 \
	gfx908:hive=1:watchdog_ms=2000,gfx908:hive=1,gfx908:hive=1,gfx908:hive=1 \
	gfx906:bar=256M:watchdog_ms=2000:p2p=1,gfx900:p2p=1 gfx908:kernel=6.1:watchdog_ms=2000 gfx90a:kernel=7.2 \
	gfx942:partition=spx:watchdog_ms=2000
RUN_TESTS   = O=$(O) $(O)/tuff test --jobs $(TEST_JOBS) --timeout 900 --brief --report $(O)/tests.txt --report $(O)/tests.xml \
	$(addprefix --gpu ,$(CHECK_GPUS))
TEST_JOBS  ?= 2

# The experiments are for real cards; here they show that they can be carried out.
RUN_PROBES  = $(O)/tuff test --probe --brief --jobs $(TEST_JOBS) --timeout 300 --report $(O)/probes.txt \
	--gpu gfx908:watchdog_ms=500 --gpu gfx942:watchdog_ms=500 --gpu gfx942:partition=spx:watchdog_ms=500

TOOL_SO := $(patsubst tests/hsa/%.c,$(O)/lib/tests/%.so,$(wildcard tests/hsa/tool_*.c))
check: all layers $(UNIT_BIN) $(STACK_BIN) $(TOOL_SO) $(CLIENT_TESTS) $(HEADER_TESTS)
	@tests/model/run.sh $(O)
	@tests/contract/break.sh check
	@tests/flow/break.sh check
	@$(if $(strip $(CLIENT_TESTS)),,echo "HIP programs of AMD's compiler were left out: $(HIP_MISSING)")
	@$(if $(OUR_HIP_READY),,echo "HIP programs of clang were left out: there is no clang-offload-bundler, or no device library")
	@$(RUN_PROBES)
	@$(RUN_TESTS) -- $(UNIT_BIN) $(STACK_BIN) $(CLIENT_TESTS) $(HEADER_TESTS)

check-long: all layers $(UNIT_BIN) $(STACK_BIN) $(LONG_BIN) $(TOOL_SO) $(CLIENT_TESTS) $(HEADER_TESTS) $(CLIENT_LONG_TESTS)
	@tests/model/run.sh $(O) long
	@TUFF_TEST_LONG=1 $(RUN_TESTS) --long --timeout 3600 -- $(UNIT_BIN) $(STACK_BIN) $(LONG_BIN) $(CLIENT_TESTS) $(HEADER_TESTS) $(CLIENT_LONG_TESTS)

# Other people's drivers on the virtual GPU, and AMD's HIP over our HSA. Their packages are two gigabytes: check does not
# install them; where they are, it runs the programs of HIP, too.
check-clients: all
	@tools/deps.sh mesa-vulkan-drivers libvulkan-dev glslang-tools mesa-opencl-icd ocl-icd-opencl-dev libclc-15 $(HIP_PACKAGES) $(OMP_PACKAGES)
	@tests/clients/run.sh $(O)
	@$(MAKE) --no-print-directory check-hip
check-hip: all $(CLIENT_TESTS)
	@O=$(O) $(O)/tuff test --jobs $(TEST_JOBS) --timeout 300 -- $(CLIENT_TESTS)

# Each rule of docs/vgpu-contract.md broken on purpose, in a copy of the tree: a test must fail each time. Half an hour.
check-contract: all $(O)/check-deps.stamp
	@tests/contract/break.sh $(O)
# So are the rules by which flows order work. A quarter of an hour.
check-flow: all $(O)/check-deps.stamp
	@tests/flow/break.sh $(O)

bench: all $(BENCH_BIN)
	@set -e; for b in $(BENCH_BIN); do $$b; done

layers:
	@tools/layers.sh "$(ROOMS)" "$(API_ROOMS)"

FORMAT_SRC = $(shell git ls-files '*.c' '*.h')
format:
	clang-format-19 -i $(FORMAT_SRC)
format-check:
	clang-format-19 --dry-run -Werror $(FORMAT_SRC)

include tools/install.mk

clean:
	rm -rf $(O)

help:
	@sed -n 's/^\([a-z-]*\):.*/\1/p' Makefile tools/install.mk | sort -u | tr '\n' ' '; echo
	@echo "REPORT_TO=address: where the command asks people to send reports of tests"
	@echo "variables: MODE=release|debug|asan|ubsan|tsan  O=dir  CC=gcc|clang-19  PREFIX=/usr/local DESTDIR="

-include $(shell [ -d $(O) ] && find $(O) -name '*.d')
