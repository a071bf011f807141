/* hiprtc: compiles HIP C++ at run time. A program is a source with its headers. One thread at a time may use a
 * program; different programs may be used concurrently. Texts are copied; results are written to the caller's
 * buffer, whose size is queried first. Errors: INVALID_PROGRAM, for a handle that is no program or a destroyed one;
 * INVALID_INPUT, for NULL; OUT_OF_MEMORY; INTERNAL_ERROR. */
#ifndef HIP_INCLUDE_HIP_HIPRTC_H
#define HIP_INCLUDE_HIP_HIPRTC_H

#include <hip/api/base.h>
#include <hip/linker_types.h>

typedef enum hiprtcResult {
	HIPRTC_SUCCESS = 0,
	HIPRTC_ERROR_OUT_OF_MEMORY = 1,
	HIPRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
	HIPRTC_ERROR_INVALID_INPUT = 3,
	HIPRTC_ERROR_INVALID_PROGRAM = 4,
	HIPRTC_ERROR_INVALID_OPTION = 5,
	HIPRTC_ERROR_COMPILATION = 6,
	HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
	HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
	HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
	HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
	HIPRTC_ERROR_INTERNAL_ERROR = 11,
	HIPRTC_ERROR_LINKING = 100
} hiprtcResult;

typedef struct _hiprtcProgram *hiprtcProgram;
typedef struct ihiprtcLinkState *hiprtcLinkState;

#if TUFF_HIP_ABI == 5
typedef enum hiprtcJIT_option {
	HIPRTC_JIT_MAX_REGISTERS = 0,
	HIPRTC_JIT_THREADS_PER_BLOCK = 1,
	HIPRTC_JIT_WALL_TIME = 2,
	HIPRTC_JIT_INFO_LOG_BUFFER = 3,
	HIPRTC_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
	HIPRTC_JIT_ERROR_LOG_BUFFER = 5,
	HIPRTC_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
	HIPRTC_JIT_OPTIMIZATION_LEVEL = 7,
	HIPRTC_JIT_TARGET_FROM_HIPCONTEXT = 8,
	HIPRTC_JIT_TARGET = 9,
	HIPRTC_JIT_FALLBACK_STRATEGY = 10,
	HIPRTC_JIT_GENERATE_DEBUG_INFO = 11,
	HIPRTC_JIT_LOG_VERBOSE = 12,
	HIPRTC_JIT_GENERATE_LINE_INFO = 13,
	HIPRTC_JIT_CACHE_MODE = 14,
	HIPRTC_JIT_NEW_SM3X_OPT = 15,
	HIPRTC_JIT_FAST_COMPILE = 16,
	HIPRTC_JIT_GLOBAL_SYMBOL_NAMES = 17,
	HIPRTC_JIT_GLOBAL_SYMBOL_ADDRESS = 18,
	HIPRTC_JIT_GLOBAL_SYMBOL_COUNT = 19,
	HIPRTC_JIT_LTO = 20,
	HIPRTC_JIT_FTZ = 21,
	HIPRTC_JIT_PREC_DIV = 22,
	HIPRTC_JIT_PREC_SQRT = 23,
	HIPRTC_JIT_FMA = 24,
	HIPRTC_JIT_NUM_OPTIONS = 25,
	HIPRTC_JIT_IR_TO_ISA_OPT_EXT = 10000,
	HIPRTC_JIT_IR_TO_ISA_OPT_COUNT_EXT = 10001
} hiprtcJIT_option;

typedef enum hiprtcJITInputType {
	HIPRTC_JIT_INPUT_CUBIN = 0,
	HIPRTC_JIT_INPUT_PTX = 1,
	HIPRTC_JIT_INPUT_FATBINARY = 2,
	HIPRTC_JIT_INPUT_OBJECT = 3,
	HIPRTC_JIT_INPUT_LIBRARY = 4,
	HIPRTC_JIT_INPUT_NVVM = 5,
	HIPRTC_JIT_NUM_LEGACY_INPUT_TYPES = 6,
	HIPRTC_JIT_INPUT_LLVM_BITCODE = 100,
	HIPRTC_JIT_INPUT_LLVM_BUNDLED_BITCODE = 101,
	HIPRTC_JIT_INPUT_LLVM_ARCHIVES_OF_BUNDLED_BITCODE = 102,
	HIPRTC_JIT_NUM_INPUT_TYPES = 9
} hiprtcJITInputType;
#else
typedef hipJitOption hiprtcJIT_option;
typedef hipJitInputType hiprtcJITInputType;
#define HIPRTC_JIT_MAX_REGISTERS                          hipJitOptionMaxRegisters
#define HIPRTC_JIT_THREADS_PER_BLOCK                      hipJitOptionThreadsPerBlock
#define HIPRTC_JIT_WALL_TIME                              hipJitOptionWallTime
#define HIPRTC_JIT_INFO_LOG_BUFFER                        hipJitOptionInfoLogBuffer
#define HIPRTC_JIT_INFO_LOG_BUFFER_SIZE_BYTES             hipJitOptionInfoLogBufferSizeBytes
#define HIPRTC_JIT_ERROR_LOG_BUFFER                       hipJitOptionErrorLogBuffer
#define HIPRTC_JIT_ERROR_LOG_BUFFER_SIZE_BYTES            hipJitOptionErrorLogBufferSizeBytes
#define HIPRTC_JIT_OPTIMIZATION_LEVEL                     hipJitOptionOptimizationLevel
#define HIPRTC_JIT_TARGET_FROM_HIPCONTEXT                 hipJitOptionTargetFromContext
#define HIPRTC_JIT_TARGET                                 hipJitOptionTarget
#define HIPRTC_JIT_FALLBACK_STRATEGY                      hipJitOptionFallbackStrategy
#define HIPRTC_JIT_GENERATE_DEBUG_INFO                    hipJitOptionGenerateDebugInfo
#define HIPRTC_JIT_LOG_VERBOSE                            hipJitOptionLogVerbose
#define HIPRTC_JIT_GENERATE_LINE_INFO                     hipJitOptionGenerateLineInfo
#define HIPRTC_JIT_CACHE_MODE                             hipJitOptionCacheMode
#define HIPRTC_JIT_NEW_SM3X_OPT                           hipJitOptionSm3xOpt
#define HIPRTC_JIT_FAST_COMPILE                           hipJitOptionFastCompile
#define HIPRTC_JIT_GLOBAL_SYMBOL_NAMES                    hipJitOptionGlobalSymbolNames
#define HIPRTC_JIT_GLOBAL_SYMBOL_ADDRESS                  hipJitOptionGlobalSymbolAddresses
#define HIPRTC_JIT_GLOBAL_SYMBOL_COUNT                    hipJitOptionGlobalSymbolCount
#define HIPRTC_JIT_LTO                                    hipJitOptionLto
#define HIPRTC_JIT_FTZ                                    hipJitOptionFtz
#define HIPRTC_JIT_PREC_DIV                               hipJitOptionPrecDiv
#define HIPRTC_JIT_PREC_SQRT                              hipJitOptionPrecSqrt
#define HIPRTC_JIT_FMA                                    hipJitOptionFma
#define HIPRTC_JIT_NUM_OPTIONS                            hipJitOptionNumOptions
#define HIPRTC_JIT_IR_TO_ISA_OPT_EXT                      hipJitOptionIRtoISAOptExt
#define HIPRTC_JIT_IR_TO_ISA_OPT_COUNT_EXT                hipJitOptionIRtoISAOptCountExt
#define HIPRTC_JIT_INPUT_CUBIN                            hipJitInputCubin
#define HIPRTC_JIT_INPUT_PTX                              hipJitInputPtx
#define HIPRTC_JIT_INPUT_FATBINARY                        hipJitInputFatBinary
#define HIPRTC_JIT_INPUT_OBJECT                           hipJitInputObject
#define HIPRTC_JIT_INPUT_LIBRARY                          hipJitInputLibrary
#define HIPRTC_JIT_INPUT_NVVM                             hipJitInputNvvm
#define HIPRTC_JIT_NUM_LEGACY_INPUT_TYPES                 hipJitNumLegacyInputTypes
#define HIPRTC_JIT_INPUT_LLVM_BITCODE                     hipJitInputLLVMBitcode
#define HIPRTC_JIT_INPUT_LLVM_BUNDLED_BITCODE             hipJitInputLLVMBundledBitcode
#define HIPRTC_JIT_INPUT_LLVM_ARCHIVES_OF_BUNDLED_BITCODE hipJitInputLLVMArchivesOfBundledBitcode
#define HIPRTC_JIT_NUM_INPUT_TYPES                        hipJitNumInputTypes
#endif

HIP_API_BEGIN

/* The text is constant. */
const char *hiprtcGetErrorString(hiprtcResult result);
hiprtcResult hiprtcVersion(int *major, int *minor);

/* name: for messages, or NULL. headers, includeNames: numHeaders texts, and the names in #include directives. */
hiprtcResult hiprtcCreateProgram(hiprtcProgram *prog, const char *src, const char *name, int numHeaders,
				 const char **headers, const char **includeNames);
/* *prog becomes NULL. */
hiprtcResult hiprtcDestroyProgram(hiprtcProgram *prog);
/* Before compilation: adds an expression, such as "kernel<int>", whose lowered name is queried later. */
hiprtcResult hiprtcAddNameExpression(hiprtcProgram prog, const char *name_expression);
/* Options are clang's, --offload-arch= among them; the default is the current device. Errors: COMPILATION; the log
 * has the messages. */
hiprtcResult hiprtcCompileProgram(hiprtcProgram prog, int numOptions, const char **options);
/* The text belongs to the program. */
hiprtcResult hiprtcGetLoweredName(hiprtcProgram prog, const char *name_expression, const char **lowered_name);
/* The log's characters, without a terminating 0; the size is their number. */
hiprtcResult hiprtcGetProgramLog(hiprtcProgram prog, char *log);
hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram prog, size_t *logSizeRet);
/* For hipModuleLoadData(). */
hiprtcResult hiprtcGetCode(hiprtcProgram prog, char *code);
hiprtcResult hiprtcGetCodeSize(hiprtcProgram prog, size_t *codeSizeRet);
/* Needs the option -fgpu-rdc; the bitcode is for linking. */
hiprtcResult hiprtcGetBitcode(hiprtcProgram prog, char *bitcode);
hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram prog, size_t *bitcode_size);

/* The same as hipLinkCreate() and the functions after it. Errors: LINKING. */
hiprtcResult hiprtcLinkCreate(unsigned int num_options, hiprtcJIT_option *option_ptr, void **option_vals_pptr,
			      hiprtcLinkState *hip_link_state_ptr);
hiprtcResult hiprtcLinkAddFile(hiprtcLinkState hip_link_state, hiprtcJITInputType input_type, const char *file_path,
			       unsigned int num_options, hiprtcJIT_option *options_ptr, void **option_values);
hiprtcResult hiprtcLinkAddData(hiprtcLinkState hip_link_state, hiprtcJITInputType input_type, void *image,
			       size_t image_size, const char *name, unsigned int num_options,
			       hiprtcJIT_option *options_ptr, void **option_values);
/* *bin_out belongs to the state. */
hiprtcResult hiprtcLinkComplete(hiprtcLinkState hip_link_state, void **bin_out, size_t *size_out);
hiprtcResult hiprtcLinkDestroy(hiprtcLinkState hip_link_state);

HIP_API_END

#endif
