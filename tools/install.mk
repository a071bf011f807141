# make install, uninstall, install-ldconf, uninstall-ldconf. Libraries have a folder of their own, lib/tuff, so that no
# file of Debian's of the same name is replaced or shadowed; tools/install.sh remembers what it made.

SYSCONFDIR ?= /etc
VERSION := $(shell sed -n 's/^\#define TUFF_VERSION_M[AI][JN]OR //p' include/tuff/base.h | paste -sd.)

# Each line is a mode, a file, and where it goes below PREFIX; a file.in is written with its @words@ replaced. Mode ln: a
# symbolic link of that content. Mode all: each file and link of a folder.
define INSTALL_FILES
644 $(O)/libtuff.a lib/tuff/libtuff.a
644 $(O)/lib/libtuff.so.0 lib/tuff/libtuff.so.0
ln libtuff.so.0 lib/tuff/libtuff.so
644 $(O)/lib/libtuff-vgpu.so lib/tuff/libtuff-vgpu.so
644 $(O)/lib/libtuff-gate.so lib/tuff/libtuff-gate.so
644 $(O)/lib/libhsa-runtime64.so.1 lib/tuff/libhsa-runtime64.so.1
ln libhsa-runtime64.so.1 lib/tuff/libhsa-runtime64.so
644 $(O)/lib/libamdhip64.so.5 lib/tuff/libamdhip64.so.5
644 $(O)/lib/libamdhip64.so.6 lib/tuff/libamdhip64.so.6
ln libamdhip64.so.6 lib/tuff/libamdhip64.so
ln libamdhip64.so.5 lib/tuff/libhiprtc.so.5
ln libamdhip64.so.6 lib/tuff/libhiprtc.so.6
ln libamdhip64.so.6 lib/tuff/libhiprtc.so
ln ../../include/tuff lib/tuff/include
755 $(O)/tuff bin/tuff
644 tools/tuff.pc.in lib/pkgconfig/tuff.pc
644 tools/tuff-hsa.pc.in lib/pkgconfig/tuff-hsa.pc
644 tools/tuff-hip.pc.in lib/pkgconfig/tuff-hip.pc
644 tools/completion/tuff.bash share/bash-completion/completions/tuff
644 tools/completion/tuff.zsh share/zsh/site-functions/_tuff
644 tools/completion/tuff.fish share/fish/vendor_completions.d/tuff.fish
644 README.md share/doc/tuff/README.md
644 LICENSE share/doc/tuff/LICENSE
$(call install_all,include/tuff/*.h,include/tuff)
$(call install_all,include/hsa/*.h,include/tuff/hsa)
$(call install_all,include/hip/*.h,include/tuff/hip)
644 include/share/hip/version include/tuff/share/hip/version
$(foreach d,api device amd_detail,$(call install_all,include/hip/$(d)/*.h,include/tuff/hip/$(d))$(newline))
$(call install_all,docs/man/*.1,share/man/man1)
all $(O)/man3 share/man/man3
$(call install_all,docs/man/*.7,share/man/man7)
$(call install_all,docs/*.md,share/doc/tuff/docs)
$(call install_all,tests/examples/*,share/doc/tuff/examples)
$(call install_files,$(EXAMPLE_CODE),share/doc/tuff/examples)
endef
define newline


endef
install_files = $(subst |,$(newline),$(subst | ,|,$(foreach f,$(1),644 $(f) $(2)/$(notdir $(f))|)))
install_all = $(call install_files,$(sort $(wildcard $(1))),$(2))

.PHONY: uninstall install-ldconf uninstall-ldconf
install: export INSTALL_LIST := $(INSTALL_FILES)
install: export INSTALL_VERSION := $(VERSION)
install: all
	@tools/install.sh install '$(DESTDIR)' '$(PREFIX)'
uninstall:
	@tools/install.sh uninstall '$(DESTDIR)' '$(PREFIX)'

# For whoever wants every program of this machine to find tuff's libraries before Debian's. The linker's cache takes the
# folders in order of these files' names.
LDCONF := $(DESTDIR)$(SYSCONFDIR)/ld.so.conf.d/00-tuff.conf
install-ldconf:
	install -d '$(dir $(LDCONF))'
	echo '$(PREFIX)/lib/tuff' >'$(LDCONF)'
	$(if $(DESTDIR),,PATH="$$PATH:/sbin" ldconfig)
uninstall-ldconf:
	rm -f '$(LDCONF)'
	$(if $(DESTDIR),,PATH="$$PATH:/sbin" ldconfig)

# Section 3 of the manual, from the headers.
$(O)/man3: docs/man/section3.sh docs/man/section3.awk docs/man/tuff.1 $(wildcard include/tuff/*.h)
	@docs/man/section3.sh $@ $(filter %.h,$^)

# For programs that use the build tree: PKG_CONFIG_PATH=$(O).
$(O)/tuff-uninstalled.pc: tools/tuff.pc.in include/tuff/base.h
	@mkdir -p $(@D)
	@sed -e '/^prefix=/d' -e 's|^libdir=.*|libdir=$(abspath $(O))/lib|' -e 's|^Libs.private:|& -L$(abspath $(O))|' -e 's|^includedir=.*|includedir=$(CURDIR)/include|' \
		-e 's|@VERSION@|$(VERSION)|' $< >$@
