/* Packets as text, for logs and traces. */
#ifndef VGPU_ENGINE_PRINT_H
#define VGPU_ENGINE_PRINT_H

#include <stddef.h>
#include <stdint.h>

#include "vgpu/chip.h"
#include "vgpu/engine/engine.h"

/* Prints one line, without its end, about the packet at dw of the given chip's ring; dw_count dwords are readable.
 * Text over text_B is cut off. Returns the packet's length in dwords: more than dw_count when the packet is cut
 * off, and 1 when there is no such packet. Thread safe. */
unsigned engine_packet_print(const struct vgpu_chip *chip, enum engine_ip ip, const uint32_t *dw, unsigned dw_count,
			     char *text, size_t text_B);

#endif
