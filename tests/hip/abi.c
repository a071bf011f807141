/* HIP's headers are compatible with AMD's: the same numbers, layouts and types of functions, for either
 * interface. */
#include "tests/check.h"
#include "tests/hip/abi/list.h"

static void defines_what_amds_do(const struct abi_row *row, unsigned least)
{
	unsigned count = 0;

	for (; row->what; row++, count++)
		if (!CHECK_EQ(row->value, row->want))
			printf("  %s\n", row->what);
	CHECK(count >= least);
}

int main(void)
{
	/* As many rows as the tables have for a release. */
	defines_what_amds_do(abi_ours5, 900);
	defines_what_amds_do(abi_ours6, 1000);
	if (abi_debians)
		defines_what_amds_do(abi_debians, 800);
	else
		puts("Debian's headers are not installed: not compared");
	return check_done("what HIP's headers define");
}
