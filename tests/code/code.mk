# Code objects as a loader meets them, in the formats 4, 5 and 6 (generic targets), one table of blobs: code_blobs.
# NAME.vFORMAT of a target; variables is made of two translation units.
CODE_TARGETS := gfx900 gfx906 gfx908 gfx90a
CODE_FLAGS   := --target=amdgcn-amd-amdhsa -nogpulib -O2 -Wall -Werror -fvisibility=default -I. -fno-ident \
	-Wl,--unresolved-symbols=ignore-all
CODE_variables := tests/code/variables.c tests/code/second.c
CODE_outside   := tests/code/outside.c
CODE_image     := tests/code/image.c

# code_rule NAME TARGET FORMAT
define code_rule
CODE_CO += $(O)/tests/code/$(2)/$(1).v$(3).co
$(O)/tests/code/$(2)/$(1).v$(3).co: $(CODE_$(1)) tests/code/gpu.h Makefile tests/code/code.mk $(O)/deps.stamp
	@mkdir -p $$(@D)
	$$(call say,CLANG,$$@)$$(CLANG) $$(CODE_FLAGS) -mcpu=$(2) -mcode-object-version=$(3) $(CODE_$(1)) -o $$@
endef
$(foreach n,variables outside,$(foreach t,$(CODE_TARGETS),$(foreach v,4 5,$(eval $(call code_rule,$(n),$(t),$(v))))))
# Those whose image instructions clang knows all of.
$(foreach t,gfx900 gfx906 gfx908,$(eval $(call code_rule,image,$(t),5)))
# clang 19 says that it is still working on format 6.
CODE_GENERIC := gfx9-generic gfx10-1-generic gfx10-3-generic gfx11-generic
$(foreach t,$(CODE_GENERIC),$(eval $(O)/tests/code/$(t)/%: CODE_FLAGS += -Wno-error -w))
$(foreach n,variables outside,$(foreach t,$(CODE_GENERIC),$(eval $(call code_rule,$(n),$(t),6))))

$(O)/tests/code/code.S: $(CODE_CO) shaders/embed.sh
	$(call say,EMBED,$@)shaders/embed.sh code $(CODE_CO) >$@
$(O)/tests/code/code.o: $(O)/tests/code/code.S
	$(call say,CC,$@)$(CC) -c $< -o $@
$(O)/libcode.a: $(O)/tests/code/code.o
