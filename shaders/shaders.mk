# Device code: HIP sources are compiled for every target, and the code objects put into one table of blobs (shaders/blob.h),
# NAME.o with the table NAME_blobs.
## shaders       the built-in kernels
shaders: $(O)/shaders/shaders.o

# $(call code_objects,FOLDER,TARGETS,WAYS): FOLDER/TARGET/FILE.WAY.co for each FOLDER/FILE.hip. A way is an optimisation
# level, or W64: -O1 for waves of 64 lanes on targets whose waves have 32.
code_objects = $(foreach t,$(2),$(foreach l,$(3),$(patsubst $(1)/%.hip,$(O)/$(1)/$(t)/%.$(l).co,$(sort $(wildcard $(1)/*.hip)))))
$(O)/shaders/shaders.S: $(call code_objects,shaders,$(GFX),O3)
$(O)/api/kernels.S: $(call code_objects,api,$(GFX),O3)
$(O)/tools/kernels/demo.S: $(call code_objects,tools/kernels,$(GFX),O3)
$(O)/tests/kernels/test.S: $(call code_objects,tests/kernels,$(GFX),O0 O1 O3) $(call code_objects,tests/kernels,$(RDNA),W64)

parent = $(patsubst %/,%,$(dir $(1)))
$(O)/%.co: $$(call parent,$$(call parent,$$*))/$$(basename $$(notdir $$*)).hip shaders/device.h shaders/compile.sh shaders/sgpr_waits.awk \
		shaders/shaders.mk $(O)/flags/device
	@mkdir -p $(@D)
	$(call say,CLANG,$@)shaders/compile.sh $@ $(notdir $(call parent,$*)) $(CLANG) $(HIPFLAGS) \
		$(patsubst -W64,-O1 -mwavefrontsize64,-$(patsubst .%,%,$(suffix $*))) $<

BLOBS := $(addprefix $(O)/,shaders/shaders api/kernels tools/kernels/demo tests/kernels/test tests/code/code tests/bench/hip/bench)
$(BLOBS:%=%.S): shaders/embed.sh
	$(call say,EMBED,$@)shaders/embed.sh $(basename $(@F)) $(filter %.co,$^) >$@
$(BLOBS:%=%.o): %.o: %.S $(O)/flags/cc
	$(call say,CC,$@)$(CC) -c $< -o $@
