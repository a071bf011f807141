/* Configuration from the environment, read once, at the first call of anything in tuff. docs/variables.md lists the
 * variables; the table in config.c is where each is parsed. */
#ifndef DRV_CONFIG_H
#define DRV_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

/* TUFF_COPY: which engine copies, for tests and for hunting a fault. */
enum drv_copy_engine { DRV_COPY_AUTO, DRV_COPY_SDMA, DRV_COPY_SHADER, DRV_COPY_CPU };

struct drv_config {
	unsigned log; /* TUFF_LOG, enum drv_log_category */
	int log_fd;   /* TUFF_LOG_FILE; stderr otherwise */
	enum drv_copy_engine copy;
	uint32_t spin_us;     /* TUFF_SPIN_US: how long a wait polls before it sleeps */
	uint32_t staging_KiB; /* TUFF_STAGING_KIB: size of one staging buffer */
	char problem[160];    /* the first value that could not be understood and was ignored; "" if none */
};

/* Thread safe; the answer never changes and is never NULL. */
const struct drv_config *drv_config(void);

#endif
