/* Reports of the virtual GPU: strict findings, and a log.
 *
 * A finding is an action of the client that real hardware would punish, now or some day, and that the exact error
 * codes of the kernel do not show. It names its row of docs/vgpu-contract.md. Level, from TUFF_VGPU_STRICT:
 *   off     no output
 *   report  one line on stderr (default)
 *   fatal   one line on stderr, then abort(), so that a test stops at the packet that caused it
 * Log, from TUFF_VGPU_LOG: a file name, or "-" for stderr; unset: none. Thread safe. */
#ifndef VGPU_REPORT_H
#define VGPU_REPORT_H

#include "vgpu/contract.h"

#include <stdarg.h>
#include <stdbool.h>

/* Marks functions for programs that carry the virtual GPU inside; all other symbols are hidden. */
#define VGPU_API __attribute__((visibility("default")))

enum vgpu_strict { VGPU_STRICT_OFF, VGPU_STRICT_REPORT, VGPU_STRICT_FATAL };

VGPU_API enum vgpu_strict vgpu_strict(void);
/* For programs that carry the virtual GPU inside; later than any finding of another thread it has no effect on it.
 */
VGPU_API void vgpu_strict_set(enum vgpu_strict level);
/* Parts of the model and checks that a variable switches on or off (docs/vgpu.md); defaults see below. A device
 * keeps the values that hold when it is made. */
enum vgpu_part {
	VGPU_CACHES,  /* TUFF_VGPU_CACHES; on if the level is fatal, as the next two */
	VGPU_ORDER,   /* TUFF_VGPU_ORDER: accesses that nothing orders */
	VGPU_WAITS,   /* TUFF_VGPU_WAITS: machine code without its waits, races in LDS */
	VGPU_OVERLAP, /* TUFF_VGPU_OVERLAP: a job begins while waves of the one before live; on */
	VGPU_PARTS,
};
VGPU_API bool vgpu_has(enum vgpu_part part);
VGPU_API void vgpu_set(enum vgpu_part part, bool on);
/* Findings so far in this process, whatever the level. */
VGPU_API unsigned long vgpu_findings(void);

/* Reports a finding of checklist row `row` (1..147; 0: none of them). */
void vgpu_finding(enum contract_row row, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Reports what is a finding in most programs and is done on purpose in some: a line for the first of each row, at every
 * level but off, and no finding. */
void vgpu_remark(enum contract_row row, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Remarks that this process has printed, or would have if the level were not off. */
VGPU_API unsigned long vgpu_remarks(void);
/* Whether a log is kept: a caller checks it before it formats an expensive line. */
bool vgpu_logs(void);
void vgpu_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
