/* Checks for test programs. A test is a plain main: CHECKs, then return check_done("subject"). A failed check
 * prints its place and condition and the program continues; the exit status and the last line report it. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdio.h>
#include <string.h>

/* One pair for the whole program, whichever of its files and threads check. */
__attribute__((weak)) unsigned check_passed_, check_failed_;

/* True when cond holds. */
#define CHECK(cond) check_(!!(cond), __FILE__, __LINE__, #cond)
/* Compares integers and shows both. Like CHECK, an expression: true when it holds. */
#define CHECK_EQ(a, b)  check_eq_((long long)(a), (long long)(b), __FILE__, __LINE__, #a " == " #b)
#define CHECK_STR(a, b) check_str_(a, b, __FILE__, __LINE__)

static inline int check_(int ok, const char *file, int line, const char *text)
{
	__atomic_fetch_add(ok ? &check_passed_ : &check_failed_, 1, __ATOMIC_RELAXED);
	if (!ok) {
		printf("FAIL %s:%d: %s\n", file, line, text);
		fflush(stdout); /* the next line may crash */
	}
	return ok;
}

static inline int check_eq_(long long a, long long b, const char *file, int line, const char *text)
{
	int ok = check_(a == b, file, line, text);

	if (!ok)
		printf("  got %lld = 0x%llx, want %lld = 0x%llx\n", a, (unsigned long long)a, b,
		       (unsigned long long)b);
	return ok;
}

static inline void check_str_(const char *a, const char *b, const char *file, int line)
{
	int ok = a && b && !strcmp(a, b);
	check_(ok, file, line, "strings are equal");
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
