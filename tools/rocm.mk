# A tree in ROCm's shape, in which build systems find HIP: $(O)/rocm, of this build, and LIBDIR/tuff/rocm, installed.
# The libraries are links there under each name, since a linker looks for what they need beside them. The device library is a link,
# since clang looks for it in no other place when it is told ROCM_PATH; llvm/bin is where ROCm has clang. ROCM_FILES: a path in the
# tree, and the file of tools/rocm that is there. $(call rocm_links,LIBRARIES,HEADERS): a path, and what the link there says; both
# folders as seen from the tree.
ROCM_FILES := $(foreach f,hipcc hipconfig rocm_agent_enumerator,bin/$(f):$(f)) \
	$(foreach f,hip/hip-config.cmake hip/hip-config-version.cmake hip/FindHIP.cmake hip-lang/hip-lang-config.cmake hip-lang/device-library.cmake \
	hiprtc/hiprtc-config.cmake hsa-runtime64/hsa-runtime64-config.cmake,lib/cmake/$(f):cmake/$(notdir $(f)))
# The folder that HIP had of its own in ROCm 5, where older build systems look.
ROCM_HIP   := hip/bin:../bin hip/include:../include hip/lib:../lib hip/cmake/FindHIP.cmake:../../lib/cmake/hip/FindHIP.cmake
ROCM_LIBS  := $(foreach l,amdhip64 hiprtc,lib$(l).so $(HIP_ABIS:%=lib$(l).so.%)) libhsa-runtime64.so libhsa-runtime64.so.1
ROCM_LLVM  := $(patsubst %/bin/clang,llvm:%,$(filter /usr/lib/llvm-%,$(realpath $(shell command -v $(CLANG)))))
rocm_links  = $(ROCM_LLVM) $(patsubst %/bitcode,amdgcn:%,$(DEVICE_LIBS)) \
	$(ROCM_HIP) include:$(2) share:$(2)/share lib/include:../include $(foreach l,$(ROCM_LIBS),lib/$(l):../$(1)/$(l))
FLAGS_rocm  = $(ROCM_LLVM) $(DEVICE_LIBS)
rocm_at     = $(word 1,$(subst :, ,$(1)))
rocm_what   = $(word 2,$(subst :, ,$(1)))

$(O)/rocm: $(addprefix tools/rocm/,$(foreach f,$(ROCM_FILES),$(call rocm_what,$(f)))) tools/rocm.mk $(O)/flags/rocm
	@rm -rf $@; mkdir -p $(addprefix $@/,$(sort $(dir $(foreach f,$(ROCM_FILES),$(call rocm_at,$(f)))) hip/cmake))
	@$(foreach f,$(ROCM_FILES),cp -p tools/rocm/$(call rocm_what,$(f)) $@/$(call rocm_at,$(f)) &&) \
		$(foreach f,$(call rocm_links,../lib,$(CURDIR)/include),ln -sfn $(call rocm_what,$(f)) $@/$(call rocm_at,$(f)) &&) touch $@

# Lines of tools/install.mk's list, for a tree in that folder.
define rocm_install
$(foreach f,$(ROCM_FILES),$(if $(filter bin/%,$(f)),755,644) tools/rocm/$(call rocm_what,$(f)) $(1)/$(call rocm_at,$(f))$(newline))
$(foreach f,$(call rocm_links,..,$(2)),ln $(call rocm_what,$(f)) $(1)/$(call rocm_at,$(f))$(newline))
endef
