/* Instructions whose results are known from an RDNA3 card (hardware_cases.h). */
#include "vgpu/isa/exec/hardware_cases.h"
#include "vgpu/isa/test_later.h"

#define FILE_ROWS  256u
#define FILE_LDS_B 65536u
#define MAX_CODE   24u
#define END        0xbfb00000u

static void rig_init(void)
{
	init_later("gfx1100", true, false);
	free(test.v);
	free(test.lds);
	test.v = aligned_alloc(64, FILE_ROWS * sizeof(*test.v));
	test.lds = aligned_alloc(64, FILE_LDS_B);
	test.machine.vgpr_count = FILE_ROWS;
	test.group.lds = test.lds;
	test.group.lds_B = FILE_LDS_B;
	test.wave.v = test.v;
}

static void rig_clear(unsigned lanes)
{
	struct isa_wave *w = &test.wave;

	memset(test.v, 0, FILE_ROWS * sizeof(*test.v));
	memset(test.lds, 0, FILE_LDS_B);
	memset(w->s, 0, sizeof(w->s));
	EACH test.v[255][l] = l;
	w->s[ISA_EXEC] = lanes == 32 ? ~0u : (1u << lanes) - 1;
	w->mode = 0xc0 | ISA_MODE_DX10_CLAMP | ISA_MODE_IEEE;
	w->scc = false;
	w->pc = CODE;
	w->why[0] = 0;
}

/* A register of the text: "s0", "v0", "v0.1", "scc"; lanes get the value where the text has none. */
static void set_register(const char *name, uint32_t value)
{
	unsigned n = (unsigned)strtoul(name + 1, NULL, 10);

	if (name[0] == 's')
		test.wave.s[n] = value;
	else
		EACH test.v[n][l] = value;
}

static uint32_t get_register(const char *name)
{
	char *end;
	unsigned n;

	if (!strncmp(name, "scc", 3))
		return test.wave.scc;
	n = (unsigned)strtoul(name + 1, &end, 10);
	return name[0] == 's' ? test.wave.s[n] : test.v[n][*end == '.' ? strtoul(end + 1, NULL, 10) : 0];
}

/* Registers and code up to the '>'; returns what follows it. */
static const char *read_inputs(const char *at, uint32_t code[MAX_CODE])
{
	unsigned words = 0;
	bool in_code = false;

	for (; *at != '>'; at += strcspn(at, " "), at += strspn(at, " ")) {
		const char *value = strchr(at, '=');

		if (*at == ':')
			in_code = true;
		else if (in_code && words < MAX_CODE - 1)
			code[words++] = (uint32_t)strtoul(at, NULL, 16);
		else if (value)
			set_register(at, (uint32_t)strtoul(value + 1, NULL, 16));
	}
	code[words] = END;
	return at + 1;
}

static void check_results(const char *text, const char *at)
{
	for (at += strspn(at, " "); *at; at += strcspn(at, " "), at += strspn(at, " ")) {
		uint32_t want = (uint32_t)strtoul(strchr(at, '=') + 1, NULL, 16);

		if (!CHECK_EQ(get_register(at), want))
			printf("  in \"%s\"\n", text);
	}
}

static void run_case(const char *text)
{
	uint32_t code[MAX_CODE] = {0};
	char *at, why[512] = "";
	struct isa_wave *w = &test.wave;

	rig_clear((unsigned)strtoul(text, &at, 10));
	at = (char *)read_inputs(at + strspn(at, " "), code);
	memcpy(test.code, code, sizeof(code));
	w->program = isa_program_get(test.cache, &test.machine, w->pc, why, sizeof(why));
	if (!CHECK(w->program != NULL) || !CHECK_EQ(run_budgets(w), ISA_ENDED))
		printf("  in \"%s\": %s%s\n", text, why, w->why);
	else
		check_results(text, at);
}

int main(void)
{
	vgpu_strict_set(VGPU_STRICT_REPORT);
	rig_init();
	for (unsigned n = 0; n < sizeof(hardware_cases) / sizeof(*hardware_cases); n++) {
		test.stepwise = false;
		run_case(hardware_cases[n]);
		test.stepwise = true;
		run_case(hardware_cases[n]);
	}
	fini();
	return check_done("instructions as a card has them");
}
