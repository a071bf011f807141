/* MessagePack (msgpack.org), for untrusted bytes: kernel metadata, archives of code.
 *
 *   cs_msgpack  a cursor: the bytes that are not read yet; a value, whose bytes are borrowed
 *   cs_item     a header with its payload, or the number of elements that follow
 *
 * Bytes are read in place, by a cursor that never leaves them: Debian's MessagePack library allocates the size in an array's
 * header before it reads the content, gigabytes for five bytes. All functions are thread safe. */
#ifndef CS_MSGPACK_H
#define CS_MSGPACK_H

#include <stdbool.h>
#include <stdint.h>

struct cs_msgpack {
	const uint8_t *p, *end;
};

enum cs_item_kind { CS_ITEM_OTHER, CS_ITEM_NUMBER, CS_ITEM_TEXT, CS_ITEM_ARRAY, CS_ITEM_MAP };

struct cs_item {
	enum cs_item_kind kind;
	uint64_t n; /* a number's value, a text's length in bytes, or the number of elements, pairs for a map */
	const char *text; /* borrowed; without a terminating 0 */
};

/* Reads one item; false at the end or beyond it. */
bool cs_msgpack_read(struct cs_msgpack *c, struct cs_item *item);
/* Skips one item with all its elements. */
bool cs_msgpack_skip(struct cs_msgpack *c);
bool cs_msgpack_is(const struct cs_item *item, const char *text);
/* Finds a key of the map that begins at c; *value then points to its value. */
bool cs_msgpack_find(struct cs_msgpack c, const char *key, struct cs_msgpack *value);
/* Finds a key whose value is a text. */
bool cs_msgpack_text(struct cs_msgpack map, const char *key, struct cs_item *text);

#endif
