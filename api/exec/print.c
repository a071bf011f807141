/* printf of kernels, from words of 64 bits: a format, then the arguments. A text takes as many words as it needs
 * with its terminator; any other argument takes one. */
#include <string.h>

#include "api/exec/print.h"

struct print {
	FILE *to;
	const uint64_t *at, *end; /* unread arguments */
	int written;              /* characters; negative: an error */
};

static void written_add(struct print *p, int written)
{
	p->written = written < 0 || p->written < 0 ? -1 : p->written + written;
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

/* Length from '%' to the conversion letter. 0: no letter follows. */
static size_t spec_length(const char *spec)
{
	size_t length = 1 + strcspn(spec + 1, "diouxXfFeEgGaAcspn%");

	return spec[length] ? length + 1 : 0;
}

static void print_spec(struct print *p, const char *spec, size_t length)
{
	char copy[64];
	unsigned stars = 0;

	if (spec[length - 1] == '%') {
		written_add(p, fputc('%', p->to) == EOF ? -1 : 1);
		return;
	}
	if (length >= sizeof(copy))
		return;
	memcpy(copy, spec, length);
	copy[length] = 0;
	for (size_t i = 0; i < length; i++)
		stars += copy[i] == '*';
	if (stars <= 2)
		conversion_print(p, copy, stars);
}

static int print_all(struct print *p, const char *format)
{
	while (*format && p->written >= 0) {
		size_t plain = strcspn(format, "%"), length;

		if (plain)
			written_add(p, fwrite(format, 1, plain, p->to) == plain ? (int)plain : -1);
		format += plain;
		length = *format ? spec_length(format) : 0;
		if (!length)
			break;
		print_spec(p, format, length);
		format += length;
	}
	return p->written;
}

int hip_print(FILE *to, const char *format, const uint64_t *words, const uint64_t *end)
{
	struct print p = {to, words, end, 0};

	return print_all(&p, format);
}

int hip_print_words(FILE *to, const uint64_t *words, const uint64_t *end)
{
	struct print p = {to, words, end, 0};

	return print_all(&p, next_text(&p));
}
