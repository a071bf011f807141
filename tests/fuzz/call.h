/* Tables of functions with the kinds of their arguments, each row a function that draws the arguments and calls. Arguments
 * are drawn in their order, whatever the compiler. */
#ifndef TESTS_FUZZ_CALL_H
#define TESTS_FUZZ_CALL_H

#define CALL_A(n, x)                                                   __auto_type a##n = x;
#define CALL_1(x)                                                      CALL_A(0, x)
#define CALL_2(x, ...)                                                 CALL_A(1, x) CALL_1(__VA_ARGS__)
#define CALL_3(x, ...)                                                 CALL_A(2, x) CALL_2(__VA_ARGS__)
#define CALL_4(x, ...)                                                 CALL_A(3, x) CALL_3(__VA_ARGS__)
#define CALL_5(x, ...)                                                 CALL_A(4, x) CALL_4(__VA_ARGS__)
#define CALL_6(x, ...)                                                 CALL_A(5, x) CALL_5(__VA_ARGS__)
#define CALL_7(x, ...)                                                 CALL_A(6, x) CALL_6(__VA_ARGS__)
#define CALL_8(x, ...)                                                 CALL_A(7, x) CALL_7(__VA_ARGS__)
#define CALL_9(x, ...)                                                 CALL_A(8, x) CALL_8(__VA_ARGS__)
#define CALL_10(x, ...)                                                CALL_A(9, x) CALL_9(__VA_ARGS__)
#define CALL_11(x, ...)                                                CALL_A(10, x) CALL_10(__VA_ARGS__)
#define CALL_12(x, ...)                                                CALL_A(11, x) CALL_11(__VA_ARGS__)
#define CALL_13(x, ...)                                                CALL_A(12, x) CALL_12(__VA_ARGS__)
#define CALL_14(x, ...)                                                CALL_A(13, x) CALL_13(__VA_ARGS__)
#define CALL_GIVE_1                                                    a0
#define CALL_GIVE_2                                                    a1, CALL_GIVE_1
#define CALL_GIVE_3                                                    a2, CALL_GIVE_2
#define CALL_GIVE_4                                                    a3, CALL_GIVE_3
#define CALL_GIVE_5                                                    a4, CALL_GIVE_4
#define CALL_GIVE_6                                                    a5, CALL_GIVE_5
#define CALL_GIVE_7                                                    a6, CALL_GIVE_6
#define CALL_GIVE_8                                                    a7, CALL_GIVE_7
#define CALL_GIVE_9                                                    a8, CALL_GIVE_8
#define CALL_GIVE_10                                                   a9, CALL_GIVE_9
#define CALL_GIVE_11                                                   a10, CALL_GIVE_10
#define CALL_GIVE_12                                                   a11, CALL_GIVE_11
#define CALL_GIVE_13                                                   a12, CALL_GIVE_12
#define CALL_GIVE_14                                                   a13, CALL_GIVE_13
#define CALL_NTH(a, b, c, d, e, f, g, h, i, j, k, l, m, n, count, ...) count
#define CALL_COUNT(...)                                                CALL_NTH(__VA_ARGS__, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define CALL_JOIN_(a, b)                                               a##b
#define CALL_JOIN(a, b)                                                CALL_JOIN_(a, b)
/* Declares and draws the arguments; gives them to the function. */
#define CALL_DRAW(...)       CALL_JOIN(CALL_, CALL_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define CALL_WITH(name, ...) name(CALL_JOIN(CALL_GIVE_, CALL_COUNT(__VA_ARGS__)))

/* The function of a row that returns a status, with which draw_keep_all() (draw.h) keeps what the call gave; of a row with another
 * result or none. */
#define CALL_STATUS(name, ...)                                                                                     \
	static void call_##name(void)                                                                              \
	{                                                                                                          \
		CALL_DRAW(__VA_ARGS__)                                                                             \
		draw_keep_all((int)CALL_WITH(name, __VA_ARGS__));                                                  \
	}
#define CALL_OTHER(name, ...)                                                                                      \
	static void call_##name(void)                                                                              \
	{                                                                                                          \
		CALL_DRAW(__VA_ARGS__)                                                                             \
		(void)CALL_WITH(name, __VA_ARGS__);                                                                \
		draw_keep_all(1);                                                                                  \
	}

#endif
