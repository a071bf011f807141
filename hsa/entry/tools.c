#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "drv/config.h"
#include "hsa/core/table.h"

/* What tools export. OnLoad gets the live table, its major version, and the names of those that failed before it.
 */
typedef bool on_load_fn(HsaApiTable *table, uint64_t runtime_version, uint64_t failed_count,
			const char *const *failed_names);
typedef void on_unload_fn(void);
#define PRIORITY "HSA_AMD_TOOL_PRIORITY" /* uint32_t; small ones are loaded first */

/* Tools of the process that call themselves so come behind those that the variable names. */
#define ORDER_FOUND (1ull << 32)

struct tool {
	void *library;  /* owned: a handle of dlopen(); NULL: it failed */
	char *name;     /* owned */
	uint64_t order; /* the variable's, or ORDER_FOUND and the priority */
};

struct tools {
	struct tool *tool; /* owned; [count] */
	size_t count;
};

/* Between hsa_tools_load() and hsa_tools_unload(), which rt_lock keeps apart. */
static struct tools loaded;
static struct rt_tables saved; /* the table before any tool saw it */

/* Takes name over, also when it fails. Without a library when there is none: told to the others as failed. */
static int add(struct tools *tools, char *name, void *library, uint64_t order)
{
	struct tool *grown = name ? realloc(tools->tool, (tools->count + 1) * sizeof(*grown)) : NULL;

	if (!grown) {
		free(name);
		if (library)
			dlclose(library);
		return drv_fail(-ENOMEM, "no memory for the list of tools");
	}
	tools->tool = grown;
	grown[tools->count++] = (struct tool){library, name, order};
	return 0;
}

static void forget(struct tools *tools)
{
	for (size_t i = 0; i < tools->count; i++) {
		if (tools->tool[i].library)
			dlclose(tools->tool[i].library);
		free(tools->tool[i].name);
	}
	free(tools->tool);
	*tools = (struct tools){0};
}

/* The next of the names at *text, which spaces separate; quotes hold spaces, a backslash takes the next character
 * as it is. "": there is none. NULL: no memory. */
static char *next_name(const char **text)
{
	const char *at = *text + strspn(*text, " ");
	char *name = malloc(strlen(at) + 1), *end = name;

	if (!name)
		return NULL;
	for (bool quoted = false; *at && (quoted || *at != ' '); at++) {
		if (*at == '"') {
			quoted = !quoted;
			continue;
		}
		at += *at == '\\' && at[1];
		*end++ = *at;
	}
	*end = 0;
	*text = at;
	return name;
}

static int open_named(const char *text, struct tools *tools)
{
	int r = 0;

	for (char *name; !r; r = add(tools, name, dlopen(name, RTLD_LAZY), tools->count)) {
		name = next_name(&text);
		if (name && !*name) {
			free(name);
			return 0;
		}
		if (!name)
			return drv_fail(-ENOMEM, "no memory for the list of tools");
	}
	return r;
}

/* A library's own symbol, and not one of a library that it needs. */
static const uint32_t *priority_of(void *library)
{
	const uint32_t *priority = dlsym(library, PRIORITY);
	struct link_map *map, *of;
	Dl_info info;

	if (!priority || dlinfo(library, RTLD_DI_LINKMAP, &map) ||
	    !dladdr1(priority, &info, (void **)&of, RTLD_DL_LINKMAP))
		return NULL;
	return of == map ? priority : NULL;
}

static int note_library(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	return info->dlpi_name[0] ? add(data, strdup(info->dlpi_name), NULL, 0) : 0;
}

/* What is in the process already. Two steps, because dlopen() does not belong into dl_iterate_phdr(). */
static int open_found(struct tools *tools)
{
	struct tools libraries = {0};
	int r = dl_iterate_phdr(note_library, &libraries);

	for (size_t i = 0; !r && i < libraries.count; i++) {
		void *library = dlopen(libraries.tool[i].name, RTLD_LAZY | RTLD_NOLOAD);
		const uint32_t *priority = library ? priority_of(library) : NULL;

		if (priority)
			r = add(tools, strdup(libraries.tool[i].name), library, ORDER_FOUND + *priority);
		else if (library)
			dlclose(library);
	}
	forget(&libraries);
	return r;
}

static int by_order(const void *a, const void *b)
{
	const struct tool *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

static bool is_loaded(void *library)
{
	for (size_t i = 0; i < loaded.count; i++)
		if (loaded.tool[i].library == library)
			return true;
	return false;
}

/* Hands the table to a tool. False: it has none of our functions, or does not want to. */
static bool start(const struct tool *tool, const struct tools *failed, const char **names)
{
	on_load_fn *on_load = tool->library ? (on_load_fn *)dlsym(tool->library, "OnLoad") : NULL;

	for (size_t i = 0; i < failed->count; i++)
		names[i] = failed->tool[i].name;
	return on_load && on_load(&rt_tables.root, rt_tables.root.version.major_id, failed->count, names);
}

/* Empties `tools` into those that run, and drops the rest. */
static int start_all(struct tools *tools)
{
	const char **names = calloc(tools->count, sizeof(*names)); /* of failed, for OnLoad */
	struct tools failed = {0};
	int r = names ? 0 : drv_fail(-ENOMEM, "no memory for the list of tools");

	for (size_t i = 0; !r && i < tools->count; i++) {
		struct tool tool = tools->tool[i];

		tools->tool[i] = (struct tool){0};
		if (tool.library && is_loaded(tool.library)) {
			dlclose(tool.library);
			free(tool.name);
		} else if (start(&tool, &failed, names)) {
			r = add(&loaded, tool.name, tool.library, tool.order);
		} else {
			(void)drv_fail(-ENOEXEC, "the tool %s cannot be loaded, or does not want to be", tool.name);
			r = add(&failed, tool.name, tool.library, tool.order);
		}
	}
	forget(&failed);
	free(names);
	return r;
}

int hsa_tools_load(void)
{
	const char *text = drv_config()->tools;
	struct tools tools = {0};
	int r = open_named(text ? text : "", &tools);

	r = r ? r : open_found(&tools);
	if (!r && tools.count) {
		saved = rt_tables;
		qsort(tools.tool, tools.count, sizeof(*tools.tool), by_order);
		r = start_all(&tools);
	}
	forget(&tools);
	if (r)
		hsa_tools_unload();
	return r;
}

void hsa_tools_unload(void)
{
	for (size_t i = loaded.count; i-- > 0;) {
		on_unload_fn *on_unload = (on_unload_fn *)dlsym(loaded.tool[i].library, "OnUnload");

		if (on_unload)
			on_unload();
	}
	if (saved.root.core_) /* also when a tool changed it and then refused */
		rt_tables = saved;
	saved = (struct rt_tables){0};
	forget(&loaded);
}
