/* hiprtc: run-time compilation. */
#include <stdlib.h>
#include <string.h>

#include "api/rtc/rtc.h"

struct hip_program {
	struct hip_rtc_object rtc;
	char *text; /* owned */
	unsigned headers;
	char **header, **header_name; /* owned */
	unsigned names;
	char **expression, **lowered; /* owned; `lowered` entries are NULL before the compilation */
	bool compiled;
	bool bitcode; /* `code` is bitcode */
	struct hip_bytes code, log;
};

void hip_rtc_object_init(struct hip_rtc_object *o)
{
	drv_mutex_init(&o->lock, DRV_RANK_HIP_RTC);
	o->forks = hip_forks();
}

void *hip_rtc_find(enum hip_type type, const void *handle)
{
	struct hip_rtc_object *o = hip_find(type, handle);

	return o && o->forks == hip_forks() ? o : NULL;
}

static struct hip_program *program_of(hiprtcProgram handle)
{
	return hip_rtc_find(HIP_PROGRAM, handle);
}

/* Defines a public function whose body has the program's lock, or p is NULL: the handle is no program. */
#define HIPRTC_ON_PROGRAM(name, parameters, arguments)                                                             \
	HIPRTC_PUBLIC_ON(hiprtcProgram, program_of, struct hip_program *p, name, parameters, arguments)

static void free_texts(char **list, unsigned count)
{
	for (unsigned i = 0; list && i < count; i++)
		free(list[i]);
	free(list);
}

static void free_program(struct hip_program *p)
{
	drv_mutex_destroy(&p->rtc.lock);
	free(p->text);
	free_texts(p->header, p->headers);
	free_texts(p->header_name, p->headers);
	free_texts(p->expression, p->names);
	free_texts(p->lowered, p->names);
	hip_bytes_fini(&p->code);
	hip_bytes_fini(&p->log);
	free(p);
}

static void program_end(struct drv_retired *retired)
{
	free_program(vm_container(retired, struct hip_program, rtc.retired));
}

static bool all_there(const char **texts, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (!texts[i])
			return false;
	return true;
}

static char **copy_texts(const char **from, unsigned count)
{
	char **list = calloc(count + 1, sizeof(*list));

	for (unsigned i = 0; list && i < count; i++) {
		list[i] = strdup(from[i]);
		if (!list[i]) {
			free_texts(list, i);
			return NULL;
		}
	}
	return list;
}

HIPRTC_PUBLIC(hiprtcCreateProgram,
	      (hiprtcProgram *out, const char *text, const char *name, int headers, const char **header,
	       const char **header_name),
	      (out, text, name, headers, header, header_name))
{
	struct hip_program *p;

	(void)name;
	if (!out)
		return HIPRTC_ERROR_INVALID_PROGRAM;
	if (!text || headers < 0 || (headers && (!header || !header_name)) ||
	    !all_there(header, (unsigned)headers) || !all_there(header_name, (unsigned)headers))
		return HIPRTC_ERROR_INVALID_INPUT;
	p = calloc(1, sizeof(*p));
	if (!p)
		return HIPRTC_ERROR_OUT_OF_MEMORY;
	hip_rtc_object_init(&p->rtc);
	p->text = strdup(text);
	p->headers = (unsigned)headers;
	p->header = copy_texts(header, p->headers);
	p->header_name = copy_texts(header_name, p->headers);
	if (!p->text || !p->header || !p->header_name ||
	    drv_handle_create(&hip_handles, HIP_KIND(HIP_PROGRAM), p, &p->rtc.handle)) {
		free_program(p);
		return HIPRTC_ERROR_OUT_OF_MEMORY;
	}
	*out = (hiprtcProgram)(uintptr_t)p->rtc.handle;
	return HIPRTC_SUCCESS;
}

HIPRTC_PUBLIC(hiprtcDestroyProgram, (hiprtcProgram *handle), (handle))
{
	struct hip_program *p = handle ? program_of(*handle) : NULL;

	if (!handle)
		return HIPRTC_ERROR_INVALID_INPUT;
	if (!p || !drv_handle_destroy(&hip_handles, p->rtc.handle))
		return HIPRTC_ERROR_INVALID_PROGRAM;
	*handle = NULL;
	drv_retire(&hip_calls, &p->rtc.retired, program_end);
	hip_retire_flush();
	return HIPRTC_SUCCESS;
}

HIPRTC_ON_PROGRAM(hiprtcAddNameExpression, (const char *expression), (expression))
{
	char **more;

	if (!p)
		return HIPRTC_ERROR_INVALID_PROGRAM;
	if (!expression)
		return HIPRTC_ERROR_INVALID_INPUT;
	if (p->compiled)
		return HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
	more = realloc(p->expression, (p->names + 1) * sizeof(*more));
	if (!more)
		return HIPRTC_ERROR_OUT_OF_MEMORY;
	p->expression = more;
	more[p->names] = strdup(expression);
	if (!more[p->names])
		return HIPRTC_ERROR_OUT_OF_MEMORY;
	p->names++;
	return HIPRTC_SUCCESS;
}

static hiprtcResult find_names(struct hip_program *p, const struct hip_bytes *code)
{
	p->lowered = calloc(p->names + 1, sizeof(*p->lowered));
	if (!p->lowered)
		return HIPRTC_ERROR_OUT_OF_MEMORY;
	for (unsigned i = 0; i < p->names; i++) {
		p->lowered[i] = hip_rtc_name(code, i);
		if (!p->lowered[i])
			return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
	}
	return HIPRTC_SUCCESS;
}

static bool wants_bitcode(const struct hip_source *s)
{
	for (int i = 0; i < s->options; i++)
		if (!strcmp(s->option[i], "-fgpu-rdc"))
			return true;
	return false;
}

/* Finds lowered names in bitcode: links it alone to a code object, in which undefined symbols are allowed. */
static hiprtcResult names_of_bitcode(struct hip_program *p)
{
	const char *const option = "-Wl,--noinhibit-exec";
	struct hip_bytes code = {0}, log = {0};
	hiprtcResult r = hip_rtc_link(
		&(struct hip_link){.part = &p->code, .parts = 1, .options = 1, .option = &option}, &code, &log);

	r = r ? r : find_names(p, &code);
	hip_bytes_fini(&code);
	hip_bytes_fini(&log);
	return r;
}

static hiprtcResult program_compile(struct hip_program *p, struct hip_source *source)
{
	hiprtcResult r;

	p->bitcode = source->bitcode = wants_bitcode(source);
	r = hip_rtc_compile(source, &p->code, &p->log);
	if (r)
		return r;
	return p->names && p->bitcode ? names_of_bitcode(p) : find_names(p, &p->code);
}

bool hip_rtc_are_texts(const char *const *text, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (!text[i])
			return false;
	return true;
}

HIPRTC_ON_PROGRAM(hiprtcCompileProgram, (int options, const char **option), (options, option))
{
	struct hip_bytes text = {0};
	hiprtcResult r;
	bool ok;

	if (!p)
		return HIPRTC_ERROR_INVALID_PROGRAM;
	if (options < 0 || (options && !option) ||
	    !hip_rtc_are_texts((const char *const *)option, (unsigned)options))
		return HIPRTC_ERROR_INVALID_INPUT;
	ok = hip_bytes_add_text(&text, p->text);
	for (unsigned i = 0; ok && i < p->names; i++)
		ok = hip_rtc_query(&text, i, p->expression[i]);
	hip_bytes_fini(&p->code);
	hip_bytes_fini(&p->log);
	free_texts(p->lowered, p->names);
	p->lowered = NULL;
	p->compiled = true;
	r = ok ? program_compile(p, &(struct hip_source){text.at, p->headers, p->header, p->header_name, options,
							 (const char *const *)option, false})
	       : HIPRTC_ERROR_OUT_OF_MEMORY;
	hip_bytes_fini(&text);
	return r;
}

HIPRTC_ON_PROGRAM(hiprtcGetLoweredName, (const char *expression, const char **lowered), (expression, lowered))
{
	if (!p)
		return HIPRTC_ERROR_INVALID_PROGRAM;
	if (!expression || !lowered)
		return HIPRTC_ERROR_INVALID_INPUT;
	if (!p->lowered)
		return HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
	for (unsigned i = 0; i < p->names; i++)
		if (!strcmp(p->expression[i], expression) && p->lowered[i]) {
			*lowered = p->lowered[i];
			return HIPRTC_SUCCESS;
		}
	return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

/* The text is not terminated, and its size has no terminating 0: AMD's libraries are so (hiprtc.cpp, getLogSize(); run, 6.4.3), and
 * MIGraphX asserts that the last character is none (hiprtc_program::log()). */
HIPRTC_ON_PROGRAM(hiprtcGetProgramLogSize, (size_t *size), (size))
{
	if (!p || !size)
		return p ? HIPRTC_ERROR_INVALID_INPUT : HIPRTC_ERROR_INVALID_PROGRAM;
	*size = p->log.size_B;
	return HIPRTC_SUCCESS;
}

HIPRTC_ON_PROGRAM(hiprtcGetProgramLog, (char *log), (log))
{
	if (!p || !log)
		return p ? HIPRTC_ERROR_INVALID_INPUT : HIPRTC_ERROR_INVALID_PROGRAM;
	if (p->log.size_B)
		memcpy(log, p->log.at, p->log.size_B);
	return HIPRTC_SUCCESS;
}

/* Size of the code or of the bitcode; an error if the program has the other one. */
static hiprtcResult size_of(const struct hip_program *p, bool bitcode, size_t *size)
{
	if (!p || !size)
		return size ? HIPRTC_ERROR_INVALID_PROGRAM : HIPRTC_ERROR_INVALID_INPUT;
	if (bitcode && !p->bitcode)
		return HIPRTC_ERROR_INVALID_PROGRAM;
	*size = p->bitcode == bitcode ? p->code.size_B : 0;
	return HIPRTC_SUCCESS;
}

static hiprtcResult code_copy(const struct hip_program *p, bool bitcode, char *to)
{
	if (!p || !to)
		return to ? HIPRTC_ERROR_INVALID_PROGRAM : HIPRTC_ERROR_INVALID_INPUT;
	if (p->bitcode != bitcode)
		return HIPRTC_ERROR_INVALID_PROGRAM;
	if (p->code.size_B)
		memcpy(to, p->code.at, p->code.size_B);
	return HIPRTC_SUCCESS;
}

HIPRTC_ON_PROGRAM(hiprtcGetCodeSize, (size_t *size), (size))
{
	return size_of(p, false, size);
}

HIPRTC_ON_PROGRAM(hiprtcGetCode, (char *code), (code))
{
	return code_copy(p, false, code);
}

HIPRTC_ON_PROGRAM(hiprtcGetBitcodeSize, (size_t *size), (size))
{
	return size_of(p, true, size);
}

HIPRTC_ON_PROGRAM(hiprtcGetBitcode, (char *bitcode), (bitcode))
{
	return code_copy(p, true, bitcode);
}

/* --- version and errors ----------------------------------------------------------------------- */

hiprtcResult hiprtcVersion(int *major, int *minor)
{
	if (!major || !minor)
		return HIPRTC_ERROR_INVALID_INPUT;
	*major = 9; /* version of the interface, as in AMD's library */
	*minor = 0;
	return HIPRTC_SUCCESS;
}

const char *hiprtcGetErrorString(hiprtcResult result)
{
	static const struct {
		hiprtcResult result;
		const char *name;
	} names[] = {
#define NAME(result) {result, #result}
		NAME(HIPRTC_SUCCESS),
		NAME(HIPRTC_ERROR_OUT_OF_MEMORY),
		NAME(HIPRTC_ERROR_PROGRAM_CREATION_FAILURE),
		NAME(HIPRTC_ERROR_INVALID_INPUT),
		NAME(HIPRTC_ERROR_INVALID_PROGRAM),
		NAME(HIPRTC_ERROR_INVALID_OPTION),
		NAME(HIPRTC_ERROR_COMPILATION),
		NAME(HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE),
		NAME(HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION),
		NAME(HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION),
		NAME(HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID),
		NAME(HIPRTC_ERROR_INTERNAL_ERROR),
		NAME(HIPRTC_ERROR_LINKING),
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].result == result)
			return names[i].name;
	return "HIPRTC_ERROR_UNKNOWN";
}
