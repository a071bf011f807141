/* printf of kernels: what the formats of C print, and formats of C's library that ask for arguments which are not
 * there. */
#include <stdlib.h>
#include <string.h>

#include "api/exec/print.h"
#include "tests/check.h"

/* The word behind the arguments is 0, as the caller promises. */
static char *printed(const char *format, const uint64_t *words, size_t count, int *result)
{
	uint64_t *copy = calloc(count + 1, sizeof(*copy));
	char *text = NULL;
	size_t size_B;
	FILE *to = open_memstream(&text, &size_B);

	if (count)
		memcpy(copy, words, count * sizeof(*copy));
	*result = hip_print(to, format, copy, copy + count);
	fclose(to);
	free(copy);
	return text;
}

static void prints(const char *format, const uint64_t *words, size_t count, const char *want)
{
	int result;
	char *text = printed(format, words, count, &result);

	CHECK_STR(text, want);
	CHECK_EQ(result, strlen(want));
	free(text);
}

static uint64_t word_of(const char *text)
{
	uint64_t word = 0;

	memcpy(&word, text, strlen(text));
	return word;
}

static uint64_t word_of_real(double real)
{
	uint64_t word;

	memcpy(&word, &real, sizeof(word));
	return word;
}

static void conversions_of_c_print(void)
{
	const uint64_t words[] = {42, word_of("text"), word_of_real(2.5), 7};

	prints("no conversion", NULL, 0, "no conversion");
	prints("%d|%s|%5.2f|%-3u|", words, 4, "42|text| 2.50|7  |");
	prints("%*d|%%", (const uint64_t[]){5, 42}, 2, "   42|%");
	prints("%+.*e", (const uint64_t[]){1, word_of_real(2.5)}, 2, "+2.5e+00");
	prints("%hhd %lld %zx", (const uint64_t[]){0x1ff, 1ull << 40, 255}, 3, "-1 1099511627776 ff");
	prints("%d %d", words, 1, "42 0"); /* a missing argument is 0 */
}

/* Kernels have no wide text, and their long double is a double. */
static void lengths_of_texts_and_reals_are_ignored(void)
{
	prints("%ls|", (const uint64_t[]){word_of("text")}, 1, "text|");
	prints("%ls|", NULL, 0, "|");
	prints("%Lf", (const uint64_t[]){word_of_real(2.5)}, 1, "2.500000");
}

/* Each would have the C library read a pointer that nobody passed. */
static void formats_beyond_c_are_text(void)
{
	const uint64_t words[] = {1, 2};

	prints("%2$s", words, 2, "%2$s");
	prints("%1$*2$d", words, 2, "%1$*2$d");
	prints("%*1$s|%d", words, 2, "%*1$s|1");
	prints("%S %d", words, 2, "%S 1");
	prints("%m%C%d", words, 2, "%m%C1");
	prints("%***d", words, 2, "%***d");
	prints("%5.", words, 2, "%5.");
	prints("%", words, 2, "%");
}

/* What C returns for a text that an int cannot count. */
static void too_many_characters_are_an_error(void)
{
	FILE *null = fopen("/dev/null", "w");
	const uint64_t words[] = {1, 2};

	CHECK(hip_print(null, "%1500000000d%1500000000d", words, words + 2) < 0);
	fclose(null);
}

int main(void)
{
	conversions_of_c_print();
	lengths_of_texts_and_reals_are_ignored();
	formats_beyond_c_are_text();
	too_many_characters_are_an_error();
	return check_done("printf of kernels");
}
