#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "drv/config.h"
#include "hsa/core/table.h"

/* Functions that tools export. OnLoad gets the live table, its major version, and the names of the tools that
 * failed before. */
typedef bool on_load_fn(HsaApiTable *table, uint64_t runtime_version, uint64_t failed_count,
			const char *const *failed_names);
typedef void on_unload_fn(void);
#define PRIORITY "HSA_AMD_TOOL_PRIORITY" /* uint32_t; tools with small ones are loaded first */

/* Order of the tools found in the process: after those that the variable names. */
#define ORDER_FOUND (1ull << 32)

struct tool {
	void *library;  /* owned: a handle of dlopen(); NULL: loading failed */
	char *name;     /* owned */
	uint64_t order; /* the position in the variable, or ORDER_FOUND plus the priority */
};

struct tools {
	struct tool *tool; /* owned; [count] */
	size_t count;
};

/* The loaded tools, from hsa_tools_load() to hsa_tools_unload(); rt_lock keeps the two apart. */
static struct tools loaded;
static struct rt_tables saved; /* the table before any tool changed it */

/* Adds a tool. Takes over the name, also on failure. library NULL: the tool is reported to the others as failed. */
static int tools_add(struct tools *tools, char *name, void *library, uint64_t order)
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

static void tools_free(struct tools *tools)
{
	for (size_t i = 0; i < tools->count; i++) {
		if (tools->tool[i].library)
			dlclose(tools->tool[i].library);
		free(tools->tool[i].name);
	}
	free(tools->tool);
	*tools = (struct tools){0};
}

/* Parses the next name at *text. Spaces separate names; quotes protect spaces, a backslash the next character. "":
 * there is none. NULL: no memory. */
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

	for (char *name; !r; r = tools_add(tools, name, dlopen(name, RTLD_LAZY), tools->count)) {
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

/* The library's own symbol, not that of a library it depends on. */
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

static int add_library(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	return info->dlpi_name[0] ? tools_add(data, strdup(info->dlpi_name), NULL, 0) : 0;
}

/* Finds tools among the process's libraries. In two steps, because dlopen() must not be called in
 * dl_iterate_phdr(). */
static int open_found(struct tools *tools)
{
	struct tools libraries = {0};
	int r = dl_iterate_phdr(add_library, &libraries);

	for (size_t i = 0; !r && i < libraries.count; i++) {
		void *library = dlopen(libraries.tool[i].name, RTLD_LAZY | RTLD_NOLOAD);
		const uint32_t *priority = library ? priority_of(library) : NULL;

		if (priority)
			r = tools_add(tools, strdup(libraries.tool[i].name), library, ORDER_FOUND + *priority);
		else if (library)
			dlclose(library);
	}
	tools_free(&libraries);
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

/* Calls a tool's OnLoad. False: the tool has none, or it failed. */
static bool tool_start(const struct tool *tool, const struct tools *failed, const char **names)
{
	on_load_fn *on_load = tool->library ? (on_load_fn *)dlsym(tool->library, "OnLoad") : NULL;

	for (size_t i = 0; i < failed->count; i++)
		names[i] = failed->tool[i].name;
	return on_load && on_load(&rt_tables.root, rt_tables.root.version.major_id, failed->count, names);
}

/* Starts the tools: moves those that run to `loaded`, and drops the others. */
static int tools_start_all(struct tools *tools)
{
	const char **names = calloc(tools->count, sizeof(*names)); /* names of the failed tools, for OnLoad */
	struct tools failed = {0};
	int r = names ? 0 : drv_fail(-ENOMEM, "no memory for the list of tools");

	for (size_t i = 0; !r && i < tools->count; i++) {
		struct tool tool = tools->tool[i];

		tools->tool[i] = (struct tool){0};
		if (tool.library && is_loaded(tool.library)) {
			dlclose(tool.library);
			free(tool.name);
		} else if (tool_start(&tool, &failed, names)) {
			r = tools_add(&loaded, tool.name, tool.library, tool.order);
		} else {
			(void)drv_fail(-ENOEXEC, "the tool %s cannot be loaded, or does not want to be", tool.name);
			r = tools_add(&failed, tool.name, tool.library, tool.order);
		}
	}
	tools_free(&failed);
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
		r = tools_start_all(&tools);
	}
	tools_free(&tools);
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
	if (saved.root.core_) /* also if a tool changed the table and failed */
		rt_tables = saved;
	saved = (struct rt_tables){0};
	tools_free(&loaded);
}
