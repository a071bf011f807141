/* The functions of hiprtc: HIPRTC_FUNCTION(result, name, parameters, arguments). With HIP 7 they are those of a library of their
 * own (library/hiprtc.c), which calls them through this table. */
#ifndef API_RTC_FUNCTIONS_H
#define API_RTC_FUNCTIONS_H

#include <hip/hiprtc.h>

/* clang-format off */
#define HIPRTC_FUNCTIONS \
	HIPRTC_FUNCTION(const char *, hiprtcGetErrorString, (hiprtcResult result), (result)) \
	HIPRTC_FUNCTION(hiprtcResult, hiprtcVersion, (int *major, int *minor), (major, minor)) \
	HIPRTC_FUNCTION(hiprtcResult, hiprtcCreateProgram, (hiprtcProgram *program, const char *source, const char *name, int count, const char **headers, const char **names), (program, source, name, count, headers, names)) \
	HIPRTC_FUNCTION(hiprtcResult, hiprtcDestroyProgram, (hiprtcProgram *program), (program)) \
	HIPRTC_FUNCTION(hiprtcResult, hiprtcAddNameExpression, (hiprtcProgram program, const char *expression), (program, expression)) \
	HIPRTC_FUNCTION(hiprtcResult, hiprtcCompileProgram, (hiprtcProgram program, int count, const char **options), (program, count, options)) \
	HIPRTC_FUNCTION(hiprtcResult, hiprtcGetLoweredName, (hiprtcProgram program, const char *expression, const char **name), (program, expression, name)) \
	HIPRTC_FUNCTION(hiprtcResult, hiprtcGetProgramLog, (hiprtcProgram program, char *log), (program, log)) \
	HIPRTC_FUNCTION(hiprtcResult, hiprtcGetProgramLogSize, (hiprtcProgram program, size_t *size_B), (program, size_B)) \
	HIPRTC_FUNCTION(hiprtcResult, hiprtcGetCode, (hiprtcProgram program, char *code), (program, code)) \
	HIPRTC_FUNCTION(hiprtcResult, hiprtcGetCodeSize, (hiprtcProgram program, size_t *size_B), (program, size_B)) \
	HIPRTC_FUNCTION(hiprtcResult, hiprtcGetBitcode, (hiprtcProgram program, char *bitcode), (program, bitcode)) \
	HIPRTC_FUNCTION(hiprtcResult, hiprtcGetBitcodeSize, (hiprtcProgram program, size_t *size_B), (program, size_B)) \
	HIPRTC_FUNCTION(hiprtcResult, hiprtcLinkCreate, (unsigned int count, hiprtcJIT_option *options, void **values, hiprtcLinkState *state), (count, options, values, state)) \
	HIPRTC_FUNCTION(hiprtcResult, hiprtcLinkAddFile, (hiprtcLinkState state, hiprtcJITInputType type, const char *path, unsigned int count, hiprtcJIT_option *options, void **values), (state, type, path, count, options, values)) \
	HIPRTC_FUNCTION(hiprtcResult, hiprtcLinkAddData, (hiprtcLinkState state, hiprtcJITInputType type, void *image, size_t size_B, const char *name, unsigned int count, hiprtcJIT_option *options, void **values), (state, type, image, size_B, name, count, options, values)) \
	HIPRTC_FUNCTION(hiprtcResult, hiprtcLinkComplete, (hiprtcLinkState state, void **code, size_t *size_B), (state, code, size_B)) \
	HIPRTC_FUNCTION(hiprtcResult, hiprtcLinkDestroy, (hiprtcLinkState state), (state))
/* clang-format on */

struct hip_rtc {
#define HIPRTC_FUNCTION(result, name, parameters, arguments) __typeof__(name) *name;
	HIPRTC_FUNCTIONS
#undef HIPRTC_FUNCTION
};

#if TUFF_HIP_ABI >= 7
/* Exported by libamdhip64.so.7 for libhiprtc.so.7 beside it. */
extern __attribute__((visibility("default"))) const struct hip_rtc tuff_hip_rtc;
#endif

#endif
