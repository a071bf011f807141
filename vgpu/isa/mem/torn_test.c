/* Accesses of 8 and 16 bytes beside the host's threads: nobody sees half of one (test_wave.h has the registers). */
#include <emmintrin.h>
#include <pthread.h>
#include <stdatomic.h>

#include "vgpu/isa/test_pieces.h"

#define RUNS 3000

static atomic_bool over;
static atomic_uint host_torn;

/* Lane 0's quadword at D, and lane 1's at D + 16. */
GPUVM_RACY static void put(unsigned offset, uint32_t value)
{
	_mm_store_si128((__m128i *)(test.data + offset), _mm_set1_epi32((int)value));
}

GPUVM_RACY static bool is_torn(unsigned offset, unsigned dw)
{
	uint32_t got[4];
	bool torn = false;

	_mm_storeu_si128((__m128i *)got, _mm_load_si128((const __m128i *)(test.data + offset)));
	for (unsigned n = 1; n < dw; n++)
		torn |= got[n] != got[0];
	return torn;
}

/* Stores what the waves load. */
static void *writer(void *unused)
{
	(void)unused;
	for (uint32_t n = 0; !atomic_load_explicit(&over, memory_order_relaxed); n++) {
		put(0, n);
		put(16, n);
	}
	return NULL;
}

/* Loads what the waves store: 16 bytes, or 8. */
static void *reader(void *dwords)
{
	while (!atomic_load_explicit(&over, memory_order_relaxed))
		if (is_torn(4096, *(unsigned *)dwords) || is_torn(4096 + 16, *(unsigned *)dwords))
			atomic_fetch_add(&host_torn, 1);
	return NULL;
}

static const struct piece loads[] = {
	{"all lanes, 8 bytes", NULL, "global_load_dwordx2 v[20:21], v[6:7], off", 0, NULL},
	{"all lanes, 16 bytes", NULL, "global_load_dwordx4 v[20:23], v[6:7], off", 0, NULL},
	{"two lanes, 8 bytes", NULL, "s_mov_b64 exec, 3\n global_load_dwordx2 v[20:21], v[4:5], off", 0, NULL},
	{"two lanes, 16 bytes", NULL, "s_mov_b64 exec, 3\n global_load_dwordx4 v[20:23], v[4:5], off", 0, NULL},
	{"a buffer, 16 bytes", NULL,
	 "s_mov_b64 exec, 3\n v_mov_b32 v26, v0\n v_lshlrev_b32 v26, 4, v26\n"
	 "buffer_load_dwordx4 v[20:23], v26, s[4:7], 0 offen",
	 0, NULL},
	{"scalar, 16 bytes", NULL, "s_load_dwordx4 s[24:27], s[0:1], 0", 0, NULL},
};

static const struct piece stores[] = {
	{"all lanes, 8 bytes", NULL,
	 "s_add_u32 s22, s0, 4096\n s_addc_u32 s23, s1, 0\n v_mov_b32 v26, 0\n"
	 "global_store_dwordx2 v26, v[20:21], s[22:23]",
	 0, NULL},
	{"two lanes, 16 bytes", NULL,
	 "s_mov_b64 exec, 3\n s_add_u32 s22, s0, 4096\n s_addc_u32 s23, s1, 0\n v_lshlrev_b32 v26, 4, v0\n"
	 "global_store_dwordx4 v26, v[20:23], s[22:23]",
	 0, NULL},
};

static void set_registers(uint32_t value)
{
	for (unsigned row = 20; row < 24; row++)
		for (unsigned lane = 0; lane < ISA_LANES; lane++)
			test.v[row][lane] = value;
}

/* Runs piece n alone, on memory as it is. */
static bool run_again(unsigned n)
{
	char why[512] = "";
	struct isa_wave *w = &test.wave;

	set_sgprs();
	w->pc = CODE + (uint64_t)n * PIECE_B;
	w->program = isa_program_get(test.cache, &test.machine, w->pc, why, sizeof(why));
	return w->program && isa_run(w, 100) == ISA_ENDED;
}

static unsigned wave_torn(unsigned n)
{
	bool scalar = strstr(loads[n].name, "scalar");
	unsigned dw = strstr(loads[n].name, "16") ? 4 : 2, torn = 0;

	for (unsigned k = 1; k < dw; k++)
		torn += scalar ? test.wave.s[24 + k] != test.wave.s[24]
			       : test.v[20 + k][0] != test.v[20][0] || test.v[20 + k][1] != test.v[20][1];
	return torn;
}

static void loads_are_whole(void)
{
	pthread_t thread;

	if (!CHECK(assemble("gfx90a", loads, sizeof(loads) / sizeof(*loads))))
		return;
	for (unsigned n = 0; n < sizeof(loads) / sizeof(*loads); n++) {
		unsigned torn = 0;

		CHECK(run(n));
		put(0, 0);
		put(16, 0);
		atomic_store(&over, false);
		CHECK_EQ(pthread_create(&thread, NULL, writer, NULL), 0);
		for (unsigned i = 0; i < RUNS; i++) {
			CHECK(run_again(n));
			torn += wave_torn(n);
		}
		atomic_store(&over, true);
		pthread_join(thread, NULL);
		if (!CHECK_EQ(torn, 0))
			printf("  in \"%s\"\n", loads[n].name);
	}
}

static void stores_are_whole(void)
{
	pthread_t thread;

	if (!CHECK(assemble("gfx90a", stores, sizeof(stores) / sizeof(*stores))))
		return;
	for (unsigned n = 0; n < sizeof(stores) / sizeof(*stores); n++) {
		unsigned dw = strstr(stores[n].name, "16") ? 4 : 2;

		CHECK(run(n));
		put(4096, 0);
		put(4096 + 16, 0);
		atomic_store(&over, false);
		CHECK_EQ(pthread_create(&thread, NULL, reader, &dw), 0);
		for (unsigned i = 0; i < RUNS; i++) {
			set_registers(i);
			CHECK(run_again(n));
		}
		atomic_store(&over, true);
		pthread_join(thread, NULL);
		if (!CHECK_EQ(atomic_exchange(&host_torn, 0), 0))
			printf("  in \"%s\"\n", stores[n].name);
	}
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_OFF);
	init("gfx90a", false);
	loads_are_whole();
	fini();
	init("gfx90a", false);
	stores_are_whole();
	fini();
	return check_done("accesses of 8 and 16 bytes");
}
