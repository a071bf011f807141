/* The main program of a fuzzer without libFuzzer: runs the inputs of its corpus, tests/fuzz/corpus/NAME, or the files that
 * are given. */
#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);
/* What a fuzzer checks behind its corpus, if it defines this. */
__attribute__((weak)) void replay_check(void);

static void run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(1 << 20);
	size_t size_B;

	if (CHECK(f != NULL) && CHECK(data != NULL)) {
		size_B = fread(data, 1, 1 << 20, f);
		/* At its exact size, so that sanitizers see an access beyond it. */
		data = realloc(data, size_B ? size_B : 1);
		CHECK_EQ(LLVMFuzzerTestOneInput(data, size_B), 0);
	}
	free(data);
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	struct dirent *e;
	char path[4096];
	DIR *d;

	for (int i = 1; i < argc; i++)
		run_file(argv[i]);
	snprintf(path, sizeof(path), "tests/fuzz/corpus/%s", name);
	d = argc > 1 ? NULL : opendir(path);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "tests/fuzz/corpus/%s/%s", name, e->d_name);
		if (e->d_name[0] != '.')
			run_file(path);
	}
	if (argc == 1 && CHECK(d != NULL)) {
		closedir(d);
		if (replay_check)
			replay_check();
	}
	/* Few bytes are an input of each fuzzer. */
	CHECK_EQ(LLVMFuzzerTestOneInput((const uint8_t *)"", 0), 0);
	return check_done(name);
}
