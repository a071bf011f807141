/* Internal interface of `tuff info`. One thread. */
#ifndef TOOLS_INFO_H
#define TOOLS_INFO_H

#include "drv/drv.h"
#include "tools/sheet.h"

/* A device under inspection. */
struct info_device {
	struct drv_device *dev; /* owned */
	struct drv_place place;
};

/* Prints a dozen lines: verdict, chip, memory, link. */
void info_print_brief(const struct info_device *d);

/* Adds all known facts of a device. */
void info_put_device(struct sheet *s, const struct info_device *d);

/* Adds the host's NUMA nodes, and the links between devices and nodes. */
void info_put_host(const struct drv_host *host, json_object *object);
void info_put_links(const struct drv_host *host, const struct info_device *devices, unsigned count,
		    json_object *object);

#endif
