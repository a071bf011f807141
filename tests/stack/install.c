/* make install as a person runs it: the installation works by itself, and uninstalling leaves no trace. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"

/* The library cannot be preloaded into programs without the sanitizer that it is built with. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CAN_PRELOAD 0
#else
#define CAN_PRELOAD 1
#endif

static char output[65536];
static char root[64]; /* a folder of our own */

/* Runs a command of the shell, which finds the folder in $T, the build's in $O, and make with the build's settings
 * in $MAKE, and pkg-config in $PKG_CONFIG; gives its status, and its output with what it says on stderr. */
static int sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int sh(const char *fmt, ...)
{
	char command[2048], all[2100];
	va_list args;
	FILE *pipe;
	int status;
	size_t n;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	snprintf(all, sizeof(all), "{ %s; } 2>&1", command);
	pipe = popen(all, "r");
	n = fread(output, 1, sizeof(output) - 1, pipe);
	output[n] = 0;
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A command that must succeed; true when it does. */
#define RUNS(...) runs(sh(__VA_ARGS__), __LINE__)
static bool runs(int status, int line)
{
	bool ok = CHECK_EQ(status, 0);

	if (!ok)
		printf("  line %d said:\n%s\n", line, output + (strlen(output) > 2000 ? strlen(output) - 2000 : 0));
	return ok;
}

static void says(const char *text)
{
	if (!CHECK(strstr(output, text)))
		printf("  \"%s\" is not in:\n%s\n", text, output);
}

/* The make that runs this test must not tell ours its targets, its jobs or its variables. */
static void be_alone(void)
{
	static const char *const names[] = {
		"MAKEFLAGS",  "MFLAGS",   "MAKELEVEL", "MAKEOVERRIDES", "GNUMAKEFLAGS",   "DESTDIR",
		"PREFIX",     "BINDIR",   "LIBDIR",    "INCLUDEDIR",    "DATADIR",        "MANDIR",
		"SYSCONFDIR", "SOLIBDIR", "TUFF_LOG",  "TUFF_VGPU",     "PKG_CONFIG_PATH"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	setenv("O", "build/" BUILD_MODE, 0);
	setenv("MAKE", "make -s --no-print-directory MODE=" BUILD_MODE " CC=" BUILD_CC, 1);
	setenv("PKG_CONFIG", "pkg-config", 0);
	setenv("T", root, 1);
}

/* Options and variables of AMD's hipcc that makefiles use (github.com/ROCm/HIPCC, src/hipBin_amd.h). */
static void hipcc_takes_amds_options(void)
{
	RUNS("cd $T && $R/bin/hipcc --version && $R/bin/hipcc --short-version && $R/bin/hipcc --cxxflags && $R/bin/hipcc --ldflags");
	says("HIP version: 6.4.");
	says("clang version");
	says("\n6.4.");
	says("/rocm/include ");
	says("-lamdhip64");
	/* A kernel calls a function of another source. */
	RUNS("cd $T && $R/bin/hipcc -Werror -fgpu-rdc --offload-arch=gfx906 -c two.hip twice.hip && "
	     "$R/bin/hipcc -Werror -fgpu-rdc --offload-arch=gfx906 two.o twice.o -o two && $RUN ./two");
	RUNS("cd $T && HCC_AMDGPU_TARGET=gfx906 $R/bin/hipcc -fgpu-rdc two.hip twice.hip -o two2 && $RUN ./two2");
	CHECK(!strstr(output, "two libraries of HIP"));
	RUNS("cd $T && $R/bin/hipcc --offload-arch=gfx900,gfx906 --offload-arch=gfx1030 sine.hip -o sine4 && $RUN ./sine4 && "
	     "grep -ao 'amdhsa--gfx[0-9]*' sine4 | sort -u | tr '\n' ' '");
	says("amdhsa--gfx1030 amdhsa--gfx900 amdhsa--gfx906 ");
	/* Languages. */
	RUNS("cd $T && $R/bin/hipcc -Wall -Werror count.c -o count && $RUN ./count");
	RUNS("cd $T && $R/bin/hipcc -Werror -x c++ plain.cpp -o plain && HIP_COMPILE_CXX_AS_HIP=0 $R/bin/hipcc -Werror plain.cpp -o plain");
	RUNS("cd $T && cp plain.cpp plain.C && ! $R/bin/hipcc --offload-arch=gfx906 plain.C -o plain");
	says("this is compiled as HIP");
	/* Flags of the environment; what is optimized when no option says how much. */
	RUNS("cd $T && HIPCC_COMPILE_FLAGS_APPEND=-DHERE HIPCC_LINK_FLAGS_APPEND=-L/there HIPCC_VERBOSE=1 $R/bin/hipcc -x c++ plain.cpp -o plain");
	says(" -O3 ");
	says(" -DHERE ");
	says(" -L/there");
	RUNS("cd $T && HIPCC_VERBOSE=1 $R/bin/hipcc -O1 -c -x c++ plain.cpp -o plain.o");
	CHECK(!strstr(output, "-O3") && !strstr(output, "-lamdhip64"));
	RUNS("cd $T && $R/bin/hipcc --offload-arch=gfx900,gfx906 -M two.hip");
	says("two.hip");
}

/* CMake with the language HIP and with HIP's packages; hipcc; hipconfig, which CMake looks for in PATH where clang does not
 * find the device library; the chips that are there. */
static void build_systems_find_hip(void)
{
	if (*BUILD_SANITIZE)
		return;
	setenv("R", "opt/lib/tuff/rocm", 1);
	setenv("RUN", "opt/bin/tuff run --gpu gfx906 --", 1);
	RUNS("cp tests/stack/builds/* $T/ && cd $T && $R/bin/hipconfig --version && $R/bin/hipconfig --rocmpath");
	says("6.4.");
	says("-0/"); /* the commit is the version's last part; the path follows */
	says("/opt/lib/tuff/rocm");
	RUNS("cd $T && $RUN $R/bin/rocm_agent_enumerator | tr '\n' ' '");
	says("gfx000 gfx906 ");
	RUNS("cd $T && C=$($R/bin/hipconfig --hipclangpath)/clang++ && PATH=$PWD/$R/bin:$PATH ROCM_PATH=$PWD/$R cmake -B cmake -DCMAKE_HIP_COMPILER=$C "
	     "-DCMAKE_CXX_COMPILER=$C -DCMAKE_PREFIX_PATH=$PWD/$R -DCMAKE_HIP_ARCHITECTURES=gfx906 -DGPU_TARGETS=gfx906 && "
	     "cmake --build cmake");
	RUNS("cd $T && $RUN cmake/language && $RUN cmake/device && $RUN cmake/host && $RUN cmake/relocatable && "
	     "$RUN cmake/relocatable_device && $RUN cmake/module");
	/* clang itself links the HIP of /usr, too, where it links device code; a line of ours says so. */
	CHECK(!strstr(output, "two libraries of HIP"));
	RUNS("cd $T && $R/bin/hipcc --offload-arch=gfx906 sine.hip -o sine && $RUN ./sine");
	/* As programs' own instructions name ROCm's compiler. */
	RUNS("cd $T && ROCM_PATH=$PWD/$R $R/llvm/bin/clang++ -x hip --offload-arch=gfx906 sine.hip -L$R/lib -lamdhip64 -o sine0 && $RUN ./sine0");
	RUNS("cd $T && cp sine.hip sine.cpp && HCC_AMDGPU_TARGET=gfx906 $R/bin/hipcc -c sine.cpp -o sine.o && "
	     "$R/bin/hipcc sine.o -o sine2 && $RUN ./sine2");
	/* The GPU that is there. */
	RUNS("cd $T && $RUN $R/bin/hipcc -O2 sine.hip -o sine3 && $RUN ./sine3");
	hipcc_takes_amds_options();
	RUNS("cd $T && rm -r cmake CMakeLists.txt sine* host.cpp twice* two* count* plain* module*");
}

/* The libelf.a of Debian 13 (0.192-4) lacks functions that it calls: no static program can use it. */
static bool static_libelf_links(void)
{
	return !sh(
		"cd $T && printf '#include <libelf.h>\nint main(void)\n{\n\treturn elf_begin(0, ELF_C_READ, 0) != 0;\n}\n' >elf.c && " BUILD_CC
		" -static elf.c $($PKG_CONFIG --static --libs libelf) -o elf; status=$?; rm -f elf.c elf; exit $status");
}

static void an_embedder_needs_pkg_config_alone(void)
{
	setenv("PKG_CONFIG_PATH", "/nowhere", 1);
	CHECK(sh("$PKG_CONFIG --exists tuff"));
	RUNS("cp tests/examples/vadd.c $T/ && cd $T && PKG_CONFIG_PATH=$T/opt/lib/pkgconfig && export PKG_CONFIG_PATH && " BUILD_CC
	     " " BUILD_SANITIZE " vadd.c $($PKG_CONFIG --cflags --libs tuff) -o vadd && ldd vadd");
	says("/opt/lib/tuff/libtuff.so.0");
	RUNS("cd $T && PKG_CONFIG_PATH=$T/opt/lib/pkgconfig && export PKG_CONFIG_PATH && " BUILD_CC
	     " " BUILD_SANITIZE
	     " vadd.c $($PKG_CONFIG --cflags tuff) $($PKG_CONFIG --variable=libdir tuff)/libtuff.a "
	     "$($PKG_CONFIG --libs libdrm_amdgpu libdrm libelf numa) -pthread -o vadd-archive && ldd vadd-archive");
	CHECK(!strstr(output, "libtuff"));
	/* A static program has no sanitizer, and no virtual GPU either. */
	if (!*BUILD_SANITIZE && static_libelf_links()) {
		RUNS("cd $T && PKG_CONFIG_PATH=$T/opt/lib/pkgconfig && export PKG_CONFIG_PATH && " BUILD_CC
		     " -static vadd.c $($PKG_CONFIG --cflags --static --libs tuff) -o vadd-static 2>ld.txt || { cat ld.txt; false; }; "
		     "rm ld.txt; ./vadd-static; ldd vadd-static; true");
		says("vadd: ");
		says("not a dynamic executable");
	}
	RUNS("cd $T && printf '#include <hsa/hsa.h>\nint main(void)\n{\n\treturn hsa_status_string(0, 0) != 0x1001;\n}\n' >hsa.c && "
	     "PKG_CONFIG_PATH=$T/opt/lib/pkgconfig && export PKG_CONFIG_PATH && " BUILD_CC " " BUILD_SANITIZE
	     " hsa.c $($PKG_CONFIG --cflags --libs tuff-hsa) -o hsa && ./hsa && ldd hsa");
	says("/opt/lib/tuff/libhsa-runtime64.so.1");
	RUNS("cd $T && printf '#include <hip/hip_runtime_api.h>\n#include <memory.h>\nint main(void)\n{\n\treturn hipGetDeviceCount(0) != hipErrorInvalidValue;\n}\n' >hip.c && "
	     "PKG_CONFIG_PATH=$T/opt/lib/pkgconfig && export PKG_CONFIG_PATH && " BUILD_CC " " BUILD_SANITIZE
	     " hip.c $($PKG_CONFIG --cflags --libs tuff-hip) -o hip && ./hip && ldd hip && ls opt/lib/tuff/include/hip/hip_runtime.h");
	says("/opt/lib/tuff/libamdhip64.so.6");
	says("/opt/lib/tuff/libhsa-runtime64.so.1");
	unsetenv("PKG_CONFIG_PATH");
}

/* From another folder, so that nothing of the build tree is found by chance. */
static void the_installed_command_works(void)
{
	RUNS("cd / && $T/opt/bin/tuff test --gpu gfx906 ladder");
	says(" 0 failed, 0 skipped");
	RUNS("mkdir $T/elsewhere && ln -s ../opt/bin/tuff $T/elsewhere/tuff");
	RUNS("cd / && LD_LIBRARY_PATH=/others $T/elsewhere/tuff run -- "
	     "sh -c 'echo $LD_LIBRARY_PATH; cd ${LD_LIBRARY_PATH%%:*} && pwd -P'");
	says(":/others\n");
	says("/opt/lib/tuff\n");
	if (!CAN_PRELOAD)
		return;
	RUNS("cd / && $T/opt/bin/tuff run --gpu gfx908 -- $T/vadd $T/opt/share/doc/tuff/examples/vadd.gfx908.co");
	says("1000000 of 1000000 sums are right");
	RUNS("cd / && $T/elsewhere/tuff run --gpu gfx90a -- $T/vadd-archive $T/opt/share/doc/tuff/examples/vadd.gfx90a.co");
	says("1000000 of 1000000 sums are right");
}

static void what_is_installed_works(void)
{
	char packaged[16] = "", told[16] = "";

	if (!RUNS("$MAKE install PREFIX=$T/opt"))
		return;
	RUNS("cd $T/opt && ls bin/tuff lib/tuff/libtuff-vgpu.so lib/tuff/libtuff.a lib/tuff/libtuff.so lib/tuff/libtuff.so.0 share/man/man3/tuff_memory.3 share/man/man3/tuff_mem_create.3 lib/tuff/libhsa-runtime64.so lib/tuff/libamdhip64.so lib/tuff/libamdhip64.so.5 lib/tuff/libamdhip64.so.7 lib/tuff/libhiprtc.so.7 include/tuff/rocm/hsa/hsa.h include/tuff/tuff.h share/man/man1/tuff.1 "
	     "share/man/man7/tuff-variables.7 share/bash-completion/completions/tuff share/zsh/site-functions/_tuff "
	     "share/fish/vendor_completions.d/tuff.fish share/doc/tuff/README.md share/doc/tuff/examples/vadd.c");
	RUNS("PKG_CONFIG_PATH=$T/opt/lib/pkgconfig $PKG_CONFIG --modversion tuff && $T/opt/bin/tuff --version");
	CHECK(sscanf(output, "%15s tuff %15s", packaged, told) == 2);
	CHECK_STR(packaged, told);
	build_systems_find_hip();
	an_embedder_needs_pkg_config_alone();
	the_installed_command_works();
	RUNS("rm -r $T/vadd* $T/hsa* $T/hip* $T/elsewhere");
	RUNS("$MAKE uninstall PREFIX=$T/opt");
	RUNS("ls -A $T");
	CHECK_STR(output, "");
	RUNS("$MAKE uninstall PREFIX=$T/opt");
	says("nothing of tuff is installed");
}

#define CONTENT "cd $T/stage && find . | sort && find . -type f -exec cat {} +"

/* Others' files beside ours, in our folders too, and folders that are empty. */
static void what_is_not_ours_stays(void)
{
	static char before[sizeof(output)];

	RUNS("mkdir -p $T/stage && cd $T/stage && mkdir -p usr/bin usr/lib/tuff usr/include/tuff usr/share/man/man1 && "
	     "echo other >usr/bin/other && echo plugin >usr/lib/tuff/plugin.so && echo mine >usr/include/tuff/mine.h");
	RUNS(CONTENT);
	snprintf(before, sizeof(before), "%s", output);
	RUNS("$MAKE install DESTDIR=$T/stage PREFIX=/usr");
	RUNS("cat $T/stage/usr/lib/pkgconfig/tuff.pc");
	says("prefix=/usr\n");
	/* What an older version has left goes when a newer one is installed. */
	RUNS("cd $T/stage/usr && echo old >share/doc/tuff/old && echo f /usr/share/doc/tuff/old >>lib/tuff/installed");
	RUNS("$MAKE install DESTDIR=$T/stage PREFIX=/usr && ls $T/stage/usr/share/doc/tuff");
	CHECK(!strstr(output, "old"));
	RUNS("$MAKE uninstall DESTDIR=$T/stage PREFIX=/usr");
	RUNS(CONTENT);
	CHECK_STR(output, before);
	RUNS("rm -r $T/stage");
}

/* One that fails half-way, here for a folder that is a file, can be uninstalled, too. */
static void half_an_installation_goes_too(void)
{
	RUNS("mkdir -p $T/stage/usr && echo file >$T/stage/usr/include");
	CHECK(sh("$MAKE install DESTDIR=$T/stage PREFIX=/usr"));
	RUNS("$MAKE uninstall DESTDIR=$T/stage PREFIX=/usr && find $T/stage -type f");
	says("/stage/usr/include\n");
	RUNS("rm $T/stage/usr/include && rmdir $T/stage/usr $T/stage");
	CHECK(sh("$MAKE install DESTDIR=$T/stage PREFIX=usr"));
	says("PREFIX must begin with /");
}

static void the_linker_is_only_told_when_asked(void)
{
	RUNS("$MAKE install-ldconf DESTDIR=$T PREFIX=/opt/tuff && cat $T/etc/ld.so.conf.d/00-tuff.conf");
	says("/opt/tuff/lib/tuff\n");
	RUNS("$MAKE uninstall-ldconf DESTDIR=$T PREFIX=/opt/tuff && rmdir $T/etc/ld.so.conf.d $T/etc");
}

/* Each folder by its variable; the command finds the libraries, hiprtc the headers, pkg-config both. */
static void folders_are_chosen(void)
{
	if (!RUNS("$MAKE install PREFIX=$T/opt BINDIR=$T/opt/a/bin LIBDIR=$T/opt/a/lib INCLUDEDIR=$T/opt/h DATADIR=$T/opt/d "
		  "MANDIR=$T/opt/m"))
		return;
	RUNS("cd $T/opt && ls a/bin/tuff a/lib/tuff/libtuff.a a/lib/tuff/include/hip/hip_runtime.h h/tuff/tuff.h h/tuff/rocm/hsa/hsa.h "
	     "d/doc/tuff/README.md d/zsh/site-functions/_tuff m/man1/tuff.1 && ls");
	says("a\nd\nh\nm\n");
	RUNS("PKG_CONFIG_PATH=$T/opt/a/lib/pkgconfig $PKG_CONFIG --define-variable=prefix=/moved --cflags --libs tuff-hsa");
	says("-I/moved/h/tuff/rocm");
	says("-L/moved/a/lib/tuff");
	if (CAN_PRELOAD)
		RUNS("cd / && $T/opt/a/bin/tuff run --gpu gfx908 -- $T/opt/a/bin/tuff info");
	RUNS("$MAKE uninstall PREFIX=$T/opt LIBDIR=$T/opt/a/lib && ls -A $T");
	CHECK(!strstr(output, "\nopt"));
	/* A distribution has the library where the linker searches. */
	RUNS("$MAKE install PREFIX=$T/opt SOLIBDIR=$T/opt/lib && ls $T/opt/lib/libtuff.so.0 $T/opt/lib/libtuff.a && "
	     "PKG_CONFIG_PATH=$T/opt/lib/pkgconfig $PKG_CONFIG --libs tuff");
	says("-L");
	CHECK(!strstr(output, "rpath"));
	CHECK(sh("ls $T/opt/lib/tuff/libtuff.so.0"));
	RUNS("$MAKE uninstall PREFIX=$T/opt && ls -A $T");
	CHECK(!strstr(output, "\nopt"));
}

/* Where a build needs what is not there, it says so; apt-get is for `make deps`. */
static void building_installs_nothing(void)
{
	RUNS("mkdir $T/bin && for p in apt-get sudo; do printf '#!/bin/sh\ntouch $T/called\n' >$T/bin/$p && chmod +x $T/bin/$p; done");
	CHECK(sh("PATH=$T/bin:$PATH PKG_CONFIG=false $MAKE"));
	says("Packages are missing: libdrm-dev libelf-dev");
	says("make deps");
	CHECK(sh("ls $T/called"));
	RUNS("rm -r $T/bin");
}

/* Builds in two folders are the same: none of what is installed has the path of its tree. */
static void no_file_has_the_path_of_the_tree(void)
{
	CHECK_EQ(sh("grep -lF \"$PWD\" $O/lib/*.so* $O/libtuff.a $O/tuff $O/examples/*"), 1);
	CHECK_STR(output, "");
}

/* A program that uses the build tree. */
static void the_build_tree_serves_too(void)
{
	RUNS("PKG_CONFIG_PATH=$O && export PKG_CONFIG_PATH && " BUILD_CC " " BUILD_SANITIZE
	     " tests/examples/vadd.c $($PKG_CONFIG --cflags --libs tuff) -o $T/vadd && ldd $T/vadd && rm $T/vadd");
	says("/lib/libtuff.so.0");
	if (!*BUILD_SANITIZE && static_libelf_links())
		RUNS("PKG_CONFIG_PATH=$O && export PKG_CONFIG_PATH && " BUILD_CC
		     " -static tests/examples/vadd.c $($PKG_CONFIG --cflags --static --libs tuff) -o $T/vadd 2>/dev/null && rm $T/vadd");
}

int main(void)
{
	const char *base = getenv("TMPDIR");

	if (access("tools/install.mk", R_OK)) {
		printf("SKIP not in the source tree\n");
		return 77;
	}
	snprintf(root, sizeof(root), "%.40s/tuff-install-XXXXXX", base && *base == '/' ? base : "/tmp");
	if (!CHECK(mkdtemp(root)))
		return check_done("installation");
	be_alone();
	what_is_installed_works();
	what_is_not_ours_stays();
	half_an_installation_goes_too();
	the_linker_is_only_told_when_asked();
	folders_are_chosen();
	the_build_tree_serves_too();
	building_installs_nothing();
	no_file_has_the_path_of_the_tree();
	CHECK(!rmdir(root));
	return check_done("installation");
}
