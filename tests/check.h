/* Checks for test programs. A test is a plain main: CHECKs, then return check_done("what it was about").
 *
 * A failed check prints where and what and the program goes on; the exit status and the last line tell. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdio.h>
#include <string.h>

static unsigned check_passed_, check_failed_;

#define CHECK(cond) check_(!!(cond), __FILE__, __LINE__, #cond, 0, 0, 0)
/* Compares integers and shows both. */
#define CHECK_EQ(a, b)                                                                                              \
	do {                                                                                                        \
		long long a_ = (long long)(a), b_ = (long long)(b);                                                 \
		check_(a_ == b_, __FILE__, __LINE__, #a " == " #b, 1, a_, b_);                                      \
	} while (0)
#define CHECK_STR(a, b) check_str_(a, b, __FILE__, __LINE__)

static inline int check_(int ok, const char *file, int line, const char *text, int values, long long a, long long b)
{
	if (ok) {
		check_passed_++;
		return 1;
	}
	check_failed_++;
	if (values)
		printf("FAIL %s:%d: %s (%lld = 0x%llx, %lld = 0x%llx)\n", file, line, text, a, (unsigned long long)a,
		       b, (unsigned long long)b);
	else
		printf("FAIL %s:%d: %s\n", file, line, text);
	fflush(stdout);
	return 0;
}

static inline void check_str_(const char *a, const char *b, const char *file, int line)
{
	int ok = a && b && !strcmp(a, b);
	check_(ok, file, line, "strings are equal", 0, 0, 0);
	if (!ok)
		printf("  got:  %s\n  want: %s\n", a ? a : "(null)", b ? b : "(null)");
}

/* Prints the closing line and gives the exit status. */
static inline int check_done(const char *what)
{
	printf("%s: %u checks passed, %u failed\n", what, check_passed_, check_failed_);
	return check_failed_ || !check_passed_;
}

#endif
