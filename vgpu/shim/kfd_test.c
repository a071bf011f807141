/* What programs read of KFD's topology: nodes, links, memory, caches. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/check.h"
#include "vgpu/vgpu.h"

#define TOPOLOGY "/sys/class/kfd/kfd/topology/"

/* The file's text, without the last line end; "" when it is not there. */
static const char *read_text(const char *name)
{
	static char text[8192];
	char path[256];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), TOPOLOGY "%s", name);
	f = fopen(path, "r");
	n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	if (f)
		fclose(f);
	text[n && text[n - 1] == '\n' ? n - 1 : n] = 0;
	return text;
}

/* A property of nodes/`where`/properties; -1: it is not there. */
static long long property(const char *where, const char *name)
{
	char file[128];
	const char *at;
	size_t length = strlen(name);

	snprintf(file, sizeof(file), "nodes/%s/properties", where);
	at = read_text(file);
	while (strncmp(at, name, length) || at[length] != ' ') {
		at = strchr(at, '\n');
		if (!at++)
			return -1;
	}
	return strtoll(at + length, NULL, 10);
}

static int entries(const char *name)
{
	char path[256];
	struct dirent *entry;
	int count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), TOPOLOGY "nodes/%s", name);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return dir ? count : -1;
}

/* row 175 */
static void a_card_is_a_node(void)
{
	CHECK_EQ(vgpu_start("gfx908:kernel=6.1"), 0);
	CHECK_EQ(entries(""), 2);
	CHECK_STR(read_text("generation_id"), "2");
	CHECK(strstr(read_text("system_properties"), "platform_rev "));
	CHECK_STR(read_text("nodes/0/gpu_id"), "0");
	CHECK_EQ(property("0", "cpu_cores_count"), sysconf(_SC_NPROCESSORS_CONF));
	CHECK_EQ(property("0", "simd_count"), 0);
	CHECK(property("0/mem_banks/0", "size_in_bytes") > 0);
	CHECK_STR(read_text("nodes/1/name"), "arcturus");
	CHECK(atoi(read_text("nodes/1/gpu_id")) > 0);
	CHECK_EQ(property("1", "simd_count"), 480);
	CHECK_EQ(property("1", "gfx_target_version"), 90008);
	CHECK_EQ(property("1", "drm_render_minor"), 128);
	CHECK_EQ(property("1", "location_id"), 3 << 8);
	CHECK_EQ(property("1", "max_waves_per_simd"), 10);
	CHECK_EQ(property("1", "num_sdma_engines"), 2);
	CHECK_EQ(property("1", "num_sdma_xgmi_engines"), 6);
	CHECK_EQ(property("1", "max_engine_clk_fcompute"), 1502);
	CHECK_EQ(property("1/mem_banks/0", "heap_type"), 1);
	CHECK_EQ(property("1/mem_banks/0", "size_in_bytes"), 32ll << 30);
	CHECK_EQ(property("1/mem_banks/0", "mem_clk_max"), 1200);
	vgpu_stop();
}

/* row 175 */
static void caches_are_those_of_active_units(void)
{
	char name[32];
	long long data = 0, l2 = -1;

	CHECK_EQ(vgpu_start("gfx908"), 0);
	CHECK_EQ(property("1", "caches_count"), entries("1/caches"));
	for (int i = 0; i < entries("1/caches"); i++) {
		snprintf(name, sizeof(name), "1/caches/%d", i);
		data += property(name, "level") == 1 && property(name, "type") == 9 &&
			property(name, "size") == 16 &&
			strstr(read_text("nodes/1/caches/0/properties"), "sibling_map 1,0");
		if (property(name, "level") == 2)
			l2 = property(name, "size");
	}
	/* One for each of 120 units, and one scalar cache for three units of an array of 15, in which one of six has one. */
	CHECK_EQ(data, 120 + 8 * 5);
	CHECK_EQ(l2, 8192);
	vgpu_stop();
}

/* row 175 */
static void links_go_both_ways_where_the_cpu_reaches_all(void)
{
	CHECK_EQ(vgpu_start("gfx900,gfx1030"), 0);
	CHECK_STR(read_text("nodes/1/name"), "vega10");
	CHECK_EQ(property("1/mem_banks/0", "heap_type"), 2); /* a small BAR */
	CHECK_EQ(property("2/mem_banks/0", "heap_type"), 1);
	CHECK_EQ(property("1/io_links/0", "node_to"), 0);
	CHECK_EQ(property("1/io_links/0", "type"), 2);
	CHECK_EQ(property("1/io_links/0", "weight"), 20);
	CHECK_EQ(property("1/io_links/0", "max_bandwidth"), 16 * 8000 / 8);
	CHECK_EQ(property("1/io_links/0", "flags"), 1);
	CHECK_EQ(property("0", "io_links_count"), 1);
	CHECK_EQ(entries("0/io_links"), 1);
	CHECK_EQ(property("0/io_links/0", "node_to"), 2);
	CHECK_EQ(property("0/io_links/0", "flags"), 3);
	CHECK_EQ(property("2", "location_id"), 4 << 8);
	CHECK_EQ(property("2", "drm_render_minor"), 129);
	CHECK_EQ(property("2", "simd_id_base"), property("1", "simd_id_base") + 64);
	vgpu_stop();
}

/* row 175 */
static void a_hive_has_links_of_its_own(void)
{
	char first[16];

	CHECK_EQ(vgpu_start("gfx906:hive=7,gfx90a:hive=9,gfx906:hive=7,gfx90a:hive=9"), 0);
	CHECK_EQ(property("1", "hive_id"), 7);
	CHECK_EQ(property("1", "io_links_count"), 2);
	CHECK_EQ(property("1/io_links/1", "type"), 11);
	CHECK_EQ(property("1/io_links/1", "node_to"), 3);
	CHECK_EQ(property("1/io_links/1", "weight"), 15);
	CHECK_EQ(property("1/io_links/1", "flags"), 3); /* Vega 20 is not coherent */
	CHECK_EQ(property("3/io_links/1", "node_to"), 1);
	CHECK_EQ(property("4/io_links/1", "node_to"), 2);
	CHECK_EQ(property("4/io_links/1", "max_bandwidth"), 100000);
	CHECK_EQ(property("4/io_links/1", "flags"), 1);
	snprintf(first, sizeof(first), "%s", read_text("nodes/1/gpu_id"));
	CHECK(strcmp(first, read_text("nodes/3/gpu_id")));
	vgpu_stop();
}

/* row 175 */
static void a_partition_is_a_node(void)
{
	CHECK_EQ(vgpu_start("null:gfx942:partition=qpx,null:gfx1102"), 0);
	CHECK_EQ(entries(""), 1 + 4 + 1);
	CHECK_EQ(property("4", "num_xcc"), 2);
	CHECK_EQ(property("4", "location_id"), 3 << 8 | 3);
	CHECK_EQ(property("4", "drm_render_minor"), 131);
	CHECK_EQ(property("4/mem_banks/0", "size_in_bytes"), property("1/mem_banks/0", "size_in_bytes"));
	CHECK_EQ(property("5", "drm_render_minor"), 136);
	CHECK_EQ(property("5", "gfx_target_version"), 110002);
	CHECK_EQ(property("5", "num_xcc"), 1);
	vgpu_stop();
}

/* Processes that look at the same time see the whole of it. */
static void one_process_builds_it_for_all(void)
{
	pid_t child[3];
	int status;

	CHECK_EQ(vgpu_start("gfx908"), 0);
	for (int i = 0; i < 3; i++) {
		child[i] = fork();
		if (!child[i])
			_exit(property("1/caches/200", "level") == 2 && entries("1/caches") == 201 ? 0 : 1);
	}
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(waitpid(child[i], &status, 0), child[i]);
		CHECK_EQ(status, 0);
	}
	CHECK_EQ(property("1/caches/200", "level"), 2);
	vgpu_stop();
	CHECK_EQ(vgpu_start("gfx906"), 0); /* another run has its own */
	CHECK_STR(read_text("nodes/1/name"), "vega20");
	vgpu_stop();
}

int main(void)
{
	a_card_is_a_node();
	caches_are_those_of_active_units();
	links_go_both_ways_where_the_cpu_reaches_all();
	a_hive_has_links_of_its_own();
	a_partition_is_a_node();
	one_process_builds_it_for_all();
	return check_done("topology of KFD");
}
