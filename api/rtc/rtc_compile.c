/* The choice of hiprtc's compiler: AMD's comgr where it is there and knows the target, else an installed clang. HIP_CLANG_PATH, which
 * asks for a clang, turns that round; TUFF_HIPRTC names the only one. */
#include <string.h>

#include "api/rtc/rtc_compiler.h"
#include "drv/config.h"

#define COMPILERS 2

static unsigned compilers_order(const struct hip_compiler **order)
{
	static const struct hip_compiler *const all[COMPILERS] = {&hip_rtc_comgr, &hip_rtc_clang};
	const char *only = drv_config()->hiprtc;
	const unsigned first = drv_config()->clang_folder ? 1 : 0;

	for (unsigned i = 0; i < COMPILERS; i++) {
		if (only && !strcmp(only, all[i]->name)) {
			order[0] = all[i];
			return 1;
		}
		order[i] = all[(i + first) % COMPILERS];
	}
	return COMPILERS;
}

hiprtcResult hip_rtc_compile(const struct hip_source *source, struct hip_bytes *code, struct hip_bytes *log)
{
	const struct hip_compiler *order[COMPILERS];
	const unsigned count = compilers_order(order);
	struct hip_bytes notes = {0};
	char target[HIP_RTC_TARGET_B];
	hiprtcResult r = HIPRTC_ERROR_COMPILATION;
	unsigned i = 0;

	hip_rtc_target(source, target);
	while (i < count && !order[i]->is_there(target, &notes))
		i++;
	if (i < count)
		r = order[i]->compile(source, code, log);
	if (r && notes.size_B)
		(void)!hip_bytes_add(log, notes.at, notes.size_B);
	hip_bytes_fini(&notes);
	return r;
}

/* Another compiler may read bitcode that the first does not: newer ones read what older ones wrote. */
hiprtcResult hip_rtc_link(const struct hip_link *link, struct hip_bytes *code, struct hip_bytes *log)
{
	const struct hip_compiler *order[COMPILERS];
	const unsigned count = compilers_order(order);
	char target[HIP_RTC_TARGET_B];
	hiprtcResult r = HIPRTC_ERROR_LINKING;

	hip_rtc_target(NULL, target);
	for (unsigned i = 0; i < count && r; i++) {
		hip_bytes_fini(code);
		if (order[i]->is_there(target, log))
			r = order[i]->link(link, code, log);
	}
	return r;
}
