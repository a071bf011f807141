/* HSA_CU_MASK, as ROCr parses it (flag.cpp, parse_masks), but without spaces: parts "GPUS:CUS" separated by
 * semicolons. Both are numbers and ranges separated by commas; CUS may also be a hexadecimal mask. GPUs and units
 * beyond the last one are ignored; a part is invalid if it names a GPU or unit twice, or none that exists. An
 * invalid part ends the parsing: the parts before it stay in force. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "hsa/core/core.h"

static void set_bit(uint32_t *bits, unsigned i)
{
	bits[i / 32] |= 1u << i % 32;
}

void rt_all_cus(const struct drv_device *dev, uint32_t *cus)
{
	for (unsigned i = 0; i < 32 * RT_CU_DWORDS && i < dev->facts.ring_cus; i++)
		set_bit(cus, i);
}

static bool has_bit(const uint32_t *bits, unsigned i)
{
	return bits[i / 32] >> i % 32 & 1;
}

/* Parses a number and advances to the character after it. */
static bool take_number(const char **at, unsigned *number)
{
	char *end;
	unsigned long value = strtoul(*at, &end, 10);

	if (!isdigit((unsigned char)**at))
		return false;
	*at = end;
	*number = value < 1u << 20 ? (unsigned)value : 1u << 20;
	return true;
}

/* Parses a list like "0,2-4", which must end at `end`; sets the bits below count. */
static bool take_list(const char *at, const char *end, unsigned count, uint32_t *bits)
{
	bool any = false;

	do {
		unsigned first, last;

		if (!take_number(&at, &first))
			return false;
		last = first;
		if (*at == '-' && (at++, !take_number(&at, &last) || last < first))
			return false;
		for (; first <= last && first < count; first++) {
			if (has_bit(bits, first))
				return false;
			set_bit(bits, first);
			any = true;
		}
	} while (*at == ',' && at++ < end);
	return any && at == end;
}

/* Parses a mask like "337f", which ends at `end`. */
static bool take_hex(const char *at, const char *end, unsigned count, uint32_t *bits)
{
	bool any = false;

	for (unsigned bit = 0; end-- > at; bit += 4) {
		const char digit[2] = {*end, 0};
		unsigned value = (unsigned)strtoul(digit, NULL, 16);

		if (!isxdigit((unsigned char)*end))
			return false;
		for (unsigned i = 0; i < 4 && bit + i < count; i++)
			if (value >> i & 1) {
				set_bit(bits, bit + i);
				any = true;
			}
	}
	return any;
}

/* True when each of these GPUs has one of the units: without any, a dispatch would never end. */
static bool cus_are_usable(const struct rt *rt, uint32_t gpus, const uint32_t *cus)
{
	for (unsigned g = 0; g < rt->gpus; g++) {
		uint32_t any = !(gpus >> g & 1);

		for (unsigned i = 0; i < RT_CU_DWORDS; i++)
			any |= rt->gpu[g]->cus[i] & cus[i];
		if (!any)
			return false;
	}
	return true;
}

/* Parses one part. *named: mask of the GPUs of this part and those before it. */
static bool take_part(struct rt *rt, const char *at, const char *end, uint32_t *named)
{
	const char *colon = memchr(at, ':', (size_t)(end - at));
	uint32_t gpus = 0, cus[RT_CU_DWORDS] = {0};
	bool ok;

	if (!colon)
		return false;
	if (colon[1] == '0' && (colon[2] | 0x20) == 'x')
		ok = take_hex(colon + 3, end, 32 * RT_CU_DWORDS, cus);
	else
		ok = take_list(colon + 1, end, 32 * RT_CU_DWORDS, cus);
	if (!ok || !take_list(at, colon, rt->gpus, &gpus) || gpus & *named || !cus_are_usable(rt, gpus, cus))
		return false;
	for (unsigned g = 0; g < rt->gpus; g++)
		for (unsigned i = 0; i < RT_CU_DWORDS && gpus >> g & 1; i++)
			rt->gpu[g]->cus[i] &= cus[i];
	*named |= gpus;
	return true;
}

void rt_cus_init(struct rt *rt)
{
	const char *text = drv_config()->cu_mask;
	uint32_t named = 0;

	for (unsigned g = 0; g < rt->gpus; g++)
		rt_all_cus(rt->gpu[g]->dev, rt->gpu[g]->cus);
	for (const char *end; text && *text; text = end + (*end == ';')) {
		end = text + strcspn(text, ";");
		if (!take_part(rt, text, end, &named)) {
			drv_log(DRV_LOG_ERROR, "HSA_CU_MASK is not understood from \"%s\" on", text);
			return;
		}
	}
}
