# tuff. GNU make 4.3, gcc or clang, Debian's packages (tools/deps.sh). `make help` lists the targets, `make` builds all.
#
# Everything that is made is below $(O). The sections: what can be set; packages and flags; sources; code for GPUs; objects;
# libraries and programs; targets for people. Programs that test are in tests/tests.mk and tests/hip/hip.mk, installation is
# in tools/install.mk.

# --- what can be set, on the command line or in the environment -------------------------------------------------
MODE    ?= release
O       ?= build/$(MODE)
# The compiler for GPUs, of HIP programs, of fuzzers, and of the second opinion on headers: clang 19, in releases of Debian without
# it the next.
ifeq ($(origin CLANG),undefined)
CLANG   := $(shell tools/deps.sh clang)
DEPS_CLANG := # deps.sh looks again when apt has been updated
else
DEPS_CLANG := CLANG='$(CLANG)'
endif
export CLANG # tests compile with it, too
# ROCm's device library for it. Debian 13 and later have that beside the LLVM that made it, and clang reads what no newer one made.
DEVICE_LIBS := $(patsubst %/ocml.bc,%,$(firstword $(wildcard /usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc \
	$(foreach v,$(shell seq $(or $(patsubst clang-%,%,$(filter clang-%,$(CLANG))),99) -1 15),/usr/lib/llvm-$(v)/lib/clang/$(v)/amdgcn/bitcode/ocml.bc))))
# A cross compiler's prefix, as aarch64-linux-gnu-, stands before the default names of these tools.
CROSS_COMPILE ?=
tool     = $(if $(filter default undefined,$(origin $(1))),$(CROSS_COMPILE)$(2),$($(1)))
CC      := $(call tool,CC,$(if $(filter fuzz,$(MODE)),$(CLANG),gcc))
AR      := $(call tool,AR,ar)
LD      := $(call tool,LD,ld)
OBJCOPY := $(call tool,OBJCOPY,objcopy)
PKG_CONFIG := $(call tool,PKG_CONFIG,pkg-config)
# CPPFLAGS, CFLAGS and LDFLAGS come after our own. Warnings are errors; WERROR= lets them be.
WERROR  ?= -Werror
# Where `make install` puts things; DESTDIR stands before them all. The command finds the libraries by the way from BINDIR to
# LIBDIR, so that the tree can be moved: both are to be the same for `make` and `make install`.
PREFIX     ?= /usr/local
BINDIR     ?= $(PREFIX)/bin
LIBDIR     ?= $(PREFIX)/lib
# Of libtuff itself. All others of tuff's libraries are in $(LIBDIR)/tuff, since ROCm's have the same names.
SOLIBDIR   ?= $(LIBDIR)/tuff
INCLUDEDIR ?= $(PREFIX)/include
DATADIR    ?= $(PREFIX)/share
MANDIR     ?= $(DATADIR)/man
SYSCONFDIR ?= /etc
# Reports of tests go to this address or page for issues: whoever packages tuff sets it.
REPORT_TO  ?= the place that you have tuff from
# Tests at a time.
TEST_JOBS  ?= 2
# V=1 shows whole commands.
ifeq ($(V),)
say = @printf '%-6s %s\n' $(1) $(2);
endif

.DEFAULT_GOAL := all
.SECONDARY:
.DELETE_ON_ERROR:
.SECONDEXPANSION:
.PHONY: force

# --- packages and flags -----------------------------------------------------------------------------------------
# No target installs anything but those of deps, and the README's two commands, demo and check. The others stop when
# something is missing.
DEPS     := CC='$(CC)' PKG_CONFIG='$(PKG_CONFIG)' $(DEPS_CLANG) tools/deps.sh
NO_BUILD := deps deps-check deps-clients deps-package deps-suites demo check fuzz pairs stops layers format format-check clean help uninstall install-ldconf uninstall-ldconf deb check-packages check-releases
BUILDS   := $(filter-out $(NO_BUILD),$(or $(MAKECMDGOALS),all))
# Sets of packages that targets need beside `build`, and the target that installs a set.
NEEDS_run-check := check
NEEDS_check-long := check fuzz
NEEDS_run-fuzz := fuzz
NEEDS_check-contract := check
NEEDS_check-flow := check
NEEDS_check-hip := hip
NEEDS_check-clients := check hip clients
SETS     := build $(foreach g,$(BUILDS),$(NEEDS_$(g)))
INSTALLS := deps$(if $(filter hip clients,$(SETS)),-clients,$(if $(filter check fuzz,$(SETS)),-check))
MISSING  := $(if $(BUILDS),$(strip $(shell $(DEPS) missing $(SETS))))
ifneq ($(MISSING),)
$(error Packages are missing: $(MISSING). `make $(INSTALLS)` installs them)
endif

pkg = $(shell $(PKG_CONFIG) $(1) 2>/dev/null)
PKG_CFLAGS := $(call pkg,--cflags libdrm_amdgpu libdrm libelf numa libpng json-c)
PKG_LIBS   := $(call pkg,--libs libdrm_amdgpu libdrm libelf numa)
TOOL_LIBS  := $(call pkg,--libs libpng json-c) -lm

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wpointer-arith -Wundef -Wvla -Wformat=2 -Wwrite-strings -Wno-missing-field-initializers
OPT_release := -O2 -g
OPT_debug   := -O0 -g3 -DTUFF_DEBUG=1
# Instrumented code confuses gcc's flow analysis: -Wmaybe-uninitialized is for the other modes.
OPT_asan    := -O1 -g -fsanitize=address -fno-omit-frame-pointer -DTUFF_DEBUG=1 -Wno-maybe-uninitialized
OPT_ubsan   := -O1 -g -fsanitize=undefined -fno-sanitize-recover=all -DTUFF_DEBUG=1 -Wno-maybe-uninitialized
# For the fuzzers of tests/fuzz; with clang.
OPT_fuzz    := -O1 -g -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all -fno-omit-frame-pointer -DTUFF_DEBUG=1
OPT_tsan    := -O1 -g -fsanitize=thread -DTUFF_DEBUG=1 -Wno-maybe-uninitialized
ifndef OPT_$(MODE)
$(error MODE is one of release, debug, asan, ubsan, tsan, fuzz)
endif
ifeq ($(MODE),tsan)
export TSAN_OPTIONS := suppressions=$(CURDIR)/tests/known $(TSAN_OPTIONS)
endif
SANITIZED   := $(findstring sanitize,$(OPT_$(MODE)))

C_FLAGS     := -std=gnu11 -fPIC -pthread -fvisibility=hidden -fno-strict-aliasing -ffp-contract=off \
	-D_GNU_SOURCE $(OPT_$(MODE)) $(WARN) -Iinclude -I. $(PKG_CFLAGS) $(CPPFLAGS) $(CFLAGS)
# A build does not depend on the folder that it is made in: no file has its path.
SAME_PATHS  := -ffile-prefix-map=$(CURDIR)=.
ALL_CFLAGS  := $(SAME_PATHS) $(WERROR) -I$(O) $(C_FLAGS)
ALL_LDFLAGS := -pthread $(OPT_$(MODE)) $(CFLAGS) $(LDFLAGS)

# Objects and programs are made again when their flags change: each has $(O)/flags/NAME among its prerequisites, a file
# with the text of FLAGS_NAME that is written, when make has read all its files, if the text differs.
FLAGS_cc = $(CC) $(C_FLAGS)
FLAGS_ld = $(CC) $(LD) $(ALL_LDFLAGS) $(PKG_LIBS) $(TOOL_LIBS)
FLAGS_device = $(CLANG) $(HIPFLAGS)
differ      = $(subst x$(1),,x$(2))$(subst x$(2),,x$(1))
write_flags = $(if $(call differ,$(strip $(file <$(O)/flags/$(1))),$(strip $(FLAGS_$(1)))),$(file >$(O)/flags/$(1),$(FLAGS_$(1))))

# --- sources, by glob -------------------------------------------------------------------------------------------
# The rooms, lowest first; embed/ and hsa/ stand side by side. An #include may only name a room to the left of its own
# (tools/layers.sh).
ROOMS      := drv vm cs sdma embed
HSA_ROOMS  := drv vm cs sdma flow pool hsa
API_ROOMS  := $(HSA_ROOMS) api
# Folders of hsa/ and api/, lowest first.
HSA_FOLDERS := core signal memory code queue copy image ipc entry
API_FOLDERS := base stream tool memory pool module exec image graph rtc device
VGPU_ROOMS := vgpu $(patsubst %/,%,$(wildcard vgpu/*/ vgpu/*/*/))
room_src  = $(filter-out %_test.c,$(sort $(wildcard $(1)/*.c)))
obj       = $(patsubst %.c,$(O)/%.o,$(1))
DRV_SRC   := $(foreach r,$(ROOMS),$(call room_src,$(r)))
HSA_SRC   := $(foreach r,$(filter-out hsa,$(HSA_ROOMS)) $(addprefix hsa/,$(HSA_FOLDERS)),$(call room_src,$(r)))
VGPU_SRC  := $(foreach r,$(VGPU_ROOMS),$(call room_src,$(r)))
# Lane loops are written once and compiled twice: for any x86-64, and for AVX2. Those that waves of 32 lanes use most are
# compiled for AVX2 and half the lanes, too (vgpu/isa/valu/valu.h).
HALF_SRC  := $(patsubst %,vgpu/isa/valu/lanes_%.c,compare f32 int int64)
VGPU_OBJ  := $(call obj,$(VGPU_SRC)) $(patsubst %.c,$(O)/%.avx2.o,$(filter vgpu/isa/valu/lanes_%,$(VGPU_SRC))) \
	$(HALF_SRC:%.c=$(O)/%.half.o)
# The tuff command carries the device tests.
TOOL_SRC  := $(call room_src,tools) $(call room_src,tests/device)
HIP_ABIS  := 5 6 7
HIP_LIBS  := $(HIP_ABIS:%=$(O)/lib/libamdhip64.so.%)
HIPRTC_LINKS := $(O)/lib/libhiprtc.so.5 $(O)/lib/libhiprtc.so.6
HIPRTC_LIB   := $(O)/lib/libhiprtc.so.7

.PHONY: all lib examples headers shaders
## all           the libraries, the tuff command, its manual, examples, checks of the public headers (the default)
all: lib $(O)/tuff $(O)/man3 examples headers
## lib           the libraries alone
lib: $(addprefix $(O)/,libtuff.a lib/libtuff.so lib/libtuff-vgpu.so lib/libtuff-gate.so lib/libhsa-runtime64.so lib/libamdhip64.so lib/libhiprtc.so \
	lib/include tuff-uninstalled.pc rocm) $(HIP_LIBS) $(HIPRTC_LINKS) $(HIPRTC_LIB)

# --- code for GPUs ----------------------------------------------------------------------------------------------
# HIP C++ without ROCm: no device library and no header but our own. A file needs no identity of its own (cuid), which
# would be a hash of its path.
# Other chips run code for these (drv/chip_rows.c).
RDNA     := gfx1010 gfx1030 gfx1100 gfx1102 gfx1201
GFX      := gfx900 gfx902 gfx904 gfx906 gfx908 gfx909 gfx90a gfx90c gfx942 $(RDNA)
HIPFLAGS := -x hip -I. --offload-device-only -nogpuinc -nogpulib -std=c++17 -Wall -Werror -fno-ident \
	-fuse-cuid=none --no-gpu-bundle-output
include shaders/shaders.mk

# --- objects ----------------------------------------------------------------------------------------------------
$(O)/%.o: %.c $(O)/flags/cc
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@
AVX2_CFLAGS := -mavx2 -mfma -mf16c -mbmi2 -mlzcnt -DISA_AVX2=1
$(O)/%.avx2.o: %.c $(O)/flags/cc
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) $(AVX2_CFLAGS) -MMD -MP -c $< -o $@
$(O)/%.half.o: %.c $(O)/flags/cc
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) $(AVX2_CFLAGS) -DISA_HALF=1 -MMD -MP -c $< -o $@
$(O)/%.unrecorded.o: %.c $(O)/flags/cc
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) -DDRV_ERROR_UNRECORDED -MMD -MP -c $< -o $@
# Loops over lanes are there to be vectorised; floating-point exceptions are masked, and no code reads errno.
$(O)/vgpu/isa/valu/lanes_%.o: ALL_CFLAGS += -O3 -fno-math-errno -fno-trapping-math
# ThreadSanitizer itself calls what the shim stands in front of, before it is ready for instrumented code.
ifeq ($(MODE),tsan)
$(O)/vgpu/shim/%.o: ALL_CFLAGS += -fno-sanitize=thread
endif

# What the command knows of its build: the way from its folder to the libraries, once installed, among it.
COMMIT    := $(or $(shell git describe --always --dirty --abbrev=12 2>/dev/null),unknown)
LIBDRM    := $(or $(call pkg,--modversion libdrm_amdgpu),unknown)
LIBRARIES := $(shell realpath -ms --relative-to='$(BINDIR)' '$(LIBDIR)/tuff')
$(O)/tools/build.h: force
	@mkdir -p $(@D)
	@printf '#define BUILD_%s "%s"\n' COMMIT '$(COMMIT)' LIBDRM '$(LIBDRM)' REPORT_TO '$(REPORT_TO)' LIBRARIES '$(LIBRARIES)' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(addprefix $(O)/tools/,main.o gpu.o test_machine.o test_device.o test_report.o): $(O)/tools/build.h

# A checksum of the headers that have the structs of a run's segment.
LAYOUT_H := $(sort $(wildcard vgpu/*.h vgpu/kernel/*.h vgpu/kernel/*/*.h))
$(O)/vgpu/layout.h: $(LAYOUT_H)
	@mkdir -p $(@D)
	@printf '#define KERN_LAYOUT %su\n' "$$(cat $^ | cksum | cut -d' ' -f1)" >$@
$(O)/vgpu/kernel/drm/kernel.o: $(O)/vgpu/layout.h

# --- libraries and programs -------------------------------------------------------------------------------------
# For our own programs: all of the driver. For others: one object in which only the names of include/tuff/ are global.
$(O)/libdriver.a: $(call obj,$(DRV_SRC)) $(O)/shaders/shaders.o
$(O)/libtuff.a: $(O)/libtuff.o
$(O)/libtuff.o: $(call obj,$(DRV_SRC)) $(O)/shaders/shaders.o
	$(call say,LD,$@)$(LD) -r $^ -o $@ && $(OBJCOPY) --localize-hidden $@
$(O)/%.a:
	@rm -f $@
	$(call say,AR,$@)$(AR) rcsD $@ $^

# Libraries bind calls among their own functions themselves (-Bsymbolic-functions), also where a program defines the same
# names. Threads run in them, and end in them: they stay loaded after dlclose() (nodelete). What a library needs it names,
# but for a sanitizer's runtime.
link_library = $(CC) -shared $(ALL_LDFLAGS) -Wl,-soname,$(@F) -Wl,--version-script=$(filter %.map,$^)
STAYS := -Wl,-Bsymbolic-functions -Wl,-z,nodelete $(if $(SANITIZED),,-Wl,-z,defs)

# libtuff.a as a shared library. Handles and the count of forks are its static data.
$(O)/lib/libtuff.so.0: $(call obj,$(DRV_SRC)) $(O)/shaders/shaders.o embed/exports.map $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link_library) $(STAYS) -Wl,--no-undefined-version $(filter %.o,$^) $(PKG_LIBS) -o $@
$(O)/lib/libtuff.so: $(O)/lib/libtuff.so.0
	@ln -sf $(<F) $@

# Stands before programs that look for ROCm's driver; without any sanitizer.
$(O)/lib/libtuff-gate.so: tools/gate/gate.c $(O)/flags/cc $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(SAME_PATHS) -std=gnu11 -fPIC -shared -fvisibility=hidden -D_GNU_SOURCE -O2 -g $(WARN) $(WERROR) \
		$(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -Wl,-soname,$(@F) $< -ldl -o $@

$(O)/lib/libtuff-vgpu.so: $(VGPU_OBJ) vgpu/shim/exports.map $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link_library) $(VGPU_OBJ) -ldl -lm -o $@

# ROCr's name and version node.
HSA_LIB := $(O)/lib/libhsa-runtime64.so.1
$(HSA_LIB): $(call obj,$(HSA_SRC)) $(O)/shaders/shaders.o hsa/exports.map $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link_library) $(STAYS) $(filter %.o,$^) $(PKG_LIBS) -ldl -lm -o $@

# AMD's HIP library, of three interfaces: from the same sources, each compiled for its layouts. They need our HSA library, which
# stands beside them, and not another that the system may have.
API_SRC   := $(foreach f,$(API_FOLDERS),$(call room_src,api/$(f)))
# Code without state that matters, which HIP's library and the rooms below it have each.
API_PARTS := cs/msgpack.c drv/chip.c drv/chip_rows.c drv/config.c drv/file.c drv/handle.c drv/lock.c drv/log.c drv/process.c drv/rank.c drv/retire.c vm/segments.c vm/tree.c
# What programs call all the time is compiled to be fast, all else to be small.
API_FAST  := $(addprefix api/,base/error base/retire base/root device/context device/device exec/copy exec/event exec/fill \
	exec/grid exec/launch graph/graph_exec graph/graph_launch memory/memory memory/memory_info module/binary module/module \
	pool/pool_cache pool/pool_space stream/capture stream/frontier stream/stream stream/stream_info stream/stream_memory stream/stream_wait \
	stream/timestamp)
OPT_small := $(if $(filter release,$(MODE)),-Os)
api_opt    = $(if $(filter $(API_FAST),$(1)),,$(OPT_small))
api_obj    = $(patsubst %.c,$(O)/%.abi$(1).o,$(API_SRC))
define abi_rule
$(O)/%.abi$(1).o: %.c $(O)/flags/cc
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$(CC) $$(ALL_CFLAGS) $$(call api_opt,$$*) -DTUFF_HIP_ABI=$(1) -MMD -MP -c $$< -o $$@
$(O)/lib/libamdhip64.so.$(1): $(call api_obj,$(1)) $(O)/api/exports$(1).map
endef
$(foreach abi,$(HIP_ABIS),$(eval $(call abi_rule,$(abi))))
$(O)/api/exports%.map: api/exports.sh api/names.h
	@mkdir -p $(@D)
	@api/exports.sh api/names.h $* >$@
$(HIP_LIBS): $(call obj,$(API_PARTS)) $(O)/drv/error.unrecorded.o $(O)/api/kernels.o $(HSA_LIB) $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link_library) $(STAYS) -Wl,--no-undefined-version -Wl,-rpath,'$$ORIGIN' $(filter %.o,$^) $(HSA_LIB) -o $@

$(O)/lib/libhsa-runtime64.so: $(HSA_LIB)
$(O)/lib/libamdhip64.so $(O)/lib/libhiprtc.so: $(O)/lib/libamdhip64.so.6
# hiprtc is a library of its own as well, whose names have no versions. Those of 5 and 6 have hiprtc in the other, and so have
# ours; that of 7 passes its calls on.
$(HIPRTC_LIB): $(O)/api/rtc/library/hiprtc.abi7.o $(O)/lib/libamdhip64.so.7 api/rtc/library/exports.map $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,LD,$@)$(link_library) $(STAYS) -Wl,-rpath,'$$ORIGIN' $< $(O)/lib/libamdhip64.so.7 -o $@
$(HIPRTC_LINKS): $(O)/lib/libhiprtc.so%: $(O)/lib/libamdhip64.so%
$(addprefix $(O)/lib/,libhsa-runtime64.so libamdhip64.so libhiprtc.so) $(HIPRTC_LINKS):
	@ln -sf $(<F) $@
# Where hiprtc finds HIP's headers.
$(O)/lib/include:
	@mkdir -p $(@D)
	@ln -sfn $(CURDIR)/include $@

# For programs that carry the virtual GPU inside: one object in which only its public header's names and the libc names that
# it stands in front of are global. They are exported, so that libdrm's calls reach them; driver and virtual GPU share no
# symbol.
$(O)/vgpu.o: $(VGPU_OBJ)
	$(call say,LD,$@)$(LD) -r $^ -o $@ && $(OBJCOPY) --localize-hidden $@
VGPU_LINK = $(O)/vgpu.o -Wl,--export-dynamic

TEST_KERNELS := $(O)/tests/kernels/test.o $(O)/tools/kernels/demo.o
$(O)/tuff: $(call obj,$(TOOL_SRC)) $(O)/libdriver.a $(O)/vgpu.o $(TEST_KERNELS) $(O)/flags/ld
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) $(call obj,$(TOOL_SRC)) $(TEST_KERNELS) $(O)/libdriver.a $(VGPU_LINK) \
		$(PKG_LIBS) $(TOOL_LIBS) -ldl -o $@

# Examples are built as their readers would: with the public headers and the public library, and nothing else of ours.
EXAMPLES := $(addprefix $(O)/examples/,$(basename $(notdir $(wildcard tests/examples/*.c tests/examples/*.cc))))
EXAMPLE_CODE := $(patsubst %,$(O)/examples/vadd.%.co,$(GFX))
examples: $(EXAMPLES) $(EXAMPLE_CODE)
$(O)/examples/%: tests/examples/%.c $(O)/libtuff.a $(wildcard include/tuff/*.h) $(O)/flags/cc $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(SAME_PATHS) -std=c11 -Wall -Wextra -Wpedantic $(WERROR) -D_GNU_SOURCE $(OPT_$(MODE)) -Iinclude \
		$(CPPFLAGS) $(CFLAGS) $< $(LDFLAGS) $(O)/libtuff.a $(PKG_LIBS) -pthread -lm -o $@
# An example in C++ has the shared library. clang compiles it without a C++ library, which need not be installed.
$(O)/examples/%: tests/examples/%.cc $(O)/lib/libtuff.so $(wildcard include/tuff/*.h) $(O)/flags/ld
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(CLANG) -x c++ -std=c++11 -nostdinc++ -fno-exceptions -Wall -Wextra -Wpedantic -Werror -O2 -Iinclude -c $< -o $@.o
	@$(CC) $(OPT_$(MODE)) $(LDFLAGS) $@.o -L$(O)/lib -ltuff -Wl,-rpath,'$$ORIGIN/../lib' -pthread -o $@
$(O)/examples/vadd.%.co: tests/examples/vadd.hip $(O)/flags/device
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(CLANG) $(HIPFLAGS) --offload-arch=$* -O2 $< -o $@

# Each public header by itself, as strict compilers see it; for C++ no header of a C++ library is needed.
PUBLIC_H := $(wildcard include/*/*.h include/hip/api/*.h)
## headers       compiles each public header alone, as C99, C11 and C++
headers: $(patsubst %,$(O)/%.ok,$(PUBLIC_H))
$(O)/include/%.ok: include/% $(PUBLIC_H) $(O)/flags/cc
	@mkdir -p $(@D)
	$(call say,CHECK,$<)check() { echo 'extern int nothing;' | "$$@" -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -include $< -; }; \
		for std in c99 c11; do \
		check $(CC) -x c -std=$$std || exit; \
		check $(CLANG) -x c -std=$$std || exit; done; \
		check $(CLANG) -x c++ -std=c++11 -nostdinc++ && touch $@

include tests/tests.mk
include tests/code/code.mk
include tests/hip/hip.mk
include tests/fuzz/fuzz.mk
include tests/pairs/pairs.mk

# --- targets for people -----------------------------------------------------------------------------------------
.PHONY: deps deps-check deps-clients deps-package deps-suites demo run-demo
## deps          installs Debian's packages that building needs; no other target but demo and check does
deps:
	@$(DEPS) install build
## deps-check    and those that tests need: headers to compare ours with, the model checker, fuzzers, tools that compile HIP
deps-check:
	@$(DEPS) install build check fuzz
## deps-clients  and other people's drivers and libraries, two gigabytes
deps-clients:
	@$(DEPS) install build check fuzz hip clients
## deps-package  what deb and check-packages need
deps-package:
	@$(DEPS) install build package

# Test programs of Debian 13's packages, their libraries and libc, unpacked and not installed.
SUITES ?= librocrand1-tests libhiprand1-tests librocfft0-tests libhipfft0-tests librocblas0-tests libhipblas0-tests librccl1-tests
## deps-suites   unpacks the test suites of Debian 13's packages in build/roots, 500 MB; SUITES=packages
deps-suites:
	@tests/clients/debian_root.sh build/roots/trixie trixie $(SUITES) openmpi-bin rocm-smi rocminfo ucx-utils

# make reads its flags before it installs: another one builds. It uses all processors, unless -j says how many.
build_now = $(MAKE) --no-print-directory $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
## demo          builds everything, and runs GPU programs on a virtual gfx908; installs what building needs
demo: deps
	+@$(build_now) run-demo
run-demo: all
	$(O)/tuff demo --gpu gfx908 --picture $(O)/mandelbrot.png

# Device tests run on each of these; unit and stack tests are programs that bring their own. Most end a job that
# hangs after the two seconds of Linux 7.0.
QUICK_GPU   := gfx908:watchdog_ms=2000
CHECK_CHIPS := gfx900 gfx902 gfx906 gfx909 gfx90a gfx90c gfx1010 gfx1030 gfx1100 gfx1151 gfx1201
CHECK_GPUS  := $(CHECK_CHIPS:%=%:watchdog_ms=2000) gfx906:watchdog_ms=2000:p2p=1,gfx908:p2p=1 \
	gfx908:hive=1:watchdog_ms=2000,gfx908:hive=1,gfx908:hive=1,gfx908:hive=1 \
	gfx906:bar=256M:watchdog_ms=2000:p2p=1,gfx900:p2p=1 gfx908:kernel=6.1:watchdog_ms=2000 gfx90a:kernel=7.2 \
	gfx942:partition=spx:watchdog_ms=2000
OTHER_TESTS := $(STACK_BIN) $(CLIENT_TESTS) $(OUR_HIP_TESTS) $(FUZZ_BIN)
LONG_TESTS  := $(LONG_BIN) $(CLIENT_LONG_TESTS)
# $(call run_tests,REPORT,GPU...): the programs follow.
run_tests    = O=$(O) $(O)/tuff test --jobs $(TEST_JOBS) --timeout 900 --brief $(addprefix --report $(O)/$(1).,txt xml) $(addprefix --gpu ,$(2))
# The experiments are for real cards; here they show that they can be carried out.
RUN_PROBES   = $(O)/tuff test --probe --brief --jobs $(TEST_JOBS) --timeout 300 --report $(O)/probes.txt \
	--gpu gfx908:watchdog_ms=500 --gpu gfx942:watchdog_ms=500 --gpu gfx942:partition=spx:watchdog_ms=500 \
	--gpu gfx1100:watchdog_ms=500 --gpu gfx1201:watchdog_ms=500
# User queues take an environment of their own.
RUN_USERQ    = TUFF_USERQ=1 $(O)/tuff test --brief --jobs $(TEST_JOBS) --timeout 300 --report $(O)/userq.txt \
	--gpu gfx1100:kernel=7.0:userq=1:watchdog_ms=2000
say_left_out = @$(if $(strip $(HIP_LEFT_OUT)),echo "left out because packages are missing: $(strip $(HIP_LEFT_OUT))")

.PHONY: check run-check check-quick check-rest check-long check-clients check-suites check-packages check-releases check-hip check-contract check-flow test bench
## check         all tests, those of check-quick first; installs what they need; the last line has the sums
check: deps-check
	+@$(build_now) run-check
run-check:
	@rm -f $(O)/quick.txt $(O)/tests.txt
	@$(MAKE) --no-print-directory check-quick; quick=$$?; [ -e $(O)/quick.txt ] || exit 1; \
	$(MAKE) --no-print-directory check-rest; rest=$$?; \
	cat $(O)/quick.txt $(O)/tests.txt | awk '/^[0-9]+ passed, .* not run$$/ { passed += $$1; failed += $$3; skipped += $$5 } \
		END { print passed " passed, " failed " failed, " skipped " skipped" }'; \
	[ $$quick$$rest = 00 ]
## check-quick   the first answer: unit tests, and all device tests on one virtual GPU
check-quick: $(O)/tuff $(O)/lib/libtuff-vgpu.so $(UNIT_BIN)
	@$(call run_tests,quick,$(QUICK_GPU)) -- $(UNIT_BIN)
check-rest: all layers $(OTHER_TESTS)
	@tests/model/run.sh $(O)
	@tests/contract/break.sh check
	@tests/flow/break.sh check
	$(say_left_out)
	@$(RUN_PROBES)
	@$(RUN_USERQ)
	@$(call run_tests,tests,$(CHECK_GPUS)) -- $(OTHER_TESTS)

## test          T='pattern...': tests whose names match a shell pattern, or begin with it, up to a dot or a slash:
##               T=tests/stack/tool, T=launch, T='pool*' (device tests run on GPU=gfx908)
GPU ?= $(QUICK_GPU)
ALL_TESTS := $(UNIT_BIN) $(OTHER_TESTS) $(LONG_TESTS)
T_TESTS   := $(if $(filter test,$(BUILDS)),$(shell tests/match.sh '$(O)/bin' '$(T)' $(ALL_TESTS)))
test: $(O)/tuff $(T_TESTS)
	@$(if $(T),,echo "make test T=pattern: which tests?" >&2; exit 2)
	$(say_left_out)
	@set -f; O=$(O) $(O)/tuff test --jobs $(TEST_JOBS) --timeout 900 --brief --gpu $(GPU) $(T) $(if $(T_TESTS),-- $(T_TESTS))

## check-long    check, tests that take over a minute, a minute of each fuzzer, pairs, and stops
check-long: all layers $(ALL_TESTS)
	@tests/model/run.sh $(O) long
	@TUFF_TEST_LONG=1 $(call run_tests,tests,$(QUICK_GPU) $(CHECK_GPUS)) --long --timeout 3600 -- $(ALL_TESTS)
	@$(MAKE) --no-print-directory fuzz
	@$(MAKE) --no-print-directory pairs
	@$(MAKE) --no-print-directory stops
## check-clients Mesa's Vulkan and OpenCL on the virtual GPU, rocm-smi, what AMD's HIP of 6 and 7 answers beside ours,
##               check-hip, check-suites
check-clients: all
	@tests/clients/run.sh $(O)
	@tests/clients/differential.sh $(O) || [ $$? = 77 ]
	@$(MAKE) --no-print-directory check-hip
	@$(MAKE) --no-print-directory check-suites
## check-suites  a sample of the test suites of Debian's packages, and libraries between processes (deps-suites)
check-suites: all
	@tests/clients/processes.sh $(O)
	@tests/clients/suites.sh $(O) || [ $$? = 77 ]
## check-packages builds Debian's packages in clean roots, compares, installs and purges them; as root, half an hour
check-packages:
	@tests/clients/packages.sh
## check-releases make demo and check-quick in fresh roots of three releases of Debian; as root, an hour
check-releases:
	@tests/clients/releases.sh
## check-hip     programs on Debian's HIP over our HSA, and the same on our HIP
check-hip: all $(CLIENT_TESTS)
	@O=$(O) $(O)/tuff test --jobs $(TEST_JOBS) --timeout 300 -- $(CLIENT_TESTS)
## check-contract breaks each rule of docs/vgpu-contract.md in a copy of the tree: a test must fail; half an hour
check-contract: all
	@tests/contract/break.sh $(O)
## check-flow    the same for the rules by which flows order work; a quarter of an hour
check-flow: all
	@tests/flow/break.sh $(O)
## bench         what the hot paths cost
bench: all $(BENCH_BIN)
	@set -e; for b in $(BENCH_BIN); do $$b; done

.PHONY: layers format format-check clean help
## layers        checks which room includes which, and that no call is a cancellation point
# Functions of these files are called with cancellation held already.
CANCEL_HELD := api/base/others.c api/exec/print.c api/graph/graph_dot.c $(wildcard api/rtc/*.c) drv/rank.c drv/scan.c \
	hsa/core/agent.c hsa/entry/beside.c hsa/ipc/ipc_socket.c
layers:
	@tools/layers.sh "$(ROOMS)" "$(API_ROOMS)"
	@awk -f tools/cancel.awk $(filter-out $(CANCEL_HELD),$(DRV_SRC) $(HSA_SRC) $(API_SRC))
FORMAT_SRC = $(shell git ls-files '*.c' '*.h')
## format        formats the sources with clang-format-19; format-check says what it would change
format:
	clang-format-19 -i $(FORMAT_SRC)
format-check:
	clang-format-19 --dry-run -Werror $(FORMAT_SRC)

include tools/rocm.mk
include tools/install.mk

## clean         removes $(O)
clean:
	rm -rf $(O)
help:
	@sed -n 's/^## //p' Makefile shaders/shaders.mk tests/fuzz/fuzz.mk tests/pairs/pairs.mk tools/install.mk
	@echo "variables, with what they are for, at the head of the Makefile: MODE=release|debug|asan|ubsan|tsan|fuzz O CC CLANG V=1"
	@echo "CROSS_COMPILE AR LD OBJCOPY PKG_CONFIG CPPFLAGS CFLAGS LDFLAGS WERROR PREFIX BINDIR LIBDIR SOLIBDIR INCLUDEDIR DATADIR"
	@echo "MANDIR SYSCONFDIR DESTDIR REPORT_TO TEST_JOBS"

ifneq ($(BUILDS),)
$(shell mkdir -p $(O)/flags)$(foreach f,cc ld device code hip rocm,$(call write_flags,$(f)))
endif
-include $(shell [ -d $(O) ] && find $(O) -name 'mutants*' -prune -o -type f -name '*.d' -print)
