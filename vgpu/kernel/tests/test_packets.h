/* Packets of GFX9 for the rig's IB. Test programs only. */
#ifndef VGPU_KERNEL_TESTS_TEST_PACKETS_H
#define VGPU_KERNEL_TESTS_TEST_PACKETS_H

#include <string.h>
#include "vgpu/kernel/tests/test_rig.h"

static inline void emit(uint32_t dword)
{
	rig.ib[rig.ib_dw++] = dword;
}

static inline void set_sh(uint32_t reg, uint32_t value)
{
	emit(0xc0017600); /* SET_SH_REG */
	emit(reg);
	emit(value);
}

/* One wave, with as many SGPRs from COMPUTE_USER_DATA. */
static inline void emit_dispatch_with(uint64_t code, uint32_t user_sgprs)
{
	static const uint32_t masks[] = {0x216, 0x217, 0x219, 0x21a, 0x225, 0x226, 0x227, 0x228};

	set_sh(0x20c, (uint32_t)(code >> 8));
	set_sh(0x20d, 0);
	set_sh(0x212, 0x002c0041); /* 8 VGPRs, 16 SGPRs */
	set_sh(0x213, user_sgprs << 1);
	set_sh(0x215, 0);
	for (unsigned i = 0; i < 8; i++)
		set_sh(masks[i], ~0u);
	for (unsigned i = 0; i < 3; i++) {
		set_sh(0x204 + i, 0);
		set_sh(0x207 + i, i ? 1 : 64);
	}
	emit(0xc0031502); /* DISPATCH_DIRECT, compute */
	emit(1);
	emit(1);
	emit(1);
	emit(5);
}

static inline void emit_dispatch(uint64_t code)
{
	emit_dispatch_with(code, 0);
}

static inline void emit_flush(void)
{
	emit(0xc0004600); /* EVENT_WRITE */
	emit(0x00000407); /* CS_PARTIAL_FLUSH */
}

static inline void emit_write(uint64_t va, uint32_t value)
{
	emit(0xc0033700); /* WRITE_DATA */
	emit(0x00100500);
	emit((uint32_t)va);
	emit((uint32_t)(va >> 32));
	emit(value);
}

static inline void emit_release(uint64_t va, uint32_t value)
{
	emit(0xc0064900); /* RELEASE_MEM at the end of pipe: 32 bits */
	emit(0x00088514);
	emit(0x23000000);
	emit((uint32_t)va);
	emit((uint32_t)(va >> 32));
	emit(value);
	emit(0);
	emit(0);
}

static inline void emit_wait_for(uint64_t va, uint32_t value)
{
	emit(0xc0053c00); /* WAIT_REG_MEM: equal */
	emit(0x13);
	emit((uint32_t)va);
	emit((uint32_t)(va >> 32));
	emit(value);
	emit(~0u);
	emit(4);
}

#endif
