# Device code: each set of .hip files is compiled for every target and embedded as one table of blobs (shaders/blob.h).
# A set: $(call device_set,NAME,FOLDER,OPTIMISATION LEVELS) makes $(O)/FOLDER/NAME.o with the table NAME_blobs.

define co_rule
$(O)/$(1)/$(2)/%.O$(3).co: $(1)/%.hip shaders/device.h Makefile shaders/shaders.mk $(O)/deps.stamp
	@mkdir -p $$(@D)
	$$(call say,CLANG,$$@)$$(CLANG) $$(HIPFLAGS) --offload-arch=$(2) -O$(3) $$< -o $$@
endef

define device_set
$(1)_CO := $$(foreach t,$$(GFX),$$(foreach l,$(3),$$(patsubst $(2)/%.hip,$(O)/$(2)/$$(t)/%.O$$(l).co,$$(wildcard $(2)/*.hip))))
$$(foreach t,$$(GFX),$$(foreach l,$(3),$$(eval $$(call co_rule,$(2),$$(t),$$(l)))))
$(O)/$(2)/$(1).S: $$($(1)_CO) shaders/embed.sh
	$$(call say,EMBED,$$@)shaders/embed.sh $(1) $$($(1)_CO) >$$@
$(O)/$(2)/$(1).o: $(O)/$(2)/$(1).S
	$$(call say,CC,$$@)$$(CC) -c $$< -o $$@
endef

$(eval $(call device_set,shaders,shaders,3))
$(eval $(call device_set,kernels,api,3))
$(eval $(call device_set,demo,tools/kernels,3))
$(eval $(call device_set,test,tests/kernels,0 1 3))

shaders: $(O)/shaders/shaders.o
