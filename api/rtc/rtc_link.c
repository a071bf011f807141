/* Linking: bitcode of several compilations becomes code for the current device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/rtc/rtc.h"

#define OPTIONS_MAX (HIPRTC_JIT_NUM_OPTIONS + 2u)

struct hip_linker {
	struct hip_rtc_object rtc;
	struct hip_bytes *part; /* owned, with their contents */
	unsigned parts;
	struct hip_bytes code;
	unsigned options;
	const char *const *option; /* borrowed from the program: CLR keeps the pointer, too */
	char *error_log;           /* borrowed; NULL: none */
	size_t error_log_B;
};

static struct hip_linker *linker_of(const void *handle)
{
	return hip_rtc_find(HIP_LINKER, handle);
}

/* Defines a public function whose body has the linker's lock, or l is NULL: the handle is no linker. */
#define HIPRTC_ON_LINKER(name, parameters, arguments)                                                              \
	HIPRTC_PUBLIC_ON(hiprtcLinkState, linker_of, struct hip_linker *l, name, parameters, arguments)

static void free_linker(struct hip_linker *l)
{
	drv_mutex_destroy(&l->rtc.lock);
	for (unsigned i = 0; i < l->parts; i++)
		hip_bytes_fini(&l->part[i]);
	free(l->part);
	hip_bytes_fini(&l->code);
	free(l);
}

static void linker_end(struct drv_retired *retired)
{
	free_linker(vm_container(retired, struct hip_linker, rtc.retired));
}

/* Reads the options. A size is the pointer's value, or, as in CLR, the number that it points to. */
static void take_options(struct hip_linker *l, unsigned count, const hiprtcJIT_option *options, void **values)
{
	for (unsigned i = 0; i < count; i++)
		switch (options[i]) {
		case HIPRTC_JIT_IR_TO_ISA_OPT_EXT:
			l->option = values[i];
			break;
		case HIPRTC_JIT_IR_TO_ISA_OPT_COUNT_EXT:
			l->options = (unsigned)(uintptr_t)values[i];
			break;
		case HIPRTC_JIT_ERROR_LOG_BUFFER:
			l->error_log = values[i];
			break;
		case HIPRTC_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
			l->error_log_B = (uintptr_t)values[i];
			break;
		default: /* no meaning for clang */
			break;
		}
}

HIPRTC_PUBLIC(hiprtcLinkCreate,
	      (unsigned int count, hiprtcJIT_option *options, void **values, hiprtcLinkState *out),
	      (count, options, values, out))
{
	struct hip_linker *l;

	/* A larger count would repeat an option. */
	if (!out || count > OPTIONS_MAX || (count && (!options || !values)))
		return HIPRTC_ERROR_INVALID_INPUT;
	l = calloc(1, sizeof(*l));
	if (!l)
		return HIPRTC_ERROR_OUT_OF_MEMORY;
	hip_rtc_object_init(&l->rtc);
	take_options(l, count, options, values);
	if (!l->option)
		l->options = 0;
	if (!hip_rtc_are_texts(l->option, l->options)) {
		free_linker(l);
		return HIPRTC_ERROR_INVALID_INPUT;
	}
	if (drv_handle_create(&hip_handles, HIP_KIND(HIP_LINKER), l, &l->rtc.handle)) {
		free_linker(l);
		return HIPRTC_ERROR_OUT_OF_MEMORY;
	}
	*out = (hiprtcLinkState)(uintptr_t)l->rtc.handle;
	return HIPRTC_SUCCESS;
}

/* --- parts ------------------------------------------------------------------------------------ */

static hiprtcResult part_append(struct hip_linker *l, const void *from, size_t size_B)
{
	struct hip_bytes *more = realloc(l->part, (l->parts + 1) * sizeof(*more)), bytes = {0};

	if (!more)
		return HIPRTC_ERROR_OUT_OF_MEMORY;
	l->part = more;
	if (!hip_bytes_add(&bytes, from, size_B))
		return HIPRTC_ERROR_OUT_OF_MEMORY;
	more[l->parts++] = bytes;
	return HIPRTC_SUCCESS;
}

/* CUDA's formats and archives of bundles are refused. */
static bool is_input(hiprtcJITInputType type)
{
	return type == HIPRTC_JIT_INPUT_LLVM_BITCODE || type == HIPRTC_JIT_INPUT_LLVM_BUNDLED_BITCODE;
}

static hiprtcResult part_add(struct hip_linker *l, hiprtcJITInputType type, const void *image, size_t size_B)
{
	hipError_t none = hip_init();

	if (!l || !image || !size_B || !is_input(type))
		return HIPRTC_ERROR_INVALID_INPUT;
	if (type == HIPRTC_JIT_INPUT_LLVM_BUNDLED_BITCODE &&
	    (none || hip.hsa->pick(hip_current()->agent, &image, &size_B)))
		return HIPRTC_ERROR_PROGRAM_CREATION_FAILURE;
	return part_append(l, image, size_B);
}

HIPRTC_ON_LINKER(hiprtcLinkAddData,
		 (hiprtcJITInputType type, void *image, size_t size, const char *name, unsigned int count,
		  hiprtcJIT_option *options, void **values),
		 (type, image, size, name, count, options, values))
{
	(void)name, (void)count, (void)options, (void)values; /* ignored: CLR does the same */
	return part_add(l, type, image, size);
}

HIPRTC_ON_LINKER(hiprtcLinkAddFile,
		 (hiprtcJITInputType type, const char *path, unsigned int count, hiprtcJIT_option *options,
		  void **values),
		 (type, path, count, options, values))
{
	struct hip_bytes bytes = {0};
	hiprtcResult r;

	(void)count, (void)options, (void)values;
	if (!l || !path || !is_input(type))
		return HIPRTC_ERROR_INVALID_INPUT;
	r = hip_read_file(path, &bytes) && bytes.size_B ? part_add(l, type, bytes.at, bytes.size_B)
							: HIPRTC_ERROR_PROGRAM_CREATION_FAILURE;
	hip_bytes_fini(&bytes);
	return r;
}

/* --- linking ---------------------------------------------------------------------------------- */

HIPRTC_ON_LINKER(hiprtcLinkComplete, (void **out, size_t *size), (out, size))
{
	struct hip_bytes log = {0};
	hiprtcResult r;

	if (!l || !out || !size)
		return HIPRTC_ERROR_INVALID_INPUT;
	hip_bytes_fini(&l->code);
	r = l->parts ? hip_rtc_link(&(struct hip_link){l->part, l->parts, l->options, l->option}, &l->code, &log)
		     : HIPRTC_ERROR_LINKING;
	if (r && l->error_log && l->error_log_B)
		snprintf(l->error_log, l->error_log_B, "%s", log.at ? log.at : "nothing to link");
	hip_bytes_fini(&log);
	if (r)
		return r;
	*out = l->code.at;
	*size = l->code.size_B;
	return HIPRTC_SUCCESS;
}

HIPRTC_PUBLIC(hiprtcLinkDestroy, (hiprtcLinkState state), (state))
{
	struct hip_linker *l = linker_of(state);

	if (!l || !drv_handle_destroy(&hip_handles, l->rtc.handle))
		return HIPRTC_ERROR_INVALID_INPUT;
	drv_retire(&hip_calls, &l->rtc.retired, linker_end);
	hip_retire_flush();
	return HIPRTC_SUCCESS;
}

/* --- the same under HIP's names (6.4) ---------------------------------------------------------- */

#if TUFF_HIP_ABI >= 6
static hipError_t of_rtc(hiprtcResult r)
{
	switch (r) {
	case HIPRTC_SUCCESS:
		return hipSuccess;
	case HIPRTC_ERROR_OUT_OF_MEMORY:
		return hipErrorOutOfMemory;
	case HIPRTC_ERROR_INVALID_INPUT:
		return hipErrorInvalidValue;
	case HIPRTC_ERROR_PROGRAM_CREATION_FAILURE:
		return hipErrorInvalidImage;
	default:
		return hipErrorUnknown;
	}
}

HIP_PUBLIC(hipLinkCreate, (unsigned int count, hipJitOption *options, void **values, hipLinkState_t *out),
	   (count, options, values, out))
{
	return of_rtc(hiprtcLinkCreate(count, options, values, (hiprtcLinkState *)out));
}

HIP_PUBLIC(hipLinkAddData,
	   (hipLinkState_t state, hipJitInputType type, void *data, size_t size, const char *name,
	    unsigned int count, hipJitOption *options, void **values),
	   (state, type, data, size, name, count, options, values))
{
	return of_rtc(hiprtcLinkAddData((hiprtcLinkState)state, type, data, size, name, count, options, values));
}

HIP_PUBLIC(hipLinkAddFile,
	   (hipLinkState_t state, hipJitInputType type, const char *path, unsigned int count, hipJitOption *options,
	    void **values),
	   (state, type, path, count, options, values))
{
	return of_rtc(hiprtcLinkAddFile((hiprtcLinkState)state, type, path, count, options, values));
}

HIP_PUBLIC(hipLinkComplete, (hipLinkState_t state, void **out, size_t *size), (state, out, size))
{
	return of_rtc(hiprtcLinkComplete((hiprtcLinkState)state, out, size));
}

HIP_PUBLIC(hipLinkDestroy, (hipLinkState_t state), (state))
{
	return of_rtc(hiprtcLinkDestroy((hiprtcLinkState)state));
}
#endif
