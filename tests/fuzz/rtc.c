/* hiprtc's programs and links with any source, headers, names, options and bitcode. The compiler is a program that does nothing,
 * so that an input takes no time: what it would make comes as a header of its name. */
#define HIP_DEPRECATED
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include "tests/fuzz/input.h"
#include "vgpu/vgpu.h"

#define TEXTS      8
#define TEXT_MAX_B 300u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

static struct input in;
static char texts[TEXTS][TEXT_MAX_B];
static char folder[] = "/tmp/fuzz-rtc-XXXXXX";

/* --- texts ---------------------------------------------------------------------------------------- */

/* Up to a 0, or one that means something. */
static const char *text_draw(void)
{
	static const char *const some[] = {"program.hip",
					   "program.co",
					   "log",
					   "a/b.h",
					   "../up.h",
					   "-fgpu-rdc",
					   "--gpu-architecture=gfx908",
					   "-D__HIPRTC_PTRDIFF_T_IS_LONG_LONG__=1",
					   "k<int>",
					   "",
					   "%s%n",
					   "/etc/passwd"};
	static unsigned next;
	unsigned b = input_byte(&in), n = 0;
	char *text = texts[next++ % TEXTS];

	if (b < 128)
		return some[b % 12];
	while (n < TEXT_MAX_B - 1 && (text[n] = (char)input_byte(&in)))
		n++;
	text[n] = 0;
	return text;
}

static void texts_draw(const char **list, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		list[i] = input_byte(&in) < 250 ? text_draw() : NULL;
}

/* --- programs --------------------------------------------------------------------------------------- */

static void results_read(hiprtcProgram program, const char *const *names, unsigned count)
{
	const char *lowered;
	size_t size_B = 0;
	char *bytes;

	for (unsigned i = 0; i < count; i++)
		if (!hiprtcGetLoweredName(program, names[i], &lowered) && !lowered)
			__builtin_trap();
	if (!hiprtcGetProgramLogSize(program, &size_B) && (bytes = malloc(size_B ? size_B : 1))) {
		(void)!hiprtcGetProgramLog(program, bytes);
		free(bytes);
	}
	if (!hiprtcGetCodeSize(program, &size_B) && (bytes = malloc(size_B ? size_B : 1))) {
		(void)!hiprtcGetCode(program, bytes);
		free(bytes);
	}
	if (!hiprtcGetBitcodeSize(program, &size_B) && (bytes = malloc(size_B ? size_B : 1))) {
		(void)!hiprtcGetBitcode(program, bytes);
		free(bytes);
	}
}

static void program_fuzz(void)
{
	const char *header[2], *header_name[2], *option[3], *name[2];
	unsigned headers = input_byte(&in) % 3, options = input_byte(&in) % 4, names = input_byte(&in) % 3;
	hiprtcProgram program;

	texts_draw(header, headers);
	texts_draw(header_name, headers);
	if (hiprtcCreateProgram(&program, text_draw(), NULL, (int)headers, header, header_name))
		return;
	texts_draw(name, names);
	for (unsigned i = 0; i < names; i++)
		(void)!hiprtcAddNameExpression(program, name[i]);
	texts_draw(option, options);
	(void)!hiprtcCompileProgram(program, (int)options, option);
	if (input_byte(&in) & 1)
		(void)!hiprtcCompileProgram(program, 0, NULL);
	results_read(program, name, names);
	(void)!hiprtcDestroyProgram(&program);
}

/* --- links -------------------------------------------------------------------------------------------- */

static void link_fuzz(void)
{
	const size_t size_B = (size_t)(in.end - in.at);
	const char *option[2];
	char log[64];
	hiprtcJIT_option kinds[] = {HIPRTC_JIT_IR_TO_ISA_OPT_EXT, HIPRTC_JIT_IR_TO_ISA_OPT_COUNT_EXT,
				    HIPRTC_JIT_ERROR_LOG_BUFFER, HIPRTC_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {option, (void *)(uintptr_t)(input_byte(&in) % 3), log,
			  (void *)(uintptr_t)(input_byte(&in) % sizeof(log))};
	hiprtcLinkState state;
	void *out;
	size_t out_B;

	texts_draw(option, 2);
	if (hiprtcLinkCreate(input_byte(&in) % 5, kinds, values, &state))
		return;
	(void)!hiprtcLinkAddFile(state, (hiprtcJITInputType)(99 + input_byte(&in) % 5), text_draw(), 0, NULL, NULL);
	if (!input_ended(&in) && size_B)
		(void)!hiprtcLinkAddData(state, (hiprtcJITInputType)(99 + input_byte(&in) % 5),
					 (void *)(uintptr_t)in.at, (size_t)(in.end - in.at), NULL, 0, NULL, NULL);
	(void)!hiprtcLinkComplete(state, &out, &out_B);
	(void)!hiprtcLinkDestroy(state);
}

/* --- the compiler --------------------------------------------------------------------------------------- */

static void compiler_remove(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/clang-19", folder);
	unlink(path);
	rmdir(folder);
}

static void fuzzer_start(void)
{
	char path[64];

	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof(path), "%s/clang-19", folder);
	if (symlink("/bin/true", path) || setenv("HIP_CLANG_PATH", folder, 1) || vgpu_start("gfx908:vram=512M"))
		abort();
	atexit(compiler_remove);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
	static bool started;

	if (!started)
		fuzzer_start();
	started = true;
	in = (struct input){data, data + size_B};
	if (input_byte(&in) & 1)
		link_fuzz();
	else
		program_fuzz();
	return 0;
}
