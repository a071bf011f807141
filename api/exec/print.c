/* printf of kernels, from words of 64 bits: a format, then the arguments. A text takes as many words as it needs
 * with its terminator; any other argument takes one. */
#include <limits.h>
#include <string.h>

#include "drv/cancel.h"
#include "api/exec/print.h"

struct print {
	FILE *to;
	const uint64_t *at, *end; /* unread arguments */
	int written;              /* characters; negative: an error */
};

static void written_add(struct print *p, int written)
{
	if (written < 0 || p->written < 0 || __builtin_add_overflow(p->written, written, &p->written))
		p->written = -1;
}

static uint64_t next_word(struct print *p)
{
	return p->at < p->end ? *p->at++ : 0;
}

static const char *next_text(struct print *p)
{
	const char *text = (const char *)p->at;
	size_t words = strnlen(text, (size_t)(p->end - p->at) * 8) / 8 + 1;

	if (p->at >= p->end)
		return "";
	p->at = words > (size_t)(p->end - p->at) ? p->end : p->at + words;
	return text;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
/* Prints one conversion. Stars for width and precision take arguments first, as ints. */
#define PRINT(value)                                                                                               \
	(stars == 0   ? fprintf(p->to, spec, value)                                                                \
	 : stars == 1 ? fprintf(p->to, spec, star[0], value)                                                       \
		      : fprintf(p->to, spec, star[0], star[1], value))
static void conversion_print(struct print *p, const char *spec, unsigned stars)
{
	int star[2];
	double real;
	uint64_t word;

	for (unsigned i = 0; i < stars; i++)
		star[i] = (int)next_word(p);
	switch (spec[strlen(spec) - 1]) {
	case 's':
		written_add(p, PRINT(next_text(p)));
		break;
	case 'p':
		written_add(p, PRINT((void *)(uintptr_t)next_word(p)));
		break;
	case 'n':
		(void)next_word(p);
		break;
	case 'c':
		written_add(p, PRINT((int)next_word(p)));
		break;
	case 'd':
	case 'i':
	case 'o':
	case 'u':
	case 'x':
	case 'X':
		word = next_word(p);
		written_add(p, PRINT(word));
		break;
	default:
		word = next_word(p);
		memcpy(&real, &word, sizeof(real));
		written_add(p, PRINT(real));
		break;
	}
}
#pragma GCC diagnostic pop

#define DIGITS  "0123456789"
#define LENGTHS "hlLqjzt" /* length modifiers */

static size_t number_length(const char *text)
{
	return *text == '*' ? 1 : strspn(text, DIGITS);
}

/* Length from '%' to the conversion letter. 0: no conversion of C begins here. The text is a kernel's: what the C
 * library's printf understands beyond C, such as "%2$s", would read arguments that are not there. */
static size_t spec_length(const char *spec)
{
	const char *at = spec + 1;

	at += strspn(at, "-+ #0'");
	at += number_length(at);
	if (*at == '.')
		at += 1 + number_length(at + 1);
	at += strspn(at, LENGTHS);
	return *at && strchr("diouxXfFeEgGaAcspn%", *at) ? (size_t)(at - spec) + 1 : 0;
}

static void print_spec(struct print *p, const char *spec, size_t length)
{
	const char letter = spec[length - 1];
	size_t kept = length - 1;
	char copy[64];
	unsigned stars = 0;

	if (letter == '%') {
		written_add(p, fputc('%', p->to) == EOF ? -1 : 1);
		return;
	}
	/* Kernels have one type of text and one of reals: a length counts for integers only. */
	if (!strchr("diouxX", letter))
		kept = strcspn(spec, LENGTHS) < kept ? strcspn(spec, LENGTHS) : kept;
	if (kept + 1 >= sizeof(copy))
		return;
	memcpy(copy, spec, kept);
	copy[kept] = letter;
	copy[kept + 1] = 0;
	for (size_t i = 0; i < kept; i++)
		stars += copy[i] == '*';
	conversion_print(p, copy, stars);
}

static void plain_print(struct print *p, const char *text, size_t length)
{
	written_add(p, length <= INT_MAX && fwrite(text, 1, length, p->to) == length ? (int)length : -1);
}

/* A '%' that begins no conversion is plain text. */
static int print_all(struct print *p, const char *format)
{
	while (*format && p->written >= 0) {
		size_t spec = *format == '%' ? spec_length(format) : 0;
		size_t plain = 1 + strcspn(format + 1, "%");

		if (spec)
			print_spec(p, format, spec);
		else
			plain_print(p, format, plain);
		format += spec ? spec : plain;
	}
	return p->written;
}

int hip_print(FILE *to, const char *format, const uint64_t *words, const uint64_t *end)
{
	DRV_HOLD_CANCEL;
	struct print p = {to, words, end, 0};

	return print_all(&p, format);
}

int hip_print_words(FILE *to, const uint64_t *words, const uint64_t *end)
{
	DRV_HOLD_CANCEL;
	struct print p = {to, words, end, 0};

	return print_all(&p, next_text(&p));
}
