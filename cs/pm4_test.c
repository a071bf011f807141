/* The PM4 emitter against encodings of Linux, Mesa and tinygrad, and the decoder's text. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "cs/internal.h"
#include "cs/pm4.h"
#include "tests/check.h"

static uint32_t buffer[512];

static struct cs_ib fresh_of(unsigned row)
{
	memset(buffer, 0xee, sizeof(buffer));
	return (struct cs_ib){
		.cur = buffer, .end = buffer + sizeof(buffer) / sizeof(buffer[0]), .pm4 = &cs_pm4_rows[row]};
}

static struct cs_ib fresh(void)
{
	return fresh_of(DRV_PM4_GFX9);
}

#define CHECK_DWORDS(ib, ...)                                                                                      \
	do {                                                                                                       \
		const uint32_t want_[] = {__VA_ARGS__};                                                            \
		CHECK_EQ((ib).cur - buffer, (long)(sizeof(want_) / 4));                                            \
		for (unsigned i_ = 0; i_ < sizeof(want_) / 4; i_++)                                                \
			CHECK_EQ(buffer[i_], want_[i_]);                                                           \
	} while (0)

#define VA 0x123456789ab8ull

static void emits_the_reference_encodings(void)
{
	struct cs_ib ib = fresh();

	cs_ib_barrier(&ib, true, CS_SCOPE_NONE);
	CHECK_DWORDS(ib, 0xC0004600, 0x00000407, 0xC0055800, 0x08400000, 0xFFFFFFFF, 0x00FFFFFF, 0, 0, 0x0000000A);
	ib = fresh();
	cs_ib_barrier(&ib, false, CS_SCOPE_AGENT);
	CHECK_DWORDS(ib, 0xC0055800, 0x28400000, 0xFFFFFFFF, 0x00FFFFFF, 0, 0, 0x0000000A);
	ib = fresh();
	cs_ib_barrier(&ib, false, CS_SCOPE_SYSTEM);
	CHECK_DWORDS(ib, 0xC0055800, 0x28C40000, 0xFFFFFFFF, 0x00FFFFFF, 0, 0, 0x0000000A);
	ib = fresh();
	cs_ib_release_value(&ib, CS_SCOPE_SYSTEM, VA, 0x1122334455667788ull);
	CHECK_DWORDS(ib, 0xC0064900, 0x00088514, 0x43000000, 0x56789ab8, 0x1234, 0x55667788, 0x11223344, 0);
	ib = fresh();
	cs_ib_release_clock(&ib, VA);
	CHECK_DWORDS(ib, 0xC0064900, 0x00000528, 0x60000000, 0x56789ab8, 0x1234, 0, 0, 0);
	ib = fresh();
	cs_ib_clock(&ib, VA);
	CHECK_DWORDS(ib, 0xC0044000, 0x02012509, 0, 0, 0x56789ab8, 0x1234);
	ib = fresh();
	cs_ib_wait_word(&ib, VA, 77);
	CHECK_DWORDS(ib, 0xC0053C00, 0x00000015, 0x56789ab8, 0x1234, 77, 0xFFFFFFFF, 4);
	ib = fresh();
	cs_ib_write(&ib, VA, (const uint32_t[]){1, 2}, 2);
	CHECK_DWORDS(ib, 0xC0043700, 0x00100200, 0x56789ab8, 0x1234, 1, 2);
}

/* Agent scope with several L2s needs the packets of system scope on other chips. */
static void several_xccs_widen_agent_scope(void)
{
	struct cs_ib ib = fresh_of(CS_PM4_XCCS);

	cs_ib_barrier(&ib, false, CS_SCOPE_AGENT);
	CHECK_DWORDS(ib, 0xC0055800, 0x28C40000, 0xFFFFFFFF, 0x00FFFFFF, 0, 0, 0x0000000A);
	ib = fresh_of(CS_PM4_XCCS);
	cs_ib_release_value(&ib, CS_SCOPE_AGENT, VA, 1);
	CHECK_DWORDS(ib, 0xC0064900, 0x00088514, 0x43000000, 0x56789ab8, 0x1234, 1, 0, 0);
}

/* Barriers and releases of later generations: GCR_CNTL and RELEASE_MEM's actions as Linux (emit_mem_sync, emit_fence)
 * and Mesa have them, for launches without L2, for the agent with instructions. */
static void later_caches(unsigned row, uint32_t launch, uint32_t agent, uint32_t system, uint32_t release)
{
	struct cs_ib ib = fresh_of(row);

	cs_ib_barrier(&ib, true, CS_SCOPE_NONE);
	CHECK_DWORDS(ib, 0xC0004600, 0x00000407, 0xC0065800, 0, 0xFFFFFFFF, 0x00FFFFFF, 0, 0, 0x0000000A, launch);
	ib = fresh_of(row);
	cs_ib_barrier(&ib, false, CS_SCOPE_AGENT);
	CHECK_DWORDS(ib, 0xC0065800, 0, 0xFFFFFFFF, 0x00FFFFFF, 0, 0, 0x0000000A, agent);
	ib = fresh_of(row);
	cs_ib_barrier(&ib, true, CS_SCOPE_SYSTEM);
	CHECK_DWORDS(ib, 0xC0004600, 0x00000407, 0xC0065800, 0, 0xFFFFFFFF, 0x00FFFFFF, 0, 0, 0x0000000A, system);
	ib = fresh_of(row);
	cs_ib_release_value(&ib, CS_SCOPE_SYSTEM, VA, 0x1122334455667788ull);
	CHECK_DWORDS(ib, 0xC0064900, release, 0x43000000, 0x56789ab8, 0x1234, 0x55667788, 0x11223344, 0);
	ib = fresh_of(row);
	cs_ib_release_value(&ib, CS_SCOPE_AGENT, VA, 1);
	CHECK_DWORDS(ib, 0xC0064900, 0x00000528, 0x43000000, 0x56789ab8, 0x1234, 1, 0, 0);
	ib = fresh_of(row);
	cs_ib_clock(&ib, VA);
	CHECK_DWORDS(ib, 0xC0044000, 0x00110509, 0, 0, 0x56789ab8, 0x1234);
}

static void emits_the_later_encodings(void)
{
	struct cs_ib ib = fresh_of(DRV_PM4_GFX10);

	later_caches(DRV_PM4_GFX10, 0x0380, 0x0381, 0xC3B1, 0x00603514);
	later_caches(DRV_PM4_GFX11, 0x0380, 0x0381, 0xC3B1, 0x00603514);
	later_caches(DRV_PM4_GFX12, 0x0180, 0x0181, 0xC181, 0x00600514);
	ib = fresh_of(DRV_PM4_GFX10);
	ib.cur = cs_put_constants(ib.cur, ib.pm4);
	CHECK_DWORDS(ib, 0xC0047600, 0x224, 0, 0, 0, 0, 0xC0017600, 0x27D, 0, 0xC0017900, 0x7B, 0x20);
	ib = fresh_of(DRV_PM4_GFX11);
	ib.cur = cs_put_constants(ib.cur, ib.pm4);
	CHECK_DWORDS(ib, 0xC0047600, 0x224, 0, 0, 0, 0, 0xC0017600, 0x27D, 0, 0xC0017600, 0x22F, 64);
	ib = fresh_of(DRV_PM4_GFX12);
	ib.cur = cs_put_constants(ib.cur, ib.pm4);
	CHECK_DWORDS(ib, 0xC0057600, 0x223, ~0u, 0, 0, 0, 0, 0xC0017600, 0x27D, 0, 0xC0017600, 0x22F, 64);
	/* The command processor of GFX12 writes past L2: dirty lines go before, and lines of before after the data. */
	ib = fresh_of(DRV_PM4_GFX12);
	cs_ib_write(&ib, VA, (const uint32_t[]){7}, 1);
	CHECK_DWORDS(ib, 0xC0065800, 0, 0xFFFFFFFF, 0x00FFFFFF, 0, 0, 0xA, 0xC181, 0xC0033700, 0x00100500,
		     0x56789ab8, 0x1234, 7, 0xC0065800, 0, 0xFFFFFFFF, 0x00FFFFFF, 0, 0, 0xA, 0xC181);
}

static void splits_long_writes(void)
{
	uint32_t data[100];
	struct cs_ib ib = fresh();

	for (unsigned i = 0; i < 100; i++)
		data[i] = i;
	cs_ib_write(&ib, VA, data, 100);
	CHECK_EQ(ib.cur - buffer, 100 + 2 * 4);
	CHECK_EQ(PM4_HEADER_BODY_DW(buffer[0]), 3 + 60);
	CHECK_EQ(buffer[64 + 2], (uint32_t)VA + 60 * 4);
	CHECK_EQ(buffer[64 + 4], 60);
}

/* The text of the IB in `buffer`, from the end of what the log file had before. */
static void check_text(const char *file, const char *target, const struct cs_ib *ib, const char *want)
{
	static long seen;
	char got[2048] = "", line[512];
	FILE *log;

	cs_pm4_print(drv_chip_by_target(target), buffer, ib->cur - buffer, 0x1000);
	log = fopen(file, "r");
	if (!CHECK(log && !fseek(log, seen, SEEK_SET)))
		return;
	/* Each line begins with the log's own time stamp. */
	while (fgets(line, sizeof(line), log))
		strcat(got, strstr(line, "  ") + 1);
	seen = ftell(log);
	fclose(log);
	CHECK_STR(got, want);
}

static void prints_what_it_emits(const char *file)
{
	struct cs_ib ib = fresh();

	cs_ib_barrier(&ib, true, CS_SCOPE_SYSTEM);
	cs_ib_release_value(&ib, CS_SCOPE_SYSTEM, VA, 42);
	cs_ib_release_clock(&ib, VA);
	cs_ib_clock(&ib, VA);
	cs_ib_wait_word(&ib, VA, 5);
	cs_ib_write(&ib, VA, (const uint32_t[]){7}, 1);
	*ib.cur++ = 0x12345678;
	check_text(file, "gfx906", &ib,
		   "  1000: EVENT_WRITE CS_PARTIAL_FLUSH\n"
		   "  1008: ACQUIRE_MEM 28c40000: L2 write-back L2 L1 K$ I$\n"
		   "  1024: RELEASE_MEM event 14 L2 write-back to 123456789ab8: 2a\n"
		   "  1044: RELEASE_MEM event 28 to 123456789ab8: clock\n"
		   "  1064: COPY_DATA clock to 123456789ab8\n"
		   "  107c: WAIT_REG_MEM 123456789ab8 & ffffffff >= 5\n"
		   "  1098: WRITE_DATA to 123456789ab8: 7\n"
		   "  10ac: no packet: 12345678\n");
	ib = fresh_of(DRV_PM4_GFX10);
	cs_ib_barrier(&ib, false, CS_SCOPE_SYSTEM);
	ib.cur = cs_put_constants(ib.cur, ib.pm4);
	cs_ib_release_value(&ib, CS_SCOPE_SYSTEM, VA, 42);
	check_text(file, "gfx1030", &ib,
		   "  1000: ACQUIRE_MEM 0000c3b1: L2 write-back L2 L1 L0 K$ I$\n"
		   "  1020: SET_SH_REG ACCUM_0=0 ACCUM_1=0 ACCUM_2=0 ACCUM_3=0\n"
		   "  1038: SET_SH_REG TUNNEL=0\n"
		   "  1044: SET_UCONFIG_REG reg7b=20\n"
		   "  1050: RELEASE_MEM event 14 L2 write-back to 123456789ab8: 2a\n");
}

static void truncated_packets_do_not_overrun(void)
{
	uint32_t cut[3] = {0xC0064900, 0x00088514, 0x43000000};

	for (uint32_t n = 0; n <= 3; n++)
		cs_pm4_print(drv_chip_by_target("gfx906"), cut, n, 0);
	CHECK(1);
}

/* A jump that is too short for its target is none, whatever follows it. */
static void short_jumps_are_not_followed(void)
{
	uint32_t ib[] = {PM4_HEADER(PM4_INDIRECT_BUFFER, 1), 0x1000, 0, IB_CHAIN | 16};

	cs_pm4_print(drv_chip_by_target("gfx906"), ib, 2, 0);
}

int main(void)
{
	char file[] = "/tmp/tuff-pm4-XXXXXX";
	int fd = mkstemp(file);

	setenv("TUFF_LOG", "ib", 1);
	setenv("TUFF_LOG_FILE", file, 1);
	CHECK(fd >= 0);
	emits_the_reference_encodings();
	several_xccs_widen_agent_scope();
	emits_the_later_encodings();
	splits_long_writes();
	prints_what_it_emits(file);
	truncated_packets_do_not_overrun();
	short_jumps_are_not_followed();
	unlink(file);
	return check_done("PM4 emitter and decoder");
}
