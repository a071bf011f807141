/* Packets as text, for logs and traces. */
#ifndef VGPU_ENGINE_PRINT_H
#define VGPU_ENGINE_PRINT_H

#include <stddef.h>
#include <stdint.h>

#include "vgpu/chip.h"
#include "vgpu/engine/engine.h"

/* One line, without its end, about the packet of that chip's ring that begins at dw; dw_count dwords are there.
 * What does not fit text_B is cut off. Returns the packet's dwords, so that a caller may go on behind it: more than
 * dw_count when it is cut off, and 1 when there is no such packet. Thread safe. */
unsigned engine_packet_print(const struct vgpu_chip *chip, enum engine_ip ip, const uint32_t *dw, unsigned dw_count,
			     char *text, size_t text_B);

#endif
