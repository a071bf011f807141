/* The runtime library of the sanitizer that the program was built with, if it has one. */
#include <link.h>
#include "vgpu/shim/shim.h"

/* [begin, end): empty without a sanitizer. Written before a run becomes active. */
static const char *begin, *end;

void shim_sanitizer_find(void)
{
	/* Each runtime exports it. */
	void *known = dlsym(RTLD_DEFAULT, "__sanitizer_set_report_path");
	struct dl_find_object object;

	/* A runtime that is linked statically is part of the program, whose calls cannot be told from its own. */
	if (!known || _dl_find_object(known, &object) || !object.dlfo_link_map->l_name[0])
		return;
	begin = object.dlfo_map_start;
	end = object.dlfo_map_end;
}

bool shim_in_sanitizer(const void *code)
{
	return (const char *)code >= begin && (const char *)code < end;
}
