#include "cs/msgpack.h"

#include <string.h>

/* Formats 0xc4 to 0xdf: width of the number after the first byte, and size of the payload when that is fixed. */
static const struct {
	uint8_t kind, width_B, fixed_B;
	bool data; /* the number is the length of the payload */
} formats[] = {
	{CS_ITEM_OTHER, 1, 0, true},   {CS_ITEM_OTHER, 2, 0, true},   {CS_ITEM_OTHER, 4, 0, true}, /* bin */
	{CS_ITEM_OTHER, 1, 1, true},   {CS_ITEM_OTHER, 2, 1, true},   {CS_ITEM_OTHER, 4, 1, true}, /* ext */
	{CS_ITEM_OTHER, 4, 0, false},  {CS_ITEM_OTHER, 8, 0, false},                               /* float */
	{CS_ITEM_NUMBER, 1, 0, false}, {CS_ITEM_NUMBER, 2, 0, false},                              /* unsigned */
	{CS_ITEM_NUMBER, 4, 0, false}, {CS_ITEM_NUMBER, 8, 0, false}, {CS_ITEM_OTHER, 1, 0, false},
	{CS_ITEM_OTHER, 2, 0, false}, /* signed */
	{CS_ITEM_OTHER, 4, 0, false},  {CS_ITEM_OTHER, 8, 0, false},  {CS_ITEM_OTHER, 0, 2, false},
	{CS_ITEM_OTHER, 0, 3, false},  {CS_ITEM_OTHER, 0, 5, false}, /* fixext */
	{CS_ITEM_OTHER, 0, 9, false},  {CS_ITEM_OTHER, 0, 17, false}, {CS_ITEM_TEXT, 1, 0, true},
	{CS_ITEM_TEXT, 2, 0, true},    {CS_ITEM_TEXT, 4, 0, true},    {CS_ITEM_ARRAY, 2, 0, false},
	{CS_ITEM_ARRAY, 4, 0, false},  {CS_ITEM_MAP, 2, 0, false},    {CS_ITEM_MAP, 4, 0, false},
};

static bool take_bytes(struct cs_msgpack *c, uint64_t size_B)
{
	if (size_B > (uint64_t)(c->end - c->p))
		return false;
	c->p += size_B;
	return true;
}

static struct cs_item small_item(uint8_t first)
{
	if (first < 0x80)
		return (struct cs_item){.kind = CS_ITEM_NUMBER, .n = first};
	if (first < 0x90)
		return (struct cs_item){.kind = CS_ITEM_MAP, .n = first & 0xf};
	if (first < 0xa0)
		return (struct cs_item){.kind = CS_ITEM_ARRAY, .n = first & 0xf};
	if (first < 0xc0)
		return (struct cs_item){.kind = CS_ITEM_TEXT, .n = first & 0x1f};
	return (struct cs_item){.kind = CS_ITEM_OTHER}; /* nil, booleans, small negative numbers */
}

bool cs_msgpack_read(struct cs_msgpack *c, struct cs_item *item)
{
	uint8_t first;
	uint64_t data_B;

	if (c->p == c->end)
		return false;
	first = *c->p++;
	if (first < 0xc4 || first >= 0xe0) {
		*item = small_item(first);
		data_B = item->kind == CS_ITEM_TEXT ? item->n : 0;
	} else {
		unsigned width_B = formats[first - 0xc4].width_B;

		*item = (struct cs_item){.kind = formats[first - 0xc4].kind};
		if (!take_bytes(c, width_B))
			return false;
		for (unsigned i = 0; i < width_B; i++)
			item->n = item->n << 8 | c->p[(int)i - (int)width_B];
		data_B = formats[first - 0xc4].fixed_B + (formats[first - 0xc4].data ? item->n : 0);
	}
	item->text = (const char *)c->p;
	return take_bytes(c, data_B);
}

bool cs_msgpack_skip(struct cs_msgpack *c)
{
	uint64_t left = 1;

	while (left--) {
		struct cs_item item;

		if (!cs_msgpack_read(c, &item))
			return false;
		left += item.kind == CS_ITEM_ARRAY ? item.n : item.kind == CS_ITEM_MAP ? 2 * item.n : 0;
	}
	return true;
}

bool cs_msgpack_is(const struct cs_item *item, const char *text)
{
	return item->kind == CS_ITEM_TEXT && item->n == strlen(text) && !memcmp(item->text, text, item->n);
}

bool cs_msgpack_find(struct cs_msgpack c, const char *key, struct cs_msgpack *value)
{
	struct cs_item map, name;

	if (!cs_msgpack_read(&c, &map) || map.kind != CS_ITEM_MAP)
		return false;
	for (uint64_t i = 0; i < map.n; i++) {
		if (!cs_msgpack_read(&c, &name))
			return false;
		*value = c;
		if (cs_msgpack_is(&name, key))
			return true;
		if (!cs_msgpack_skip(&c))
			return false;
	}
	return false;
}

bool cs_msgpack_text(struct cs_msgpack map, const char *key, struct cs_item *text)
{
	struct cs_msgpack value;

	return cs_msgpack_find(map, key, &value) && cs_msgpack_read(&value, text) && text->kind == CS_ITEM_TEXT;
}
