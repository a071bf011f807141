/* Compiled three times: with our headers for both interfaces (RELEASE 57 and 64), and with Debian's (52), which
 * show that the tables are right. ABI_LIST names the result. A row counts if its release knows it; a function of
 * another type than the table's stops the compiler. */
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#if RELEASE != 52
#include <hip/hip_gl_interop.h>
#endif

#include "list.h"

#if RELEASE == 52
#define PICK(v52, v57, v64) v52
#elif RELEASE == 57
#define PICK(v52, v57, v64) v57
#else
#define PICK(v52, v57, v64) v64
#endif

#define VALUE_ROW(name, ...) {#name, (long long)(name), PICK(__VA_ARGS__)},
#define SIZE_ROW(type, ...)  {"size of " #type, (long long)sizeof(type), PICK(__VA_ARGS__)},
#define ALIGN_ROW(type, ...) {"alignment of " #type, (long long)_Alignof(type), PICK(__VA_ARGS__)},
#define OFFSET_ROW(type, member, ...)                                                                              \
	{"offset of " #type "::" #member, (long long)__builtin_offsetof(type, member), PICK(__VA_ARGS__)},
#define FUNCTION_ROW(name, result, parameters)                                                                     \
	__attribute__((unused)) static __typeof__(result(*) parameters) check_##name = name;

#define NOTHING(...)
#if RELEASE == 52
#define R100(row) row
#define R110(row) row
#define R010(row) NOTHING
#define R011(row) NOTHING
#define R001(row) NOTHING
#elif RELEASE == 57
#define R100(row) NOTHING
#define R110(row) row
#define R010(row) row
#define R011(row) row
#define R001(row) NOTHING
#else
#define R100(row) NOTHING
#define R110(row) NOTHING
#define R010(row) NOTHING
#define R011(row) row
#define R001(row) row
#endif

#define VALUE111(...)    VALUE_ROW(__VA_ARGS__)
#define VALUE110(...)    R110(VALUE_ROW)(__VA_ARGS__)
#define VALUE100(...)    R100(VALUE_ROW)(__VA_ARGS__)
#define VALUE010(...)    R010(VALUE_ROW)(__VA_ARGS__)
#define VALUE011(...)    R011(VALUE_ROW)(__VA_ARGS__)
#define VALUE001(...)    R001(VALUE_ROW)(__VA_ARGS__)
#define SIZE111(...)     SIZE_ROW(__VA_ARGS__)
#define SIZE110(...)     R110(SIZE_ROW)(__VA_ARGS__)
#define SIZE011(...)     R011(SIZE_ROW)(__VA_ARGS__)
#define SIZE001(...)     R001(SIZE_ROW)(__VA_ARGS__)
#define ALIGN111(...)    ALIGN_ROW(__VA_ARGS__)
#define ALIGN110(...)    R110(ALIGN_ROW)(__VA_ARGS__)
#define ALIGN011(...)    R011(ALIGN_ROW)(__VA_ARGS__)
#define ALIGN001(...)    R001(ALIGN_ROW)(__VA_ARGS__)
#define OFFSET111(...)   OFFSET_ROW(__VA_ARGS__)
#define OFFSET110(...)   R110(OFFSET_ROW)(__VA_ARGS__)
#define OFFSET100(...)   R100(OFFSET_ROW)(__VA_ARGS__)
#define OFFSET011(...)   R011(OFFSET_ROW)(__VA_ARGS__)
#define OFFSET001(...)   R001(OFFSET_ROW)(__VA_ARGS__)
#define FUNCTION111(...) FUNCTION_ROW(__VA_ARGS__)
#define FUNCTION011(...) R011(FUNCTION_ROW)(__VA_ARGS__)
#define FUNCTION001(...) R001(FUNCTION_ROW)(__VA_ARGS__)

#include "functions.h"

static const struct abi_row rows[] = {
#include "values.h"
#include "layouts.h"
	{0, 0, 0}};

const struct abi_row *const ABI_LIST = rows;
