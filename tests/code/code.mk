# Code objects as a loader meets them, in the formats 4, 5 and 6 (generic targets), one table of blobs: code_blobs.
# TARGET/NAME.vFORMAT.co; variables is made of two translation units.
CODE_TARGETS := gfx900 gfx906 gfx908 gfx90a
# clang 19 says that it is still working on format 6: its warnings are no errors.
CODE_GENERIC := gfx9-generic gfx10-1-generic gfx10-3-generic gfx11-generic
CODE_FLAGS   := --target=amdgcn-amd-amdhsa -nogpulib -O2 -Wall -Werror -fvisibility=default -I. -fno-ident \
	-Wl,--unresolved-symbols=ignore-all
CODE_variables := tests/code/variables.c tests/code/second.c
CODE_outside   := tests/code/outside.c
CODE_image     := tests/code/image.c
# image is compiled for those whose image instructions clang knows all of.
CODE_CO := $(foreach n,variables outside,$(foreach t,$(CODE_TARGETS),$(foreach v,4 5,$(t)/$(n).v$(v)))) \
	$(foreach t,gfx900 gfx906 gfx908 gfx1010 gfx1030 gfx1100 gfx1151 gfx1201,$(t)/image.v5) \
	$(foreach n,variables outside,$(foreach t,$(CODE_GENERIC),$(t)/$(n).v6))
CODE_CO := $(CODE_CO:%=$(O)/tests/code/%.co)

FLAGS_code = $(CLANG) $(CODE_FLAGS)
$(CODE_CO): $(O)/tests/code/%.co: $$(CODE_$$(basename $$(*F))) tests/code/gpu.h tests/code/code.mk $(O)/flags/code
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(CLANG) $(CODE_FLAGS) $(if $(findstring generic,$(*D)),-Wno-error -w) -mcpu=$(*D) \
		-mcode-object-version=$(subst .v,,$(suffix $*)) $(filter %.c,$^) -o $@
$(O)/tests/code/code.S: $(CODE_CO)
$(O)/libcode.a: $(O)/tests/code/code.o
