/* Read-modify-write operations of L2 and LDS. */
#include <immintrin.h>
#include <math.h>

#include "vgpu/isa/bits.h"
#include "vgpu/isa/half.h"
#include "vgpu/isa/mem/access.h"

/* --- floating point --- */

/* Exact in f64 up to the one rounding. */
static uint32_t add_f16(uint32_t a, uint32_t b)
{
	double sum = (double)half_to_float(a & 0xffff) + (double)half_to_float(b & 0xffff);

	return half_from_double(sum, HALF_NEAREST) & 0xffff;
}

/* Rounds to nearest even on the f64's bits: conversion through f32 would round twice. */
static uint32_t bf16_from_double(double value)
{
	float f = (float)value;
	uint32_t bits = f32_bits(f);
	double back = (double)f;

	if (isnan(value))
		return 0x7fc0;
	/* Round the f32 to odd, so that the last rounding is inexact when this one was. */
	if (back != value && !(bits & 1))
		bits += (fabs(back) < fabs(value)) ? 1 : (uint32_t)-1;
	return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/* Exact in f64, but where the smaller is below the other's last bit by far. */
static uint32_t add_bf16(uint32_t a, uint32_t b)
{
	return bf16_from_double((double)as_f32(a << 16) + (double)as_f32(b << 16));
}

/* A number wins over a NaN; of the zeros, -0 is the smaller. */
static bool f64_below(double a, double b)
{
	return a < b || (a == b && signbit(a) && !signbit(b));
}

static uint64_t apply_f64(enum isa_atomic op, uint64_t old, uint64_t data, uint64_t data1)
{
	double a = as_f64(old), b = as_f64(data);

	switch (op) {
	case ISA_ATOMIC_ADD_F:
		return f64_bits(a + b);
	case ISA_ATOMIC_MIN_F:
		return isnan(a) ? data : isnan(b) ? old : f64_below(b, a) ? data : old;
	case ISA_ATOMIC_MAX_F:
		return isnan(a) ? data : isnan(b) ? old : f64_below(a, b) ? data : old;
	default: /* CMPSWAP_F */
		return a == as_f64(data1) ? data : old;
	}
}

static uint64_t apply_f32(enum isa_atomic op, uint64_t old, uint64_t data, uint64_t data1)
{
	float a = as_f32((uint32_t)old), b = as_f32((uint32_t)data);

	switch (op) {
	case ISA_ATOMIC_ADD_F:
		return f32_bits(a + b);
	case ISA_ATOMIC_MIN_F:
		return isnan(a) ? data : isnan(b) ? old : f64_below((double)b, (double)a) ? data : old;
	case ISA_ATOMIC_MAX_F:
		return isnan(a) ? data : isnan(b) ? old : f64_below((double)a, (double)b) ? data : old;
	default:
		return a == as_f32((uint32_t)data1) ? data : old;
	}
}

static bool is_packed(enum isa_atomic op)
{
	return op == ISA_ATOMIC_PK_ADD_F16 || op == ISA_ATOMIC_PK_ADD_BF16;
}

unsigned isa_atomic_enter(const struct isa_generation *gen, enum isa_atomic op, unsigned size_B)
{
	unsigned saved = _mm_getcsr();
	bool flush = size_B == 4 && !is_packed(op) && !gen->full_float_atomics;

	if (op >= ISA_ATOMIC_CMPSWAP_F)
		_mm_setcsr(_MM_MASK_MASK | (flush ? _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON : 0));
	return saved;
}

void isa_atomic_leave(unsigned saved)
{
	_mm_setcsr(saved);
}

/* --- integers --- */

static uint64_t apply_integer(enum isa_atomic op, unsigned size_B, uint64_t old, uint64_t data, uint64_t data1)
{
	int64_t sold = size_B == 8 ? (int64_t)old : (int32_t)old,
		sdata = size_B == 8 ? (int64_t)data : (int32_t)data;

	switch (op) {
	case ISA_ATOMIC_SWAP:
		return data;
	case ISA_ATOMIC_CMPSWAP:
		return old == data1 ? data : old;
	case ISA_ATOMIC_ADD:
		return old + data;
	case ISA_ATOMIC_SUB:
		return old - data;
	case ISA_ATOMIC_SMIN:
		return sold < sdata ? old : data;
	case ISA_ATOMIC_UMIN:
		return old < data ? old : data;
	case ISA_ATOMIC_SMAX:
		return sold > sdata ? old : data;
	case ISA_ATOMIC_UMAX:
		return old > data ? old : data;
	case ISA_ATOMIC_AND:
		return old & data;
	case ISA_ATOMIC_OR:
		return old | data;
	case ISA_ATOMIC_XOR:
		return old ^ data;
	case ISA_ATOMIC_INC:
		return old >= data ? 0 : old + 1;
	case ISA_ATOMIC_DEC:
		return old == 0 || old > data ? data : old - 1;
	case ISA_ATOMIC_RSUB:
		return data - old;
	case ISA_ATOMIC_MSKOR:
		return (old & ~data) | data1;
	case ISA_ATOMIC_WRAP:
		return old >= data ? old - data : old + data1;
	case ISA_ATOMIC_SUB_CLAMP:
		return old > data ? old - data : 0;
	case ISA_ATOMIC_COND_SUB:
		return old >= data ? old - data : old;
	default:
		return old;
	}
}

uint64_t isa_atomic_apply(enum isa_atomic op, unsigned size_B, uint64_t old, uint64_t data, uint64_t data1)
{
	if (op == ISA_ATOMIC_PK_ADD_F16)
		return add_f16((uint32_t)old, (uint32_t)data) | add_f16((uint32_t)old >> 16, (uint32_t)data >> 16)
									<< 16;
	if (op == ISA_ATOMIC_PK_ADD_BF16)
		return add_bf16((uint32_t)old & 0xffff, (uint32_t)data & 0xffff) |
		       add_bf16((uint32_t)old >> 16, (uint32_t)data >> 16) << 16;
	if (op >= ISA_ATOMIC_CMPSWAP_F)
		return size_B == 8 ? apply_f64(op, old, data, data1) : apply_f32(op, old, data, data1);
	return apply_integer(op, size_B, old, data, data1);
}

/* --- on memory --- */

static uint64_t host_32(enum isa_atomic op, uint32_t *word, uint32_t data, uint32_t data1)
{
	uint32_t old, new;

	if (op == ISA_ATOMIC_ADD)
		return __atomic_fetch_add(word, data, __ATOMIC_SEQ_CST);
	old = __atomic_load_n(word, __ATOMIC_RELAXED);
	do
		new = (uint32_t)isa_atomic_apply(op, 4, old, data, data1);
	while (!__atomic_compare_exchange_n(word, &old, new, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	return old;
}

static uint64_t host_64(enum isa_atomic op, uint64_t *word, uint64_t data, uint64_t data1)
{
	uint64_t old, new;

	if (op == ISA_ATOMIC_ADD)
		return __atomic_fetch_add(word, data, __ATOMIC_SEQ_CST);
	old = __atomic_load_n(word, __ATOMIC_RELAXED);
	do
		new = isa_atomic_apply(op, 8, old, data, data1);
	while (!__atomic_compare_exchange_n(word, &old, new, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	return old;
}

uint64_t isa_atomic_host(enum isa_atomic op, unsigned size_B, void *host, uint64_t data, uint64_t data1)
{
	if (size_B == 8)
		return host_64(op, host, data, data1);
	return host_32(op, host, (uint32_t)data, (uint32_t)data1);
}
