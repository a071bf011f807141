# Device code: HIP sources are compiled for every target, and the code objects put into one table of blobs (shaders/blob.h),
# NAME.o with the table NAME_blobs.
## shaders       the built-in kernels
shaders: $(O)/shaders/shaders.o

# $(call code_objects,FOLDER,OPTIMISATION LEVELS): FOLDER/TARGET/FILE.OLEVEL.co for each FOLDER/FILE.hip.
code_objects = $(foreach t,$(GFX),$(foreach l,$(2),$(patsubst $(1)/%.hip,$(O)/$(1)/$(t)/%.O$(l).co,$(sort $(wildcard $(1)/*.hip)))))
$(O)/shaders/shaders.S: $(call code_objects,shaders,3)
$(O)/api/kernels.S: $(call code_objects,api,3)
$(O)/tools/kernels/demo.S: $(call code_objects,tools/kernels,3)
$(O)/tests/kernels/test.S: $(call code_objects,tests/kernels,0 1 3)

parent = $(patsubst %/,%,$(dir $(1)))
$(O)/%.co: $$(call parent,$$(call parent,$$*))/$$(basename $$(notdir $$*)).hip shaders/device.h shaders/shaders.mk $(O)/flags/device
	@mkdir -p $(@D)
	$(call say,CLANG,$@)$(CLANG) $(HIPFLAGS) --offload-arch=$(notdir $(call parent,$*)) -$(patsubst .%,%,$(suffix $*)) $< -o $@

BLOBS := $(addprefix $(O)/,shaders/shaders api/kernels tools/kernels/demo tests/kernels/test tests/code/code tests/bench/hip/bench)
$(BLOBS:%=%.S): shaders/embed.sh
	$(call say,EMBED,$@)shaders/embed.sh $(basename $(@F)) $(filter %.co,$^) >$@
$(BLOBS:%=%.o): %.o: %.S $(O)/flags/cc
	$(call say,CC,$@)$(CC) -c $< -o $@
