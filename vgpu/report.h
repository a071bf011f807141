/* What the virtual GPU says: strict findings, and a log.
 *
 * A finding is something that real hardware would punish, now or some day, and that the exact error codes of the
 * kernel do not show. Its row is the one of docs/vgpu-contract.md. Level, from TUFF_VGPU_STRICT:
 *   off     nothing
 *   report  one line on stderr (default)
 *   fatal   one line on stderr, then abort(), so that a test stops at the packet that did it
 * Log, from TUFF_VGPU_LOG: a file name, or "-" for stderr; unset: none. Thread safe. */
#ifndef VGPU_REPORT_H
#define VGPU_REPORT_H

#include <stdarg.h>
#include <stdbool.h>

/* What programs that carry the virtual GPU inside may call; everything else is hidden. */
#define VGPU_API __attribute__((visibility("default")))

enum vgpu_strict { VGPU_STRICT_OFF, VGPU_STRICT_REPORT, VGPU_STRICT_FATAL };

VGPU_API enum vgpu_strict vgpu_strict(void);
/* For programs that carry the virtual GPU inside; later than any finding of another thread it has no effect on it.
 */
VGPU_API void vgpu_strict_set(enum vgpu_strict level);
/* Whether devices that are made from now on model their caches: TUFF_VGPU_CACHES, on or off; unset: if the level is
 * fatal. */
VGPU_API bool vgpu_caches(void);
VGPU_API void vgpu_caches_set(bool on);
/* Whether the next job's packets are read while waves of the one before live: TUFF_VGPU_OVERLAP, on (default) or
 * off. */
VGPU_API bool vgpu_overlap(void);
VGPU_API void vgpu_overlap_set(bool on);
/* Whether machine code is checked for waits that are missing, and for races in LDS: TUFF_VGPU_WAITS, on or off;
 * unset: if the level is fatal. */
VGPU_API bool vgpu_waits(void);
VGPU_API void vgpu_waits_set(bool on);
/* Whether devices that are made from now on check the order of accesses: TUFF_VGPU_ORDER, on or off; unset: if the
 * level is fatal. */
VGPU_API bool vgpu_order(void);
VGPU_API void vgpu_order_set(bool on);
/* Findings so far in this process, whatever the level. */
VGPU_API unsigned long vgpu_findings(void);

/* Reports a finding of checklist row `row` (1..124; 0: none of them). */
void vgpu_finding(unsigned row, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A line of the log; what costs something to write asks first whether there is one. */
bool vgpu_logs(void);
void vgpu_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
