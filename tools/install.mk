# make install, uninstall, install-ldconf, uninstall-ldconf, deb. Libraries have a folder of their own, $(LIBDIR)/tuff, so that no
# file of Debian's of the same name is replaced or shadowed; tools/install.sh records what it created.
VERSION := $(shell sed -n 's/^\#define TUFF_VERSION_M[AI][JN]OR //p' include/tuff/base.h | paste -sd.)

# The folders, and the path from the libraries to HIP's and HSA's headers. These have a folder of their own: compilers search it for
# every <name.h>, and a memory.h of ours there would be taken for the C library's.
DOC      := $(DATADIR)/doc/tuff
LIB      := $(LIBDIR)/tuff
HEADERS  := $(INCLUDEDIR)/tuff
ROCM_HEADERS := $(HEADERS)/rocm
LIB_TO_HEADERS := $(shell realpath -ms --relative-to='$(LIB)' '$(ROCM_HEADERS)')

# Each line is a mode, a file, and its target; a file.in is written with its @words@ replaced. Mode ln: a symbolic link of
# that content. Mode all: each file and link of a folder.
define INSTALL_FILES
644 $(O)/libtuff.a $(SOLIBDIR)/libtuff.a
644 $(O)/lib/libtuff.so.0 $(SOLIBDIR)/libtuff.so.0
ln libtuff.so.0 $(SOLIBDIR)/libtuff.so
644 $(O)/lib/libtuff-vgpu.so $(LIB)/libtuff-vgpu.so
644 $(O)/lib/libtuff-gate.so $(LIB)/libtuff-gate.so
644 $(O)/lib/libhsa-runtime64.so.1 $(LIB)/libhsa-runtime64.so.1
ln libhsa-runtime64.so.1 $(LIB)/libhsa-runtime64.so
644 $(O)/lib/libamdhip64.so.5 $(LIB)/libamdhip64.so.5
644 $(O)/lib/libamdhip64.so.6 $(LIB)/libamdhip64.so.6
644 $(O)/lib/libamdhip64.so.7 $(LIB)/libamdhip64.so.7
644 $(O)/lib/libhiprtc.so.7 $(LIB)/libhiprtc.so.7
ln libamdhip64.so.6 $(LIB)/libamdhip64.so
ln libamdhip64.so.5 $(LIB)/libhiprtc.so.5
ln libamdhip64.so.6 $(LIB)/libhiprtc.so.6
ln libamdhip64.so.6 $(LIB)/libhiprtc.so
ln $(LIB_TO_HEADERS) $(LIB)/include
755 $(O)/tuff $(BINDIR)/tuff
$(call rocm_install,$(LIB)/rocm,$(shell realpath -ms --relative-to='$(LIB)/rocm' '$(ROCM_HEADERS)'))
644 tools/tuff.pc.in $(LIBDIR)/pkgconfig/tuff.pc
644 tools/tuff-hsa.pc.in $(LIBDIR)/pkgconfig/tuff-hsa.pc
644 tools/tuff-hip.pc.in $(LIBDIR)/pkgconfig/tuff-hip.pc
644 tools/completion/tuff.bash $(DATADIR)/bash-completion/completions/tuff
644 tools/completion/tuff.zsh $(DATADIR)/zsh/site-functions/_tuff
644 tools/completion/tuff.fish $(DATADIR)/fish/vendor_completions.d/tuff.fish
644 README.md $(DOC)/README.md
644 LICENSE $(DOC)/LICENSE
$(call install_all,include/tuff/*.h,$(HEADERS))
$(call install_all,include/hsa/*.h,$(ROCM_HEADERS)/hsa)
$(call install_all,include/hip/*.h,$(ROCM_HEADERS)/hip)
644 include/share/hip/version $(ROCM_HEADERS)/share/hip/version
$(foreach d,api device amd_detail rtc,$(call install_all,include/hip/$(d)/*.h,$(ROCM_HEADERS)/hip/$(d))$(newline))
$(call install_all,docs/man/*.1,$(MANDIR)/man1)
all $(O)/man3 $(MANDIR)/man3
$(call install_all,docs/man/*.7,$(MANDIR)/man7)
$(call install_all,docs/*.md,$(DOC)/docs)
$(call install_all,tests/examples/*,$(DOC)/examples)
$(call install_files,$(EXAMPLE_CODE),$(DOC)/examples)
endef
define newline


endef
install_files = $(subst |,$(newline),$(subst | ,|,$(foreach f,$(1),644 $(f) $(2)/$(notdir $(f))|)))
install_all = $(call install_files,$(sort $(wildcard $(1))),$(2))
# A program needs a run path to libtuff.so.0 where the linker does not search by itself.
# A .pc file names folders below PREFIX by ${prefix}: pkg-config can move them.
from_prefix = $(patsubst $(PREFIX)/%,$${prefix}/%,$(1))
define INSTALL_WORDS
s|@PREFIX@|$(PREFIX)|
s|@LIBDIR@|$(call from_prefix,$(LIBDIR))|
s|@SOLIBDIR@|$(call from_prefix,$(SOLIBDIR))|
s|@RUN_PATH@|$(if $(filter $(LIBDIR),$(SOLIBDIR)),,-Wl,-rpath,$${libdir} )|
s|@INCLUDEDIR@|$(call from_prefix,$(INCLUDEDIR))|
s|@VERSION@|$(VERSION)|
endef

.PHONY: install uninstall install-ldconf uninstall-ldconf
install: export INSTALL_LIST := $(INSTALL_FILES)
install: export INSTALL_WORDS := $(INSTALL_WORDS)
## install       to PREFIX, below DESTDIR
install: all
	@tools/install.sh install '$(DESTDIR)' '$(PREFIX)' '$(LIB)/installed'
## uninstall     removes what install made
uninstall:
	@tools/install.sh uninstall '$(DESTDIR)' '$(PREFIX)' '$(LIB)/installed'

# Makes every program of this machine find tuff's libraries before Debian's. The linker's cache takes the
# folders in order of these files' names.
LDCONF := $(DESTDIR)$(SYSCONFDIR)/ld.so.conf.d/00-tuff.conf
## install-ldconf all programs of this machine find tuff's libraries before Debian's; uninstall-ldconf takes it back
install-ldconf:
	install -d '$(dir $(LDCONF))'
	echo '$(LIB)' >'$(LDCONF)'
	$(if $(DESTDIR),,PATH="$$PATH:/sbin" ldconfig)
uninstall-ldconf:
	rm -f '$(LDCONF)'
	$(if $(DESTDIR),,PATH="$$PATH:/sbin" ldconfig)

.PHONY: deb
## deb           Debian's packages of this commit, in $(O)/deb; DEB_FLAGS=-S and the like are for dpkg-buildpackage
deb:
	@tools/deb.sh '$(O)/deb' '$(VERSION)' $(DEB_FLAGS)

# Section 3 of the manual, from the headers.
$(O)/man3: docs/man/section3.sh docs/man/section3.awk docs/man/tuff.1 $(wildcard include/tuff/*.h)
	@docs/man/section3.sh $@ $(filter %.h,$^)

# For programs that use the build tree: PKG_CONFIG_PATH=$(O).
$(O)/tuff-uninstalled.pc: tools/tuff.pc.in include/tuff/base.h
	@mkdir -p $(@D)
	@sed -e '/^prefix=/d' -e 's|^libdir=.*|libdir=$(abspath $(O))/lib|' -e 's|^Libs.private:|& -L$(abspath $(O))|' -e 's|^includedir=.*|includedir=$(CURDIR)/include|' \
		-e 's|@VERSION@|$(VERSION)|' -e 's|@RUN_PATH@|-Wl,-rpath,$${libdir} |' $< >$@
