/* Archives of code and references to them (api/module/kpack.h), written for tests. For C and C++. */
#ifndef TESTS_KPACK_H
#define TESTS_KPACK_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define KPACK_ALIGN_B 64 /* of code objects in archives */

/* `at` goes on behind the end: what has no room is counted only. */
struct kpack_writer {
	uint8_t *begin;
	size_t size_B, at;
};

static inline void kpack_put(struct kpack_writer *w, const void *bytes, size_t size_B)
{
	if (w->at <= w->size_B && size_B <= w->size_B - w->at)
		memcpy(w->begin + w->at, bytes, size_B);
	w->at += size_B;
}

static inline void kpack_align(struct kpack_writer *w)
{
	while (w->at % KPACK_ALIGN_B)
		kpack_put(w, "", 1);
}

/* A MessagePack header of 1 + width_B bytes. */
static inline void kpack_head(struct kpack_writer *w, unsigned format, uint64_t n, unsigned width_B)
{
	uint8_t byte = (uint8_t)format;

	kpack_put(w, &byte, 1);
	while (width_B--) {
		byte = (uint8_t)(n >> 8 * width_B);
		kpack_put(w, &byte, 1);
	}
}

static inline void kpack_text(struct kpack_writer *w, const char *text)
{
	size_t length = strlen(text);

	kpack_head(w, length < 32 ? 0xa0 | (unsigned)length : 0xda, length, length < 32 ? 0 : 2);
	kpack_put(w, text, length);
}

static inline void kpack_number(struct kpack_writer *w, const char *key, uint64_t n)
{
	kpack_text(w, key);
	kpack_head(w, n < 128 ? (unsigned)n : 0xcf, n, n < 128 ? 0 : 8);
}

static inline void kpack_reference_put(struct kpack_writer *w, const char *name, const char *const *paths,
				       unsigned count)
{
	kpack_head(w, 0x82, 0, 0);
	kpack_text(w, "kpack_search_paths");
	kpack_head(w, 0xdc, count, 2);
	for (unsigned i = 0; i < count; i++)
		kpack_text(w, paths[i]);
	kpack_text(w, "kernel_name");
	kpack_text(w, name);
}

#define KPACK_ITEMS_MAX 8

/* A code object; items of the same key follow one another. */
struct kpack_item {
	const char *key, *target;
	const void *code;
	size_t code_B;
	size_t offset_B, stored_B; /* set by the writer */
};

typedef size_t kpack_compress(void *to, size_t to_B, const void *from, size_t from_B, int level);

static inline kpack_compress *kpack_zstd(void)
{
	void *library = dlopen("libzstd.so.1", RTLD_NOW);

	return library ? (kpack_compress *)(uintptr_t)dlsym(library, "ZSTD_compress") : NULL;
}

static inline void kpack_put_code(struct kpack_writer *w, struct kpack_item *item, bool zstd)
{
	kpack_compress *compress = zstd ? kpack_zstd() : NULL;
	uint32_t size_B;

	if (!zstd) {
		kpack_align(w);
		item->offset_B = w->at;
		item->stored_B = item->code_B;
		kpack_put(w, item->code, item->code_B);
		return;
	}
	item->stored_B = compress && w->at + 4 < w->size_B ? compress(w->begin + w->at + 4, w->size_B - w->at - 4,
								      item->code, item->code_B, 3)
							   : 0;
	size_B = (uint32_t)item->stored_B;
	kpack_put(w, &size_B, sizeof(size_B));
	w->at += item->stored_B;
}

static inline void kpack_put_contents(struct kpack_writer *w, const struct kpack_item *items, unsigned count)
{
	unsigned keys = 0;

	for (unsigned i = 0; i < count; i++)
		keys += !i || strcmp(items[i].key, items[i - 1].key);
	kpack_text(w, "toc");
	kpack_head(w, 0xde, keys, 2);
	for (unsigned i = 0, last; i < count; i = last) {
		for (last = i + 1; last < count && !strcmp(items[last].key, items[i].key);)
			last++;
		kpack_text(w, items[i].key);
		kpack_head(w, 0x80 | (last - i), 0, 0);
		for (unsigned k = i; k < last; k++) {
			kpack_text(w, items[k].target);
			kpack_head(w, 0x83, 0, 0);
			kpack_text(w, "type");
			kpack_text(w, "hsaco");
			kpack_number(w, "ordinal", k);
			kpack_number(w, "original_size", items[k].code_B);
		}
	}
}

/* Writes an archive, and returns its size; more than size_B: it has no room. */
static inline size_t kpack_archive(uint8_t *to, size_t size_B, struct kpack_item *items, unsigned count, bool zstd)
{
	struct kpack_writer w = {to, size_B, 0};
	const uint32_t version = 1;
	uint64_t table = 0;
	size_t region;

	kpack_put(&w, "KPAK", 4);
	kpack_put(&w, &version, sizeof(version));
	kpack_put(&w, &table, sizeof(table));
	kpack_align(&w);
	region = w.at;
	if (zstd)
		kpack_put(&w, &count, sizeof(count));
	for (unsigned i = 0; i < count; i++)
		kpack_put_code(&w, &items[i], zstd);
	table = w.at;
	kpack_head(&w, 0x80 | (zstd ? 5 : 4), 0, 0);
	kpack_number(&w, "format_version", 1);
	kpack_text(&w, "compression_scheme");
	kpack_text(&w, zstd ? "zstd-per-kernel" : "none");
	kpack_put_contents(&w, items, count);
	if (zstd) {
		kpack_number(&w, "zstd_offset", region);
		kpack_number(&w, "zstd_size", table - region);
	} else {
		kpack_text(&w, "blobs");
		kpack_head(&w, 0xdd, count, 4);
		for (unsigned i = 0; i < count; i++) {
			kpack_head(&w, 0x82, 0, 0);
			kpack_number(&w, "offset", items[i].offset_B);
			kpack_number(&w, "size", items[i].stored_B);
		}
	}
	if (size_B >= 16)
		memcpy(to + 8, &table, sizeof(table));
	return w.at;
}

#endif
